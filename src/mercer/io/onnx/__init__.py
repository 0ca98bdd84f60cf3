"""Models as ONNX graphs: formulas are recorded on arrays without numbers, not written again."""

from .convert import convertible, register, to_onnx
from .tape import NotRecordable

__all__ = ["NotRecordable", "convertible", "register", "to_onnx"]
