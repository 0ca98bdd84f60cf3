"""Passes over a stream that survive being killed: the sums so far, and the place."""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from .model_file import read, write
from .structure import ModelFileError, Packer, Unpacker


def fit_resumable(
    machine: Any, stream: Iterable[Any], checkpoint: str | Path, *, every: float = 60.0
) -> Any:
    """Fit a machine on a stream of blocks, keeping a checkpoint to go on from.

    If the file is there, the blocks that it has seen are skipped and learning goes on after
    them: the model is the one that an uninterrupted pass gives, bit by bit. The file is
    removed when the fit is complete.

    Parameters
    ----------
    machine : FeatureRidge, FeatureRidgeClassifier, KernelRegressor or KernelClassifier
        What learns; it is fitted in place.
    stream : iterable of (X, y) or (X, y, sample_weight)
        Blocks in the same order every time: a :class:`TableStream`, or a list.
    checkpoint : str or Path
        The file.
    every : float, default=60.0
        Seconds between two checkpoints; 0 writes one after each block.

    Returns
    -------
    machine : estimator
        The fitted machine.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from mercer import FeatureRidge
    >>> from mercer.io import fit_resumable
    >>> X = np.random.default_rng(0).standard_normal((60, 2))
    >>> blocks = [(X[:30], X[:30, 0]), (X[30:], X[30:, 0])]
    >>> file = Path(tempfile.mkdtemp()) / "pass.checkpoint"
    >>> model = fit_resumable(FeatureRidge(alpha=1e-3), blocks, file)
    >>> bool(abs(model.predict([[3.0, 0.0]])[0] - 3.0) < 1e-3), file.exists()
    (True, False)
    """
    if isinstance(stream, Iterator):
        raise ValueError(
            "A pass that can be resumed needs blocks that can be read again: give a list or a "
            "TableStream instead of an iterator."
        )
    path = Path(checkpoint)
    machine._validate_params()
    fresh = clone(machine)
    key = _key(machine, stream)
    done = _resume(fresh, path, key)
    written = time.monotonic()
    for position in fresh._learning(stream, skip=done):
        if time.monotonic() - written >= every:
            _write(fresh, path, key, position)
            written = time.monotonic()
    machine._take_over(fresh)
    path.unlink(missing_ok=True)
    return machine


def _key(machine: Any, stream: Any) -> str:
    """Return what must be the same for a pass to go on: parameters and the first block."""
    packer = Packer(compact=True)
    parameters = packer.pack(machine.get_params(deep=False))
    digest = hashlib.sha256(json.dumps([type(machine).__name__, parameters]).encode())
    for array in packer.arrays.values():
        digest.update(array.tobytes())
    source = stream.tables() if hasattr(stream, "tables") else stream
    for X, y, *_ in source:
        targets = np.asarray(y)
        digest.update(f"{X.shape}".encode())
        digest.update(repr(targets.tolist()).encode())
        break
    return digest.hexdigest()


def _resume(fresh: Any, path: Path, key: str) -> int:
    """Give a machine the state of a checkpoint; return how many blocks it has seen."""
    if not path.exists():
        return 0
    content, arrays = read(path)
    if content.get("key") != key:
        raise ModelFileError(
            f"{path} is the checkpoint of another fit (other parameters or data); remove it, or "
            "give another file."
        )
    state = Unpacker(arrays).unpack(content["state"])
    for name, value in state.items():
        # Views of the file's arrays refuse to be added to.
        setattr(fresh, name, value)
    warnings.warn(
        f"Going on after block {content['position']} from {path}.", UserWarning, stacklevel=3
    )
    return int(content["position"])


def _write(fresh: Any, path: Path, key: str, position: int) -> None:
    parameters = set(fresh.get_params(deep=False))
    state = {name: value for name, value in fresh.__dict__.items() if name not in parameters}
    packer = Packer(compact=False)
    structure = packer.pack(state, "checkpoint")
    write(path, {"key": key, "position": position, "state": structure}, packer.arrays)
