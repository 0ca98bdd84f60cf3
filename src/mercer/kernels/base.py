"""The base of all kernels: from a formula for two blocks to a kernel of any two data sets."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone

from .._array import (
    all_finite,
    as_floating,
    dtype_name,
    floating_name,
    has_values,
    is_foreign,
    is_numpy,
    namespace,
)
from .._sklearn import BaseEstimator, check_rows, checked
from ..engine.rows import map_rows, visit_rows
from ..engine.tiles import Effort, pairwise, pairwise_matvec, refuse_overflow
from ..ops.fused import SliceTile
from .lengthscale import SAMPLE_ROWS, FewRows, RowSummary
from .vectors import as_columns


class Kernel(BaseEstimator):
    """An exact kernel k(x, y): its parameters and its formula.

    Call it on two blocks of rows for the kernel matrix, on one for the symmetric matrix.
    Kernels add and multiply (``Gaussian() + 0.5 * NTK(depth=2)``), work as the ``kernel``
    of scikit-learn's estimators, and nest in a grid search (``kernel__lengthscale``).

    A subclass stores its parameters, declares ``_parameter_constraints``, and writes
    ``_tile`` and ``_diag``.

    Examples
    --------
    A kernel of one's own, the linear one:

    >>> import numpy as np
    >>> from mercer import Kernel
    >>> class Linear(Kernel):
    ...     def _tile(self, X, Y, xp, out=None):
    ...         return X @ Y.T
    ...     def _diag(self, X, xp):
    ...         return xp.sum(X * X, axis=1)
    >>> Linear()(np.eye(2))
    array([[1., 0.],
           [0., 1.]])
    """

    _parameter_constraints: dict[str, Any] = {}

    @abstractmethod
    def _tile(self, X: Any, Y: Any, xp: Any, out: Any = None) -> Any:
        """Return the kernel of two float64 blocks.

        ``out``, an array of the same library, says in which precision and place the result is
        wanted; a result that is not ``out`` is copied there.
        """

    @abstractmethod
    def _diag(self, X: Any, xp: Any) -> Any:
        """Return k(x, x) for the rows of a float64 block."""

    def _float32_tiles(self, X: Any, Y: Any) -> SliceTile | None:
        """Return what fills tiles of float32 rows faster than ``_tile``; ``None`` if nothing does.

        Entries are finite, and as precise as float32 is.
        """
        return None

    def _effort(self, X: Any) -> Effort:
        """Return what a pair of rows of ``X`` takes beyond an inner product."""
        return sum((kernel._effort(X) for kernel in self._nested().values()), Effort())

    def _nested(self) -> dict[str, Kernel]:
        """Return the parameters that are kernels."""
        values = self.get_params(deep=False).items()
        return {name: value for name, value in values if isinstance(value, Kernel)}

    def as_rows(self, X: Any, name: str = "X") -> tuple[Any, Kernel]:
        """Return ``X`` as rows, and the kernel of such rows.

        Rows are returned as they are, and this kernel with them; kernels of images flatten
        batches of images, and remember their shape.

        Parameters
        ----------
        X : array
            Rows, or what the kernel takes instead of rows.
        name : str, default="X"
            What to call it in errors.
        """
        found = {part: kernel.as_rows(X, name) for part, kernel in self._nested().items()}
        changed = {part: kernel for part, (rows, kernel) in found.items() if rows is not X}
        if not changed:
            return X, self
        rows = found[next(iter(changed))][0]
        return rows, clone(self).set_params(**changed)

    def __call__(self, X: Any, Y: Any = None) -> Any:
        """Return the kernel matrix of the rows of ``X`` and ``Y`` (or ``X`` and ``X``).

        Parameters
        ----------
        X : array of shape (n_samples_X, n_features)
            NumPy, torch, CuPy or another Array API library, a data frame, or CSR; kernels of
            images take images, too.
        Y : array of shape (n_samples_Y, n_features), default=None
            The other rows; ``None`` means ``X`` and computes half of the matrix.

        Returns
        -------
        K : array of shape (n_samples_X, n_samples_Y)
            In the library, on the device and in the floating dtype of ``X``. For two plain
            vectors (as scikit-learn's ``KernelRidge`` passes them) a number.
        """
        if Y is not None and getattr(X, "ndim", 2) == 1 and getattr(Y, "ndim", 2) == 1:
            return self._of_vectors(np.asarray(X), np.asarray(Y))
        X, Y, kernel = self.prepared(X, Y)
        fill = kernel._float32_tiles(X, X if Y is None else Y)
        return pairwise(kernel._tile_function(X), X, Y, fill, kernel._effort(X))

    def diag(self, X: Any) -> Any:
        """Return k(x, x) for the rows of ``X``.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        diagonal : array of shape (n_samples,)
        """
        X, _, kernel = self.prepared(X, None)
        xp = namespace(X)

        def column(block: Any, out: Any = None) -> Any:
            with np.errstate(all="ignore"):
                values = kernel._diag(as_floating(block, "float64"), xp)[:, None]
                values = as_floating(values, floating_name(block))
            refuse_overflow(values, floating_name(block))
            return values

        return map_rows(column, X, 1, label="kernel diagonal")[:, 0]

    def matvec(self, X: Any, v: Any, Y: Any = None) -> Any:
        """Return ``k(X, Y) @ v`` without ever forming the matrix.

        Parameters
        ----------
        X : array of shape (n_samples_X, n_features)
            Rows of the result.
        v : array of shape (n_samples_Y,) or (n_samples_Y, n_vectors)
            What to multiply with.
        Y : array of shape (n_samples_Y, n_features), default=None
            The rows that ``v`` belongs to; ``None`` means ``X``.

        Returns
        -------
        product : array of shape (n_samples_X,) or (n_samples_X, n_vectors)

        Examples
        --------
        >>> import numpy as np
        >>> from mercer.kernels import Gaussian
        >>> X = np.arange(6.0).reshape(3, 2)
        >>> kernel, v = Gaussian(lengthscale=2.0), np.ones(3)
        >>> bool(np.allclose(kernel.matvec(X, v), kernel(X) @ v))
        True
        """
        if not has_values(X):
            return self._tile(X, X if Y is None else Y, namespace(X)) @ v
        X, Y, kernel = self.prepared(X, Y)
        Y = X if Y is None else Y
        columns, many = as_columns(v, Y.shape[0], X, "v")
        product = pairwise_matvec(kernel._tile_function(X), X, Y, columns, kernel._effort(X))
        return product if many else product[:, 0]

    def fitted_to(self, X: Any) -> Kernel:
        """Return this kernel with ``"median"`` and ``"scale"`` replaced by numbers from ``X``.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The data to take them from.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer.kernels import Gaussian
        >>> Gaussian(lengthscale="median").fitted_to(np.asarray([[0.0], [1.0], [3.0]]))
        Gaussian(lengthscale=2.0)
        """
        if not self.needs_data():
            return self
        X = check_rows(X)
        if is_foreign(X) and X.shape[0] <= SAMPLE_ROWS:
            return self.from_summary(FewRows(X))
        summary = RowSummary()
        visit_rows(summary.update, X, label="lengthscale")
        return self.from_summary(summary)

    def needs_data(self) -> bool:
        """Return whether a parameter is to be taken from data, here or in a nested kernel."""
        values = self.get_params(deep=True)
        return any(
            name.rpartition("__")[2] == "lengthscale" and isinstance(value, str)
            for name, value in values.items()
        )

    def from_summary(self, summary: RowSummary | FewRows) -> Kernel:
        """Return a copy with every data-dependent parameter taken from ``summary``."""
        values: dict[str, Any] = {}
        for name, value in self.get_params(deep=False).items():
            if isinstance(value, Kernel):
                values[name] = value.from_summary(summary)
            elif name == "lengthscale" and isinstance(value, str):
                values[name] = summary.lengthscale(value, self._distance)
        return clone(self).set_params(**values)

    @property
    def _distance(self) -> str:
        """Which distance ``lengthscale="median"`` is the median of."""
        return "euclidean"

    def norm_power(self) -> int | None:
        """Return p for a zonal kernel ``(|x| |y|)^p κ(cos)``, and ``None`` for all others."""
        return None

    def prepared(self, X: Any, Y: Any = None) -> tuple[Any, Any, Kernel]:
        """Return checked rows, and this kernel with its parameters checked and known.

        Parameters
        ----------
        X : array of shape (n_samples_X, n_features)
            Rows, as in a call of the kernel.
        Y : array of shape (n_samples_Y, n_features), default=None
            The other rows; ``None`` stays ``None``.

        Returns
        -------
        X, Y : arrays
            The rows as arrays of their library, or CSR.
        kernel : Kernel
            This kernel, or a copy whose lengthscale was taken from the data.
        """
        X, kernel = checked(self).as_rows(X)
        X = check_rows(X)
        if Y is not None:
            Y, kernel = kernel.as_rows(Y, "Y")
            Y = check_rows(Y, name="Y")
            if namespace(X) is not namespace(Y):
                raise TypeError(
                    f"X and Y must come from one array library, got {type(X)} and {type(Y)}; "
                    "convert one of them."
                )
            if X.shape[1] != Y.shape[1]:
                raise ValueError(
                    f"X and Y must have the same number of columns, got {X.shape[1]} and "
                    f"{Y.shape[1]}."
                )
        # The second argument is the training set wherever scikit-learn calls a kernel, so a
        # lengthscale from data is the same number in fit and in predict.
        return X, Y, kernel.fitted_to(X if Y is None else Y)

    def _tile_function(self, X: Any) -> Callable[..., Any]:
        """Return ``_tile`` bound to the library of ``X``, with overflow left to the formulas."""
        xp = namespace(X)
        if not is_numpy(X):
            return lambda left, right, out=None: self._tile(left, right, xp, out)

        def tile(left: Any, right: Any, out: Any = None) -> Any:
            with np.errstate(over="ignore", under="ignore", invalid="ignore"):
                return self._tile(left, right, xp, out)

        return tile

    def _of_vectors(self, x: np.ndarray, y: np.ndarray) -> float:
        """Return the kernel of two vectors."""
        if self.needs_data():
            raise ValueError(
                f"{self!r} takes its lengthscale from data, but got two vectors only; call "
                "kernel.fitted_to(X) first and use the kernel that it returns."
            )
        if x.shape != y.shape:
            raise ValueError(
                f"X and Y must be vectors of one length, got {x.shape[0]} and {y.shape[0]}."
            )
        left, right = np.atleast_2d(x).astype(float), np.atleast_2d(y).astype(float)
        if not all_finite(left) or not all_finite(right):
            raise ValueError("X and Y must be vectors without NaN or infinity.")
        value = checked(self)._tile_function(left)(left, right)
        refuse_overflow(value, "float64")
        return float(value[0, 0])

    def __add__(self, other: Any) -> Kernel:
        from .algebra import Sum

        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __radd__(self, other: Any) -> Kernel:
        # The sum of a list starts with 0.
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __mul__(self, other: Any) -> Kernel:
        from .algebra import Product, Scaled

        if isinstance(other, Kernel):
            return Product(self, other)
        if isinstance(other, (int, float, np.integer, np.floating)):
            return Scaled(self, float(other))
        return NotImplemented

    __rmul__ = __mul__


def tile_of(kernel: Kernel, X: Any, Y: Any, xp: Any, out: Any = None) -> Any:
    """Return a kernel of two float64 blocks, as its ``_tile`` computes it."""
    return kernel._tile(X, Y, xp, out)


def diag_of(kernel: Kernel, X: Any, xp: Any) -> Any:
    """Return k(x, x) for the rows of a float64 block, as its ``_diag`` computes it."""
    return kernel._diag(X, xp)


def in_precision_of(out: Any, values: Any) -> Any:
    """Return a float64 tile in the precision that ``out`` asks for."""
    return values if out is None else as_floating(values, dtype_name(out))
