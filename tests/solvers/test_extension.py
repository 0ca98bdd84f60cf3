"""Tests of sums that are extended by further features, against those of all features at once."""

import numpy as np
import pytest

from mercer.solvers import RidgeStatistics
from mercer.solvers.extension import Extension


@pytest.mark.parametrize("n_folds", [0, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("dtype", "close"), [("float64", 1e-12), ("float32", 1e-5)])
def test_extended_sums_are_those_of_all_features(n_folds, weighted, dtype, close):
    generator = np.random.default_rng(0)
    # Far from zero, so that wrong references would show.
    Z = (generator.standard_normal((300, 7)) + 30).astype(dtype)
    Y = generator.standard_normal((300, 2)) + 5
    weights = generator.integers(0, 3, 300).astype(float) if weighted else None
    scale, n_old = 0.6, 4

    def blocks(size):
        for start in range(0, 300, size):
            rows = slice(start, start + size)
            yield Z[rows], Y[rows], None if weights is None else weights[rows]

    old = RidgeStatistics(n_old, 2, n_folds)
    for block, y, w in blocks(90):
        old.add((block[:, :n_old].astype(float) / scale).astype(dtype), y, w)
    whole, extension = RidgeStatistics(7, 2, n_folds), Extension(old, scale, 3)
    for block, y, w in blocks(70):
        whole.add(block, y, w)
        extension.add(block, y, w)
    found = extension.joined()
    assert found.n_rows == whole.n_rows
    assert np.isclose(found.weight, whole.weight)
    for mine, theirs in zip(
        [found.total(), *found.folds], [whole.total(), *whole.folds], strict=True
    ):
        assert mine.n_positive == theirs.n_positive
        for one, other in zip(mine.centred(True), theirs.centred(True), strict=True):
            assert np.abs(one - other).max() <= close * max(1.0, np.abs(other).max())


def test_rows_that_come_later_fall_into_the_same_folds():
    generator = np.random.default_rng(0)
    Z, Y = generator.standard_normal((200, 5)), generator.standard_normal((200, 1))
    old, whole = RidgeStatistics(3, 1, 4), RidgeStatistics(5, 1, 4)
    old.add(Z[:120, :3], Y[:120])
    extension = Extension(old, 1.0, 2)
    extension.add(Z[:120], Y[:120])
    found = extension.joined()
    found.add(Z[120:], Y[120:])
    whole.add(Z, Y)
    assert [f.n_rows for f in found.folds] == [f.n_rows for f in whole.folds]
    gram, expected = found.total().centred(True)[0], whole.total().centred(True)[0]
    assert np.allclose(gram, expected, atol=1e-10)
