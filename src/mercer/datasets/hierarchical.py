"""Regression tasks with hierarchical polynomials: few coordinates, or few directions."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._random import Stream
from .arguments import checked_flag, checked_integer, checked_number, checked_seed
from .polynomials import TARGETS, SparsePolynomial

#: The laws of the inputs: whether they are signs, and whether the target is rotated.
INPUTS = {
    "hypercube": (True, False),
    "gaussian": (False, False),
    "rotated": (True, True),
    "rotated_gaussian": (False, True),
}


class HierarchicalTask:
    r"""A sparse polynomial to be learnt from as many fresh samples as are asked for.

    The targets are :math:`y = f(V^\top x) + \sigma \varepsilon` with f a sparse polynomial,
    :math:`\varepsilon` normal, and the inputs x signs or normal numbers [1]_. The columns of V
    are the first unit vectors or, for rotated inputs, the first columns of a random
    rotation, so that f depends on a few unknown directions (a multi-index model).

    Parameters
    ----------
    n_features : int, default=100
        The number of columns of X.
    inputs : {"hypercube", "gaussian", "rotated", "rotated_gaussian"}, default="hypercube"
        ``"hypercube"``: uniform signs, the terms must not repeat coordinates;
        ``"gaussian"``: standard normal; ``"rotated"``: signs, with a rotated target, as in
        figure 3 of [1]_; ``"rotated_gaussian"``: normal, with a rotated target, as in
        figure 7.
    polynomial : SparsePolynomial, str or None, default=None
        The target f, or its name in ``TARGETS``; ``None`` is ``"figure2"``,
        :math:`x_1 + x_2 + x_1 x_2 x_3 + x_1 x_2 x_3 x_4`.
    noise : float, default=0.0
        The standard deviation of the noise; [1]_ uses 0.1.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the rotation.

    Attributes
    ----------
    polynomial : SparsePolynomial
        The target f.
    directions : array of shape (n_features, n_coordinates)
        The orthonormal columns of V: without noise ``y == polynomial(X @ directions)``.

    References
    ----------
    .. [1] L. Zhu et al., "Iteratively reweighted kernel machines efficiently learn sparse
       functions", arXiv 2505.08277.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.datasets import HierarchicalTask
    >>> task = HierarchicalTask(10, inputs="rotated", random_state=0)
    >>> X, y = task.sample(5, random_state=1)
    >>> bool(np.allclose(task.polynomial(X @ task.directions), y))
    True
    >>> fresh, _ = task.sample(5, random_state=2)
    >>> bool((fresh == X).all())
    False
    """

    directions: np.ndarray

    def __init__(
        self,
        n_features: int = 100,
        *,
        inputs: str = "hypercube",
        polynomial: SparsePolynomial | str | None = None,
        noise: float = 0.0,
        random_state: Any = None,
    ) -> None:
        self.n_features: int = checked_integer("n_features", n_features, 1)
        if not isinstance(inputs, str) or inputs not in INPUTS:
            raise ValueError(f"inputs must be one of {sorted(INPUTS)}, got {inputs!r}.")
        self.inputs = inputs
        self.polynomial: SparsePolynomial = _checked_polynomial(polynomial)
        self.noise: float = checked_number("noise", noise, 0, np.inf, closed="left")
        n_coordinates = max(self.polynomial.coordinates, default=-1) + 1
        if n_coordinates > self.n_features:
            raise ValueError(
                f"n_features={n_features} is too small for a polynomial of {n_coordinates} "
                f"coordinates; use n_features >= {n_coordinates} or another polynomial."
            )
        if inputs == "hypercube" and not self.polynomial.is_multilinear:
            raise ValueError(
                "inputs='hypercube' needs a polynomial whose terms do not repeat coordinates, "
                f"got {self.polynomial!r}; use inputs='gaussian'."
            )
        seed = checked_seed(random_state)
        self._signs, self._rotated = INPUTS[inputs]
        if self._rotated:
            self.directions = _orthonormal(Stream(seed), self.n_features, n_coordinates)
        else:
            self.directions = np.eye(self.n_features, n_coordinates)

    def sample(self, n_samples: int, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Return rows and their targets; each seed gives other ones of the same task.

        Parameters
        ----------
        n_samples : int
            The number of rows. More rows of one seed begin with the fewer.
        random_state : int, RandomState, Generator or None, default=None
            Seed of the rows and of the noise.

        Returns
        -------
        X : array of shape (n_samples, n_features), float64
            The inputs.
        y : array of shape (n_samples,), float64
            The targets.
        """
        shape = (checked_integer("n_samples", n_samples, 1), self.n_features)
        stream = Stream(checked_seed(random_state))
        generator = stream.child("inputs").generator()
        if self._signs:
            X = 2.0 * generator.integers(0, 2, shape, dtype=np.int8) - 1.0
        else:
            X = generator.standard_normal(shape)
        y = self.polynomial(X @ self.directions if self._rotated else X)
        if self.noise:
            y += self.noise * stream.child("noise").generator().standard_normal(len(y))
        return X, y

    def __repr__(self) -> str:
        return (
            f"HierarchicalTask({self.n_features}, inputs={self.inputs!r}, "
            f"polynomial={self.polynomial!r}, noise={self.noise})"
        )


def make_hierarchical(
    n_samples: int = 100,
    n_features: int = 100,
    *,
    inputs: str = "hypercube",
    polynomial: SparsePolynomial | str | None = None,
    noise: float = 0.0,
    random_state: Any = None,
    return_directions: bool = False,
) -> tuple[np.ndarray, ...]:
    """Return samples of a regression task with a hierarchical polynomial as target.

    Parameters
    ----------
    n_samples : int, default=100
        The number of rows.
    n_features : int, default=100
        The number of columns.
    inputs : {"hypercube", "gaussian", "rotated", "rotated_gaussian"}, default="hypercube"
        The law of the inputs, see :class:`HierarchicalTask`.
    polynomial : SparsePolynomial, str or None, default=None
        The target or its name in ``TARGETS``; ``None`` is ``"figure2"``.
    noise : float, default=0.0
        The standard deviation of the noise.
    random_state : int, RandomState, Generator or None, default=None
        Seed of everything. Use :class:`HierarchicalTask` to draw again from the same
        rotation.
    return_directions : bool, default=False
        Whether to return the directions too.

    Returns
    -------
    X : array of shape (n_samples, n_features), float64
        The inputs.
    y : array of shape (n_samples,), float64
        The targets.
    directions : array of shape (n_features, n_coordinates)
        The orthonormal directions of the polynomial's coordinates, unit vectors unless
        the inputs are rotated. Only if ``return_directions=True``.

    Examples
    --------
    >>> from mercer.datasets import make_hierarchical
    >>> X, y = make_hierarchical(200, 50, noise=0.1, random_state=0)
    >>> X.shape, y.shape
    ((200, 50), (200,))
    >>> X, y, V = make_hierarchical(
    ...     200, 50, inputs="rotated", polynomial="figure3", random_state=0, return_directions=True
    ... )
    >>> V.shape
    (50, 4)
    """
    seed = checked_seed(random_state)
    task = HierarchicalTask(
        n_features, inputs=inputs, polynomial=polynomial, noise=noise, random_state=seed
    )
    X, y = task.sample(n_samples, random_state=seed)
    if checked_flag("return_directions", return_directions):
        return X, y, task.directions
    return X, y


def _checked_polynomial(polynomial: Any) -> SparsePolynomial:
    if polynomial is None:
        return TARGETS["figure2"]
    if isinstance(polynomial, str) and polynomial in TARGETS:
        return TARGETS[polynomial]
    if not isinstance(polynomial, SparsePolynomial):
        raise ValueError(
            f"polynomial must be a SparsePolynomial, one of {sorted(TARGETS)} or None, "
            f"got {polynomial!r}."
        )
    return polynomial


def _orthonormal(stream: Stream, n_features: int, size: int) -> np.ndarray:
    """Return the first columns of a rotation that is uniform over all rotations."""
    normal = stream.child("directions").generator().standard_normal((size, n_features))
    Q, R = np.linalg.qr(normal.T)
    # With positive signs on the diagonal of R, Q is uniform (Stewart 1980).
    return Q * np.where(np.diag(R) < 0, -1.0, 1.0)
