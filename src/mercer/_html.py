"""The seam to notebooks: headings and sentences as a small piece of HTML.

It needs no network and no script, and goes by the theme of what it is shown in: Jupyter's, that of
Sphinx (PyData), that of VS Code, or what the browser prefers. Text and paper are always taken
from the same theme, so that what is not known of the page cannot make it illegible.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

#: Colours by name: what themes call them, a light one and a dark one.
COLOURS = {
    "text": (
        "--jp-content-font-color1",
        "--pst-color-text-base",
        "foreground",
        "#1f2328",
        "#e6e6e6",
    ),
    "muted": (
        "--jp-content-font-color2",
        "--pst-color-text-muted",
        "foreground",
        "#59636e",
        "#a0a8b0",
    ),
    "paper": ("--jp-layout-color1", "--pst-color-background", "background", "#ffffff", "#15181c"),
    "stripe": ("--jp-layout-color2", "--pst-color-surface", "background", "#f4f6f8", "#20252b"),
    "line": ("--jp-border-color2", "--pst-color-border", "foreground", "#d1d9e0", "#3a424b"),
}


def _style() -> str:
    """Return the style sheet, which every piece brings along."""
    local = {name: f"--mercer-{name}" for name in COLOURS}
    light = "".join(f"{local[name]}:{found[3]};" for name, found in COLOURS.items())
    dark = "".join(f"{local[name]}:{found[4]};" for name, found in COLOURS.items())
    own = {
        name: f"var({jupyter},var({sphinx},var(--vscode-editor-{code},var({local[name]}))))"
        for name, (jupyter, sphinx, code, _, _) in COLOURS.items()
    }
    return (
        f".mercer-facts{{{light}color:{own['text']};background:{own['paper']};"
        f"border:1px solid {own['line']};border-radius:6px;max-width:56rem;margin:.5em 0;"
        "font-size:.9em;line-height:1.45;overflow-x:auto}"
        f"@media (prefers-color-scheme:dark){{.mercer-facts{{{dark}}}}}"
        f".mercer-facts>p{{margin:0;padding:.4em .8em;font-weight:600;background:{own['stripe']};"
        f"color:{own['text']};border-bottom:1px solid {own['line']}}}"
        ".mercer-facts table{border-collapse:collapse;width:100%;margin:0;border:0;"
        "color:inherit;background:none;font-size:inherit}"
        ".mercer-facts tr,.mercer-facts tr:nth-child(even){background:none;color:inherit}"
        f".mercer-facts th,.mercer-facts td{{text-align:left;vertical-align:top;border:0;"
        f"border-top:1px solid {own['line']};padding:.3em .8em;color:inherit;background:none}}"
        ".mercer-facts tr:first-child>*{border-top:0}"
        f".mercer-facts th{{color:{own['muted']};font-weight:500;white-space:nowrap}}"
        ".mercer-facts th[scope=row]{width:1%}"
        ".mercer-facts td{overflow-wrap:anywhere}"
        f".mercer-facts table+table{{border-top:1px solid {own['line']}}}"
        ".mercer-facts .mercer-best td{font-weight:600}"
    )


def facts(
    title: str,
    pairs: Iterable[tuple[str, str]],
    headings: Sequence[str] = (),
    rows: Iterable[Sequence[str]] = (),
    best: int | None = None,
) -> str:
    """Return headings with their sentences, and a table below them, as HTML.

    Parameters
    ----------
    title : str
        What they are of.
    pairs : iterable of (str, str)
        Headings and sentences.
    headings : sequence of str, default=()
        Those of the columns of the table.
    rows : iterable of sequences of str, default=()
        The rows of the table.
    best : int, default=None
        The number of the row that is printed in bold.

    Examples
    --------
    >>> found = facts("A report", [("data", "3 rows < 4")])
    >>> found[found.index("<p>"):]
    '<p>A report</p><table><tr><th scope="row">data</th><td>3 rows &lt; 4</td></tr></table></div>'
    """
    lines = "".join(
        f'<tr><th scope="row">{escape(heading)}</th><td>{escape(sentence)}</td></tr>'
        for heading, sentence in pairs
    )
    table = "".join(
        ('<tr class="mercer-best">' if number == best else "<tr>")
        + "".join(f"<td>{escape(entry)}</td>" for entry in row)
        + "</tr>"
        for number, row in enumerate(rows)
    )
    if table:
        head = "".join(f'<th scope="col">{escape(heading)}</th>' for heading in headings)
        table = f"<table><tr>{head}</tr>{table}</table>"
    return (
        f'<div class="mercer-facts"><style>{_style()}</style><p>{escape(title)}</p>'
        f"<table>{lines}</table>{table}</div>"
    )
