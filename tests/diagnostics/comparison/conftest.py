"""Two small comparisons that the tests look at."""

import numpy as np
import pytest

import mercer
from mercer.diagnostics.comparison.figures import figures_of
from mercer.diagnostics.comparison.methods import NAMED
from mercer.diagnostics.comparison.page import page

#: A heading that is no HTML.
TITLE = "A <title> & more"


@pytest.fixture(scope="session")
def rows():
    """Return rows of three columns, with a target that is not linear."""
    generator = np.random.default_rng(0)
    X = generator.standard_normal((400, 3))
    return X, np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] + 0.1 * generator.standard_normal(400)


@pytest.fixture(scope="session")
def regression(rows):
    """Return a comparison on numbers."""
    names = ["linear", "exact", "irkm", "gaussian", "ntk", "sklearn-nystroem"]
    maps = {NAMED[name].label: name for name in names}
    # The default iterates for seconds.
    maps["IRKM"] = mercer.IRKMRegressor(n_iterations=2, random_state=0)
    return mercer.compare(*rows, maps=maps, dims=[16, 64], exact_rows=150)


@pytest.fixture(scope="session")
def classification(rows):
    """Return a comparison on labels that a page must not take for its own."""
    X, y = rows
    labels = np.where(y > 0, "<b>yes</b>", "no & never")
    return mercer.compare(X, labels, maps={"<i>line</i>": "linear", "rbf": "sklearn-rbf"}, dims=32)


@pytest.fixture(scope="session")
def saved(regression, tmp_path_factory):
    """Return the page of the comparison on numbers, with all files beside it."""
    return regression.save(tmp_path_factory.mktemp("report") / "new", title=TITLE)


@pytest.fixture(scope="session")
def pages(saved, classification):
    """Return the text of both pages."""
    return {
        "regression": saved.read_text(encoding="utf-8"),
        "classification": page(classification, figures_of(classification), TITLE),
    }
