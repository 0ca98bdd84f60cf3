"""Files: tables that are larger than memory, read as streams of blocks."""

from .tables import TableStream

__all__ = ["TableStream"]
