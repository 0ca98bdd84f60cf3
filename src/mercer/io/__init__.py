"""Files: models, checkpoints, and tables that are larger than memory."""

from .._registry import storable
from .checkpoint import fit_resumable
from .errors import ModelFileError
from .grids import GridRows
from .model_file import load, save
from .tables import TableStream

__all__ = ["GridRows", "ModelFileError", "TableStream", "fit_resumable", "load", "save", "storable"]
