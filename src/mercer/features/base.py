"""The base of all feature maps: everything that is not the mathematics of one of them."""

from __future__ import annotations

import copy
from abc import abstractmethod

import numpy as np

from .._array import namespace
from .._random import Stream, seed_of
from .._sklearn import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    check_is_fitted,
    check_rows,
    fit_context,
)
from ..engine.rows import map_rows, visit_rows
from ..kernels.lengthscale import RowSummary

#: Features that show whether a map was drawn as before.
PROOF = 64
#: Random numbers that a stored recipe may ask for.
LARGEST_DRAW = 2**27
#: What a recipe holds beside parameters.
KNOWN = ("seed_", "kernel_", "n_features_in_", "feature_names_in_", "_sklearn_output_config")


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
    n_features_in_ : int
        Columns of the input.

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

    _parameter_constraints: dict = {}

    @abstractmethod
    def _kernel(self):
        """Return the kernel that the map approximates, its parameters validated."""

    @abstractmethod
    def _draw(self, stream, n_features_in):
        """Return what the map draws: a dictionary of fitted attributes.

        Called once, in ``fit``, with ``kernel_`` known. It may depend on the dimension of
        the input, never on the number of rows.
        """

    @abstractmethod
    def _map(self, X, xp, out=None):
        """Return the features of a block of rows: a pure function, in any array library.

        ``X`` is dense or CSR. Where ``out`` is given (NumPy only) the result may be written
        there and ``out`` returned.
        """

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None):
        """Draw the map for rows as wide as those of ``X``.

        The rows themselves matter only where the kernel takes its lengthscale from data.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            NumPy, torch, CuPy or another Array API library, a data frame, or CSR.
        y : ignored

        Returns
        -------
        self : FeatureMap
        """
        for name in ("seed_", "_summary"):
            self.__dict__.pop(name, None)
        self._fit_more(check_rows(X, owner=self, reset=True))
        # The summary holds rows of the data, which have no business in a pickle.
        self.__dict__.pop("_summary", None)
        return self

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X, y=None):
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
        return self._fit_more(check_rows(X, owner=self, reset=not hasattr(self, "seed_")))

    def transform(self, X):
        """Return the features of the rows of ``X``.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            NumPy, torch, CuPy or another Array API library, a data frame, or CSR.

        Returns
        -------
        Z : array of shape (n_samples, n_features_out)
            In the library and on the device of ``X``: float32 for float32 and for integers
            of 8 bits, float64 for all else. ``Z @ Z.T`` approximates ``kernel_(X)``.
        """
        return self._features(X)

    def _features(self, X):
        """Return what ``transform`` does, before ``set_output`` wraps it."""
        check_is_fitted(self)
        X = check_rows(X, owner=self)
        xp = namespace(X)

        def block_map(block, out=None):
            with np.errstate(over="ignore", under="ignore", invalid="ignore"):
                return self._map(block, xp, out)

        return map_rows(
            block_map, X, self._n_features_out, scratch=self._scratch(), label=type(self).__name__
        )

    #: Whether a compact model file may hold the seed in place of what was drawn.
    _by_recipe = True

    #: Fitted attributes that the map itself takes from rows; a stored recipe keeps them.
    _from_rows: tuple = ()

    def _looks_at_rows(self, kernel):
        """Return whether the map takes more from the rows than the kernel does."""
        return False

    def _learn(self, summary):
        """Set the attributes of ``_from_rows`` from a summary of all rows so far."""

    def _unbiased(self):
        """Return whether inner products of features are the kernel's on average.

        Those of a map with ``mean_kernel_`` are that kernel's; other maps without a known
        average only come closer to the kernel as they grow.
        """
        return True

    def _is_random(self):
        """Return whether another seed would have given another fitted map."""
        return True

    def _scratch(self):
        """Return how many numbers ``_map`` holds for each row beside input and output."""
        return 0

    def _fit_more(self, X):
        """Learn from the rows, and draw."""
        kernel = self._kernel()
        looks = self._looks_at_rows(kernel)
        if kernel.needs_data() or looks:
            # A copy, so that a block that is refused leaves nothing behind.
            summary = copy.deepcopy(getattr(self, "_summary", None)) or RowSummary()
            visit_rows(summary.update, X, label="lengthscale")
            kernel = kernel.from_summary(summary)
            self._summary = summary
        else:
            visit_rows(_look, X, label="checking rows")
        self.kernel_ = kernel
        if not hasattr(self, "seed_"):
            self.seed_ = seed_of(getattr(self, "random_state", 0))
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            if looks:
                self._learn(summary)
            return self._drawn()

    def _drawn(self):
        """Return the map with everything drawn that its seed, kernel and shape lead to."""
        for name, value in self._draw(Stream(self.seed_), self.n_features_in_).items():
            setattr(self, name, value)
        self._n_features_out = int(self._probe(np.zeros(self.n_features_in_)).size)
        return self

    def _probe(self, row):
        """Return the features of one row."""
        row = row[None, :]
        return self._map(row, namespace(row))[0]

    def _stored(self, compact):
        """Return the state for a model file, where a generator is the seed it has given."""
        state = dict(self.__dict__)
        state.pop("_summary", None)
        if "random_state" in state:
            state["random_state"] = stored_random_state(self, "seed_")
        return state

    def _recipe(self):
        """Return what is enough to draw the map again, and features to compare with then."""
        known = (*KNOWN, *self._from_rows)
        state = {name: getattr(self, name) for name in known if hasattr(self, name)}
        proof = self._probe(_proof_row(self.n_features_in_))[:PROOF]
        stored = self._stored(compact=True)
        parameters = {name: stored[name] for name in self.get_params(deep=False)}
        return {"parameters": parameters, "state": state, "proof": proof}

    @classmethod
    def _from_recipe(cls, recipe):
        """Return the map of a recipe, drawn again."""
        made = cls(**recipe["parameters"])
        made._validate_params()
        size = int(getattr(made, "n_components", 1)) * int(recipe["state"]["n_features_in_"])
        for name in ("degree", "depth"):
            value = getattr(made, name, None)
            size *= value if isinstance(value, int) and value > 0 else 1
        if size > LARGEST_DRAW:
            raise ValueError(f"a map of {size:,} numbers is too large to be drawn")
        for name in (*KNOWN, *cls._from_rows):
            if name in recipe["state"]:
                setattr(made, name, recipe["state"][name])
        made._drawn()
        proof = made._probe(_proof_row(made.n_features_in_))[:PROOF]
        if not np.allclose(proof, recipe["proof"], rtol=1e-6, atol=1e-9):
            raise ValueError(
                "its random features come out differently here; save it with compact=False"
            )
        return made

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.array_api_support = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def stored_random_state(estimator, name):
    """Return ``random_state`` for a file: a generator is the seed that a fit has got from it."""
    if isinstance(estimator.random_state, (int, np.integer, type(None))):
        return estimator.random_state
    if not hasattr(estimator, name):
        raise ValueError(
            f"{type(estimator).__name__} has a random generator as random_state and is not "
            "fitted; give an integer instead."
        )
    return getattr(estimator, name)


def _proof_row(n_features):
    return np.cos(np.arange(n_features) + 1.0)


def _look(block):
    """Do nothing with a block: taking it has checked that it is finite."""
