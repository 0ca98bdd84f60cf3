"""Tests of the peak of memory."""

import numpy as np
import pytest

from mercer.engine import peak_memory
from mercer.engine.peak_memory import PeakMemory


@pytest.mark.parametrize("resident", [True, False])
def test_the_peak_counts_what_is_gone_at_the_end(resident, monkeypatch):
    if not resident:
        monkeypatch.setattr(peak_memory, "_STATM", "/there/is/no/such/file")
    with PeakMemory() as memory:
        # Long enough to be sampled however busy the machine is.
        for _ in range(5):
            block = np.ones(12_500_000)
            block *= 2
        del block
    assert 90e6 < memory.growth < 250e6
    with PeakMemory() as nothing:
        pass
    assert nothing.growth < 20e6
    assert memory.counts in ("resident memory", "traced allocations")
    assert resident or memory.counts == "traced allocations"
