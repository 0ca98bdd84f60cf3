"""A lengthscale for each kernel, chosen on a sample of the training rows and shared by all maps."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..._words import shortened
from ...features.choosing import MapChoice, choose_map
from ...features.for_kernel import features_for
from ...kernels import Gaussian, Kernel, Laplace, Matern
from ...machines import FeatureRidge, FeatureRidgeClassifier

#: Kernels with a lengthscale, by name.
KERNELS: dict[str, type[Kernel]] = {"gaussian": Gaussian, "laplace": Laplace, "matern": Matern}
#: Lengthscales that are tried, over the median distance of two rows; beyond the ends further ones
#: while they are better, so many at most.
FACTORS = (0.25, 0.5, 1.0, 2.0)
FURTHER = 4
#: Rows and features that they are tried with.
ROWS, COMPONENTS = 4096, 512


def head(features: Any, task: str) -> Any:
    """Return the machine that learns on features, the same for every map.

    Examples
    --------
    >>> head(None, "regression")
    FeatureRidge()
    """
    return FeatureRidge(features) if task == "regression" else FeatureRidgeClassifier(features)


class Tuner:
    """Chooses lengthscales when they are asked for, each once.

    Parameters
    ----------
    X, y : arrays of shape (n_rows, n_columns) and (n_rows,)
        Encoded training rows in random order, and targets.
    task : {"regression", "classification"}
        What is learnt.
    seed : int
        Of the features.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((400, 2))
    >>> tuner = Tuner(X, np.sin(4 * X[:, 0]), "regression", 0)
    >>> kernel, why = tuner.kernel("gaussian")
    >>> kernel.lengthscale < Gaussian("median").fitted_to(X).lengthscale
    True
    >>> why
    'Gaussian(lengthscale=0.4...), the best of ... lengthscales on 400 rows'
    """

    def __init__(self, X: Any, y: np.ndarray, task: str, seed: int) -> None:
        self._X, self._y, self._task, self._seed = X[:ROWS], y[:ROWS], task, seed
        self._found: dict[str, tuple[Kernel, str]] = {}

    def kernel(self, name: str) -> tuple[Kernel, str]:
        """Return a kernel with its lengthscale, and why it has it.

        Parameters
        ----------
        name : {"gaussian", "laplace", "matern"}
            Which kernel.
        """
        if name not in self._found:
            self._found[name] = self._best(KERNELS[name])
        return self._found[name]

    def map_for(self, kernel: Kernel, n_components: int) -> MapChoice:
        """Return the map for a kernel that suits these rows."""
        return choose_map(kernel, self._X, n_components, self._seed)

    def _best(self, family: type[Kernel]) -> tuple[Kernel, str]:
        median = family().set_params(lengthscale="median").fitted_to(self._X)
        middle = float(median.get_params()["lengthscale"])
        errors: dict[float, float] = {}
        waiting, left = list(FACTORS), FURTHER
        while waiting:
            factor = waiting.pop()
            errors[factor] = self._error(family().set_params(lengthscale=middle * factor))
            best = min(errors, key=lambda known: errors[known])
            if not waiting and left and best in (min(errors), max(errors)):
                waiting, left = [best * (2.0 if best == max(errors) else 0.5)], left - 1
        kernel = family().set_params(lengthscale=middle * best)
        return kernel, (
            f"{shortened(repr(kernel))}, the best of {len(errors)} lengthscales on "
            f"{int(self._X.shape[0]):,} rows"
        )

    def _error(self, kernel: Kernel) -> float:
        """Return the error that generalised cross-validation expects."""
        size = min(COMPONENTS, max(32, int(self._X.shape[0]) // 4))
        machine = head(features_for(kernel, size, self._seed), self._task)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return float(machine.fit(self._X, self._y).expected_error())
