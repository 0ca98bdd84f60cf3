"""Model files whose checksum is right and whose content is not what was written."""

import json

from safetensors import safe_open
from safetensors.numpy import save_file

from mercer.io.model_file import checksum


def forged(path, change):
    """Change the structure and the arrays of a file in place, by ``change(structure, arrays)``."""
    with safe_open(str(path), framework="numpy") as file:
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        structure = json.loads(file.metadata()["mercer"])
    change(structure, arrays)
    text = json.dumps(structure)
    save_file(arrays, str(path), metadata={"mercer": text, "sha256": checksum(text, arrays)})
