"""Two small comparisons that the tests look at."""

import numpy as np
import pytest

import mercer


@pytest.fixture(scope="session")
def rows():
    """Return rows of three columns, with a target that is not linear."""
    generator = np.random.default_rng(0)
    X = generator.standard_normal((400, 3))
    return X, np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] + 0.1 * generator.standard_normal(400)


@pytest.fixture(scope="session")
def regression(rows):
    """Return a comparison on numbers."""
    maps = ["linear", "exact", "irkm", "gaussian", "ntk", "sklearn-nystroem"]
    return mercer.compare(*rows, maps=maps, dims=[16, 64], exact_rows=150)


@pytest.fixture(scope="session")
def classification(rows):
    """Return a comparison on labels that a page must not take for its own."""
    X, y = rows
    labels = np.where(y > 0, "<b>yes</b>", "no & never")
    return mercer.compare(X, labels, maps={"<i>line</i>": "linear", "rbf": "sklearn-rbf"}, dims=32)


@pytest.fixture(scope="session")
def pages(regression, classification, tmp_path_factory):
    """Return the pages of both, written with a title that is no HTML."""
    folder = tmp_path_factory.mktemp("reports")
    found = {"regression": regression, "classification": classification}
    return {
        name: each.save(folder / name, title="A <title> & more") for name, each in found.items()
    }
