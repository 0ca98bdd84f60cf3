"""Tests of what this process may use, in folders made up as a kernel and a container show them."""

import os
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

import mercer
from mercer import _limits, _settings
from mercer._limits import cores, free_memory, memory, processor_quota, threads
from mercer.engine.config import matrix_memory
from mercer.engine.memory import allocate
from mercer.engine.threads import allowed_threads

SECOND = "35 24 0:30 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup rw,nsdelegate\n"
FIRST = (
    "33 31 0:30 {top} /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 {top} /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    "36 31 0:33 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
)
NO_LIMIT = "9223372036854771712\n"


@pytest.fixture
def root(tmp_path):
    """Return the root of a file system without any limit."""
    write(tmp_path, {"proc/meminfo": "MemTotal: 64000000 kB\nMemAvailable:    8000000 kB\n"})
    return tmp_path


def write(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def second_version(root, group, files):
    """Write the second version's files, those of a group by its folder."""
    write(root, {"proc/self/cgroup": f"0::{group}\n", "proc/self/mountinfo": SECOND})
    write(root, {f"sys/fs/cgroup/{name}": text for name, text in files.items()})


def first_version(root, group, top, processor, memory):
    write(
        root,
        {
            "proc/self/cgroup": f"4:memory:{group}\n2:cpu,cpuacct:{group}\n1:name=init:/\n0::/\n",
            "proc/self/mountinfo": FIRST.format(top=top),
        },
    )
    write(root, {f"sys/fs/cgroup/cpu,cpuacct/{name}": text for name, text in processor.items()})
    write(root, {f"sys/fs/cgroup/memory/{name}": text for name, text in memory.items()})


def many_cores(monkeypatch, count=16, allowed=16):
    monkeypatch.setattr(os, "cpu_count", lambda: count)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(allowed)), raising=False)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)


@pytest.mark.parametrize(
    ("written", "expected"),
    [("200000 100000", 2), ("150000 100000", 2), ("20000 100000", 1), ("max 100000", 16)],
)
def test_processor_limit_of_the_second_version(root, written, expected, monkeypatch):
    many_cores(monkeypatch)
    second_version(root, "/", {"cpu.max": f"{written}\n"})
    assert cores(root).value == threads(root).value == expected
    assert ("container" in cores(root).source) == (expected < 16)


@pytest.mark.parametrize(("quota", "expected"), [("300000", 3), ("250000", 3), ("-1", 16)])
@pytest.mark.parametrize("top", ["/", "/docker/abc"])
def test_processor_limit_of_the_first_version(root, quota, expected, top, monkeypatch):
    # Docker mounts the folder of the container as if it were the whole tree.
    many_cores(monkeypatch)
    inside = "docker/abc/" if top == "/" else ""
    files = {f"{inside}cpu.cfs_quota_us": f"{quota}\n", f"{inside}cpu.cfs_period_us": "100000\n"}
    first_version(root, "/docker/abc", top, files, {})
    assert cores(root).value == expected


def test_the_lowest_limit_of_all_enclosing_groups_holds(root, monkeypatch):
    many_cores(monkeypatch)
    second_version(
        root,
        "/pod/inner",
        {
            "pod/inner/cpu.max": "800000 100000\n",
            "pod/cpu.max": "400000 100000\n",
            "pod/inner/memory.max": "3000000000\n",
            "pod/memory.max": "max\n",
            "pod/memory.high": "2000000000\n",
        },
    )
    assert cores(root).value == 4
    assert cores(root).source.endswith("/sys/fs/cgroup/pod)")
    assert memory(root).value == 2 * 10**9


def test_a_group_outside_what_the_container_sees_counts_as_the_whole(root, monkeypatch):
    many_cores(monkeypatch)
    second_version(root, "/../../host.slice", {"cpu.max": "300000 100000\n"})
    assert cores(root).value == 3


def test_fewer_cores_by_affinity_or_environment_than_the_container_allows(root, monkeypatch):
    many_cores(monkeypatch, allowed=3)
    second_version(root, "/", {"cpu.max": "800000 100000\n"})
    assert (cores(root).value, cores(root).source.split()[-1]) == (3, "(affinity)")
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert (cores(root).value, threads(root).value) == (3, 2)
    assert "OMP_NUM_THREADS" in threads(root).source
    monkeypatch.setenv("OMP_NUM_THREADS", "8")
    assert threads(root).value == 3


def test_memory_of_the_second_version(root):
    second_version(
        root,
        "/job",
        {
            "job/memory.max": "4000000000\n",
            "job/memory.current": "3000000000\n",
            "job/memory.stat": "anon 5\ninactive_file 500000000\nactive_file 7\n",
        },
    )
    assert memory(root).value == 4 * 10**9
    assert "container" in memory(root).source
    assert free_memory(root) == 15 * 10**8


def test_memory_of_the_first_version(root):
    files = {
        "memory.limit_in_bytes": NO_LIMIT,
        "job/memory.limit_in_bytes": "2000000000\n",
        "job/memory.usage_in_bytes": "1200000000\n",
        "job/memory.stat": "inactive_file 1\ntotal_inactive_file 200000000\n",
    }
    first_version(root, "/job", "/", {}, files)
    assert memory(root).value == 2 * 10**9
    assert free_memory(root) == 10**9


def test_free_memory_is_at_most_that_of_the_machine_and_never_nothing(root):
    files = {"memory.max": "50000000000\n", "memory.current": "0\n"}
    second_version(root, "/", files)
    assert free_memory(root) == 8_000_000 * 1024
    write(root, {"sys/fs/cgroup/memory.current": "60000000000\n"})
    assert free_memory(root) == 1


def test_without_limits_the_machine_counts(root, monkeypatch):
    many_cores(monkeypatch)
    first_version(root, "/", "/", {"cpu.cfs_quota_us": "-1\n"}, {"memory.limit_in_bytes": NO_LIMIT})
    assert (cores(root).value, cores(root).source) == (16, "cores of this machine")
    assert memory(root).source == "memory of this machine"
    assert processor_quota(root) is None
    assert processor_quota(Path("/does not exist")) is None


def test_files_that_make_no_sense_are_passed_over(root, monkeypatch):
    many_cores(monkeypatch)
    second_version(root, "/", {"cpu.max": "lots\n", "memory.max": "\n", "memory.current": "x\n"})
    assert cores(root).value == 16
    assert memory(root).source == "memory of this machine"
    assert free_memory(root) == 8_000_000 * 1024


@pytest.fixture
def small_container(monkeypatch):
    """Let this process be one of a container of 2 GB, half of it used, and one core."""
    limit = _limits.Limit(2 * 10**9, "memory limit of the container (here)")
    monkeypatch.setattr(_settings, "memory", lambda: limit)
    monkeypatch.setattr("mercer.engine.memory.memory", lambda: limit)
    monkeypatch.setattr("mercer.engine.config.free_memory", lambda: 10**9)
    monkeypatch.setattr(_limits, "processor_quota", lambda root: _limits.Limit(1, "here"))
    monkeypatch.setattr("mercer.engine.threads.processor_quota", lambda: _limits.Limit(1, "here"))
    monkeypatch.setattr(_settings, "_of_process", _settings.Settings())


def test_budgets_and_threads_are_those_of_the_container(small_container, monkeypatch):
    assert mercer.config().memory == 5 * 10**8
    mercer.set_config(memory="default")
    assert mercer.config().memory == 5 * 10**8
    assert matrix_memory() == 7 * 10**8
    assert _settings.settings().workers() == 1
    with pytest.raises(MemoryError, match="more than the 2 GB of this container"):
        allocate(np.empty(0), (10**5, 10**5), "float64")
    asked = []
    monkeypatch.setattr(
        "mercer.engine.threads.limited_blas", lambda n: nullcontext(asked.append(n))
    )
    with allowed_threads():
        assert asked == [1]
