"""Model files: arrays in safetensors, structure in JSON, a checksum over both."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from .._words import did_you_mean
from .atomic import replacing
from .errors import ModelFileError
from .structure import Packer, Unpacker
from .versions import PACKAGES, other_versions, versions, warn_of_others

#: The version of the format that is written, and the only one that is read.
FORMAT = 3
#: What goes wrong when a file is not what it says.
DAMAGE = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    OSError,
    RecursionError,
    RuntimeError,
    TypeError,
    ValueError,
)


def save(
    model: Any, path: str | Path, *, compact: bool = False, coefficients: str | None = None
) -> None:
    """Write a fitted model to a file, whole or not at all.

    The file is written beside its place, brought to the disk, and then moved there: what was
    there before stays until the new file is complete.

    Parameters
    ----------
    model : estimator
        A machine, feature map, kernel, encoder, or a pipeline with scikit-learn's scalers,
        encoders and imputers, and functions of NumPy and ``scipy.special`` by their names.
    path : str or Path
        The file; by custom it ends in ``.mercer``.
    compact : bool, default=False
        Leave out what only further learning and error bars need (sums of products, rows held
        out for calibration), and keep random maps as seed and shape: kilobytes instead of
        megabytes. Predictions and probabilities stay the same. Maps of more than a gigabyte of
        random numbers are refused: ``load`` would not draw them again.
    coefficients : {"float16", "float32"} or None, default=None
        Round the coefficients of ridge machines to this dtype, which leaves a quarter or half of
        them; predictions change in the fourth or eighth digit. Coefficients that the dtype cannot
        hold are refused.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_wine
    >>> import mercer
    >>> X, y = load_wine(return_X_y=True)
    >>> model = mercer.KernelClassifier().fit(X, y)
    >>> path = Path(tempfile.mkdtemp()) / "wine.mercer"
    >>> mercer.save(model, path)
    >>> bool((mercer.load(path).predict(X) == model.predict(X)).all())
    True
    """
    packer = Packer(compact, coefficients)
    structure = packer.pack(model)
    write(Path(path), {"model": structure}, packer.arrays)


def load(path: str | Path) -> Any:
    """Return the model that a file holds.

    No code of the file is run: it names classes and functions of a closed list, and holds numbers
    and strings. A warning tells where it was written with another minor version of mercer, or of
    scikit-learn if it holds estimators of scikit-learn.

    Parameters
    ----------
    path : str or Path
        A file that :func:`save` has written.

    Returns
    -------
    model : estimator
        Its predictions are those of the model that was saved, bit by bit.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import mercer
    >>> path = Path(tempfile.mkdtemp()) / "kernel.mercer"
    >>> mercer.save(mercer.Gaussian(2.0) + mercer.NTK(depth=2), path)
    >>> mercer.load(path)
    Sum(left=Gaussian(lengthscale=2.0), right=NTK(depth=2))
    """
    return unpacked(Path(path), "model")


def unpacked(path: Path, part: str) -> Any:
    """Return a part of a file's structure as objects."""
    content, arrays = read(path)
    return restored(path, content, arrays, part, "a model")


def restored(
    path: Path, content: dict[str, Any], arrays: dict[str, np.ndarray], part: str, what: str
) -> Any:
    """Return a part of the structure of a file as objects.

    Parameters
    ----------
    path : Path
        Of the file, for errors.
    content, arrays : dict
        What it holds.
    part : str
        Of the content.
    what : str
        What to call it in errors.
    """
    unpacker = Unpacker(arrays)
    try:
        found = unpacker.unpack(content[part])
    except DAMAGE as error:
        others = other_versions(content, PACKAGES)
        since = f" (it was written with {' and '.join(others)})" if others else ""
        raise ModelFileError(
            f"{path} is not {what} that mercer can read: {error}{since}."
        ) from error
    warn_of_others(path, other_versions(content, unpacker.modules))
    return found


def write(path: Path, content: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Write structure and arrays to a file, atomically."""
    from safetensors.numpy import save_file

    structure = json.dumps({"version": FORMAT, **versions(), **content})
    metadata = {"mercer": structure, "sha256": checksum(structure, arrays)}
    with replacing(path) as name:
        save_file(arrays, name, metadata=metadata)


def read(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return structure and arrays of a file whose checksum is right."""
    from safetensors import SafetensorError, safe_open

    if not path.exists():
        folder = path.absolute().parent
        siblings = [other.name for other in folder.iterdir()] if folder.is_dir() else []
        hint = did_you_mean(path.name, siblings, "check its name.")
        raise FileNotFoundError(f"There is no file {path}; {hint}")
    try:
        with safe_open(str(path), framework="numpy") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, *DAMAGE) as error:
        raise ModelFileError(f"{path} is not a model file, or it is damaged ({error}).") from error
    structure = metadata.get("mercer")
    if structure is None:
        raise ModelFileError(f"{path} is a safetensors file, but holds no mercer model.")
    try:
        content = json.loads(structure)
        version = int(content["version"])
    except DAMAGE as error:
        raise ModelFileError(f"{path} is damaged: its structure cannot be read.") from error
    if version < FORMAT:
        raise ModelFileError(
            f"{path} was written in format {version}, older than this version of mercer reads "
            f"({FORMAT}); fit the model again and save it."
        )
    if version > FORMAT:
        raise ModelFileError(
            f"{path} was written by mercer {content.get('mercer')} in format {version}, newer than "
            f"this version reads ({FORMAT}); update with: pip install --upgrade mercer"
        )
    if metadata.get("sha256") != checksum(structure, arrays):
        raise ModelFileError(
            f"{path} is damaged: its checksum does not fit its content; copy or save it again."
        )
    return content, arrays


def checksum(structure: str, arrays: dict[str, np.ndarray]) -> str:
    """Return the SHA-256 of a structure and of arrays, their types and shapes."""
    digest = hashlib.sha256(structure.encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name}:{array.dtype.str}:{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data if array.size else b"")
    return digest.hexdigest()
