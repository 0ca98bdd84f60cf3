"""The base of all feature maps: everything that is not the mathematics of one of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from .._array import has_values, namespace
from .._random import DrawBudget, Stream, seed_of, stored_random_state
from .._sklearn import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    check_is_fitted,
    check_rows,
    checked,
    fit_context,
    unchanged_on_error,
)
from .._words import one_line
from ..engine.cluster import Partitions, answered, on_cluster
from ..engine.rows import map_rows, visit_rows
from ..kernels import Kernel
from .growth import GrowthPath, Parts, grown_parts, is_automatic
from .rows_seen import LearnsFromRows, RowsSeen
from .traits import MapTraits


class FeatureMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A transformer whose inner products approximate one kernel.

    A map says only its parameters, what it draws (``_draw``), what it computes from a block
    of rows (``_map``) and which kernel it stands for (``_kernel``). This class does the
    rest: validation, dtypes, sparse rows, blocks, threads, the memory budget, progress,
    feature names, and other array libraries.

    Attributes
    ----------
    kernel_ : Kernel
        The exact kernel that the map approximates.
    seed_ : int
        The seed of everything that was drawn; ``random_state=seed_`` gives the same map.
    n_features_in_, n_features_out_ : int
        Columns of the input, and features.
    n_drawn_ : int
        Random numbers that were drawn, about.
    parts_ : Parts or None
        The maps that ``n_components="auto"`` has put side by side; ``None`` for other maps.
    growth_ : GrowthPath
        How they grew, where they did.
    traits_ : MapTraits
        Whether the map is unbiased, random, and what it expects of rows.

    Examples
    --------
    A map of one's own, for the linear kernel:

    >>> import numpy as np
    >>> from mercer.features import FeatureMap
    >>> from mercer.kernels import Polynomial
    >>> class Identity(FeatureMap):
    ...     def _kernel(self):
    ...         return Polynomial(degree=1, coef0=0.0)
    ...     def _draw(self, stream, n_features_in):
    ...         return {}
    ...     def _map(self, X, xp, out=None):
    ...         return X
    >>> Identity().fit_transform(np.eye(2))
    array([[1., 0.],
           [0., 1.]])
    """

    random_state: Any

    _parameter_constraints: dict[str, Any] = {}

    kernel_: Kernel
    seed_: int
    n_features_in_: int
    n_features_out_: int
    n_drawn_: int
    traits_: MapTraits
    growth_: GrowthPath
    parts_: Parts | None = None

    #: What was seen of the rows; ``None`` before ``fit``.
    _seen: RowsSeen | None = None

    @abstractmethod
    def _kernel(self) -> Kernel:
        """Return the kernel that the map approximates, its parameters validated."""

    @abstractmethod
    def _draw(self, stream: Stream, n_features_in: int) -> dict[str, Any]:
        """Return what the map draws: a dictionary of fitted attributes.

        Called once, in ``fit``, with ``kernel_`` known. It may depend on the dimension of
        the input, never on the number of rows.
        """

    @abstractmethod
    def _map(self, X: Any, xp: Any, out: Any = None) -> Any:
        """Return the features of a block of rows: a pure function, in any array library.

        ``X`` is dense or CSR. Where ``out`` is given the result may be written there and
        ``out`` returned: of NumPy, and of libraries that have fused kernels.
        """

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the map for rows as wide as those of ``X``.

        The rows themselves matter only where the kernel takes its lengthscale from data.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            NumPy, torch, CuPy or another Array API library, a data frame, or CSR; or a Dask array
            or data frame, of which rows are read only if they matter.
        y : ignored

        Returns
        -------
        self : FeatureMap
        """
        with unchanged_on_error(self):
            self._seen = None
            if on_cluster(X):
                parts = Partitions.of(X)
                check_rows(parts.example.X, owner=self, reset=True)
                self._fit_rows(parts, self._kernel(), check=False)
            else:
                rows, kernel = self._kernel().as_rows(X)
                self._fit_rows(check_rows(rows, owner=self, reset=True), kernel, check=True)
        # The summary holds rows of the data, which must not be stored in a pickle.
        self._seen = RowsSeen()
        return self

    @fit_context(prefer_skip_nested_validation=True)
    def fit_checked(self, X: Any) -> Self:
        """Draw the map for rows that are checked already; they are read only if they matter.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Rows as ``check_rows`` returns them: an array of any library, or CSR.

        Returns
        -------
        self : FeatureMap
        """
        # scikit-learn leaves out the parameters of what is fitted inside a machine.
        self._validate_params()
        self._seen = None
        self.n_features_in_ = int(X.shape[1])
        self.__dict__.pop("feature_names_in_", None)
        self._fit_rows(X, self._kernel(), check=False)
        self._seen = RowsSeen()
        return self

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Draw the map at the first block of a stream, and learn its lengthscale from all.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The next block of rows.
        y : ignored

        Returns
        -------
        self : FeatureMap
        """
        with unchanged_on_error(self):
            rows, kernel = self._kernel().as_rows(X)
            rows = check_rows(rows, owner=self, reset=self._seen is None)
            self._fit_rows(rows, kernel, check=True)
        return self

    def transform(self, X: Any) -> Any:
        """Return the features of the rows of ``X``.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            NumPy, torch, CuPy or another Array API library, a data frame, or CSR; or a Dask array
            or data frame, for which the result is a Dask array that is not computed yet.

        Returns
        -------
        Z : array of shape (n_samples, n_features_out)
            In the library and on the device of ``X``: float32 for float32 and for integers
            of 8 bits, float64 for all else. ``Z @ Z.T`` approximates ``kernel_(X)``.
        """
        check_is_fitted(self)
        if on_cluster(X):
            return answered(self, "transform", X)
        if not has_values(X):
            return self.map_block(X, namespace(X))
        return self.transform_checked(check_rows(self.kernel_.as_rows(X)[0], owner=self))

    def transform_checked(self, X: Any, as_floats: bool = False) -> Any:
        """Return the features of rows that are checked already, whatever ``set_output`` says.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Rows as ``check_rows`` returns them: an array of any library, or CSR. That they are
            finite is checked here, block by block.
        as_floats : bool, default=False
            Floats at the scale of the kernel, also of a map that is asked for bits or int8.

        Returns
        -------
        Z : array of shape (n_samples, n_features_out)
        """
        xp, guard = namespace(X), self.traits_.guard
        findings: list[Any] = []

        def block_map(block: Any, out: Any = None) -> Any:
            if guard is not None:
                with np.errstate(over="ignore", under="ignore", invalid="ignore"):
                    findings.append(guard.inspect(block, xp))
            return self.map_block(block, xp, out)

        Z = (FeatureMap._all_rows if as_floats else type(self)._all_rows)(self, block_map, X)
        if guard is not None:
            guard.conclude(findings)
        return Z

    def _all_rows(self, block_map: Callable[..., Any], X: Any) -> Any:
        """Return the features of all rows; maps whose features are no floats have their own way."""
        traits = self.traits_
        return map_rows(
            block_map,
            X,
            self.n_features_out_,
            scratch=traits.scratch,
            device_scratch=traits.device_scratch,
            replays=traits.replays,
            label=type(self).__name__,
        )

    def map_block(self, X: Any, xp: Any, out: Any = None) -> Any:
        """Return the features of one block of floating rows, in ``out`` if given."""
        if self.parts_ is not None:
            return self.parts_.features(X, xp, out)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            return self._map(X, xp, out)

    def target_kernel(self) -> Kernel:
        """Return the kernel that the map is to approximate, also before ``fit``."""
        return self._kernel()

    def needs_data(self) -> bool:
        """Return whether ``fit`` takes more from the rows than their number of columns."""
        kernel = self._kernel()
        return kernel.needs_data() or _looks_at(self, kernel) or is_automatic(self)

    @classmethod
    def redrawn(
        cls, parameters: dict[str, Any], state: dict[str, Any], budget: DrawBudget
    ) -> FeatureMap:
        """Return a fitted map from its parameters and what was learnt, drawn again.

        Parameters
        ----------
        parameters : dict
            The parameters of the map.
        state : dict
            At least ``seed_``, ``kernel_`` and ``n_features_in_``; with ``parts_`` and all that
            follows from them nothing is drawn.
        budget : DrawBudget
            What limits the draw.
        """
        made: FeatureMap = checked(cls(**parameters))
        made.__dict__.update(state)
        if "parts_" not in state:
            made._draw_all(budget)
        made._seen = RowsSeen()
        return made

    def _fit_rows(self, X: Any, kernel: Kernel, check: bool) -> None:
        """Learn from the rows, and draw; ``check`` rows that do not matter, too."""
        looks = _looks_at(self, kernel)
        if self._seen is None:
            self.seed_ = seed_of(self.get_params(deep=False).get("random_state", 0))
        seen = RowsSeen() if self._seen is None else self._seen
        automatic = is_automatic(self)
        if kernel.needs_data() or looks or automatic:
            fresh = self.new_summary(self.seed_) if isinstance(self, LearnsFromRows) else None
            known = isinstance(X, Partitions)
            seen = seen.with_partitions(X, fresh) if known else seen.with_rows(X, fresh)
            if kernel.needs_data():
                kernel = kernel.from_summary(seen.known())
        elif check:
            visit_rows(_look, X, label="checking rows")
        self.kernel_ = kernel
        if isinstance(self, LearnsFromRows) and looks:
            with np.errstate(over="ignore", under="ignore", invalid="ignore"):
                self.__dict__.update(self.learn_from(seen.known()))
        if automatic:
            sample, tolerance = seen.known().sample, float(self.get_params()["tolerance"])
            parts, self.growth_ = grown_parts(self, kernel, self.seed_, sample, tolerance=tolerance)
            self.__dict__.update(parts.facts())
        else:
            self._draw_all(DrawBudget())
        self._seen = seen

    def _draw_all(self, budget: DrawBudget) -> None:
        """Set everything that seed, kernel and number of columns lead to."""
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            drawn = self._draw(Stream(self.seed_, budget=budget), self.n_features_in_)
        for name in ("parts_", "growth_"):
            self.__dict__.pop(name, None)
        self.__dict__.update({"traits_": MapTraits(), **drawn})
        self.n_drawn_ = budget.spent
        row = np.zeros((1, self.n_features_in_))
        self.n_features_out_ = int(self.map_block(row, namespace(row)).shape[1])

    @property
    def _n_features_out(self) -> int:
        """The name that scikit-learn has for ``n_features_out_``."""
        return self.n_features_out_

    def __sklearn_is_fitted__(self) -> bool:
        return self._seen is not None

    def __mercer_state__(self, compact: bool) -> dict[str, Any]:
        """Return the attributes for a model file, where a generator is the seed it has given."""
        state = dict(vars(self))
        if "random_state" in state:
            state["random_state"] = stored_random_state(
                self.random_state, getattr(self, "seed_", None)
            )
        return state

    def _chosen(self) -> list[tuple[str, str]]:
        if self._seen is None:
            return []
        size = f"{self.n_features_out_:,} of {self.n_features_in_:,} columns"
        names = ("method_", "projection_name_")
        by = [str(getattr(self, name)) for name in names if hasattr(self, name)]
        found = [("kernel", one_line(self.kernel_)), ("features", ", ".join([size, *by]))]
        return [*found, ("seed", str(self.seed_))] if self.traits_.random else found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.array_api_support = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _look(block: Any) -> None:
    """Do nothing with a block: taking it has checked that it is finite."""


def _looks_at(feature_map: FeatureMap, kernel: Kernel) -> bool:
    """Return whether the rows matter to a map beyond its kernel."""
    return isinstance(feature_map, LearnsFromRows) and feature_map.looks_at_rows(kernel)
