"""What the front door says of its choices, and what it does with unusual rows."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import mercer
from mercer import Gaussian, KernelClassifier, KernelRegressor, Laplace, RandomFourier
from mercer.io import TableStream
from mercer.machines.auto import pilot
from mercer.solvers.cost import EXACT_ROWS


def waves(n, d=3, seed=0, noise=0.0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, d))
    return X, np.sin(2 * X[:, 0]) * X[:, 1] + noise * rng.standard_normal(n)


def test_rows_are_predicted_alike_from_dense_and_sparse():
    X, y = waves(300)
    X = np.where(abs(X) < 0.7, 0.0, X + 5)
    sparse = scipy.sparse.csr_array(X)
    for fitted, asked in ((X, sparse), (sparse, X)):
        model = KernelRegressor(Gaussian(1.0)).fit(fitted, y)
        assert model.predict(asked) == pytest.approx(model.predict(fitted), abs=1e-8)


def test_the_pilot_has_no_more_features_than_were_asked_for(monkeypatch):
    sizes = set()
    features_for = pilot.features_for

    def watched(kernel, n_components, seed):
        sizes.add(n_components)
        return features_for(kernel, n_components, seed)

    monkeypatch.setattr(pilot, "features_for", watched)
    X, y = waves(3000)
    model = KernelRegressor("gaussian", n_components=128).fit(X, y)
    assert sizes == {128}
    assert model.report_.score > 0.99


def test_features_far_from_their_kernel_are_warned_of():
    X, y = waves(300, d=8)
    with pytest.warns(UserWarning, match=r"16 features has a relative error of \d+%"):
        model = KernelRegressor(Gaussian(0.3), n_components=16).fit(X, y)
    assert model.report_.approximation_error > 0.3


def test_nothing_is_called_asked_for_that_was_not():
    X, y = waves(8)
    report = KernelRegressor().fit(X, y).report_
    assert "too few rows" in report.kernel_reason
    assert "as you asked for" not in str(report)
    asked = KernelRegressor(Gaussian(1.0), alpha=0.1, approximation="exact").fit(X, y).report_
    assert str(asked).count("as you asked for") == 3


def test_the_report_reads_well_wherever_it_is_shown():
    X, y = waves(100)
    report = KernelRegressor("rbf").fit(X, y).report_
    assert repr(report) == f"FitReport\n{report}"
    assert "score     R2" in repr(report)


def test_rbf_is_scikit_learn_s_name_of_the_gaussian_kernel():
    X, y = waves(100)
    assert isinstance(KernelRegressor("rbf").fit(X, y).kernel_, Gaussian)


def test_rows_that_repeat_are_told_of():
    X, y = waves(400, noise=1.0)
    plain = KernelRegressor(Laplace(1.0)).fit(X, y).report_
    assert plain.repeated_rows == 0
    twice = KernelRegressor(Laplace(1.0)).fit(np.tile(X, (2, 1)), np.tile(y, 2)).report_
    assert twice.repeated_rows == 1.0
    assert "100% of the rows occur more than once" in str(twice)
    gaps = np.where(np.arange(400)[:, None] % 2, X, np.nan)
    missing = KernelRegressor(Laplace(1.0)).fit(np.tile(gaps, (2, 1)), np.tile(y, 2)).report_
    assert missing.repeated_rows == 1.0
    # One row that is there 600 times in 20,000 is not a table that repeats.
    X, y = waves(20_000, noise=1.0)
    X[:600], y[:600] = X[0], y[0]
    assert KernelRegressor(Gaussian(2.0), n_components=100).fit(X, y).report_.repeated_rows == 0


def test_large_distinct_integers_are_not_constant():
    X, y = waves(200)
    numbers = 10**15 + np.argsort(np.argsort(X[:, 0]))
    frame = pd.DataFrame({"id": numbers, "x": X[:, 1]})
    model = KernelRegressor("gaussian").fit(frame, y)
    assert "constant" not in model.report_.encoding


@pytest.mark.parametrize("maker", [KernelRegressor, KernelClassifier])
def test_tables_on_disk_are_predicted_and_scored(tmp_path, maker):
    X, y = waves(500)
    frame = pd.DataFrame(X, columns=list("abc"))
    frame["kind"] = np.where(X[:, 0] > 0, "up", "down")
    frame["y"] = y if maker is KernelRegressor else np.where(y > 0, "plus", "minus")
    frame.to_parquet(tmp_path / "rows.parquet")
    stream = TableStream(tmp_path / "rows.parquet", target="y", block_rows=120)
    unlabelled = TableStream(
        tmp_path / "rows.parquet", target=None, columns=["a", "b", "c", "kind"], block_rows=90
    )
    model = maker(Gaussian(1.0)).fit(stream)
    rows = frame.drop(columns="y")
    for source in (stream, unlabelled):
        found, expected = model.predict(source), model.predict(rows)
        if maker is KernelRegressor:
            # Other blocks are rounded otherwise, which the smallest alpha magnifies.
            assert found == pytest.approx(expected, abs=1e-8)
        else:
            assert np.array_equal(found, expected)
    assert model.score(stream) == pytest.approx(model.score(rows, frame["y"]), rel=1e-12)
    with pytest.raises(ValueError, match="score needs targets"):
        model.score(unlabelled)
    with pytest.raises(ValueError, match="y must be None"):
        model.score(stream, frame["y"])


def test_streams_of_arrays_are_predicted_and_scored():
    X, y = waves(300)
    features = RandomFourier(Gaussian(1.0), n_components=100, random_state=0)
    for model in (
        mercer.FeatureRidge(features),
        mercer.KernelRidge(Gaussian(1.0)),
        mercer.IRKMRegressor(n_iterations=1, random_state=0),
    ):
        model.fit(X, y)
        blocks = [(X[k : k + 100], y[k : k + 100]) for k in range(0, 300, 100)]
        mean, std = model.predict(iter(blocks), return_std=True)
        expected = model.predict(X, return_std=True)
        assert mean == pytest.approx(expected[0], rel=1e-9, abs=1e-12)
        assert std == pytest.approx(expected[1], rel=1e-6)
        assert model.score(blocks) == pytest.approx(model.score(X, y))


def test_stages_of_a_fit_are_told(capsys):
    X, y = waves(300)
    heard = []
    with mercer.config(progress=lambda done, total, label: heard.append(label)):
        KernelRegressor("gaussian").fit(X, y)
    for stage in ("columns (1/3)", "search (2/3)", "solve (3/3)"):
        assert f"KernelRegressor: {stage}" in heard
    assert not capsys.readouterr().err
    KernelRegressor("gaussian", verbose=1).fit(X, y)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split()[1] for line in lines] == ["columns", "search", "solve"]
    assert "Gaussian(lengthscale=" in lines[1]


def test_the_default_rows_of_an_exact_kernel_are_derived_from_its_cost():
    X, y = waves(EXACT_ROWS + 1)
    with mercer.config(memory="10GB"):
        few = KernelRegressor(Gaussian(1.0)).fit(X[:2100], y[:2100])
        many = KernelRegressor(Gaussian(1.0)).fit(X, y)
    assert (few.report_.method, many.report_.method) == ("exact", "features")


def test_unseen_categories_do_not_end_a_cross_validation():
    from sklearn.model_selection import cross_val_score

    X, y = waves(60)
    frame = pd.DataFrame({"x": X[:, 0], "kind": ["rare", *["common", "usual"] * 29, "usual"]})
    with pytest.warns(UserWarning, match="'rare'"):
        scores = cross_val_score(KernelRegressor(Gaussian(1.0)), frame, y, cv=3)
    assert np.isfinite(scores).all()


def test_error_bars_of_feature_learners_cover_new_rows():
    X, y = waves(1500, noise=0.3)
    for model in (
        mercer.IRKMRegressor(n_iterations=2, random_state=0),
        mercer.RFMRegressor(n_iterations=2, random_state=0),
        mercer.IRKMRegressor(Gaussian(1.5), solver="features", n_components=300, n_iterations=2),
        mercer.IRKMRegressor(solver="nystrom", n_components=300, n_iterations=2),
    ):
        model.set_params(random_state=0).fit(X[:500], y[:500])
        mean, std = model.predict(X[500:], return_std=True)
        covered = np.mean(abs(mean - y[500:]) < 1.96 * std)
        assert 0.9 < covered < 0.99, model
