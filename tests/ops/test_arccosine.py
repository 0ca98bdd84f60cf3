"""Tests of the compiled arc-cosine features against their twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.ops import arccosine


def in_place(function, P, width, start):
    """Call ``function(P, out)`` with ``P`` lying in ``out`` from column ``start`` on."""
    out = np.full((P.shape[0], width), np.nan)
    target = out[:, start : start + P.shape[1]]
    target[...] = P
    return function(target, out)


@given(st.integers(1, 4), st.integers(1, 9), st.integers(0, 1), st.integers(0, 1000))
def test_compiled_maps_equal_their_twins(n, size, order, seed):
    generator = np.random.default_rng(seed)
    X, P = generator.standard_normal((n, 3)), generator.standard_normal((n, size))
    P[0, 0] = 0.0
    norms = np.linalg.norm(X, axis=1)
    actual = in_place(lambda P, out: arccosine.plain(P, order, np, out), P, size, 0)
    assert actual == pytest.approx(arccosine.plain(P, order, np), abs=1e-15)
    for m in (2 * size, 2 * size - 1):
        actual = in_place(lambda P, out, m=m: arccosine.antithetic(P, order, m, np, out), P, m, 0)
        assert actual == pytest.approx(arccosine.antithetic(P, order, m, np), abs=1e-15)
    deflated = arccosine.deflated_relu if order else arccosine.deflated_step
    actual = in_place(lambda P, out: deflated(X, norms, P, 0.8, np, out), P, size + 4, 4)
    assert actual == pytest.approx(deflated(X, norms, P, 0.8, np), abs=1e-15)


def test_mean_projection_is_the_mean():
    generator = np.random.default_rng(0)
    for d in (1, 2, 3, 10):
        w = generator.standard_normal((200_000, d))
        w *= np.sqrt(d) / np.linalg.norm(w, axis=1, keepdims=True)
        sample = abs(w[:, 0])
        error = sample.std() / len(sample) ** 0.5
        assert abs(sample.mean() - arccosine.mean_projection(d)) <= 5 * error + 1e-12
    assert arccosine.mean_projection(10**6) == pytest.approx(arccosine.mean_projection(None), 1e-6)
