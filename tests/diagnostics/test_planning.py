"""Tests of plans: memory as it is measured, budgets, ways out, and what is refused early."""

import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.compose import make_column_transformer
from sklearn.preprocessing import OneHotEncoder

import mercer
from mercer import (
    FeatureRidge,
    FeatureRidgeClassifier,
    Gaussian,
    KernelClassifier,
    KernelRegressor,
    KernelRidge,
    NystromFeatures,
    RandomFourier,
)
from mercer.diagnostics.plan_record import Plan, PlannedStep
from mercer.diagnostics.planning import refuse_what_does_not_fit
from mercer.diagnostics.rates import machine_rates
from mercer.solvers.steps import Shape, direct_steps, feature_steps, iterative_steps
from mercer.testing import peak_bytes


def data(n=3000, d=5, dtype="float64"):
    X = np.random.default_rng(0).standard_normal((n, d)).astype(dtype)
    return X, np.sin(X[:, 0]) + X[:, 1] ** 2


@pytest.mark.parametrize(
    ("machine", "n"),
    [
        (FeatureRidge(RandomFourier(Gaussian(2.0), n_components=700, random_state=0)), 3000),
        (
            FeatureRidge(
                RandomFourier(Gaussian(2.0), n_components=400, random_state=0), selection=5
            ),
            3000,
        ),
        (FeatureRidge(RandomFourier(Gaussian(2.0), n_components=1000, random_state=0)), 500),
        (KernelRidge(Gaussian(2.0), alpha=0.1, solver="direct"), 1200),
        (KernelRidge(Gaussian(2.0), alpha=0.1, solver="iterative"), 4000),
    ],
)
def test_planned_memory_is_near_that_of_the_fit(machine, n):
    X, y = data(n)
    machine.fit(X[:300], y[:300])
    planned = mercer.plan(X, machine)
    _, peak = peak_bytes(lambda: machine.fit(X, y))
    # The hooks do not see what LAPACK takes, nor what is freed but stays with the process.
    assert 0.5 * planned.memory <= peak <= 1.15 * planned.memory


def test_plans_grow_as_their_formulas_say():
    steps = {m: feature_steps(Shape(100_000, 10), m, 0) for m in (1000, 2000)}
    gather = [sum(steps[m][0].work[kind] for kind in ("sums64",)) for m in (1000, 2000)]
    assert gather[1] / gather[0] == pytest.approx(4, rel=0.01)
    assert steps[2000][1].work["tridiagonal"] == 4 / 3 * 2000**3
    assert "cholesky" in feature_steps(Shape(100_000, 10), 4000, 5)[1].work
    assert direct_steps(Shape(1000, 2), 2)[1].work["cholesky"] == pytest.approx(4 / 3 * 1e9)
    little, much = (iterative_steps(Shape(20_000, 5), room) for room in (10**8, 10**10))
    assert little[-1].work["kernel"] > 10 * much[-1].work["kernel"]
    assert little[-1].spare < much[-1].spare == 2 * 20_000**2


@pytest.mark.parametrize("kind", ["array", "float32", "frame", "sparse", "pair", "list"])
def test_rows_of_every_kind_are_planned_for(kind):
    X = data(400)[0]
    rows = {
        "array": X,
        "float32": X.astype(np.float32),
        "frame": pd.DataFrame(X, columns=list("abcde")),
        "sparse": scipy.sparse.csr_array(X),
        "pair": (400, 5),
        "list": X.tolist(),
    }[kind]
    found = mercer.plan(rows, RandomFourier(n_components=64))
    assert (found.n_rows, found.n_columns) == (400, 5)
    assert 0 < found.seconds < 60
    assert found.fits
    assert not found.ways_out


def test_a_model_may_be_a_machine_a_map_a_kernel_a_name_or_nothing():
    with mercer.config(memory="4GB"):
        names = {
            None: "search for a kernel, then the exact kernel by conjugate gradients",
            "ntk": "2,048 features",
            Gaussian(): "2,048 features",
            KernelClassifier(approximation="exact"): "the exact kernel",
        }
        for model, expected in names.items():
            assert mercer.plan((30_000, 6), model).what.endswith(expected)
        assert "features" in mercer.plan((30_000, 6), NystromFeatures(), 64).what
        assert mercer.plan((10**6, 6), RandomFourier(), 3000).memory > 2e8
        many = mercer.plan((10**6, 6)).what
        assert many.endswith("landmarks")
        searched = mercer.plan((30_000, 6))
        assert "trials" in searched.assumed


def test_classes_and_candidates_count():
    one = mercer.plan((50_000, 6), FeatureRidgeClassifier(RandomFourier()), n_targets=1)
    ten = mercer.plan((50_000, 6), FeatureRidgeClassifier(RandomFourier()), n_targets=100)
    assert ten.seconds > 0.5 * one.seconds
    given = mercer.plan((3000, 6), KernelRidge(alpha=0.1, solver="direct"))
    chosen = mercer.plan((3000, 6), KernelRidge(solver="direct"))
    assert given.memory < chosen.memory
    assert given.seconds < chosen.seconds


def test_what_does_not_fit_comes_with_ways_out_that_do():
    with mercer.config(memory="200MB"):
        plan = mercer.plan((50_000, 6), FeatureRidge(RandomFourier(n_components=5000)))
        assert not plan.fits
        most = int(plan.ways_out[0].removeprefix("n_components=").replace(",", ""))
        assert mercer.plan((50_000, 6), FeatureRidge(RandomFourier()), most).fits
        exact = mercer.plan((7000, 6), KernelRidge(solver="direct"))
        assert exact.ways_out[0].startswith("solver='iterative'")
        assert mercer.plan((7000, 6), KernelRidge(solver="iterative")).fits
        with pytest.raises(MemoryError, match=r"7,000 rows needs 1.96 GB, but may take 200 MB"):
            refuse_what_does_not_fit(exact)
    text = str(plan)
    assert "does not fit" in text
    assert "instead" in text
    assert plan.as_dict()["fits"] is False


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"n_components": 20_000}, "n_components=20000 needs 28.8 GB.*n_components=2800 fits"),
        ({"approximation": "exact"}, "approximation='exact' needs 1.96 GB"),
    ],
)
@pytest.mark.parametrize("front_door", [KernelRegressor, KernelClassifier])
def test_front_doors_refuse_at_once(asked, message, front_door):
    X, y = data(7000)
    y = y > 0 if front_door is KernelClassifier else y
    with mercer.config(memory="1GB"):
        for rows in (X, [(X, y)] if "n_components" in asked else X):
            start = time.perf_counter()
            with pytest.raises(MemoryError, match=message):
                front_door(**asked).fit(rows, None if isinstance(rows, list) else y)
            assert time.perf_counter() - start < 5


def test_wrong_arguments_are_refused_with_the_way_out():
    stream = iter([(np.eye(3), np.ones(3))])
    for arguments, message in (
        (((0, 3),), "at least one row"),
        (((5, 3), 7), "a kernel or its name, got 7"),
        (((5, 3), RandomFourier(), 0), "positive integer"),
        (((5, 3), KernelRidge(), 10), "leave it out"),
        (((5, 3), RandomFourier(n_components="auto")), "found while the machine learns"),
        ((stream,), "does not know how many rows"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            mercer.plan(*arguments)
    with pytest.raises(ValueError, match="n_targets"):
        mercer.plan((5, 3), n_targets=0)


def test_rates_are_measured_once_and_positive():
    rates = machine_rates()
    assert all(rate > 1e7 for rate in rates.values())
    assert machine_rates() is rates


def test_spare_memory_does_not_count_against_the_budget():
    step = PlannedStep("iterate", 1.0, 10**9, spare=9 * 10**8)
    assert Plan("fit", 10, 2, (step,), 2 * 10**8).fits
    assert not Plan("fit", 10, 2, (step,), 5 * 10**7).fits


def test_a_plan_asks_the_encoder_that_was_given_how_wide_rows_are():
    frame = pd.DataFrame({"a": np.arange(200.0), "b": list("uvwx") * 50})
    columns = make_column_transformer((OneHotEncoder(), ["b"]), sparse_threshold=1)
    found = mercer.plan(frame, KernelRegressor("gaussian", n_components=64, encoder=columns))
    assert (found.n_rows, found.n_columns, found.n_encoded) == (200, 2, 4)
    assert "200 rows, 2 columns; 4 columns once encoded" in str(found)
    assert "encoded" not in str(mercer.plan((200, 2), KernelRegressor("gaussian")))


def test_names_of_files_are_no_rows():
    for name in ("houses.csv", Path("houses.csv")):
        with pytest.raises(
            TypeError, match=r"give a mercer\.io\.TableStream\('houses\.csv', target"
        ):
            mercer.plan(name)
        for machine in (KernelRegressor(), FeatureRidge()):
            with pytest.raises(TypeError, match=r"X is 'houses\.csv', and not rows"):
                machine.fit(name, np.ones(3))
