"""The error of model files."""

from __future__ import annotations


class ModelFileError(ValueError):
    """A model file that cannot be written, or cannot be trusted.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import mercer
    >>> path = Path(tempfile.mkdtemp()) / "damaged.mercer"
    >>> _ = path.write_text("not a model")
    >>> try:
    ...     mercer.load(path)
    ... except mercer.io.ModelFileError as error:
    ...     print("is not a model file" in str(error))
    True
    """
