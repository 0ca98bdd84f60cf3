"""Tests of the page, the figures and the tables on disk."""

import csv
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

from mercer.diagnostics.comparison.figures import figures_of
from mercer.diagnostics.comparison.page import verdict

#: Elements that have no end.
VOID = {"meta", "input", "br", "link", "img", "hr"}


class Page(HTMLParser):
    """What a page holds: elements with their attributes, text, and whether all is closed."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.words = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "script"):
            self.words.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module", params=["regression", "classification"])
def report(request, pages):
    found = request.getfixturevalue(request.param)
    text = pages[request.param]
    return found, text, Page(text)


def test_the_page_needs_no_network(report):
    _, text, page = report
    assert "http:" not in text
    assert "https:" not in text
    for _, attributes in page.elements:
        for value in filter(None, attributes.values()):
            assert "//" not in value or value.startswith("data:image/png;base64,")
    for tag in ("link", "img", "iframe", "object"):
        assert not page.all(tag)
    assert all("src" not in attributes for attributes in page.all("script"))
    for attributes in page.all("a") + page.all("use"):
        assert attributes["href"].startswith("#")


def test_everything_is_closed_and_no_id_occurs_twice(report):
    _, _, page = report
    assert not page.open
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    known = set(ids)
    for _, attributes in page.elements:
        for name in ("aria-labelledby", "aria-describedby"):
            assert attributes.get(name, ids[0]) in known
        if (attributes.get("href") or "").startswith("#"):
            assert attributes["href"][1:] in known


def test_every_figure_has_alternative_text_and_a_caption(report):
    found, _, page = report
    drawn = page.all("svg")
    figures = figures_of(found)
    assert len(drawn) == len(figures) == len(page.all("figure")) == len(page.all("figcaption"))
    for attributes, figure in zip(drawn, figures, strict=True):
        assert attributes["role"] == "img"
        assert attributes["aria-label"] == figure.title
        assert attributes["viewbox"]


def test_what_users_wrote_is_text(report):
    found, _, page = report
    words = "".join(page.words)
    assert "A <title> & more" in words
    assert not page.all("i")
    assert not page.all("b")
    for trial in found.trials:
        assert trial.method in words


def test_the_table_has_a_line_for_each_trial(report):
    found, _, page = report
    assert sum(tag == "tr" for tag, _ in page.elements) == 1 + len(found.trials)
    assert sum(a.get("class") == "best" for a in page.all("tr")) == 1
    headings = [attributes["scope"] for attributes in page.all("th")]
    assert headings.count("row") == len(found.trials)
    values = [float(a["data-value"]) for a in page.all("td") if a["data-value"]]
    assert found.best.error in values


def test_ink_comes_from_the_page(report):
    _, text, _ = report
    body = text[text.index("<main") :]
    assert "currentColor" in body
    assert "#010203" not in body
    assert "stroke: #000000" not in body.lower()


def test_figures_are_files_too(regression, saved):
    for figure in figures_of(regression):
        picture = saved.parent / "figures" / f"{figure.name}.png"
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert "<svg" in picture.with_suffix(".svg").read_text(encoding="utf-8")


def test_tables_hold_the_numbers(regression, saved):
    found = regression
    with (saved.parent / "trials.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert [float(line["error"]) for line in lines] == [t.error for t in found.trials]
    assert [line["method"] for line in lines] == [t.method for t in found.trials]
    with (saved.parent / "residuals.csv").open(encoding="utf-8", newline="") as file:
        residuals = list(csv.DictReader(file))
    assert [line["true"] for line in residuals] == [str(value) for value in found.truth.tolist()]
    assert residuals[0][found.best.label] == str(found.best.predicted.tolist()[0])


def test_figures_follow_what_was_measured(regression, classification):
    names = {figure.name for figure in figures_of(regression)}
    assert {"error_by_dimension", "kernel_error", "spectrum", "residuals", "weights"} <= names
    names = {figure.name for figure in figures_of(classification)}
    assert "confusions" in names
    assert not {"residuals", "weights"} & names


def test_curves_have_the_measured_numbers_and_one_colour_a_method(regression):
    from matplotlib.figure import Figure as Canvas

    colours = {}
    for figure in figures_of(regression):
        ax = Canvas().add_subplot()
        figure.draw(ax)
        for line in ax.get_lines():
            label = line.get_label()
            if label in regression.methods:
                assert colours.setdefault(label, line.get_color()) == line.get_color()
        if figure.name == "error_by_time":
            bars = {bar.get_label(): bar for bar in ax.containers}
            own = [t for t in regression.trials if t.method == "NTK"]
            line = bars["NTK"].lines[0]
            np.testing.assert_array_equal(line.get_xdata(), [t.fit_seconds for t in own])
            np.testing.assert_array_equal(line.get_ydata(), [t.error for t in own])


def test_the_verdict_names_the_best_and_what_is_tied_with_it(regression):
    text = verdict(regression)
    assert text.startswith(f"Best: {regression.best.label}, with RMSE ")
    tied = [t for t in regression.trials if regression.is_tied(t) and t is not regression.best]
    assert ("cannot tell it from" in text) is bool(tied)


def test_a_report_needs_matplotlib(regression, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'mercer\[plot\]'"):
        regression.save(tmp_path / "none")
    assert not (tmp_path / "none").exists()
