"""Tests of the measured approximation error."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError

import mercer


def test_error_is_measured_on_the_rows_it_says():
    X = np.random.default_rng(0).standard_normal((50, 4))
    features = mercer.RandomFourier(n_components=64, random_state=0).fit(X)
    error = mercer.approximation_error(features, X)
    Z, K = features.transform(X), features.kernel_(X)
    assert error.relative == pytest.approx(np.linalg.norm(Z @ Z.T - K) / np.linalg.norm(K))
    assert error.largest == pytest.approx(abs(Z @ Z.T - K).max())
    assert error.n_rows == 50
    assert str(error) == f"relative error {error.relative:.3g}, largest difference " + (
        f"{error.largest:.3g} (50 rows)"
    )


def test_a_sample_of_rows_is_enough_and_reproducible():
    X = np.random.default_rng(0).standard_normal((2000, 4))
    features = mercer.RandomFourier(n_components=64, random_state=0).fit(X)
    error = mercer.approximation_error(features, X, n_rows=100)
    assert error.n_rows == 100
    assert error == mercer.approximation_error(features, X, n_rows=100)
    assert error != mercer.approximation_error(features, X, n_rows=100, random_state=1)
    sparse = mercer.approximation_error(features, scipy.sparse.csr_array(X), n_rows=100)
    assert sparse.relative == pytest.approx(error.relative)


def test_an_unfitted_map_is_refused():
    with pytest.raises(NotFittedError):
        mercer.approximation_error(mercer.RandomFourier(), np.zeros((3, 2)))


def test_data_frames_go_in_and_frames_as_output_do_not_matter():
    import pandas

    X = np.random.default_rng(0).standard_normal((50, 3))
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    features = mercer.RandomFourier(n_components=16, random_state=0).set_output(transform="pandas")
    expected = mercer.approximation_error(
        mercer.RandomFourier(n_components=16, random_state=0).fit(X), X
    )
    found = mercer.approximation_error(features.fit(frame), frame)
    # A frame is laid out by columns: products may differ in the last digit.
    assert found.relative == pytest.approx(expected.relative, rel=1e-12)
    assert found.n_rows == expected.n_rows
    assert mercer.approximation_error(features, frame, n_rows=20, random_state=None).n_rows == 20


def test_bad_arguments_and_zero_rows():
    X = np.zeros((5, 3))
    features = mercer.ArcCosineFeatures(n_components=16).fit(X)
    assert mercer.approximation_error(features, X).relative == 0.0
    for wrong in (0, -1, 2.5, True):
        with pytest.raises(ValueError, match="n_rows"):
            mercer.approximation_error(features, X, n_rows=wrong)
