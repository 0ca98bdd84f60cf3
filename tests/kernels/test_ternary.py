"""The kernel of ternary features against 20-digit integrals, its Hermite series, and draws."""

import math
from functools import cache

import mpmath
import numpy as np
import pytest
from scipy.special import ndtr

import oracles
from mercer import ArcCosine, Ternary, config
from mercer.kernels import kernel_moments
from mercer.ops.ternary_thresholds import TernaryActivation, matched_activation

KERNELS = [
    Ternary(),
    Ternary(lower=0.5, upper=1.4, scale=1.7),
    Ternary(lower=-2.1, upper=-0.3),
    Ternary(lower=0.0, upper=0.9),
    Ternary(lower=0.8, upper=0.8),
    Ternary(lower=0.0, upper=0.0),
    Ternary(lower=-1.1, upper=1.1, even=True),
    Ternary(lower=-0.2, upper=1.6, scale=0.3, even=True),
    Ternary(lower=0.3, upper=0.4, even=True),
]


@cache
def both_above(u, v, angle):
    """Return P(z > u, z' > v) by an integral over z, in 20 digits."""
    cosine, sine = mpmath.cos(angle), mpmath.sin(angle)
    if abs(sine) < 1e-25:
        if cosine > 0:
            return mpmath.ncdf(-max(u, v))
        return max(mpmath.mpf(0), mpmath.ncdf(-u) - mpmath.ncdf(v))
    # The integrand rises within a few sines of where the line of z' = v is crossed.
    crossing = v / cosine if abs(cosine) > 1e-3 else mpmath.mpf(0)
    steps = [s * 3**k * sine for s in (-1, 1) for k in (0, 1, 2, 4)]
    places = sorted({u, *(min(max(crossing + s, u), 9) for s in steps), max(u, 0), 9})
    return mpmath.quad(
        lambda z: mpmath.npdf(z) * mpmath.ncdf((cosine * z - v) / sine), places, maxdegree=5
    )


def expected_product(kernel, x, y):
    """Return the kernel of two rows by probabilities of quadrants."""
    with mpmath.workdps(20):
        with mpmath.workdps(50):
            angle = oracles.angle(x, y)
            opposite = mpmath.pi - angle
        nx, ny = (mpmath.norm([mpmath.mpf(float(a)) for a in v]) for v in (x, y))
        lower, upper = mpmath.mpf(kernel.lower), mpmath.mpf(kernel.upper)
        ups, lows = (upper / nx, upper / ny), (lower / nx, lower / ny)
        same = both_above(ups[0], ups[1], angle) + both_above(-lows[0], -lows[1], angle)
        crossed = both_above(ups[0], -lows[1], opposite) + both_above(-lows[0], ups[1], opposite)
        return float(kernel.scale**2 * (same + crossed if kernel.even else same - crossed))


def pairs():
    """Return rows at ordinary angles, almost parallel, almost opposite, and of other norms."""
    generator = np.random.default_rng(0)
    x = generator.standard_normal(4)
    other = generator.standard_normal(4)
    rows = [other, x, -x, 1.7 * x, -0.4 * x, (1 + 1e-9) * x]
    rows += [x + size * other for size in (1e-12, 1e-6, 1e-3, 0.1)]
    rows += [-x + size * other for size in (1e-7, 1e-2)]
    rows += [(1 + 1e-5) * x + 1e-5 * other, 40 * x + other, 0.05 * other]
    return x, np.asarray(rows)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_kernel_equals_its_oracle_at_all_angles(kernel):
    x, rows = pairs()
    expected = [expected_product(kernel, x, y) for y in rows]
    found = kernel(x[None, :], rows)[0]
    assert np.max(abs(found - expected)) <= 1e-14 * kernel.scale**2


def series(kernel, x, y, terms=80):
    """Return the kernel by the Hermite coefficients of its features."""
    sign = -1 if kernel.even else 1

    def coefficients(row):
        norm = np.linalg.norm(row)
        high, low = kernel.upper / norm, kernel.lower / norm
        found = [ndtr(-high) - sign * ndtr(low)]
        hermite = {}
        for u in (high, low):
            values = [1.0, u]
            for k in range(2, terms):
                values.append((u * values[-1] - math.sqrt(k - 1) * values[-2]) / math.sqrt(k))
            hermite[u] = np.exp(-u * u / 2) / math.sqrt(2 * math.pi) * np.asarray(values)
        degrees = np.arange(1, terms)
        later = (hermite[high] + sign * hermite[low])[: terms - 1] / np.sqrt(degrees)
        return np.concatenate([found, later])

    cosine = x @ y / np.linalg.norm(x) / np.linalg.norm(y)
    total = coefficients(x) @ (coefficients(y) * cosine ** np.arange(terms))
    return kernel.scale**2 * total


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_kernel_is_its_hermite_series(kernel):
    generator = np.random.default_rng(1)
    X = generator.standard_normal((12, 20))
    Y = generator.standard_normal((12, 20)) * generator.uniform(0.1, 3, (12, 1))
    expected = oracles.pairwise(lambda x, y: series(kernel, x, y), X, Y)
    assert kernel(X, Y) == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize("d", [3, 6])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_features_of_normal_directions_have_this_kernel(kernel, d):
    generator = np.random.default_rng(d)
    n = 200_000
    X = generator.standard_normal((5, d)) * np.asarray([0.5, 1.0, 1.0, 2.0, 0.0])[:, None]
    X[2] = X[1] + 0.2 * X[2]
    activation = TernaryActivation(kernel.lower, kernel.upper, kernel.scale, kernel.even)
    Z = kernel.scale * activation.trits(X @ generator.standard_normal((d, n))).astype(float)
    means, squares = Z @ Z.T / n, (Z**2) @ (Z**2).T / n
    standard_errors = np.sqrt(np.maximum(squares - means**2, 0) / n)
    assert (abs(kernel(X) - means) <= 5 * standard_errors + 1e-12).all()
    assert (abs(kernel.diag(X) - np.diag(means)) <= 5 * np.diag(standard_errors) + 1e-12).all()


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_moments_of_the_kernel_are_those_of_its_activation(kernel):
    activation = TernaryActivation(kernel.lower, kernel.upper, kernel.scale, kernel.even)
    for tau in (0.5, 2.0):
        found, expected = kernel_moments(kernel, tau), activation.moments(tau)
        assert found.d0 == pytest.approx(expected.d0, abs=1e-10)
        assert found.d1 == pytest.approx(expected.d1, abs=1e-10)
        assert found.d2 == pytest.approx(expected.d2, abs=1e-10)


def test_a_sign_at_zero_has_the_arcsine_kernel():
    X = np.random.default_rng(0).standard_normal((8, 5))
    assert Ternary(0.0, 0.0)(X) == pytest.approx(2 * ArcCosine(0)(X) - 1, abs=1e-14)


def test_features_of_zero_rows_are_constant():
    X = np.asarray([[0.0, 0.0], [0.3, -0.4]])
    for lower, upper, even in [
        (-0.6, 0.6, False), (0.2, 0.5, False), (-0.5, -0.2, False), (0.0, 1.0, False),
        (0.5, 0.5, False), (-0.5, -0.5, False), (0.0, 0.0, False), (-1.0, 1.0, True),
        (0.3, 1.0, True), (-1.0, 0.0, True),
    ]:  # fmt: skip
        activation = TernaryActivation(lower, upper, 1.5, even)
        constant = 1.5 * float(activation.trits(np.zeros(1))[0])
        high, low = ndtr(-upper / 0.5), ndtr(lower / 0.5)
        mean = 1.5 * (high + low if even else high - low)
        K = Ternary(lower, upper, 1.5, even)(X)
        assert K[0] == pytest.approx([constant**2, constant * mean], abs=1e-14)
        assert Ternary(lower, upper, 1.5, even).diag(X)[0] == pytest.approx(constant**2)


def test_tiny_and_huge_rows_have_the_limits():
    X = np.asarray([[1e-200, 0.0], [1e200, 0.0], [0.0, 1e200], [-1e200, 0.0]])
    K = Ternary(-0.6, 0.6)(X)
    expected = [[0, 0, 0, 0], [0, 1, 0, -1], [0, 0, 1, 0], [0, -1, 0, 1]]
    assert K == pytest.approx(np.asarray(expected, dtype=float), abs=1e-15)


def test_matched_thresholds_bring_the_moments_of_the_target():
    target = kernel_moments(ArcCosine(1), 1.3)
    for bits in (1, 2):
        found = matched_activation(target.d1, target.d2, 1.3, bits)
        own = kernel_moments(Ternary(found.lower, found.upper, found.scale, found.even), 1.3)
        assert own.d1 == pytest.approx(target.d1, rel=1e-8)
        assert own.d2 == pytest.approx(target.d2, rel=1e-8)
        assert own.d0 > target.d0


def test_thresholds_in_the_wrong_order_are_refused():
    X = np.eye(3)
    for kernel, relation in (
        (Ternary(1.0, 0.5), "at most"),
        (Ternary(1.0, 1.0, even=True), "below"),
    ):
        for call in (kernel, kernel.diag):
            with pytest.raises(ValueError, match=f"lower must be {relation} upper"):
                call(X)


def test_small_tiles_give_the_same_matrix():
    X = np.random.default_rng(0).standard_normal((50, 3))
    expected = Ternary()(X)
    with config(block_rows=7):
        assert Ternary()(X) == pytest.approx(expected, abs=1e-15)
