"""Figures as SVG inside a page: they take their ink from the page, and no two share a name."""

from __future__ import annotations

import io
import re
from typing import Any

from .figures import Figure

#: Colours that stand for those of the page until they are replaced.
INK, GRID = "#010203", "#040506"
#: What matplotlib draws a figure for a page with.
STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "font.size": 10.5,
    "font.family": "sans-serif",
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": GRID,
    "axes.grid": True,
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
}


def inline_svg(figure: Figure, described_by: str) -> str:
    """Return a figure as an element of a page.

    Parameters
    ----------
    figure : Figure
        What to draw.
    described_by : str
        The id of the caption.

    Examples
    --------
    >>> from mercer.diagnostics.comparison.figures import Figure
    >>> line = Figure("line", "", "", "A line", "", lambda ax: ax.plot([1, 2], [1, 2]))
    >>> inline_svg(line, "line-caption")[:54]
    '<svg role="img" aria-label="A line" aria-describedby="'
    """

    def save(drawn: Any) -> str:
        sink = io.StringIO()
        drawn.savefig(sink, format="svg", metadata={"Date": None, "Creator": None})
        return sink.getvalue()

    source = figure.render({**STYLE, "svg.hashsalt": figure.name}, save, legend=False)
    return page_svg(source, figure.name, figure.title, described_by)


def page_svg(source: str, name: str, title: str, described_by: str) -> str:
    """Return what matplotlib wrote as an element of a page.

    Parameters
    ----------
    source : str
        A file of SVG.
    name : str
        What ids of this figure begin with.
    title : str
        The alternative text.
    described_by : str
        The id of the caption.

    Examples
    --------
    >>> page_svg('<svg width="72pt" height="36pt" viewBox="0 0 72 36"><g id="a"/></svg>',
    ...          "f", "T", "c")
    '<svg role="img" aria-label="T" aria-describedby="c" viewBox="0 0 72 36"><g id="f-a"/></svg>'
    """
    box = re.search(r'viewBox="([^"]*)"', source)
    assert box is not None
    body = source[source.index(">", source.index("<svg")) + 1 :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.S)
    # What can be hidden is known by the number of its method, in every figure.
    body = re.sub(r'<g id="method-(\d+)">', r'<g class="method-\1">', body)
    body = re.sub(r'\bid="', f'id="{name}-', body)
    body = body.replace('xlink:href="#', f'href="#{name}-').replace("url(#", f"url(#{name}-")
    body = body.replace("xlink:href", "href")
    body = body.replace(INK, "currentColor").replace(GRID, "var(--grid)")
    words = title.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    return (
        f'<svg role="img" aria-label="{words}" aria-describedby="{described_by}" '
        f'viewBox="{box.group(1)}">{body.strip()}'
    )
