"""Tests of the workers: order, errors, interruption, and the BLAS limit."""

import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info

import mercer
from mercer.engine.threads import run_tasks, single_threaded_blas


def blas_threads():
    return {info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"}


@pytest.mark.parametrize("n_jobs", [1, 4])
def test_every_task_runs_once_with_blas_on_one_thread(n_jobs):
    before = blas_threads()
    seen, limits = [], set()

    def work(task):
        seen.append(task)
        limits.update(blas_threads())

    with mercer.config(n_jobs=n_jobs):
        run_tasks(work, range(50), lambda task: 1, "test")
    assert sorted(seen) == list(range(50))
    assert limits == {1}
    assert blas_threads() == before


@pytest.mark.parametrize("n_jobs", [1, 4])
def test_the_first_error_stops_the_others_and_is_raised(n_jobs):
    before, seen = blas_threads(), []

    def work(task):
        seen.append(task)
        if task == 3:
            raise ArithmeticError("task three")
        time.sleep(0.001)

    with mercer.config(n_jobs=n_jobs), pytest.raises(ArithmeticError, match="task three"):
        run_tasks(work, range(1000), lambda task: 1, "test")
    assert len(seen) < 1000
    assert blas_threads() == before


def test_an_interruption_stops_the_workers():
    started = threading.Event()
    seen = []

    def work(task):
        seen.append(task)
        started.set()
        time.sleep(0.005)

    def interrupt(done, total, label):
        if started.is_set():
            raise KeyboardInterrupt

    with mercer.config(n_jobs=2, progress=interrupt), pytest.raises(KeyboardInterrupt):
        run_tasks(work, range(1000), lambda task: 1, "test")
    count = len(seen)
    assert count < 1000
    time.sleep(0.05)
    assert len(seen) == count


def test_overlapping_holders_restore_the_limit_once():
    before = blas_threads()
    first, second = single_threaded_blas(), single_threaded_blas()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert blas_threads() == {1}
    second.__exit__(None, None, None)
    assert blas_threads() == before


def test_two_threads_may_transform_at_once():
    X = np.random.default_rng(0).standard_normal((3000, 6))
    features = mercer.RandomFourier(n_components=64, random_state=0).fit(X)
    expected = features.transform(X)
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(features.transform(X))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert all(np.array_equal(result, expected) for result in results)
