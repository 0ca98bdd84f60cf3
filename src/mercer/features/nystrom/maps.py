"""Nyström features of any kernel: through its values at some rows."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from ..._array import as_floating, floating_name, frozen, is_numpy, is_sparse, like, to_numpy
from ..._random import Stream
from ..._registry import storable
from ..._sklearn import RANDOM_STATE, Interval, StrOptions, checked
from ...engine.blocks import row_width
from ...engine.threads import allowed_threads
from ...kernels import FunctionKernel, Gaussian, Kernel
from ...kernels.base import tile_of
from ...kernels.lengthscale import RowSummary
from ...kernels.single_precision import fused_form
from ...ops.fused import fused_rows
from ..base import FeatureMap
from ..rows_seen import LearnsFromRows
from ..traits import MapTraits
from .candidates import KernelOfRows, NumberedRows, SampledRows, n_candidates
from .choice import CHOICES
from .root import LandmarkRoot

#: The rounding errors of float32 that features may have in products, over the mean diagonal.
SINGLE_ERROR = 1e-6
#: Bytes of sparse landmarks that are not made dense.
WIDE = 2**26


@storable
class NystromFeatures(LearnsFromRows, FeatureMap):
    r"""Features of any kernel, through its values at some rows, the landmarks.

    With the kernel matrix :math:`L L^\top` of the landmarks, the features
    :math:`z(x) = L^{-1} k(\text{landmarks}, x)` have the inner products
    :math:`k(x, \text{landmarks})\, K^{-1} k(\text{landmarks}, y)`: the kernel itself if x or y
    is a landmark, and the best approximation by functions of the landmarks otherwise. For the
    same number of columns no other map comes as close to most kernels; unlike random features
    it must look at the data, and costs a product of :math:`n m^2`.

    Parameters
    ----------
    kernel : Kernel or callable, default=None
        The kernel; ``None`` means ``Gaussian()``. A callable is given two blocks of rows and
        returns the matrix of their kernel, as the functions of ``sklearn.metrics.pairwise`` do.
    n_components : int, default=512
        Landmarks, and features, at most: there are fewer where rows are fewer, or where some
        landmarks depend on the others, so that more would add nothing. Without effect where
        landmarks are given.
    landmarks : str or array, default="rpcholesky"
        How landmarks are chosen from rows: ``"rpcholesky"`` [1]_, each where the ones before it
        leave most (at random, in proportion; of the first 256 the best of four such draws);
        ``"leverage"``, by recursive ridge leverage
        scores [2]_; ``"kmeans++"``, far from each other; ``"uniform"``. Or the landmarks
        themselves, an array of shape (n_landmarks, n_features), or the numbers of rows of
        ``X``, an array of integers (``X`` must then be given at once, not as a stream).
    n_candidates : int or "auto", default="auto"
        Rows that landmarks are chosen from, a uniform sample of all; ``"auto"`` means ten for
        each landmark, and 10,000 at least, as far as memory allows.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the sample and of the choice.

    Attributes
    ----------
    kernel_ : Kernel
        The exact kernel.
    landmarks_ : array of shape (n_landmarks, n_features)
        The landmarks, those that add nothing left out.
    inverse_root_ : array of shape (n_landmarks, n_landmarks)
        The inverse of L, which makes their kernel functions orthonormal.
    seed_ : int
        The seed of everything that was drawn.

    References
    ----------
    .. [1] Y. Chen, E. N. Epperly, J. A. Tropp and R. J. Webber, "Randomly pivoted Cholesky",
       CPAM 2025.
    .. [2] C. Musco and C. Musco, "Recursive sampling for the Nyström method", NeurIPS 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Gaussian, NystromFeatures
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> features = NystromFeatures(Gaussian(2.0), n_components=60, random_state=0)
    >>> Z = features.fit_transform(X)
    >>> Z.shape, bool(abs(Z @ Z.T - features.kernel_(X)).max() < 0.01)
    ((200, 60), True)

    Landmarks of one's own:

    >>> NystromFeatures(landmarks=X[:5]).fit(X).transform(X[:2]).shape
    (2, 5)
    """

    landmarks_: Any
    inverse_root_: np.ndarray
    single_: bool

    _parameter_constraints: dict[str, Any] = {
        "kernel": [Kernel, callable, StrOptions({"precomputed"}), None],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "landmarks": [StrOptions(set(CHOICES)), "array-like", "sparse matrix"],
        "n_candidates": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "random_state": RANDOM_STATE,
    }
    learned: ClassVar[tuple[str, ...]] = ("landmarks_",)

    def __init__(
        self,
        kernel: Kernel | Callable[..., Any] | None = None,
        *,
        n_components: int = 512,
        landmarks: Any = "rpcholesky",
        n_candidates: int | str = "auto",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.landmarks = landmarks
        self.n_candidates = n_candidates
        self.random_state = random_state

    def _kernel(self) -> Kernel:
        if isinstance(self.kernel, str):
            raise ValueError(
                "kernel='precomputed' has no rows to take landmarks from; give the kernel and the "
                "rows, or a function of two blocks of rows."
            )
        if self.kernel is not None and not isinstance(self.kernel, Kernel):
            return FunctionKernel(self.kernel)
        kernel: Kernel = checked(Gaussian() if self.kernel is None else self.kernel)
        return kernel

    def looks_at_rows(self, kernel: Kernel) -> bool:
        """Return whether landmarks are to be found among the rows."""
        return self._given_rows() is None

    def new_summary(self, seed: int) -> RowSummary:
        """Return an empty summary that keeps candidates for landmarks."""
        if not isinstance(self.landmarks, str):
            return RowSummary() if self._given_rows() is not None else self._numbered()
        size = int(self.n_components)
        if self.landmarks == "uniform":
            limit = size
        elif isinstance(self.n_candidates, str):
            limit = n_candidates(size)
        else:
            limit = max(size, int(self.n_candidates))
        return SampledRows(limit, Stream(seed).child("candidates"))

    def learn_from(self, summary: RowSummary) -> dict[str, Any]:
        """Return the landmarks, chosen among the candidates."""
        assert isinstance(summary, (SampledRows, NumberedRows))
        rows = _rows_to_keep(summary.candidates)
        if not isinstance(self.landmarks, str) or rows.shape[0] <= self.n_components:
            return {"landmarks_": rows}
        generator = Stream(self.seed_).child("landmarks").generator()
        size = int(self.n_components)
        with allowed_threads(rows.shape[0] * size**2):
            places = CHOICES[self.landmarks](KernelOfRows(self.kernel_, rows), size, generator)
        return {"landmarks_": rows[places]}

    def _draw(self, stream: Stream, n_features_in: int) -> dict[str, Any]:
        given = self._given_rows()
        rows = self.landmarks_ if given is None else _rows_to_keep(given)
        if rows.shape[1] != n_features_in:
            raise ValueError(
                f"landmarks must have the {n_features_in} columns of X, got {rows.shape[1]}."
            )
        with allowed_threads(4 / 3 * rows.shape[0] ** 3):
            root = LandmarkRoot(np.asarray(to_numpy(self.kernel_(rows)), dtype=float))
        found = np.sum(root.inverse**2) * np.finfo(np.float32).eps ** 2
        mean = float(np.mean(self.kernel_.diag(rows)))
        return {
            "landmarks_": rows[root.kept],
            "inverse_root_": frozen(root.inverse),
            # What rounding adds to inner products of float32 features is about this.
            "single_": bool(found * mean <= SINGLE_ERROR),
            "traits_": MapTraits(
                unbiased=False,
                random=isinstance(self.landmarks, str),
                scratch=4 * len(root.kept) + 2 * row_width(rows),
                by_recipe=False,
            ),
        }

    def _map(self, X: Any, xp: Any, out: Any = None) -> Any:
        name = floating_name(X)
        values = self._values(X, xp, name if self.single_ else "float64")
        inverse = like(values, self.inverse_root_)
        if is_numpy(values) and out is not None and values.dtype == out.dtype:
            return np.matmul(values, inverse.T, out=out)
        return as_floating(values @ inverse.T, name)

    def _values(self, X: Any, xp: Any, name: str) -> Any:
        """Return the kernel of a block of rows with the landmarks."""
        form, Y = fused_form(self.kernel_), self.landmarks_
        if is_numpy(X):
            if name == "float32" and form is not None and not is_sparse(X) and not is_sparse(Y):
                values = np.empty((X.shape[0], Y.shape[0]), dtype=np.float32)
                fused_rows(X, Y, form, values)
                return values
        elif not is_sparse(Y):
            Y = like(as_floating(X[:1, :], "float64"), Y)
        else:
            Y = like(as_floating(X[:1, :], "float64"), Y.toarray())
        return as_floating(tile_of(self.kernel_, as_floating(X, "float64"), Y, xp), name)

    def _given_rows(self) -> Any:
        """Return the landmarks that were given; ``None`` if they are to be found."""
        if isinstance(self.landmarks, str):
            return None
        rows = self.landmarks if is_sparse(self.landmarks) else np.asarray(self.landmarks)
        return rows if rows.ndim == 2 else None

    def _numbered(self) -> NumberedRows:
        numbers = np.asarray(self.landmarks)
        if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or numbers.size == 0:
            raise ValueError(
                "landmarks must be the name of a choice, an array of shape (n_landmarks, "
                "n_features), or an array of whole numbers of rows, got an array of shape "
                f"{numbers.shape} and dtype {numbers.dtype}."
            )
        return NumberedRows(numbers)


def _rows_to_keep(rows: Any) -> Any:
    """Return landmarks in float64; dense ones if these are not large."""
    if is_sparse(rows) and 8 * rows.shape[0] * rows.shape[1] > WIDE:
        return scipy.sparse.csr_array(rows.astype(float))
    return np.ascontiguousarray(to_numpy(rows), dtype=float)
