"""What notebooks show: reports, errors, plans, comparisons, and what estimators chose."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn import config_context

import mercer
from mercer._html import COLOURS, facts
from mercer.features.approximation import ApproximationError

X = np.random.default_rng(0).standard_normal((60, 2))
Y = np.sin(X[:, 0])
FOURIER = mercer.RandomFourier(mercer.Gaussian(1.0), n_components=20, random_state=0)


class Checked(HTMLParser):
    """Reads HTML, and keeps its tags and text; every tag must be closed in its order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.words, self.attributes = [], [], [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in ("input", "br", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open and "script" not in self.open:
            self.words.append(data)


def shown(thing):
    """Return the words of the piece that mercer made of something."""
    html = thing._repr_html_()
    found = Checked(html[html.index('<div class="mercer-facts">') :])
    assert not {"script", "link", "img", "iframe"} & set(found.tags)
    assert not any(name.startswith("on") or name in ("src", "href") for name, _ in found.attributes)
    assert "url(" not in html[html.index('<div class="mercer-facts">') :]
    return " ".join(found.words)


def test_text_is_escaped():
    found = facts("a < b", [("<i>", 'x & "y"')], ("<b>",), [("</td>",)], best=0)
    words = Checked(found).words
    assert words == ["a < b", "<i>", 'x & "y"', "<b>", "</td>"]
    assert found.count('<tr class="mercer-best">') == 1


def test_text_and_paper_come_from_one_theme():
    style = facts("", [])
    for theme, (text, paper) in {
        "jupyter": ("--jp-content-font-color1", "--jp-layout-color1"),
        "sphinx": ("--pst-color-text-base", "--pst-color-background"),
        "code": ("--vscode-editor-foreground", "--vscode-editor-background"),
        "own": ("--mercer-text", "--mercer-paper"),
    }.items():
        assert text in style, theme
        assert paper in style, theme
    assert "@media (prefers-color-scheme:dark)" in style


def luminance(colour):
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("place", [3, 4], ids=["light", "dark"])
@pytest.mark.parametrize("paper", ["paper", "stripe"])
@pytest.mark.parametrize("ink", ["text", "muted"])
def test_text_has_the_contrast_that_accessibility_asks_for(ink, paper, place):
    low, high = sorted(luminance(COLOURS[name][place]) for name in (ink, paper))
    assert (high + 0.05) / (low + 0.05) > 4.5


def test_a_report_shows_all_its_lines():
    model = mercer.KernelRegressor(mercer.Gaussian(1.0)).fit(X, Y)
    words = shown(model.report_)
    for heading, sentence in model.report_.lines():
        assert heading in words
        assert sentence in words
    assert shown(model).replace("KernelRegressor: what was chosen", "FitReport") == words


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (mercer.FeatureRidge(FOURIER), "R2 .* expected on new rows"),
        (mercer.FeatureRidge(), "the columns as they are"),
        (mercer.KernelRidge(mercer.Gaussian(1.0)), "with 60 centres.*leave-one-out over 31 cand"),
        (mercer.KernelRidge(mercer.Gaussian(1.0), alpha=0.1), "alpha = 0.1: as you asked for"),
        (FOURIER, r"20 of 2 columns, orthogonal.*seed  ?0"),
        (mercer.TableEncoder(), "2 numeric"),
        (mercer.IRKMRegressor(n_iterations=0), "leave-one-out"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_estimators_show_the_diagram_and_what_they_chose(model, expected):
    assert "mercer-facts" not in model._repr_html_()
    assert "sk-top-container" in model._repr_html_()
    model.fit(X, Y)
    html = model._repr_html_()
    assert html.index("sk-top-container") < html.index("mercer-facts")
    assert re.search(expected, shown(model))
    assert "mercer-facts" in model._repr_mimebundle_()["text/html"]


def test_classifiers_and_compact_models_show_what_costs_nothing(tmp_path):
    labels = (Y > 0).astype(int)
    model = mercer.FeatureRidgeClassifier(FOURIER).fit(X, labels)
    assert "expected" not in shown(model)
    mercer.save(
        mercer.KernelRidge(mercer.Gaussian(1.0)).fit(X, Y), tmp_path / "model", compact=True
    )
    assert "alpha" in shown(mercer.load(tmp_path / "model"))


def test_a_machine_that_has_not_solved_is_not_asked_to():
    model = mercer.FeatureRidge(FOURIER).partial_fit(X, Y)
    assert model._chosen() == []
    assert "mercer-facts" not in model._repr_html_()
    model.predict(X)
    assert "ridge" in shown(model)


def test_the_setting_of_scikit_learn_turns_diagrams_off():
    model = mercer.FeatureRidge().fit(X, Y)
    with config_context(display="text"):
        assert not hasattr(model, "_repr_html_")


def test_errors_plans_and_comparisons_have_a_table():
    error = ApproximationError(0.012, 0.1, 500, n_total=9000, low=0.011, high=0.013)
    assert "95 % interval 0.011 to 0.013" in shown(error)
    assert "500 of 9,000" in shown(error)
    assert "3, each with each" in shown(ApproximationError(0.012, 0.1, 3))
    assert "RandomFourier" in shown(mercer.choose_map(mercer.Laplace(), X))
    plan = mercer.plan((1000, 5), mercer.FeatureRidge(FOURIER))
    assert "fits" in shown(plan)
    found = mercer.compare(X, Y, maps=["linear"])
    assert found.best.label in shown(found)
    assert "RMSE" in shown(found)
