"""Tests of kernel principal components: exactness, one pass, merging, the way back."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.decomposition import PCA
from sklearn.decomposition import KernelPCA as ExactKernelPCA
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import FeatureMap, Gaussian, KernelPCA, Polynomial, RandomFourier


class Identity(FeatureMap):
    """The rows as they are: exact for the linear kernel."""

    def _kernel(self):
        return Polynomial(degree=1, coef0=0.0)

    def _draw(self, stream, n_features_in):
        return {}

    def _map(self, X, xp, out=None):
        return X


def rows(n=300, d=5, seed=0, shift=0.0):
    generator = np.random.default_rng(seed)
    return generator.standard_normal((n, d)) * np.linspace(2, 0.5, d) + shift


def features(m=60, lengthscale=2.0):
    return RandomFourier(Gaussian(lengthscale), n_components=m, random_state=0)


def assert_same_up_to_sign(found, expected, tolerance):
    signs = np.sign((found * expected).sum(axis=0))
    assert np.abs(found * signs - expected).max() <= tolerance


@pytest.mark.filterwarnings("ignore:The features learn from data")
@parametrize_with_checks(
    [KernelPCA(), KernelPCA(features(40)), KernelPCA(features(40), fit_inverse_transform=True)]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("shift", [0.0, 100.0])
def test_linear_kernel_gives_plain_principal_components(shift):
    X = rows(shift=shift)
    model = KernelPCA(Identity(), n_components=5).fit(X)
    expected = PCA(5, svd_solver="full").fit(X)
    assert_same_up_to_sign(model.transform(X), expected.transform(X), 1e-9)
    assert_same_up_to_sign(model.components_.T, expected.components_.T, 1e-9)
    assert model.explained_variance_ == pytest.approx(expected.explained_variance_, abs=1e-9)
    assert model.explained_variance_ratio_ == pytest.approx(
        expected.explained_variance_ratio_, abs=1e-9
    )
    assert model.mean_ == pytest.approx(expected.mean_, abs=1e-9)
    assert model.n_samples_seen_ == 300


def test_all_landmarks_give_the_scores_of_the_exact_kernel():
    X = rows(120)
    exact = ExactKernelPCA(6, kernel="rbf", gamma=0.1).fit(X)
    landmarks = Nystroem(kernel="rbf", gamma=0.1, n_components=120, random_state=0)
    model = KernelPCA(landmarks, n_components=6).fit(X)
    new = rows(50, seed=1)
    assert_same_up_to_sign(model.transform(X), exact.transform(X), 1e-6)
    assert_same_up_to_sign(model.transform(new), exact.transform(new), 1e-6)
    assert model.explained_variance_ == pytest.approx(exact.eigenvalues_ / 119, abs=1e-9)


def test_random_features_approach_the_exact_kernel():
    X = rows(400, 3)
    exact = ExactKernelPCA(3, kernel="rbf", gamma=1 / 8).fit(X)
    errors = []
    for m in (50, 1500):
        model = KernelPCA(features(m), n_components=3).fit(X)
        errors.append(np.abs(model.explained_variance_ * 399 / exact.eigenvalues_ - 1).max())
    assert errors[1] < 0.03 < errors[0]


def test_blocks_in_any_order_and_merged_parts_equal_fit():
    X = rows(400)
    new = rows(30, seed=1)

    def machine():
        return KernelPCA(features(), n_components=4, fit_inverse_transform=True)

    whole = machine().fit(X)
    blocks = np.array_split(np.random.default_rng(0).permutation(400), 7)
    streamed = machine()
    for part in blocks:
        streamed.partial_fit(X[part])
    stream = machine().fit(X[part] for part in blocks)
    listed = machine().fit([(X[part], None) for part in blocks])
    merged = machine().fit(X[blocks[0]])
    for part in blocks[1:]:
        merged.merge(machine().fit(X[part]))
    for model in (streamed, stream, listed, merged):
        assert model.n_samples_seen_ == 400
        assert model.components_ == pytest.approx(whole.components_, abs=1e-10)
        assert model.explained_variance_ == pytest.approx(whole.explained_variance_, abs=1e-10)
        scores = model.transform(new)
        assert scores == pytest.approx(whole.transform(new), abs=1e-10)
        assert model.inverse_transform(scores) == pytest.approx(
            whole.inverse_transform(whole.transform(new)), abs=1e-10
        )


def test_adding_does_not_solve(monkeypatch):
    import mercer.machines.pca_state as module

    calls, solve = [], module.solved
    monkeypatch.setattr(module, "solved", lambda *a: calls.append(1) or solve(*a))
    X = rows()
    model = KernelPCA(features())
    for part in np.array_split(X, 5):
        model.partial_fit(part)
    assert calls == []
    model.transform(X)
    model.explained_variance_ratio_  # noqa: B018
    assert calls == [1]
    model.merge(KernelPCA(features()).partial_fit(X))
    assert calls == [1]
    assert model.components_.shape == (2, 60)
    assert calls == [1, 1]


def test_the_number_of_components_can_be_changed_after_the_pass():
    X = rows()
    model = KernelPCA(features(), n_components=2).fit(X)
    model.set_params(n_components=5)
    expected = KernelPCA(features(), n_components=5).fit(X)
    assert np.array_equal(model.components_, expected.components_)


def test_components_are_orthonormal_and_their_largest_entry_is_positive():
    model = KernelPCA(features(), n_components=8).fit(rows())
    V = model.components_
    assert pytest.approx(np.eye(8), abs=1e-12) == V @ V.T
    assert (V[np.arange(8), np.abs(V).argmax(axis=1)] > 0).all()
    assert (np.diff(model.explained_variance_) <= 0).all()


def test_scores_have_the_stated_variances():
    X = rows()
    model = KernelPCA(features(), n_components=4)
    scores = model.fit_transform(X)
    covariance = np.cov(scores.T)
    assert covariance == pytest.approx(np.diag(model.explained_variance_), abs=1e-12)
    total = model.features_.transform(X).var(axis=0, ddof=1).sum()
    ratio = model.explained_variance_ / total
    assert model.explained_variance_ratio_ == pytest.approx(ratio, rel=1e-10)


@pytest.mark.parametrize("alpha", [1e-3, 10.0])
def test_the_way_back_is_kernel_ridge_regression_on_the_leading_components(alpha):
    X = rows()
    model = KernelPCA(features(), 6, alpha=alpha, fit_inverse_transform=True).fit(X)
    scores, new = model.transform(X), model.transform(rows(20, seed=1))
    # Scores are centred, as the rows must be.
    dual = KernelRidge(kernel="linear", alpha=alpha).fit(scores, X - X.mean(axis=0))
    assert model.inverse_transform(new) == pytest.approx(dual.predict(new) + X.mean(axis=0))


def test_all_linear_components_lead_back_to_the_rows():
    X = rows(shift=3.0)
    model = KernelPCA(Identity(), 5, alpha=1e-9, fit_inverse_transform=True).fit(X)
    assert model.inverse_transform(model.transform(X)) == pytest.approx(X, abs=1e-8)
    with pytest.raises(ValueError, match="expects the scores of 5 components"):
        model.inverse_transform(X[:, :3])
    with pytest.raises(ValueError, match="NaN"):
        model.inverse_transform(np.full((2, 5), np.nan))
    without = KernelPCA(Identity()).fit(X)
    with pytest.raises(AttributeError, match="no attribute 'inverse_transform'"):
        without.inverse_transform(X[:, :2])
    with pytest.raises(ValueError, match="while rows are learnt"):
        without.set_params(fit_inverse_transform=True).inverse_transform(X[:, :2])


def test_float32_rows_give_float32_scores():
    X = rows()
    double = KernelPCA(features(), 3, fit_inverse_transform=True).fit(X)
    single = KernelPCA(features(), 3, fit_inverse_transform=True).fit(X.astype(np.float32))
    scores = single.transform(X.astype(np.float32))
    assert scores.dtype == single.inverse_transform(scores).dtype == np.float32
    assert scores == pytest.approx(double.transform(X), abs=1e-4)


def test_the_input_is_not_modified_by_features_that_hand_it_out():
    class View(Nystroem):
        def fit(self, X, y=None):
            return self

        def transform(self, X):
            return X

    X = rows()
    before = X.copy()
    model = KernelPCA(View(), 2).fit(X)
    model.transform(X)
    assert np.array_equal(X, before)


def test_sparse_rows_and_frames():
    X = np.where(np.abs(rows()) > 1, rows(), 0)
    expected = KernelPCA(features()).fit(X)
    sparse = scipy.sparse.csr_array(X)
    assert KernelPCA(features()).fit_transform(sparse) == pytest.approx(expected.transform(X))
    with pytest.raises(ValueError, match="does not take sparse rows"):
        KernelPCA(features(), fit_inverse_transform=True).fit(sparse)
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = KernelPCA(features(), fit_inverse_transform=True).fit(frame)
    assert list(model.feature_names_in_) == list("abcde")
    assert model.set_output(transform="pandas").transform(frame).columns.tolist() == [
        "kernelpca0", "kernelpca1",
    ]  # fmt: skip


def test_merging_needs_the_same_features_of_two_fitted_machines():
    X = rows()
    model = KernelPCA(features()).fit(X)
    before = model.components_
    with pytest.raises(ValueError, match="different features"):
        model.merge(KernelPCA(features(lengthscale=1.0)).fit(X))
    with pytest.raises(ValueError, match="different features"):
        model.merge(KernelPCA(features(40)).fit(X))
    with pytest.raises(ValueError, match="the other machine is not fitted"):
        model.merge(KernelPCA(features()))
    with pytest.raises(ValueError, match="fit_inverse_transform"):
        model.merge(KernelPCA(features(), fit_inverse_transform=True).fit(X))
    with pytest.raises(ValueError, match="must be of one class"):
        model.merge(PCA())
    assert np.array_equal(model.components_, before)


def test_refusals_say_what_is_wrong():
    X = rows()
    with pytest.raises(ValueError, match="n_components=5 must be at most"):
        KernelPCA(features(), n_components=5).fit(X[:4])
    with pytest.raises(ValueError, match="60 features"):
        KernelPCA(features(), n_components=61).fit(X)
    with pytest.raises(NotFittedError):
        KernelPCA().transform(X)
    model = KernelPCA(features()).fit(X)
    before = model.components_
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(np.full((2, 5), np.nan))
    with pytest.raises(ValueError, match="3 features"):
        model.transform(X[:, :3])
    assert model.n_samples_seen_ == 300
    assert np.array_equal(model.components_, before)
    with pytest.warns(UserWarning, match="first block only"):
        KernelPCA().partial_fit(X)


def test_constant_rows_explain_nothing():
    model = KernelPCA(features()).fit(np.ones((10, 3)))
    assert model.explained_variance_ == pytest.approx(0, abs=1e-12)
    assert np.isfinite(model.explained_variance_ratio_).all()
    assert model.transform(np.ones((2, 3))) == pytest.approx(0, abs=1e-7)


@pytest.mark.parametrize("compact", [False, True])
def test_model_files_and_pickles_keep_scores(tmp_path, compact):
    X = rows()
    model = KernelPCA(features(), 3, fit_inverse_transform=True).fit(X)
    mercer.save(model, tmp_path / "model.mercer", compact=compact)
    scores = model.transform(X)
    for loaded in (mercer.load(tmp_path / "model.mercer"), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(loaded.transform(X), scores)
        assert np.array_equal(loaded.inverse_transform(scores), model.inverse_transform(scores))
    loaded = mercer.load(tmp_path / "model.mercer")
    if compact:
        with pytest.raises(ValueError, match="saved without"):
            loaded.partial_fit(X)
        with pytest.raises(ValueError, match="saved without"):
            loaded.set_params(n_components=4).transform(X)
    else:
        both = model.partial_fit(X).components_
        assert loaded.partial_fit(X).components_ == pytest.approx(both, abs=1e-12)


def test_weights_of_a_stream_are_refused():
    X = np.random.default_rng(0).standard_normal((40, 3))
    stream = [(X[:20], None, np.ones(20)), (X[20:], None, np.full(20, 0.5))]
    with pytest.raises(ValueError, match="counts every row once"):
        KernelPCA(RandomFourier(n_components=20), n_components=2).fit(stream)
