"""Random Maclaurin features: the baseline that draws a degree for every column."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer import FeatureMap, Kernel


class RandomMaclaurin(FeatureMap):
    """Features of a kernel Σ_n a_n ⟨x, y⟩ⁿ as of P. Kar and H. Karnick (AISTATS 2012).

    A column draws a degree n with probability 2^-(n+1) and is the product of n projections
    on random signs, times √(a_n 2^(n+1)).

    Parameters
    ----------
    kernel : Kernel with a method ``taylor``
        The kernel. For a series of the cosine, rows are scaled to unit norm first.
    n_components : int, default=512
        The number of features.
    random_state : int, default=0
        Seed of degrees and signs.
    """

    def __init__(self, kernel: Kernel, *, n_components: int = 512, random_state: int = 0) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.random_state = random_state

    def _kernel(self) -> Kernel:
        return self.kernel

    def _draw(self, stream: Any, n_features_in: int) -> dict[str, Any]:
        generator, m = stream.generator(), self.n_components
        # The highest first: columns of a degree above k are the first ones.
        degrees = np.sort(generator.geometric(0.5, m) - 1)[::-1]
        known = np.asarray(self.kernel_.taylor(int(degrees[0])), dtype=float)
        coefficients = np.pad(known, (0, max(0, degrees[0] + 1 - len(known))))
        counts = [int(np.sum(degrees > k)) for k in range(degrees[0])]
        return {
            "scales_": np.sqrt(coefficients[degrees] * 2.0 ** (degrees + 1) / m),
            "signs_": [generator.choice([-1.0, 1.0], (n_features_in, size)) for size in counts],
        }

    def _map(self, X: np.ndarray, xp: Any, out: np.ndarray | None = None) -> np.ndarray:
        Z = np.empty((len(X), self.n_components), X.dtype) if out is None else out
        Z[...] = self.scales_
        if getattr(self.kernel_, "normalized", False):
            norms = np.linalg.norm(X, axis=1, keepdims=True)
            X = X / np.where(norms > 0, norms, 1)
            Z *= norms
        for signs in self.signs_:
            Z[:, : signs.shape[1]] *= X @ signs.astype(X.dtype)
        return Z
