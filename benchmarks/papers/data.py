"""The data sets that the papers used, as rows in float32 or float64."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mercer import SphericalCoordinates


def mnist(folder: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return images and digits to train on and to test on; images are float32 unit rows."""
    file = np.load(folder / "mnist.npz")
    images = (unit(file[key].reshape(len(file[key]), -1)) for key in ("x_train", "x_test"))
    X, X_test = images
    return X, file["y_train"].astype(int), X_test, file["y_test"].astype(int)


def unit(X: np.ndarray) -> np.ndarray:
    """Return rows of length one, in float32 unless they are float64; zero rows stay zero."""
    X = X if X.dtype == np.float64 else X.astype(np.float32)
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(norms > 0, norms, 1).astype(X.dtype)


def unit_table(folder: Path, name: str) -> np.ndarray:
    """Return a table of numbers in float64, columns standardised, then rows of length one."""
    X = _regression(folder, name)["X"].astype(np.float64)
    std = X.std(axis=0)
    X = (X - X.mean(axis=0))[:, std > 0] / std[std > 0]
    return unit(X)


def split_table(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return rows and targets to train on and to test on, by the first of the stored splits."""
    file = _regression(folder, name)
    X, y, test = file["X"], file["y"].astype(float), file["test_mask"][:, 0] > 0
    return X[~test], y[~test], X[test], y[test]


def field(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return coordinates, values and weights of the cells of a field on the sphere.

    Coordinates are float32 points of the unit sphere, followed by the time where there is one,
    from -1/2 to 1/2. The cells of a grid get smaller towards the poles: the weight is the cosine of
    the latitude.
    """
    file = np.load(folder / f"sphere_{name}.npz")
    latitude, time = file["lat"], file.get("time")
    X = SphericalCoordinates().fit_transform(np.column_stack([latitude, file["lon"]]))
    if time is not None:
        first, last = float(time.min()), float(time.max())
        scaled = (time - first) / (last - first) - 0.5
        X = np.column_stack([X, scaled.astype(X.dtype)])
    return X, file["value"].astype(float), np.cos(np.radians(latitude, dtype=float))


def _regression(folder: Path, name: str) -> np.lib.npyio.NpzFile:
    """Return the file of a regression problem."""
    return np.load(folder / "uci_regression" / f"{name}.npz")
