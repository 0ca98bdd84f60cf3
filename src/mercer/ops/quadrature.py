"""Integrals against the normal density, of functions that may have jumps and kinks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

#: Nodes of a panel, and the width of the panels that are tried first.
NODES, WIDTH = 16, 0.5
#: End of the range, in standard deviations: beyond, the density underflows.
END = 38.0
#: Halvings of a panel: after so many its width is that of neighbouring numbers.
HALVINGS = 60
#: Panels that may be unresolved at a time: enough for a thousand oscillations.
MOST = 2**15
#: Largest difference between a panel and its halves, relative to the integrals.
RESOLVED = 1e-14
#: Largest sum of what was left unresolved, relative to the integrals.
ACCEPTED = 1e-11


def normal_quadrature(
    function: Callable[[np.ndarray], Any], breakpoints: Sequence[float] = ()
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    r"""Return nodes, weights and values for integrals against the standard normal density.

    :math:`\sum_i w_i h(z_i, f_i)` is :math:`\mathbb{E}\,h(z, f(z))` for :math:`h` among
    :math:`f`, :math:`f^2`, :math:`z f` and :math:`z^2 f`. Gauss-Legendre panels are halved
    where the halves disagree with the whole, so that jumps and kinks are enclosed.

    Parameters
    ----------
    function : callable
        Takes an array of numbers and returns as many.
    breakpoints : sequence of float, default=()
        Where it has jumps or kinks: panels begin and end there.

    Returns
    -------
    nodes, weights, values : arrays of shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.ops.quadrature import normal_quadrature
    >>> z, w, f = normal_quadrature(lambda z: np.where(z > 1.0, 1.0, 0.0))
    >>> round(float(w @ f), 10)
    0.1586552539
    """
    wanted = [b for b in breakpoints if abs(b) < END]
    edges = np.unique(np.concatenate([np.arange(-END, END + WIDTH / 2, WIDTH), wanted]))
    starts, stops = edges[:-1], edges[1:]
    whole = _panels(function, starts, stops)
    scale = abs(_integrals(abs(whole[0]), whole[1], abs(whole[2]))).sum(axis=0)
    kept, unresolved = [], 0.0
    for halving in range(HALVINGS + 1):
        middles = (starts + stops) / 2
        left, right = _panels(function, starts, middles), _panels(function, middles, stops)
        both = _integrals(*left) + _integrals(*right)
        error = np.max(abs(both - _integrals(*whole)) / np.maximum(scale, 1e-300), axis=1)
        if halving == 0 and max(_share(both[0], scale), _share(both[-1], scale)) > RESOLVED:
            raise ValueError(
                "The activation grows too fast for this tau: its Gaussian moments are not known "
                "to ten digits; scale the rows down."
            )
        keep = error > RESOLVED
        if halving == HALVINGS or keep.sum() > MOST:
            # What cannot be halved any further is the neighbourhood of a jump.
            unresolved, keep = float(error.sum()), np.zeros_like(keep)
        kept += [[values[~keep].ravel() for values in part] for part in (left, right)]
        if not keep.any():
            break
        starts, middles, stops = starts[keep], middles[keep], stops[keep]
        starts, stops = np.concatenate([starts, middles]), np.concatenate([middles, stops])
        z, w, f = (np.concatenate([a[keep], b[keep]]) for a, b in zip(left, right, strict=True))
        whole = (z, w, f)
    if unresolved > ACCEPTED:
        raise ValueError(
            "The Gaussian moments of the activation do not converge: it has a singularity, or "
            "jumps that breakpoints must name."
        )
    nodes, weights, values = (np.concatenate(part) for part in zip(*kept, strict=True))
    return nodes, weights, values


def _panels(
    function: Callable[[np.ndarray], Any], starts: np.ndarray, stops: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return nodes, weights (density included) and values, each of shape (panels, NODES)."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    half = (stops - starts)[:, None] / 2
    z = (starts + stops)[:, None] / 2 + half * nodes
    w = half * weights * np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    with np.errstate(all="ignore"):
        f = np.asarray(function(z.ravel()), dtype=float)
    if f.shape not in ((), (z.size,)):
        raise ValueError(
            f"activation must return one number for each of {z.size} numbers, got an array of "
            f"shape {f.shape}."
        )
    if not np.isfinite(f).all():
        raise ValueError(
            "activation must be finite up to 38 standard deviations; it is not: scale the rows "
            "down, or define it at the numbers where it is missing."
        )
    return z, w, np.broadcast_to(f, (z.size,)).reshape(z.shape)


def _integrals(z: np.ndarray, w: np.ndarray, f: np.ndarray) -> np.ndarray:
    """Return the integrals of f, f², z f and z² f over each of some panels."""
    weighted = w * f
    parts = (weighted, weighted * f, z * weighted, z * z * weighted)
    return np.stack([part.sum(axis=1) for part in parts], axis=1)


def _share(integrals: np.ndarray, scale: np.ndarray) -> float:
    """Return the largest share that one panel has of an integral."""
    return float(np.max(abs(integrals) / np.maximum(scale, 1e-300)))
