"""The matrix that a centred kernel matrix becomes when rows and columns are many."""

from __future__ import annotations

from typing import Any

import numpy as np

from .gaussian_moments import GaussianMoments


def asymptotic_equivalent(
    moments: GaussianMoments, X: Any, labels: Any, means: Any, covariances: Any
) -> np.ndarray:
    r"""Return the asymptotic equivalent of the centred kernel matrix of a Gaussian mixture.

    Rows are :math:`x_i = \mu_a / \sqrt p + z_i` with :math:`z_i \sim N(0, C_a / p)` for a row
    of the class :math:`a`. With the indicators :math:`J` of :math:`K` classes,
    :math:`\bar C = \sum_a (n_a / n) C_a`, :math:`t_a = \mathrm{tr}(C_a - \bar C) / \sqrt p`,
    :math:`T_{ab} = \mathrm{tr}(C_a C_b) / p`, :math:`\psi_i = \|z_i\|^2 - \mathbb{E}\|z_i\|^2`
    and :math:`P = I - 1 1^\top / n`,

    .. math:: \tilde K = P (d_1 X X^\top + d_2 V A V^\top + d_0 I) P, \qquad
              V = [J / \sqrt p, \psi], \qquad
              A = \begin{bmatrix} t t^\top + 2 T & t \\ t^\top & 1 \end{bmatrix}.

    The spectral norm of :math:`P K P - \tilde K` falls like :math:`p^{-1/2}` when the numbers
    of rows and columns grow together, for the kernel of every activation with these moments
    at :math:`\tau = \mathrm{tr}\,\bar C / p` [1]_.

    Parameters
    ----------
    moments : GaussianMoments
        The moments of the activation, or of its kernel. Kernels of inner products and the
        NTK have no single :math:`d_2` and no equivalent of this form.
    X : array of shape (n, p)
        The rows :math:`x_i`, of norm about :math:`\sqrt\tau`.
    labels : array of shape (n,)
        The classes of the rows, 0 to K - 1.
    means : array of shape (K, p)
        The means :math:`\mu_a`, of norms of order 1.
    covariances : array of shape (K, p, p)
        The covariances :math:`C_a`.

    Returns
    -------
    equivalent : array of shape (n, n)

    References
    ----------
    .. [1] H. Tiomoko Ali, Z. Liao and R. Couillet, "Random matrices in service of ML
       footprint: ternary random features with no performance loss", ICLR 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.ops.asymptotic_equivalent import asymptotic_equivalent
    >>> from mercer.ops.gaussian_moments import GaussianMoments
    >>> moments, X = GaussianMoments(0.5, 2.0, 0.0), np.asarray([[1.0], [-1.0]])
    >>> asymptotic_equivalent(moments, X, [0, 0], np.zeros((1, 1)), np.ones((1, 1, 1)))
    array([[ 2.25, -2.25],
           [-2.25,  2.25]])
    """
    X, means, covariances = (np.asarray(a, dtype=float) for a in (X, means, covariances))
    n, p = X.shape
    classes = len(means)
    labels = np.asarray(labels)
    if means.shape != (classes, p) or covariances.shape != (classes, p, p):
        raise ValueError(
            f"means and covariances must have the shapes (K, {p}) and (K, {p}, {p}), got "
            f"{means.shape} and {covariances.shape}."
        )
    if labels.shape != (n,) or not np.isin(labels, np.arange(classes)).all():
        raise ValueError(f"labels must be {n} numbers from 0 to {classes - 1}.")
    J = np.eye(classes)[labels.astype(int)]
    traces = np.trace(covariances, axis1=1, axis2=2)
    t = (traces - J.mean(axis=0) @ traces) / np.sqrt(p)
    flat = covariances.reshape(classes, p * p)
    # The trace of a product of symmetric matrices is the sum of entrywise products.
    T = flat @ flat.T / p
    Z = X - J @ means / np.sqrt(p)
    psi = np.sum(Z * Z, axis=1) - J @ traces / p
    V = np.column_stack([J / np.sqrt(p), psi])
    A = np.block([[np.outer(t, t) + 2 * T, t[:, None]], [t[None, :], np.ones((1, 1))]])
    # P on both sides: columns centred, and the identity less its mean.
    X, V = X - X.mean(axis=0), V - V.mean(axis=0)
    equivalent: np.ndarray = moments.d1 * (X @ X.T) + moments.d2 * (V @ A @ V.T) - moments.d0 / n
    equivalent[np.diag_indices(n)] += moments.d0
    return equivalent
