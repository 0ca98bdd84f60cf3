"""The processor time of README's ten lines: with the default threads, and with one thread.

Threads of BLAS wait for each other by spinning, so that small solves on many threads take a
multiple of the processor's time, and on a busy machine of the clock's, too. Processor time hardly
depends on what else the machine does.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from mercer.engine.config import settings

from ..report import Report, Table
from ..runner import check

README = Path(__file__).parents[2] / "README.md"
SOURCE = Path(__file__).parents[2] / "src"
#: Variables that give every library one thread.
VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
#: The most processor time of the default threads, in that of one.
MOST = 1.3
DEFAULT = "default threads"


def run(repeats: int) -> Report:
    """Return processor and clock seconds of both, interleaved; the least of each counts."""
    plain = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    plain["PYTHONPATH"] = str(SOURCE)
    settings_of = {"one thread": {**plain, **dict.fromkeys(VARIABLES, "1")}, DEFAULT: plain}
    lines = ten_lines()
    with tempfile.TemporaryDirectory() as folder:
        # Compiles what is not on disk yet.
        _measured(lines, plain, folder)
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in settings_of}
        for _ in range(repeats):
            for name, own in settings_of.items():
                found[name].append(_measured(lines, own, folder))
    least = {name: tuple(map(min, zip(*pairs, strict=True))) for name, pairs in found.items()}
    processor_of_one = least["one thread"][0]
    rows = [
        {
            "case": name,
            "processor / one thread": processor / processor_of_one,
            "processor seconds": processor,
            "seconds": clock,
        }
        for name, (processor, clock) in least.items()
    ]
    table = Table(f"README's ten lines, on {settings().workers()} cores", rows)
    return Report([table], [check(table, DEFAULT, "processor / one thread", "at most", MOST)])


def ten_lines() -> str:
    """Return the code of README's section of that name."""
    section = README.read_text(encoding="utf-8").split("## Ten lines", 1)[1]
    found = re.search(r"```python\n(.*?)```", section, re.DOTALL)
    assert found is not None, "README has no code under 'Ten lines'."
    return found.group(1)


def _measured(lines: str, variables: dict[str, str], folder: str) -> tuple[float, float]:
    """Return the processor time, of all threads, and the time of one run in a fresh process."""
    before, start = _children(), time.perf_counter()
    command = [sys.executable, "-c", lines]
    subprocess.run(command, env=variables, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return _children() - before, time.perf_counter() - start


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
