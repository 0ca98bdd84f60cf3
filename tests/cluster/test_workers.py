"""Real workers in processes: killed, slow, asked twice, interrupted."""

import os
import signal
import threading
import time

import dask
import dask.array as da
import numpy as np
import pytest

import mercer
from mercer import (
    FeatureRidge,
    FeatureRidgeClassifier,
    Gaussian,
    IRKMRegressor,
    RandomFourier,
)

ALPHAS = np.geomspace(0.1, 100, 7)
pytestmark = pytest.mark.usefixtures("client")

needs_signals = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


def blocks_that(act, X, y, lengths):
    """Return delayed blocks that do something with their number before they are there."""

    def load(number, X, y):
        act(number)
        return X, y

    stops = np.cumsum(lengths)[:-1]
    parts = zip(np.split(X, stops), np.split(y, stops), strict=True)
    return [dask.delayed(load)(number, *part) for number, part in enumerate(parts)]


@needs_signals
def test_a_fit_outlives_three_killed_workers(rows, features, tmp_path):
    X, y = rows
    folder = str(tmp_path)

    def die_once(number):
        mark = os.path.join(folder, str(number))
        if number in (2, 5, 9) and not os.path.exists(mark):
            open(mark, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)

    lengths = [125] * 12
    fixed = RandomFourier(Gaussian(2.0), n_components=60, random_state=0)
    machine = FeatureRidge(fixed, alpha=ALPHAS)
    found = machine.fit(blocks_that(die_once, X, y, lengths)).coef_
    assert sorted(os.listdir(folder)) == ["2", "5", "9"]
    undisturbed = machine.fit(blocks_that(lambda number: None, X, y, lengths)).coef_
    assert np.array_equal(found, undisturbed)
    expected = machine.fit(X, y).coef_
    assert abs(found - expected).max() <= 1e-10 * abs(expected).max()


@needs_signals
def test_feature_learners_outlive_a_killed_worker(rows, tmp_path):
    X, y = rows
    folder = str(tmp_path)

    def die_in_the_third_pass(number):
        if number != 2:
            return
        passes = len(os.listdir(folder))
        open(os.path.join(folder, str(passes)), "w").close()
        if passes == 2:
            os.kill(os.getpid(), signal.SIGKILL)

    lengths = [500, 0, 500, 500]
    machine = IRKMRegressor(
        Gaussian(2.0),
        solver="features",
        n_components=40,
        n_iterations=1,
        validation_fraction=0.3,
        random_state=0,
    )
    found = machine.fit(blocks_that(die_in_the_third_pass, X, y, lengths)).column_weights_
    assert len(os.listdir(folder)) > 3
    undisturbed = machine.fit(blocks_that(lambda number: None, X, y, lengths)).column_weights_
    assert np.array_equal(found, undisturbed)
    expected = machine.fit(X, y).column_weights_
    assert abs(found - expected).max() <= 1e-10 * abs(expected).max()


def test_slow_and_repeated_blocks_change_nothing(client, rows, unequal, features):
    X, y = rows
    labels = np.where(y > 0, "up", "down")
    expected = FeatureRidgeClassifier(features, alpha=ALPHAS, selection=5).fit(X, labels)
    slow = blocks_that(lambda number: time.sleep(0.3 * (number == 2)), X, labels, unequal)
    machine = FeatureRidgeClassifier(features, alpha=ALPHAS, selection=5)
    # Four passes: lengths, labels, the lengthscale, the sums. Each computes the blocks again.
    found = machine.fit(slow)
    assert abs(found.coef_ - expected.coef_).max() <= 1e-10 * abs(expected.coef_).max()
    assert found.probability_scale_ == pytest.approx(expected.probability_scale_, rel=1e-8)
    for n_parts in (1, 7):
        dX = da.from_array(X, chunks=(len(X) // n_parts, -1))
        cut = machine.fit(dX, da.from_array(labels, chunks=len(X) // n_parts))
        assert abs(cut.coef_ - expected.coef_).max() <= 1e-10 * abs(expected.coef_).max()


def test_the_map_travels_to_each_worker_once(client, rows, tmp_path):
    X = rows[0]
    folder = str(tmp_path)

    class Watched(RandomFourier):
        def __setstate__(self, state):
            if hasattr(super(), "__setstate__"):
                super().__setstate__(state)
            with open(os.path.join(folder, f"{os.getpid()}"), "a") as file:
                file.write("x")

    # A worker that must unpickle a class of this test takes it by value.
    features = Watched(Gaussian(2.0), n_components=50, random_state=0).fit(X)
    Z = features.transform(da.from_array(X, chunks=(50, -1)))
    assert Z.shape == (1500, 50)
    assert np.allclose(Z.compute(), features.transform(X), atol=1e-12)
    counts = {}
    for name in os.listdir(folder):
        with open(os.path.join(folder, name)) as file:
            counts[int(name)] = len(file.read())
    workers = set(client.run(os.getpid).values())
    assert workers & set(counts)
    # Thirty blocks; a map may come twice, where it was asked for while it was on its way.
    assert all(count <= 2 for pid, count in counts.items() if pid in workers)


def test_tasks_use_the_memory_and_the_threads_of_their_worker(client, rows):
    X = rows[0]

    class Told(RandomFourier):
        def _map(self, X, xp, out=None):
            found = mercer.config()
            value = found.memory if X.shape[0] > 1 else 0
            return xp.full((X.shape[0], 2), float(value + found.n_jobs if found.n_jobs else 0))

    features = Told(Gaussian(2.0), n_components=2, random_state=0).fit(X)
    with mercer.config(memory="20GB", n_jobs=7):
        Z = features.transform(da.from_array(X, chunks=(500, -1))).compute()
    # A quarter of 1 GB, and one thread.
    assert np.unique(Z).tolist() == [0.25e9 + 1]


@needs_signals
def test_an_interruption_cancels_what_runs(client, rows, features):
    X, y = rows
    blocks = blocks_that(lambda number: time.sleep(0.5), X, y, [100] * 15)
    main = threading.main_thread().ident

    def interrupt():
        time.sleep(1.0)
        signal.pthread_kill(main, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        FeatureRidge(features).fit(blocks)
    thread.join()
    start = time.monotonic()
    while any(client.processing().values()) and time.monotonic() - start < 5:
        time.sleep(0.1)
    assert not any(client.processing().values())


def test_errors_of_workers_come_back_whole(rows, unequal):
    X, y = rows
    X = X.copy()
    X[1203, 2] = np.inf
    fixed = RandomFourier(Gaussian(2.0), n_components=40, random_state=0)
    dX, dy = (da.from_array(part, chunks=300) for part in (X, y))
    with pytest.raises(ValueError, match="infinity at row 1203, column 2"):
        FeatureRidge(fixed).fit(dX, dy)


def test_progress_counts_partitions(rows, features):
    told = []
    X, y = (da.from_array(part, chunks=100) for part in rows)
    with mercer.config(progress=lambda *news: told.append(news)):
        FeatureRidge(features).fit(X, y)
    done = [news for news in told if news[2].startswith("ridge sums")]
    assert done[-1][1] == 15
    assert 0 < done[-1][0] <= 15
    assert [news[0] for news in done] == sorted(news[0] for news in done)


def test_tasks_are_named_for_the_dashboard(client, rows, features):
    X, y = (da.from_array(part, chunks=500) for part in rows)
    FeatureRidge(features).fit(X, y)
    names = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.task_prefixes))
    assert {"mercer-ridge-sums", "mercer-row-summary", "mercer-merge-ridge-sums"} <= set(names)


def test_another_scheduler_may_be_named_beside_a_cluster(rows, features):
    X, y = (da.from_array(part, chunks=500) for part in rows)
    there = FeatureRidge(features).fit(X, y)
    with dask.config.set(scheduler="synchronous"):
        here = FeatureRidge(features).fit(X, y)
    assert np.array_equal(here.coef_, there.coef_)
