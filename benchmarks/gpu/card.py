"""The accelerator that a benchmark ran on, as a table of its results."""

from __future__ import annotations

import torch

from ..report import Table


def card(device: str) -> Table:
    """Return what a table of results says of the accelerator and of torch."""
    facts = {"torch": torch.__version__, "device": device}
    if device.startswith("cuda"):
        found = torch.cuda.get_device_properties(device)
        facts["card"] = found.name
        facts["memory"] = f"{found.total_memory / 2**30:.0f} GiB"
        facts["CUDA"] = str(torch.version.cuda)
    else:
        facts["threads"] = str(torch.get_num_threads())
    return Table("Device", [{"what": key, "value": value} for key, value in facts.items()])
