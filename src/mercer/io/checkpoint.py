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

from .._array import to_numpy
from .._frame import column, column_names, is_frame
from .._sklearn import checked
from ..machines.estimator import adopt
from .model_file import DAMAGE, read, restored, write
from .structure import ModelFileError, Packer


def fit_resumable(
    machine: Any,
    stream: Iterable[Any],
    checkpoint: str | Path,
    *,
    every: float = 60.0,
    classes: Any = None,
) -> Any:
    """Fit a machine on a stream of blocks, keeping a checkpoint to resume from.

    If the file is there, the blocks that it has seen are skipped and learning resumes after
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
    classes : array of shape (n_classes,), default=None
        All labels there are, for a :class:`FeatureRidgeClassifier` whose first block lacks some.

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
    if not hasattr(machine, "fit_in_steps"):
        raise TypeError(
            f"{type(machine).__name__} cannot be resumed; FeatureRidge, FeatureRidgeClassifier, "
            "KernelRegressor and KernelClassifier can."
        )
    path = Path(checkpoint)
    checked(machine)
    fresh = clone(machine)
    options = {} if classes is None else {"classes": classes}
    key = _key(machine, stream)
    done = _resume(fresh, path, key)
    written = time.monotonic()
    for position in fresh.fit_in_steps(stream, skip=done, **options):
        if time.monotonic() - written >= every:
            _write(fresh, path, key, position)
            written = time.monotonic()
    adopt(machine, fresh)
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
    for name in ("path", "columns", "block_rows"):
        digest.update(str(getattr(stream, name, "")).encode())
    for X, y, *_ in source:
        digest.update(f"{X.shape}{np.asarray(y).tolist()!r}".encode())
        digest.update(_content(X))
        break
    return digest.hexdigest()


def _content(X: Any) -> bytes:
    """Return the names and values of a block of rows."""
    if is_frame(X):
        values = [column(X, number).tolist() for number in range(X.shape[1])]
        return repr((column_names(X), values)).encode()
    return np.ascontiguousarray(to_numpy(X)).tobytes() if hasattr(X, "dtype") else repr(X).encode()


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
    state = restored(path, content, arrays, "state", "a checkpoint")
    try:
        position = int(content["position"])
    except DAMAGE as error:
        raise ModelFileError(
            f"{path} is not a checkpoint that mercer can read: {error}."
        ) from error
    for name, value in state.items():
        setattr(fresh, name, value)
    warnings.warn(f"Resumed from {path} after block {position}.", UserWarning, stacklevel=3)
    return position


def _write(fresh: Any, path: Path, key: str, position: int) -> None:
    parameters = set(fresh.get_params(deep=False))
    state = {name: value for name, value in fresh.__dict__.items() if name not in parameters}
    packer = Packer(compact=False)
    structure = packer.pack(state, "checkpoint")
    write(path, {"key": key, "position": position, "state": structure}, packer.arrays)
