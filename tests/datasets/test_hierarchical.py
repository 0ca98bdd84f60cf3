"""Tests of tasks with hierarchical polynomials."""

import numpy as np
import pytest

from mercer.datasets import (
    TARGETS,
    HierarchicalTask,
    SparsePolynomial,
    make_hierarchical,
    staircase,
)
from mercer.datasets.hierarchical import INPUTS


@pytest.mark.parametrize("inputs", INPUTS)
def test_targets_are_the_polynomial_along_the_directions(inputs):
    f = SparsePolynomial({(0,): 1.0, (0, 3): -2.0, (): 0.5})
    X, y, V = make_hierarchical(
        40, 7, inputs=inputs, polynomial=f, random_state=0, return_directions=True
    )
    assert X.dtype == y.dtype == np.float64
    assert X.shape == (40, 7)
    assert V.shape == (7, 4)
    assert pytest.approx(np.eye(4), abs=1e-14) == V.T @ V
    Z = X @ V
    assert y == pytest.approx(Z[:, 0] - 2 * Z[:, 0] * Z[:, 3] + 0.5)
    assert ("rotated" in inputs) != np.array_equal(V, np.eye(7, 4))


def test_the_default_target_is_the_staircase_of_figure_2():
    X, y = make_hierarchical(50, 6, random_state=0)
    x1, x2, x3, x4 = X.T[:4]
    assert np.array_equal(y, x1 + x2 + x1 * x2 * x3 + x1 * x2 * x3 * x4)
    for name, f in TARGETS.items():
        _, by_name = make_hierarchical(9, 6, polynomial=name, random_state=3)
        _, by_value = make_hierarchical(9, 6, polynomial=f, random_state=3)
        assert np.array_equal(by_name, by_value)


@pytest.mark.parametrize("inputs", ["hypercube", "rotated"])
def test_signs_are_fair_and_independent(inputs):
    n = 20_000
    X, _ = make_hierarchical(n, 4, inputs=inputs, random_state=1)
    assert set(np.unique(X)) == {-1.0, 1.0}
    assert np.all(abs(X.mean(axis=0)) <= 5 / np.sqrt(n))
    assert abs(np.triu(X.T @ X / n, 1)).max() <= 5 / np.sqrt(n)
    assert abs(X.prod(axis=1).mean()) <= 5 / np.sqrt(n)


@pytest.mark.parametrize("inputs", ["gaussian", "rotated_gaussian"])
def test_normal_inputs_have_the_moments_of_the_normal_law(inputs):
    n = 20_000
    X, _ = make_hierarchical(n, 4, inputs=inputs, random_state=1)
    for power, mean, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        error = np.sqrt(variance / n)
        assert np.all(abs((X**power).mean(axis=0) - mean) <= 5 * error)
    assert abs(np.triu(X.T @ X / n, 1)).max() <= 5 / np.sqrt(n)


def test_hermite_targets_have_their_variance_for_normal_inputs():
    f = SparsePolynomial({(0, 0): 1.0, (1,): 2.0, (0, 2): -1.0, (): 3.0})
    n = 40_000
    for inputs in ("gaussian", "rotated_gaussian"):
        _, y = make_hierarchical(n, 5, inputs=inputs, polynomial=f, random_state=2)
        squares = (y - y.mean()) ** 2
        assert abs(y.mean() - 3.0) <= 5 * y.std() / np.sqrt(n)
        assert abs(squares.mean() - f.variance) <= 5 * squares.std() / np.sqrt(n)


def test_rotations_are_uniform():
    first = np.array(
        [HierarchicalTask(4, inputs="rotated", random_state=s).directions for s in range(1500)]
    )
    assert np.all(abs(first.mean(axis=0)) <= 5 / np.sqrt(4 * 1500))
    # The square of an entry of a uniform direction in 4 dimensions has variance 1/16.
    assert np.all(abs((first**2).mean(axis=0) - 1 / 4) <= 5 * np.sqrt(1 / 16 / 1500))


def test_noise_has_its_standard_deviation_and_leaves_the_rows_alone():
    n = 20_000
    X, clean = make_hierarchical(n, 4, random_state=5)
    same, noisy = make_hierarchical(n, 4, noise=0.1, random_state=5)
    assert np.array_equal(X, same)
    residual = noisy - clean
    assert abs(residual.mean()) <= 5 * 0.1 / np.sqrt(n)
    assert abs(residual.std() - 0.1) <= 5 * 0.1 / np.sqrt(2 * n)
    assert abs(np.corrcoef(residual, clean)[0, 1]) <= 5 / np.sqrt(n)


@pytest.mark.parametrize("inputs", INPUTS)
def test_the_same_seed_gives_the_same_data(inputs):
    def draw(state, n=20):
        return make_hierarchical(
            n, 6, inputs=inputs, noise=0.1, random_state=state, return_directions=True
        )

    for a, b in zip(draw(3), draw(3), strict=True):
        assert np.array_equal(a, b)
    for a, b in zip(draw(np.random.default_rng(3)), draw(np.random.default_rng(3)), strict=True):
        assert np.array_equal(a, b)
    assert not np.array_equal(draw(3)[0], draw(4)[0])
    X, y, _ = draw(3, n=33)
    assert np.array_equal(X[:20], draw(3)[0])
    # The product with the directions may be rounded otherwise.
    assert y[:20] == pytest.approx(draw(3)[1])


def test_a_generator_moves_on():
    generator = np.random.default_rng(0)
    first, _ = make_hierarchical(9, 8, random_state=generator)
    second, _ = make_hierarchical(9, 8, random_state=generator)
    assert not np.array_equal(first, second)


def test_a_task_gives_fresh_samples_of_one_target():
    task = HierarchicalTask(8, inputs="rotated", polynomial=staircase(3), random_state=1)
    V = task.directions.copy()
    seen = [task.sample(12, random_state=seed) for seed in (0, 1)] + [task.sample(12)]
    for X, y in seen:
        assert y == pytest.approx(task.polynomial(X @ V))
    assert not np.array_equal(seen[0][0], seen[1][0])
    assert np.array_equal(task.directions, V)
    assert "rotated" in repr(task)


def test_polynomials_without_coordinates_are_targets_too():
    for inputs in INPUTS:
        X, y, V = make_hierarchical(
            5, 3, inputs=inputs, polynomial=SparsePolynomial({(): 2.0}), return_directions=True
        )
        assert X.shape == (5, 3)
        assert np.array_equal(y, np.full(5, 2.0))
        assert V.shape == (3, 0)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"n_samples": 0}, "n_samples must be a whole number of at least 1"),
        ({"n_features": 2.5}, "n_features must be a whole number"),
        ({"n_features": 3}, "n_features=3 is too small .* use n_features >= 4"),
        ({"inputs": "sphere"}, "inputs must be one of .*'rotated'.* got 'sphere'"),
        ({"inputs": ["gaussian"]}, "inputs must be one of"),
        ({"polynomial": "figure99"}, "polynomial must be .*'figure9'"),
        ({"polynomial": {(0,): 1.0}}, "polynomial must be a SparsePolynomial"),
        ({"polynomial": SparsePolynomial({(0, 0): 1.0})}, "use inputs='gaussian'"),
        ({"noise": -0.1}, "noise must be a number"),
        ({"noise": np.inf}, "noise must be a number"),
        ({"random_state": "seed"}, "random_state must be"),
        ({"return_directions": 1}, "return_directions must be True or False"),
    ],
)
def test_bad_arguments_are_refused(arguments, match):
    with pytest.raises(ValueError, match=match):
        make_hierarchical(**{"n_samples": 5, "n_features": 6, **arguments})
