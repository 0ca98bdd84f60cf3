"""One job in a process of its own: ``python -m benchmarks.versions.worker JOB RESULT CALLS``.

Writes the result of the job to a file, and prints the seconds of the fastest of its calls and the
file of the package that was measured.
"""

from __future__ import annotations

import json
import sys
import time
import warnings

import numpy as np

from .feature_jobs import JOBS as FEATURE_JOBS
from .machine_jobs import JOBS as MACHINE_JOBS

JOBS = FEATURE_JOBS | MACHINE_JOBS
#: Seconds of calls after which a long job is not called again.
ENOUGH = 2.0
#: Seconds from which the first call counts.
LONG = 5.0


def fastest(job: str, result: str, calls: int) -> float:
    """Return the time of the fastest call, and save what it returned."""
    warnings.simplefilter("ignore")
    function = JOBS[job]()
    start = time.perf_counter()
    np.save(result, function())
    first = time.perf_counter() - start
    # The first call compiles, or loads what was compiled before; of a long job that is a small
    # part, and the median over rounds leaves out the one that compiles.
    seconds = [first] if first > LONG else []
    while len(seconds) < calls and sum(seconds) < ENOUGH:
        start = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


if __name__ == "__main__":
    taken = fastest(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    print(json.dumps({"seconds": taken, "package": sys.modules["mercer"].__file__}))
