"""A feature map of one's own."""

from typing import Any

import numpy as np

from mercer import FeatureMap, FeatureRidgeClassifier, Kernel, Polynomial


class Squares(FeatureMap):
    """All products of two columns: the features of the kernel (x'y)², exactly."""

    def _kernel(self) -> Kernel:
        return Polynomial(degree=2, coef0=0.0, gamma=1.0)

    def _draw(self, stream: Any, n_features_in: int) -> dict[str, Any]:
        return {}

    def _map(self, X: Any, xp: Any, out: Any = None) -> Any:
        return xp.reshape(X[:, :, None] * X[:, None, :], (X.shape[0], -1))


X = np.random.default_rng(0).standard_normal((200, 2))
features = Squares().fit(X)
Z = np.asarray(features.transform(X))
assert np.allclose(Z @ Z.T, np.asarray(features.kernel_(X)))
classifier = FeatureRidgeClassifier(Squares()).fit(X, X[:, 0] * X[:, 1] > 0)
assert classifier.score(X, X[:, 0] * X[:, 1] > 0) > 0.8
