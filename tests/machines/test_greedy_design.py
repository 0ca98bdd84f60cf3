"""Tests of the greedy design as an estimator."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import mercer
from mercer import FeatureRidge, Gaussian, GreedyDesign, NystromFeatures, RandomFourier
from mercer.solvers import greedy_design as solver


def rows(n=120, d=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


FEATURES = RandomFourier(Gaussian(2.0), n_components=64, random_state=0)


def test_the_criterion_is_that_of_the_chosen_rows():
    X = rows()
    design = GreedyDesign(FEATURES, n_points=12, alpha=0.1).fit(X)
    Z = design.features_.transform(X)
    K, chosen = Z @ Z.T, design.indices_
    inner = np.linalg.inv(K[np.ix_(chosen, chosen)] + 0.1 * np.eye(12))
    assert design.criterion_[-1] == pytest.approx(-np.trace(K[:, chosen] @ inner @ K[chosen]))
    assert design.criterion_[0] == 0
    assert np.diff(design.criterion_) == pytest.approx(-design.gains_)
    assert len(np.unique(chosen)) == 12
    assert (np.diff(design.gains_) <= 1e-9).all()


def test_exact_kernel_and_features_that_are_exact_give_the_same_design():
    X = rows(60)
    exact = GreedyDesign(kernel=Gaussian(2.0), n_points=10).fit(X)
    features = GreedyDesign(NystromFeatures(Gaussian(2.0), n_components=60), n_points=10).fit(X)
    assert np.array_equal(exact.indices_, features.indices_)
    assert exact.features_ is None


def test_a_design_goes_on_and_starts_from_labelled_rows():
    X = rows()
    whole = GreedyDesign(FEATURES, n_points=20).fit(X)
    part = GreedyDesign(FEATURES, n_points=12).fit(X)
    assert np.array_equal(part.more(8), whole.indices_[12:])
    assert np.array_equal(part.indices_, whole.indices_)
    assert part.criterion_ == pytest.approx(whole.criterion_)
    mask = np.zeros(120, dtype=bool)
    mask[whole.indices_[:5]] = True
    for labelled in (whole.indices_[:5], mask):
        rest = GreedyDesign(FEATURES, n_points=15).fit(X, labelled=labelled)
        assert np.array_equal(rest.indices_, whole.indices_[5:])
        assert rest.criterion_ == pytest.approx(whole.criterion_[5:])


def test_a_stream_gives_the_design_of_all_rows():
    X, weights = rows(), np.random.default_rng(1).uniform(0.5, 2.0, 120)
    whole = GreedyDesign(FEATURES, n_points=10).fit(X, sample_weight=weights)
    blocks = [(X[k : k + 50], None, weights[k : k + 50]) for k in (0, 50, 100)]
    streamed = GreedyDesign(FEATURES, n_points=10).fit(iter(blocks))
    assert np.array_equal(streamed.indices_, whole.indices_)
    plain = GreedyDesign(FEATURES, n_points=10).fit([X[:50], X[50:]])
    assert np.array_equal(plain.indices_, GreedyDesign(FEATURES, n_points=10).fit(X).indices_)


def test_a_design_beats_random_rows():
    X = np.concatenate([0.05 * rows(900), 3 * rows(100, seed=1)])
    y = np.sin(X[:, 0]) + X[:, 1]

    def error(chosen):
        model = FeatureRidge(FEATURES, alpha=1e-3).fit(X[chosen], y[chosen])
        return np.mean((model.predict(X) - y) ** 2)

    greedy = error(GreedyDesign(FEATURES, n_points=60).fit(X).indices_)
    rng = np.random.default_rng(0)
    random = [error(rng.choice(1000, 60, replace=False)) for _ in range(10)]
    assert greedy < 0.5 * min(random)


def test_fewer_rows_are_chosen_where_nothing_is_left_to_gain():
    X = np.repeat(np.eye(3), 20, axis=0)
    design = GreedyDesign(kernel=Gaussian(), n_points=40, alpha=1e-13).fit(X)
    assert len(design.indices_) == 3
    assert len(design.criterion_) == 4


def test_an_interruption_keeps_the_rows_found_so_far(monkeypatch):
    X, whole = rows(), GreedyDesign(FEATURES, n_points=10).fit(rows())
    original, calls = solver.Design.add, []

    def interrupted(self, number):
        calls.append(number)
        if len(calls) == 5:
            raise KeyboardInterrupt
        return original(self, number)

    monkeypatch.setattr(solver.Design, "add", interrupted)
    with pytest.warns(UserWarning, match="the 4 rows found so far"):
        design = GreedyDesign(FEATURES, n_points=10).fit(X)
    assert np.array_equal(design.indices_, whole.indices_[:4])
    assert np.array_equal(design.more(6), whole.indices_[4:])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"labelled": [500]}, "from 0 to 119"),
        ({"labelled": [0.5]}, "numbers of rows"),
        ({"labelled": np.zeros(5, dtype=bool)}, r"shape \(5,\)"),
        ({"labelled": np.arange(115)}, "5 of 120 rows are not labelled"),
        ({"sample_weight": -np.ones(120)}, "not negative"),
    ],
)
def test_what_cannot_be_is_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        GreedyDesign(FEATURES, n_points=10).fit(rows(), **arguments)


def test_both_features_and_kernel_or_too_many_rows_are_refused():
    with pytest.raises(ValueError, match="not both"):
        GreedyDesign(FEATURES, kernel=Gaussian()).fit(rows())
    with mercer.config(memory="100KB"), pytest.raises(ValueError, match="give features instead"):
        GreedyDesign(kernel=Gaussian()).fit(rows())
    with pytest.raises(ValueError, match="n_points"):
        GreedyDesign(n_points=0).fit(rows())
    with pytest.raises(NotFittedError, match="Call 'fit'"):
        GreedyDesign().more(3)
    with pytest.raises(ValueError, match="NaN"):
        GreedyDesign(FEATURES).fit(np.full((20, 3), np.nan))


def test_float32_features_stay_so_and_a_fit_that_fails_changes_nothing():
    X = rows().astype(np.float32)
    design = GreedyDesign(FEATURES, n_points=5).fit(X)
    before = design.indices_
    with pytest.raises(ValueError, match="NaN"):
        design.fit(np.full((20, 3), np.nan, dtype=np.float32))
    assert design.indices_ is before
    assert np.array_equal(clone(design).fit(X).indices_, before)
    assert np.array_equal(before, GreedyDesign(FEATURES, n_points=5).fit(X.astype(float)).indices_)


@pytest.mark.parametrize("compact", [False, True])
def test_designs_are_saved(tmp_path, compact):
    X = np.random.default_rng(0).standard_normal((60, 3))
    design = GreedyDesign(n_points=5).fit(X)
    mercer.save(design, tmp_path / "design.mercer", compact=compact)
    again = mercer.load(tmp_path / "design.mercer")
    assert again.indices_.tolist() == design.indices_.tolist()
    if compact:
        with pytest.raises(ValueError, match="compact=False"):
            again.more(1)
    else:
        assert again.more(3).tolist() == design.more(3).tolist()


@pytest.mark.parametrize("wrong", [-1, 2.5, "3"])
def test_numbers_of_further_rows_that_cannot_be_are_refused(wrong):
    design = GreedyDesign(n_points=2).fit(np.random.default_rng(0).standard_normal((20, 3)))
    with pytest.raises(ValueError, match="whole number of rows"):
        design.more(wrong)
