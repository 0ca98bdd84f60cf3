"""Mistakes that a type checker must find: each comment below is an error if there is none."""

import numpy as np

import mercer
from mercer import FeatureRidge, Gaussian, KernelRidge, RandomFourier


def mistakes(X: np.ndarray, y: np.ndarray) -> None:
    model = KernelRidge(Gaussian()).fit(X, y)
    model.predcit(X)  # type: ignore[attr-defined]
    model.score(X, y).shape  # type: ignore[attr-defined]  # noqa: B018
    model.fit(X, y, weight=y)  # type: ignore[call-arg]
    KernelRidge(Gaussian(), solver=3)  # type: ignore[arg-type]
    RandomFourier(n_features=10)  # type: ignore[call-arg]
    RandomFourier().fit(X).frequencies  # type: ignore[attr-defined]  # noqa: B018
    FeatureRidge().merge(model)  # type: ignore[arg-type]
    mercer.save(model)  # type: ignore[call-arg]
    mercer.KernelRegresor()  # type: ignore[attr-defined]
