"""A kernel of one's own, which adds, multiplies and nests like the others."""

from typing import Any

import numpy as np

from mercer import Gaussian, Kernel, KernelRidge
from mercer.testing import check_kernel


class Linear(Kernel):
    """The inner product, scaled."""

    def __init__(self, scale: float = 1.0) -> None:
        self.scale = scale

    def _tile(self, X: Any, Y: Any, xp: Any, out: Any = None) -> Any:
        return self.scale * (X @ Y.T)

    def _diag(self, X: Any, xp: Any) -> Any:
        return self.scale * xp.sum(X * X, axis=1)


both: Kernel = Linear(0.5) + 2.0 * Gaussian()
X = np.random.default_rng(0).standard_normal((40, 2))
check_kernel(Linear())
machine = KernelRidge(both).set_params(alpha=0.1).fit(X, X[:, 0])
assert np.asarray(both(X)).shape == (40, 40)
assert machine.score(X, X[:, 0]) > 0.9
