"""Tests of the workers: order, errors, interruption, and the BLAS limit."""

import threading
import time

import numpy as np
import pytest
import scipy.linalg
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_info, threadpool_limits

import mercer
from mercer.engine import threads
from mercer.engine.threads import (
    SMALL_CALL,
    SMALL_LOOP,
    SMALL_WORK,
    allowed_threads,
    limited_blas,
    openmp_threads,
    run_tasks,
    single_threaded_blas,
)
from mercer.machines import k_means_state


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


def test_the_lowest_limit_counts_until_all_are_gone():
    with threadpool_limits(4, user_api="blas"):
        outer, inner = limited_blas(2), limited_blas(1)
        outer.__enter__()
        assert blas_threads() == {2}
        inner.__enter__()
        assert blas_threads() == {1}
        inner.__exit__(None, None, None)
        assert blas_threads() == {2}
        outer.__exit__(None, None, None)
        assert blas_threads() == {4}


def test_no_limit_is_raised_and_errors_leave_none_behind():
    with threadpool_limits(1, user_api="blas"):
        with limited_blas(2), limited_blas(3):
            assert blas_threads() == {1}
        with mercer.config(n_jobs=2), allowed_threads():
            assert blas_threads() == {1}
    with threadpool_limits(3, user_api="blas"):
        with pytest.raises(ZeroDivisionError), limited_blas(1):
            1 / 0  # noqa: B018
        assert blas_threads() == {3}


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_small_work_gets_one_thread_and_other_what_the_settings_allow(n_jobs):
    with threadpool_limits(3, user_api="blas"), mercer.config(n_jobs=n_jobs):
        with allowed_threads(0.9 * SMALL_WORK):
            assert blas_threads() == {1}
            with allowed_threads():
                assert blas_threads() == {1}
        few = allowed_threads(1.1 * SMALL_CALL, total=0.9 * SMALL_WORK)
        tiny = allowed_threads(0.9 * SMALL_CALL, total=1e20)
        for small in (few, tiny):
            with small:
                assert blas_threads() == {1}
        for large in (
            allowed_threads(1.1 * SMALL_WORK),
            allowed_threads(1.1 * SMALL_CALL, total=1.1 * SMALL_WORK),
            allowed_threads(),
        ):
            with large:
                assert blas_threads() == {n_jobs or 3}
        assert blas_threads() == {3}


def test_every_library_gets_its_own_number_back():
    libraries = {info["filepath"]: n for n, info in enumerate(threadpool_info(), start=2)}
    with threadpool_limits(1, user_api="blas"):
        for library in threads._libraries(False):
            library.set_num_threads(libraries[library.filepath])
        with limited_blas(2), limited_blas(1):
            assert blas_threads() == {1}
        found = {i["filepath"]: i["num_threads"] for i in threadpool_info()}
        for library in threads._libraries(False):
            assert found[library.filepath] == libraries[library.filepath]


def openmp_numbers():
    return {info["num_threads"] for info in threadpool_info() if info["user_api"] == "openmp"}


def test_loops_of_openmp_get_one_thread_for_small_work_and_their_own_number_back():
    with threadpool_limits(3, user_api="openmp"):
        with mercer.config(n_jobs=2):
            for operations, expected in ((0.9 * SMALL_LOOP, 1), (1.1 * SMALL_LOOP, 2)):
                with openmp_threads(operations):
                    assert openmp_numbers() == {expected}
        with mercer.config(n_jobs=5), openmp_threads(2 * SMALL_LOOP):
            assert openmp_numbers() == {3}
        with pytest.raises(ZeroDivisionError), openmp_threads(1):
            1 / 0  # noqa: B018
        assert openmp_numbers() == {3}


def test_k_means_of_few_rows_has_one_thread(monkeypatch):
    seen = []
    watched(monkeypatch, KMeans, "fit", seen, openmp_numbers)
    watched(monkeypatch, k_means_state, "pairwise_distances_argmin_min", seen, openmp_numbers)
    X = np.random.default_rng(0).standard_normal((60, 3))
    with threadpool_limits(3, user_api="openmp"):
        mercer.KernelKMeans(n_clusters=2, random_state=0).fit(X)
        assert seen
        assert all(found == {1} for found in seen)
        assert openmp_numbers() == {3}


MACHINES = [
    mercer.IRKMRegressor(n_iterations=0),
    mercer.FeatureRidge(mercer.RandomFourier(n_components=16, random_state=0)),
    mercer.FeatureRidge(mercer.NystromFeatures(mercer.Gaussian("median"), n_components=16)),
    mercer.KernelRidge(solver="iterative"),
    mercer.KernelPCA(n_components=2),
]


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: type(machine).__name__)
@pytest.mark.parametrize("small", [False, True])
def test_machines_hold_blas_to_the_threads_of_their_work(machine, small, monkeypatch):
    if not small:
        monkeypatch.setattr(threads, "SMALL_WORK", 0)
    seen = []
    watched(monkeypatch, scipy.linalg.lapack, "dpotrf", seen)
    watched(monkeypatch, scipy.linalg.blas, "dsyrk", seen)
    watched(monkeypatch, scipy.linalg, "eigh", seen)
    watched(monkeypatch, scipy.linalg, "cholesky", seen)
    X = np.random.default_rng(0).standard_normal((40, 3))
    with threadpool_limits(3, user_api="blas"):
        with mercer.config(n_jobs=2):
            machine.fit(X, X[:, 0])
            if hasattr(machine, "transform"):
                machine.transform(X)
        assert seen
        # Conjugate gradients have threads of their own.
        assert all(found in ({1},) if small else ({1}, {2}) for found in seen)
        assert small or {2} in seen
        assert blas_threads() == {3}


def watched(monkeypatch, module, name, seen, look=blas_threads):
    """Let a function of a module tell how many threads there are when it is called."""
    function = getattr(module, name)

    def telling(*arguments, **options):
        seen.append(look())
        return function(*arguments, **options)

    monkeypatch.setattr(module, name, telling)
