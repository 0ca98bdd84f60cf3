"""Gaussian moments of a kernel: what it is in high dimensions, from its values alone."""

from __future__ import annotations

import math

import numpy as np
from numpy.polynomial import chebyshev

from ..ops.gaussian_moments import GaussianMoments, positive_tau
from .base import Kernel

#: Points of a fit near right angles, and the widths in cosine that are tried.
POINTS, WIDTHS = 33, [0.5**k for k in range(1, 16)]
#: Random rotations, and the largest relative change under them that is taken for rounding.
ROTATIONS, UNCHANGED = 3, 1e-9
#: Largest error of τ² ∂²F / ∂c² relative to the kernel that is taken for smooth.
SMOOTH = 1e-6
#: Coefficients below this share of the largest one are rounding.
ROUNDING = 2e-15


def kernel_moments(kernel: Kernel, tau: float, n_features: int = 8) -> GaussianMoments:
    r"""Return the Gaussian moments of a kernel of norms and inner products.

    With :math:`k(x, y) = F(\|x\|^2, \|y\|^2, \langle x, y \rangle)` and :math:`F_c` the
    derivative by the inner product,

    .. math:: d_1 = F_c(\tau, \tau, 0), \qquad d_2 = F_{cc}(\tau, \tau, 0) / 4, \qquad
              d_0 = F(\tau, \tau, \tau) - F(\tau, \tau, 0) - \tau d_1,

    which for the kernel of random features :math:`\sigma(w^\top x)` with normal :math:`w` are
    the moments of :math:`\sigma`. The kernel is evaluated at rows of norm
    :math:`\sqrt\tau` near right angles, and a Chebyshev fit is differentiated.

    Parameters
    ----------
    kernel : Kernel
        A kernel that rotations of the rows do not change, positive definite in many
        dimensions.
    tau : float
        The mean squared norm of the rows; positive.
    n_features : int, default=8
        Columns of the rows that it is evaluated at, at least 2; few kernels depend on it.

    Returns
    -------
    moments : GaussianMoments

    Notes
    -----
    For a kernel of random features :math:`\partial^2 F / \partial a\, \partial b =
    F_{cc} / 4` at right angles, with :math:`a, b` the squared norms: one number says how
    norms and how inner products count. That holds for every kernel of distances too, but not
    for kernels of inner products, where the left side is 0, nor for :class:`~mercer.NTK`
    (a third of the right side at depth 1). For those :math:`d_2` is right for rows of equal
    norms only.

    Examples
    --------
    >>> from mercer import Gaussian
    >>> from mercer.kernels import kernel_moments
    >>> from mercer.ops.gaussian_moments import gaussian_moments
    >>> found, fourier = kernel_moments(Gaussian(), 1.0), gaussian_moments("fourier", 1.0)
    >>> round(found.d1, 6), round(found.d2, 6), round(found.d0 / fourier.d0, 6)
    (0.367879, 0.09197, 1.0)
    """
    tau = positive_tau(tau)
    if n_features < 2:
        raise ValueError(f"n_features must be at least 2, got {n_features}.")
    _refuse_axes(kernel, tau, n_features)
    slope, bend = _derivatives(kernel, tau, n_features)
    right = float(_at(kernel, np.zeros(1), tau, n_features)[0])
    # Not the kernel at cosine 1, which may have lost half of its digits to rounding there.
    same = float(kernel.diag(math.sqrt(tau) * np.eye(1, n_features))[0])
    if slope < 0 or bend < 0:
        raise ValueError(
            f"{kernel!r} is not positive definite in many dimensions: its derivatives by the "
            f"cosine at right angles are {slope:.3g} and {bend:.3g}; none may be negative."
        )
    d0, d1, d2 = max(same - right - slope, 0.0), slope / tau, bend / (4 * tau**2)
    return GaussianMoments(d0, float(d1), float(d2))


def _at(kernel: Kernel, cosines: np.ndarray, tau: float, n_features: int) -> np.ndarray:
    """Return the kernel of rows with squared norm ``tau`` at some cosines."""
    rows = np.zeros((len(cosines), n_features))
    rows[:, 0] = cosines
    rows[:, 1] = np.sqrt((1 - cosines) * (1 + cosines))
    axis = np.zeros((1, n_features))
    axis[0, 0] = 1.0
    values: np.ndarray = kernel(math.sqrt(tau) * rows, math.sqrt(tau) * axis)[:, 0]
    return values


def _derivatives(kernel: Kernel, tau: float, n_features: int) -> tuple[float, float]:
    """Return the first and second derivative by the cosine at right angles.

    Every width of the fit has an error of rounding, which grows as the width falls, and one of
    truncation, which grows with the width; their sum is estimated, and the best one taken.
    What is below its error is zero.
    """
    nodes, degrees = chebyshev.chebpts1(POINTS), np.arange(POINTS)
    # At Chebyshev points the coefficients are a cosine transform.
    transform = np.cos(degrees[:, None] * np.arccos(nodes)) * (2 / POINTS)
    transform[0] /= 2
    # T_k' and T_k'' at 0, from T_k(cos t) = cos(k t) at t = π/2.
    first = degrees * np.sin(degrees * np.pi / 2)
    second = -(degrees**2) * np.cos(degrees * np.pi / 2)
    found, error, size = (0.0, 0.0), math.inf, 0.0
    for width in WIDTHS:
        values = _at(kernel, width * nodes, tau, n_features)
        largest = float(abs(values).max())
        size = max(size, largest)
        coefficients = transform @ values
        coefficients[abs(coefficients) <= ROUNDING * largest] = 0.0
        count = int(np.flatnonzero(coefficients)[-1]) + 1 if coefficients.any() else 0
        tail = float(abs(coefficients[-2:]).max()) * POINTS**3
        noise = ROUNDING * largest * count
        if (tail + noise * count) / width**2 < error:
            error = (tail + noise * count) / width**2
            slope, bend = float(first @ coefficients) / width, float(second @ coefficients)
            found = (
                slope if abs(slope) > (noise + tail) / width else 0.0,
                bend / width**2 if abs(bend) > noise * count + tail else 0.0,
            )
    if error > SMOOTH * size:
        raise ValueError(
            f"{kernel!r} is not smooth at right angles: its second derivative by the inner "
            "product, which the moment d2 is made of, is not known."
        )
    return found


def _refuse_axes(kernel: Kernel, tau: float, n_features: int) -> None:
    """Raise an error for a kernel that rotations change."""
    if kernel.needs_data():
        raise ValueError(
            f"{kernel!r} takes its lengthscale from data; call kernel.fitted_to(X) first and use "
            "the kernel that it returns."
        )
    generator = np.random.default_rng(0)
    # Rows along an axis among them, and rows of other norms and angles.
    rows = np.eye(4, n_features)
    rows[1:] += generator.standard_normal((3, n_features)) / math.sqrt(n_features)
    rows *= math.sqrt(tau)
    left, right = rows[:2], rows[2:]
    expected = kernel(left, right)
    scale = max(float(abs(expected).max()), float(kernel.diag(left).max()))
    for _ in range(ROTATIONS):
        rotation, _ = np.linalg.qr(generator.standard_normal((n_features, n_features)))
        if abs(kernel(left @ rotation, right @ rotation) - expected).max() > UNCHANGED * scale:
            raise ValueError(
                f"{kernel!r} is not a function of norms and inner products: rotating the rows "
                "changes it, so that it has no Gaussian moments."
            )
