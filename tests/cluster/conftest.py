"""Rows and a cluster for all tests of this folder, which Dask is needed for."""

import numpy as np
import pytest

from mercer import Gaussian, RandomFourier

dask = pytest.importorskip("dask")
pytest.importorskip("dask.array")

#: Blocks of unequal lengths, two of them empty.
UNEQUAL = (500, 0, 1, 699, 0, 300)
N_ROWS = sum(UNEQUAL)


@pytest.fixture
def unequal():
    """The lengths of the blocks."""
    return UNEQUAL


@pytest.fixture
def rows():
    """Rows and noisy targets: coefficients are well conditioned."""
    generator = np.random.default_rng(0)
    X = generator.standard_normal((N_ROWS, 4))
    return X, np.sin(X[:, 0]) * X[:, 1] + 0.5 * generator.standard_normal(N_ROWS)


@pytest.fixture
def features():
    """A map whose lengthscale is learnt from the rows."""
    return RandomFourier(Gaussian("median"), n_components=60, random_state=0)


@pytest.fixture(params=["threads", "synchronous"])
def scheduler(request):
    """A scheduler of this machine, without a cluster."""
    with dask.config.set(scheduler=request.param):
        yield request.param


@pytest.fixture
def sync():
    """The simplest scheduler."""
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(scope="module")
def client():
    """Two workers with a thread each, in processes of their own.

    They are closed before other modules run, some of which measure memory.
    """
    distributed = pytest.importorskip("distributed")
    settings = {"distributed.worker.memory.terminate": False}
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",
            memory_limit="1GB",
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client
