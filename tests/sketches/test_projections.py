"""Tests of projections against the matrices they stand for."""

import numpy as np
import pytest
import scipy.sparse

from mercer._random import Stream
from mercer.ops.hadamard import padded_length
from mercer.sketches import DenseProjection, FastfoodProjection, HadamardProjection
from oracles import hadamard

STRUCTURED = [(HadamardProjection, 40, 150), (HadamardProjection, 64, 64)]
STRUCTURED += [(FastfoodProjection, d, size) for d, size in ((1, 3), (5, 20), (8, 8), (40, 150))]


def matrix_of(projection):
    """Return the matrix of a structured projection from its parts, as the papers write it."""
    p = projection.length
    H = hadamard(p)
    blocks = []
    for b in range(len(projection._signs)):
        if isinstance(projection, HadamardProjection):
            block = np.eye(p)
            for signs in projection._signs[b]:
                block = block @ np.diag(signs) @ H
        else:
            permute = np.eye(p)[:, projection._permutations[b]]
            gaussian = np.diag(projection._gaussians[b])
            block = np.diag(projection._signs[b]) @ H @ permute @ gaussian @ H
        blocks.append(block)
    columns = np.concatenate(blocks, axis=1)[: projection.n_features, : projection.size]
    return columns * projection._scales


@pytest.mark.parametrize(("kind", "d", "size"), STRUCTURED)
def test_structured_projections_are_their_matrices(kind, d, size):
    radii = np.linspace(1, 2, size)
    projection = kind(Stream(0), d, size, radii)
    W = matrix_of(projection)
    X = np.random.default_rng(0).standard_normal((6, d))
    assert projection.matrix == pytest.approx(W, abs=1e-12)
    assert projection.project(X, np) == pytest.approx(X @ W, abs=1e-11)
    out = np.empty((6, size + 3))
    result = projection.project(X, np, out[:, 2:-1])
    assert result == pytest.approx(X @ W, abs=1e-11)
    assert np.shares_memory(result, out)
    if d == padded_length(d):
        assert np.linalg.norm(W, axis=0) == pytest.approx(radii)


@pytest.mark.parametrize("kind", [HadamardProjection, FastfoodProjection])
def test_structured_projections_are_nested(kind):
    many = kind(Stream(2), 64, 200, np.ones(200)).matrix
    few = kind(Stream(2), 64, 70, np.ones(70)).matrix
    assert few == pytest.approx(many[:, :70])


def test_hadamard_directions_refuse_narrow_rows():
    with pytest.raises(ValueError, match="biased for 32 columns"):
        HadamardProjection(Stream(0), 32, 8, np.ones(8))


def test_dense_projection_multiplies_dense_and_sparse_rows():
    W = np.random.default_rng(0).standard_normal((50, 7))
    projection = DenseProjection(W)
    X = np.zeros((5, 50))
    X[:, 3] = 2.0
    assert projection.project(X, np) == pytest.approx(X @ W)
    assert projection.project(scipy.sparse.csr_array(X), np) == pytest.approx(X @ W)
    single = projection.project(X.astype(np.float32), np)
    assert single.dtype == np.float32
    with pytest.raises(ValueError, match="read-only"):
        projection.matrix[0, 0] = 1.0
