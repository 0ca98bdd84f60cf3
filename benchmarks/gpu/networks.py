"""Fully connected networks on a card: those of all seeds and step sizes are trained together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch

#: Adam's averages and floor, as everywhere.
AVERAGES, FLOOR = (0.9, 0.999), 1e-8
BATCH, EPOCHS = 128, 200
#: Looks at the test rows while training.
LOOKS = 20


@dataclass(frozen=True)
class Training:
    """Networks of one shape, and how long they are trained.

    Attributes
    ----------
    width, depth : int
        Units of a hidden layer, and hidden layers.
    rates : tuple of float
        Step sizes, a network for each.
    steps : int
        Steps, at most.
    """

    width: int
    depth: int
    rates: tuple[float, ...] = (1e-3, 1e-4)
    steps: int = 4000


def smallest_errors(
    training: Training,
    rows: list[tuple[np.ndarray, np.ndarray]],
    tests: list[tuple[np.ndarray, np.ndarray]],
    device: str,
) -> list[float]:
    """Return the smallest test error that a network of each seed had, at any look.

    That is kinder to networks than a choice that has not seen the test rows, as in the paper.

    Parameters
    ----------
    training : Training
        The networks.
    rows, tests : lists of (X, y)
        For each seed the rows to learn and those to test on.
    device : str
        Where to train.
    """
    X, y = (_stacked([pair[k] for pair in rows], device) for k in (0, 1))
    X_test, y_test = (_stacked([pair[k] for pair in tests], device) for k in (0, 1))
    n_seeds, n, d = X.shape
    seed_of = torch.arange(n_seeds, device=device).repeat_interleave(len(training.rates))
    rates = torch.tensor(training.rates, device=device).repeat(n_seeds)[:, None]
    generator = torch.Generator(device).manual_seed(0)
    net = _Networks((d, *[training.width] * training.depth, 1), len(seed_of), generator, device)
    batch = min(BATCH, n)
    n_steps = min(training.steps, EPOCHS * max(1, n // batch))
    best = torch.full((len(seed_of),), torch.inf, device=device)
    every = max(1, n_steps // LOOKS)
    for step, places in enumerate(_batches(len(seed_of), n, batch, n_steps, generator, device), 1):
        net.step(X[seed_of[:, None], places], y[seed_of[:, None], places], rates)
        if step % every == 0 or step == n_steps:
            with torch.no_grad():
                errors = (net.predict(X_test[seed_of]) - y_test[seed_of]) ** 2
            best = torch.minimum(best, errors.mean(dim=1))
    return [float(value) for value in best.reshape(n_seeds, -1).amin(dim=1).cpu()]


class _Networks:
    """Networks of one shape side by side; all numbers of one are a row of a matrix."""

    def __init__(
        self, widths: tuple[int, ...], number: int, generator: torch.Generator, device: str
    ) -> None:
        self._shapes = list(pairwise(widths))
        parts = []
        for inputs, outputs in self._shapes:
            # Glorot's bounds, for weights and constants alike.
            bound = (6 / (inputs + outputs)) ** 0.5
            size = (number, (inputs + 1) * outputs)
            parts.append(bound * (2 * torch.rand(size, generator=generator, device=device) - 1))
        self._sizes = [part.shape[1] for part in parts]
        self._values = torch.cat(parts, dim=1).requires_grad_()
        self._mean = torch.zeros_like(self._values)
        self._square = torch.zeros_like(self._values)
        self._steps = 0

    def predict(self, X: torch.Tensor) -> torch.Tensor:
        """Return predictions of shape (networks, rows) for rows of each network's own."""
        last = len(self._shapes) - 1
        for k, part in enumerate(self._values.split(self._sizes, dim=1)):
            inputs, outputs = self._shapes[k]
            weights = part[:, : inputs * outputs].reshape(-1, inputs, outputs)
            X = torch.baddbmm(part[:, None, inputs * outputs :], X, weights)
            X = X if k == last else torch.relu(X)
        return X[:, :, 0]

    def step(self, X: torch.Tensor, y: torch.Tensor, rates: torch.Tensor) -> None:
        """Take a step of Adam with each network, by its own step size."""
        loss = ((self.predict(X) - y) ** 2).mean(dim=1).sum()
        (gradient,) = torch.autograd.grad(loss, self._values)
        self._steps += 1
        slow, slower = AVERAGES
        with torch.no_grad():
            self._mean.lerp_(gradient, 1 - slow)
            self._square.mul_(slower).addcmul_(gradient, gradient, value=1 - slower)
            scale = (1 - slower**self._steps) ** 0.5
            divisor = self._square.sqrt().div_(scale).add_(FLOOR)
            self._values -= rates / (1 - slow**self._steps) * (self._mean / divisor)


def _stacked(parts: list[np.ndarray], device: str) -> torch.Tensor:
    return torch.as_tensor(np.stack(parts), dtype=torch.float32, device=device)


def _batches(
    number: int, n: int, batch: int, n_steps: int, generator: torch.Generator, device: str
) -> Iterator[torch.Tensor]:
    """Yield places of rows for each network, every row once before any comes again."""
    done = 0
    while done < n_steps:
        order = torch.rand(number, n, generator=generator, device=device).argsort(dim=1)
        for start in range(0, n - batch + 1, batch):
            if done < n_steps:
                yield order[:, start : start + batch]
                done += 1
