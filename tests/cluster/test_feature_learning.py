"""Feature-learning machines and rows on a cluster."""

import dask.array as da
import numpy as np
import pytest

from mercer import FeatureRidge, Gaussian, IRKMRegressor, RandomFourier
from mercer.machines.feature_learning import cluster_rows

pytestmark = pytest.mark.usefixtures("sync")


@pytest.fixture
def pairs():
    """Two columns of eight matter."""
    X = np.random.default_rng(0).choice([-1.0, 1.0], (300, 8))
    return X, X[:, 1] * X[:, 4]


def test_few_rows_are_brought_together(pairs):
    X, y = pairs
    dX, dy = da.from_array(X, chunks=(100, 4)), da.from_array(y, chunks=100)
    machine = IRKMRegressor(n_iterations=3, random_state=0)
    expected = machine.fit(X, y).column_weights_
    found = IRKMRegressor(n_iterations=3, random_state=0).fit(dX, dy)
    assert np.array_equal(found.column_weights_, expected)
    assert np.allclose(found.predict(dX).compute(), found.predict(X))
    assert found.score(dX, dy) == pytest.approx(found.score(X, y))


def test_many_rows_learn_from_weights_of_a_sample(pairs, monkeypatch):
    monkeypatch.setattr(cluster_rows, "ITERATIVE_ROWS", 200)
    X, y = pairs
    dX, dy = da.from_array(X, chunks=(100, 4)), da.from_array(y, chunks=100)
    with pytest.raises(ValueError, match=r"from up to 200 rows.*there are 300.*model.transform"):
        IRKMRegressor(random_state=0).fit(dX, dy)
    with pytest.raises(ValueError, match="fresh=True takes a sampler"):
        IRKMRegressor(fresh=True, random_state=0).fit(dX, dy)
    learner = IRKMRegressor(n_iterations=3, random_state=0).fit(dX[:150].compute(), y[:150])
    features = RandomFourier(Gaussian(3.0), n_components=60, random_state=0)
    reweighted = learner.transform(dX)
    assert np.allclose(reweighted.compute(), learner.transform(X))
    found = FeatureRidge(features, alpha=0.1).fit(reweighted, dy)
    expected = FeatureRidge(features, alpha=0.1).fit(learner.transform(X), y)
    assert np.allclose(found.coef_, expected.coef_, rtol=0, atol=1e-10)
