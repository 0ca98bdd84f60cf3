"""Tests of greedy designs against the criterion, computed anew for every row that could be next."""

import numpy as np
import pytest

from mercer.solvers import greedy_design as module
from mercer.solvers.greedy_design import Design, FeatureRemainder, MatrixRemainder


def criterion(K, chosen, alpha, weights):
    """Return J by its formula."""
    if not chosen:
        return 0.0
    columns = K[:, chosen]
    inner = np.linalg.inv(K[np.ix_(chosen, chosen)] + alpha * np.eye(len(chosen)))
    return -float(np.trace((weights[:, None] * columns) @ inner @ columns.T))


def brute_force(K, n_points, alpha, weights):
    """Return the greedy design, and J after each of its rows."""
    chosen, values = [], []
    for _ in range(n_points):
        found = [
            np.inf if i in chosen else criterion(K, [*chosen, i], alpha, weights)
            for i in range(len(K))
        ]
        chosen.append(int(np.argmin(found)))
        values.append(min(found))
    return chosen, np.asarray(values)


def design_of(K, n_points, alpha):
    design, chosen, gains = Design(K, alpha), [], []
    for _ in range(n_points):
        chosen.append(design.best())
        gains.append(design.add(chosen[-1]))
    return chosen, -np.cumsum(gains)


@pytest.mark.parametrize("seed", range(100))
def test_the_rows_are_those_of_brute_force(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    if seed % 4 == 0:
        monkeypatch.setattr(module, "REFRESH", 3)
    F = rng.standard_normal((int(rng.integers(12, 30)), int(rng.integers(8, 15))))
    alpha = (1e-3, 1.0)[seed % 2]
    weights = rng.uniform(0.1, 2.0, len(F)) if seed % 3 else None
    known = np.ones(len(F)) if weights is None else weights
    expected, values = brute_force(F @ F.T, 6, alpha, known)
    for K in (FeatureRemainder(F, weights), MatrixRemainder(F @ F.T, weights)):
        chosen, found = design_of(K, 6, alpha)
        assert chosen == expected
        assert found == pytest.approx(values, rel=1e-9)


def test_equal_rows_are_taken_from_the_first_on():
    F = np.repeat(np.eye(3), 2, axis=0)
    assert design_of(FeatureRemainder(F), 3, 1.0)[0] == [0, 2, 4]


def test_nothing_is_gained_when_all_is_explained():
    design = Design(FeatureRemainder(np.ones((5, 1))), alpha=1e-13)
    design.add(design.best())
    assert design.best() is None


def test_rows_of_weight_zero_do_not_count():
    F = np.asarray([[10.0, 0.0], [0.0, 1.0], [0.0, 1.1]])
    assert Design(FeatureRemainder(F), 1.0).best() == 0
    assert Design(FeatureRemainder(F, np.asarray([0.0, 1.0, 1.0])), 1.0).best() == 2


def test_sums_do_not_drift_in_float32():
    F = np.random.default_rng(0).standard_normal((300, 40)).astype(np.float32)
    design, chosen = Design(FeatureRemainder(F), 0.1), []
    for _ in range(30):
        chosen.append(design.best())
        design.add(chosen[-1])
    K = F.astype(float) @ F.T.astype(float)
    inner = np.linalg.inv(K[np.ix_(chosen, chosen)] + 0.1 * np.eye(30))
    left = K - K[:, chosen] @ inner @ K[chosen]
    expected = (left**2).sum(axis=0) / (np.diag(left) + 0.1)
    free = np.setdiff1d(np.arange(300), chosen)
    assert design.gains()[free] == pytest.approx(expected[free], rel=1e-3)
    assert np.isneginf(design.gains()[chosen]).all()
