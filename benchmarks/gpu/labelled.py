"""Images with labels on a device, whitened, and a clock that prints."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

import mercer
from mercer.datasets import load_cifar10_jpeg
from mercer.preprocessing import ImageWhitening

from .timing import synchronize


@dataclass(frozen=True)
class Data:
    """Images on the device, training images first, and labels."""

    images: torch.Tensor
    labels: torch.Tensor
    n_train: int
    shape: tuple[int, ...]


class Clock:
    """Prints what is done, with the seconds since the start."""

    def __init__(self, device: str) -> None:
        self.device, self.begin = device, time.perf_counter()

    def say(self, text: str) -> None:
        """Print a line."""
        synchronize(self.device)
        print(f"[{time.perf_counter() - self.begin:7.1f} s] {text}", flush=True)


def loaded(path: Path, device: str, small: bool) -> Data:
    """Return CIFAR-10 as bytes on the device."""
    data = load_cifar10_jpeg(path, n_train=400 if small else None)
    test = slice(100 if small else None)
    images = np.concatenate([data.images, data.test_images[test]])
    if small:
        images = images[:, ::4, ::4]
    labels = np.concatenate([data.labels, data.test_labels[test]])
    rows = torch.as_tensor(images.reshape(len(images), -1)).to(device)
    labels = torch.as_tensor(labels).to(device)
    return Data(rows, labels, len(data.images), images.shape[1:])


def digits(path: Path, device: str, small: bool) -> Data:
    """Return MNIST as bytes on the device."""
    data = np.load(path)
    n_train, n_test = (300, 200) if small else (60000, 10000)
    images = np.concatenate([data["x_train"][:n_train], data["x_test"][:n_test]])
    labels = np.concatenate([data["y_train"][:n_train], data["y_test"][:n_test]]).astype(np.int64)
    rows, labels = (torch.as_tensor(part).to(device) for part in (images, labels))
    return Data(rows, labels, n_train, (28, 28, 1))


class Prepared:
    """Whitened images, the last ones that were asked for."""

    def __init__(self, data: Data, clock: Clock) -> None:
        self._data, self._clock = data, clock
        self._asked: tuple[Any, ...] = ()
        self._rows = torch.empty(0)

    def rows(self, regularization: float | None, n_fit: int) -> torch.Tensor:
        """Return whitened rows; whitening is learnt from the first ones."""
        if self._asked != (regularization, n_fit):
            self._rows = torch.empty(0)
            whitening = ImageWhitening(regularization)
            with mercer.config(memory="4GB", precision="float32"):
                whitening.fit(self._data.images[:n_fit])
                self._rows = whitening.transform(self._data.images)
            self._asked = regularization, n_fit
            self._clock.say(f"whitened, regularization {regularization}")
        return self._rows
