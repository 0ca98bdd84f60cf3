"""The report as one HTML page: no network, no library, its figures inside."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib import resources
from itertools import groupby
from string import Template

from ... import __version__
from .figures import Figure
from .palette import looks
from .records import Comparison, Trial
from .svg import inline_svg
from .words import amount, interval, seconds, three

#: Headings of the sections of figures, and what their choice is called.
SECTIONS = {
    "error": ("Error against cost", "Horizontal axis"),
    "kernel": ("Kernels and their approximation", "Figure"),
    "residuals": ("Residuals", "Figure"),
    "weights": ("Feature weights", "Method"),
}
#: Headings of the table.
HEADINGS = (
    "method",
    "features",
    "test error",
    "kernel error",
    "fit",
    "predict",
    "memory",
    "model",
    "degrees of freedom",
    "rows",
)


def page(comparison: Comparison, figures: Sequence[Figure], title: str) -> str:
    """Return the report of a comparison.

    Parameters
    ----------
    comparison : Comparison
        What was measured.
    figures : sequence of Figure
        Its pictures, sorted by group.
    title : str
        The heading.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer
    >>> X = np.random.default_rng(0).standard_normal((200, 2))
    >>> found = mercer.compare(X, X[:, 0], maps=["linear"])
    >>> page(found, [], "A comparison")[:15]
    '<!doctype html>'
    """
    look = looks(comparison.methods)
    groups = [(name, list(own)) for name, own in groupby(figures, key=lambda each: each.group)]
    links = [("about", "What was compared"), ("results", "Results")]
    links += [(name, SECTIONS[name][0]) for name, _ in groups]
    facts = "".join(
        f"<dt>{escape(heading)}</dt><dd>{escape(sentence)}</dd>"
        for heading, sentence in comparison.facts()
    )
    legend = "".join(
        f'<button type="button" aria-pressed="true" data-method="method-{number}">'
        f"{_swatch(look[method].colour)}{escape(method)}</button>"
        for number, method in enumerate(comparison.methods)
        if comparison.best_of(method) is not None
    )
    content = {
        "title": escape(title),
        "style": _part("page.css"),
        "script": _part("page.js"),
        "verdict": escape(verdict(comparison)),
        "links": "".join(f'<a href="#{name}">{escape(text)}</a>' for name, text in links),
        "facts": facts,
        "headings": "".join(
            f'<th scope="col"><button type="button">{heading}</button></th>' for heading in HEADINGS
        ),
        "rows": "\n".join(
            _row(comparison, trial, look[trial.method].colour) for trial in comparison.trials
        ),
        "notes": _notes(comparison),
        "legend": legend,
        "sections": "\n".join(_section(name, own) for name, own in groups),
        "version": escape(__version__),
    }
    return Template(_part("page.html")).substitute(content)


def verdict(comparison: Comparison) -> str:
    """Return in a sentence or two which method is best, and what it is tied with.

    Examples
    --------
    >>> import numpy as np
    >>> import mercer
    >>> X = np.random.default_rng(0).standard_normal((200, 2))
    >>> verdict(mercer.compare(X, np.sin(3 * X[:, 0]), maps=["linear", "gaussian"], dims=64))
    'Best: Fourier, Gaussian, 64 features, with RMSE ...'
    """
    best = comparison.best
    text = (
        f"Best: {best.label}, with {comparison.error_name} {three(best.error)} "
        f"({interval(best.low, best.high)})."
    )
    tied = [t for t in comparison.trials if t is not best and comparison.is_tied(t)]
    if not tied:
        return text
    fastest = min(tied, key=lambda trial: trial.fit_seconds)
    times = f"({seconds(fastest.fit_seconds)} to fit against {seconds(best.fit_seconds)})"
    if len(tied) == 1:
        return f"{text} The test rows cannot tell it from {fastest.label} {times}."
    return (
        f"{text} The test rows cannot tell it from {len(tied)} others, of which {fastest.label} is "
        f"the fastest {times}."
    )


def _part(name: str) -> str:
    """Return one of the files beside this module."""
    return resources.files(str(__package__)).joinpath(name).read_text(encoding="utf-8")


def _swatch(colour: str) -> str:
    return f'<span class="swatch" style="background:{colour}"></span>'


def _row(comparison: Comparison, trial: Trial, colour: str) -> str:
    """Return the line of a trial in the table."""
    best = trial is comparison.best
    mark = " ●" if comparison.is_tied(trial) else ""
    size = trial.n_components
    error = (
        f'{three(trial.error)}{mark} <span class="interval">'
        f"({interval(trial.low, trial.high)})</span>"
    )
    kernel = "" if trial.kernel_error is None else f"{trial.kernel_error:.2%}"
    freedom = trial.degrees_of_freedom
    cells = [
        (size, "" if size is None else f"{size:,}"),
        (trial.error, error),
        (trial.kernel_error, kernel),
        (trial.fit_seconds, seconds(trial.fit_seconds)),
        (trial.predict_seconds, seconds(trial.predict_seconds)),
        (trial.memory, amount(trial.memory)),
        (trial.model_bytes, amount(trial.model_bytes)),
        (freedom, "" if freedom is None else f"{freedom:,.0f}"),
        (trial.n_train, f"{trial.n_train:,}"),
    ]
    name = escape(trial.method)
    first = (
        f'<th scope="row" data-value="{name}" title="{escape(trial.about)}">'
        f"{_swatch(colour)}{name}</th>"
    )
    rest = "".join(
        f'<td data-value="{"" if value is None else float(value)}">{text}</td>'
        for value, text in cells
    )
    kind = ' class="best"' if best else ""
    return f"<tr{kind}>{first}{rest}</tr>"


def _notes(comparison: Comparison) -> str:
    """Return what there is to say of single trials."""
    abouts = dict.fromkeys((t.method, t.about) for t in comparison.trials if t.about)
    found = [f"{method}: {about}" for method, about in abouts]
    found += [f"{trial.label}: {note}" for trial in comparison.trials for note in trial.notes]
    found += [f"Not measured: {skipped}" for skipped in comparison.skipped]
    if not found:
        return ""
    items = "".join(f"<li>{escape(text)}</li>" for text in found)
    return (
        f'<details class="notes"><summary>Notes ({len(found)})</summary><ul>{items}</ul></details>'
    )


def _section(name: str, figures: Sequence[Figure]) -> str:
    """Return a section of figures, with a choice of one of them or all."""
    heading, what = SECTIONS[name]
    choice = ""
    if len(figures) > 1:
        options = [(f"figure-{figure.name}", figure.choice) for figure in figures] + [
            ("all", "all")
        ]
        radios = "".join(
            f'<label><input type="radio" name="{name}-choice" value="{value}"'
            f"{' checked' if number == len(options) - 1 else ''}>{escape(text)}</label>"
            for number, (value, text) in enumerate(options)
        )
        choice = f'<fieldset data-group="{name}" hidden><legend>{what}</legend>{radios}</fieldset>'
    drawn = "\n".join(
        f'<figure id="figure-{figure.name}" data-group="{name}"><h3>{escape(figure.title)}</h3>'
        f"{inline_svg(figure, f'{figure.name}-caption')}"
        f'<figcaption id="{figure.name}-caption">{escape(figure.caption)}</figcaption></figure>'
        for figure in figures
    )
    return (
        f'<section id="{name}" aria-labelledby="{name}-heading"><h2 id="{name}-heading">{heading}'
        f'</h2>{choice}<div class="figures">{drawn}</div></section>'
    )
