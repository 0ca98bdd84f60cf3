"""The same rows give the same predictions, however they are stored, cut or computed."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse

from ...engine.config import config
from ..data import awkward_layouts
from .trial import MachineTrial


def check_rows_are_independent(trial: MachineTrial) -> None:
    """What is predicted for a row depends on that row alone."""
    machine = trial.fitted()
    expected = trial.answers(machine)
    rows = trial.new_rows
    for k in (0, 7):
        alone = trial.answers(machine, rows[k : k + 1])
        part = {name: values[k : k + 1] for name, values in expected.items()}
        trial.assert_close(alone, part, "a row alone")
    order = np.random.default_rng(0).permutation(len(rows))
    with warnings.catch_warnings():
        # A machine may warn of rows that lie far from those it has seen.
        warnings.simplefilter("ignore", UserWarning)
        beside = trial.answers(machine, np.vstack([3 * rows[::-1], rows[order]]))
    last = {name: values[len(rows) :] for name, values in beside.items()}
    shuffled = {name: values[order] for name, values in expected.items()}
    trial.assert_close(last, shuffled, "a row beside others")


def check_threads_and_blocks(trial: MachineTrial) -> None:
    """Neither the number of threads nor the size of a block changes what is learnt."""
    with config(n_jobs=1):
        expected = trial.answers(trial.fitted(trial.X, trial.y))
    for rows in (None, 7):
        with config(n_jobs=2, block_rows=rows):
            machine = trial.fitted(trial.X, trial.y)
            trial.assert_close(trial.answers(machine), expected, f"two threads, blocks of {rows}")


def check_input_is_not_modified(trial: MachineTrial) -> None:
    """Rows, targets and weights are not modified; they may be read-only or strided."""
    X, y = trial.X.copy(), trial.y.copy()
    arguments = {"sample_weight": np.arange(1.0, len(X) + 1)} if _weighted(trial) else {}
    kept = {name: values.copy() for name, values in arguments.items()}
    machine = trial.fitted(X, y, **arguments)
    trial.answers(machine, X)
    assert np.array_equal(X, trial.X), "X was modified"
    assert np.array_equal(y, trial.y), "y was modified"
    for name, values in arguments.items():
        assert np.array_equal(values, kept[name]), f"{name} was modified"
    y.flags.writeable = False
    expected = trial.answers(trial.fitted())
    for rows in awkward_layouts(trial.X):
        actual = trial.answers(trial.fitted(rows, y))
        trial.assert_close(actual, expected, "read-only or strided rows")


def check_dtypes(trial: MachineTrial) -> None:
    """Rows in float32 give the predictions of the same rows in float64, up to rounding."""
    double, tolerance = trial.fitted(), trial.options.single_tolerance
    single = trial.fitted(trial.X.astype("float32"), trial.y)
    expected, rows = trial.answers(double), trial.new_rows.astype("float32")
    trial.assert_close(trial.answers(single, rows), expected, "float32 rows", tolerance)
    trial.assert_close(trial.answers(single), expected, "fitted on float32 rows", tolerance)
    trial.assert_close(trial.answers(double, rows), expected, "asked with float32 rows", tolerance)


def check_sparse_questions(trial: MachineTrial) -> None:
    """CSR and dense rows get the same answers, whichever of them a machine was fitted on."""
    if not trial.tags.input_tags.sparse:
        return
    X, new = _with_zeros(trial)
    for container, fitted_on in ((np.asarray, "dense"), (scipy.sparse.csr_array, "CSR")):
        machine = trial.fitted(container(X), trial.y)
        dense, sparse = trial.answers(machine, new), scipy.sparse.csr_array(new)
        what = f"fitted on {fitted_on} rows, asked with CSR"
        trial.assert_close(trial.answers(machine, sparse), dense, what)


def check_sparse_fit(trial: MachineTrial) -> None:
    """A machine learns from CSR rows what it learns from dense ones."""
    if not trial.tags.input_tags.sparse:
        return
    X, new = _with_zeros(trial)
    expected = trial.answers(trial.fitted(X, trial.y), new)
    actual = trial.answers(trial.fitted(scipy.sparse.csr_array(X), trial.y), new)
    trial.assert_close(actual, expected, "fitted on CSR rows")


def _with_zeros(trial: MachineTrial) -> tuple[np.ndarray, np.ndarray]:
    """Return rows to learn from, and rows to ask about, of which many entries are 0."""
    X, new = trial.X.copy(), trial.new_rows.copy()
    X[np.random.default_rng(2).random(X.shape) > 0.7] = 0.0
    new[::2, 1] = 0.0
    return X, new


def check_several_targets(trial: MachineTrial) -> None:
    """Several targets give as many columns of predictions, and a score."""
    if trial.classifies or not trial.tags.target_tags.multi_output:
        return
    Y = np.column_stack([trial.y, trial.X[:, 0]])
    machine = trial.fitted(trial.X, Y)
    assert machine.predict(trial.new_rows).shape == (len(trial.new_rows), 2)
    assert machine.score(trial.X, Y) > 0.1, "two targets are not learnt"


def check_it_learns(trial: MachineTrial) -> None:
    """The machine predicts its training rows better than a constant does."""
    score = trial.fitted().score(trial.X, trial.y)
    chance = 1 / trial.options.n_classes if trial.classifies else 0.0
    assert score > chance + 0.1, f"the score of the training rows is {score:.2f}"


def _weighted(trial: MachineTrial) -> bool:
    return trial.takes("sample_weight")
