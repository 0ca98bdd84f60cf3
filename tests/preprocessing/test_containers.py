"""The same row gets the same encoding, whichever container it comes in."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import KernelRegressor, TableEncoder

CONTAINERS = {
    "dense": np.asarray,
    "CSR": scipy.sparse.csr_array,
    "CSC matrix": scipy.sparse.csc_matrix,
    "frame": lambda X: pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]),
    "objects": lambda X: X.astype(object),
}
SPARSE = ("CSR", "CSC matrix")


def rows_of(encoder, X, name):
    encoded = encoder.transform(CONTAINERS[name](X))
    return encoded.toarray() if scipy.sparse.issparse(encoded) else encoded


@pytest.mark.filterwarnings("ignore:X has feature names")
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("fitted", CONTAINERS)
@settings(max_examples=15, deadline=None)
@given(
    st.sampled_from(["each", "common"]),
    st.sampled_from([None, 3.0]),
    st.sampled_from([None, 2.0]),
    st.integers(0, 10**6),
)
def test_the_container_of_fit_decides_and_that_of_transform_does_not(
    fitted, scaling, limit, constant, seed
):
    generator = np.random.default_rng(seed)
    X = generator.normal(2.0, 1.0, (30, 5)) * (generator.random((30, 5)) < 0.6)
    X[:, 3] = 7.0
    X[:, 4] = generator.random(30) < 0.5
    encoder = TableEncoder(scaling, limit=limit, constant=constant).fit(CONTAINERS[fitted](X))
    assert encoder.centered_ == (fitted not in SPARSE)
    queries = np.vstack([X[:4], 100.0 * X[:4], np.zeros((1, 5))])
    expected = rows_of(encoder, queries, "dense")
    for name in CONTAINERS:
        assert rows_of(encoder, queries, name) == pytest.approx(expected, abs=1e-12), name
    zeros = expected[-1, : len(encoder.mean_)]
    center = encoder.mean_ if encoder.centered_ else 0.0 * encoder.mean_
    plain = (np.delete(queries, 3, axis=1) - center) / encoder.scale_
    if limit is None or not encoder.centered_:
        assert expected[:, : len(center)] == pytest.approx(plain, abs=1e-12)
    assert np.array_equal(zeros == 0, center == 0)


def test_only_csr_rows_of_an_encoder_fitted_on_csr_stay_sparse():
    X = scipy.sparse.random_array((30, 4), density=0.4, random_state=0, format="csr")
    sparse, dense = TableEncoder().fit(X), TableEncoder().fit(X.toarray())
    assert scipy.sparse.issparse(sparse.transform(X))
    assert not scipy.sparse.issparse(sparse.transform(X.toarray()))
    assert not scipy.sparse.issparse(dense.transform(X))


def test_the_first_block_decides():
    X = np.random.default_rng(0).normal(3.0, 1.0, (20, 2))
    csr = scipy.sparse.csr_array(X)
    assert TableEncoder().partial_fit(X).partial_fit(csr).centered_
    mixed = TableEncoder().partial_fit(csr).partial_fit(X)
    assert not mixed.centered_
    assert np.array_equal(mixed.transform(X), mixed.transform(csr).toarray())
    assert mixed.transform(X) == pytest.approx(X / X.std(axis=0))


def test_missing_values_are_the_same_in_every_container():
    X = np.random.default_rng(0).normal(3.0, 1.0, (20, 2))
    gappy = X.copy()
    gappy[4, 1] = np.nan
    for first in (X, scipy.sparse.csr_array(X)):
        encoder = TableEncoder(constant=1.5).partial_fit(first).partial_fit(gappy)
        dense, csr = rows_of(encoder, gappy, "dense"), rows_of(encoder, gappy, "CSR")
        assert csr == pytest.approx(dense, abs=1e-12)
        mean = (np.nanmean(np.concatenate([X, gappy])[:, 1]) - 0.0) / encoder.scale_[1]
        assert dense[4, 1] == pytest.approx(0.0 if encoder.centered_ else mean)
        assert dense[4, 2] == 1.0
        assert dense[:, 2].sum() == 1.0
        for name in ("dense", "CSR"):
            with pytest.raises(ValueError, match="infinity in column 1"):
                rows_of(encoder, np.asarray([[0.0, np.inf]]), name)


def test_a_table_with_categories_can_be_asked_with_csr():
    frame = pd.DataFrame({"x": [0.0, 1.0, 5.0], "kind": [0, 1, 2]}).astype({"kind": "category"})
    encoder = TableEncoder().fit(frame)
    with pytest.warns(UserWarning, match="valid feature names"):
        rows = encoder.transform(scipy.sparse.csr_array([[1.0, 2.0]]))
    assert rows[0, 1:].tolist() == [0, 0, 1]


def test_the_front_door_answers_dense_and_sparse_rows_alike():
    generator = np.random.default_rng(0)
    X = generator.uniform(2.0, 5.0, (200, 3)) * (generator.random((200, 3)) < 0.7)
    y = X[:, 0] + np.sin(X[:, 1])
    csr = scipy.sparse.csr_array(X)
    for rows in (X, csr):
        model = KernelRegressor("gaussian").fit(rows, y)
        assert model.score(X, y) > 0.9
        assert model.score(csr, y) == pytest.approx(model.score(X, y), abs=1e-6)
