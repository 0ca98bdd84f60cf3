"""What the front door's search leads to: an encoder with a learnt metric, and an exact machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..._array import is_foreign, is_numpy, take_rows, to_numpy
from ..._random import seed_of
from ..._registry import storable
from ..._settings import settings
from ...engine.config import matrix_memory
from ...kernels import Kernel, Laplace, Matern, PoweredExponential, ProductLaplace
from ...solvers.cost import DEVICE_EXACT_ROWS, EXACT_ROWS, FOLDS, exact_memory
from ...solvers.iterative import smallest_alpha
from ..feature_learning.weights import Weights
from .pilot import UNCLIPPED, EncodedSample
from .plan import choose_centres
from .preparation import LinearModel, finished
from .search import Found, Search
from .state import AutoState

#: Rows from which on a search is worth its time, and the most for kernels with landmarks.
FEWEST_ROWS, MOST_ROWS = 2000, 1_000_000
#: Copies of the encoded rows that an exact machine and its solver hold.
ROW_COPIES = 3
#: Encoded columns up to which a metric is learnt.
WIDEST = 300
#: Rows of the sample that is searched, by effort.
SAMPLE_ROWS = {"quick": 3000, "default": 12_000, "thorough": 20_000}
#: The share of a time limit that the search may take.
SEARCH_SHARE = 0.5
#: A gain of the last stage below which a longer search is not worth it.
SMALL_GAIN = 0.03
#: Factors of the ridge parameter of the search that are tried with all rows: more rows want a
#: smaller one, if another one at all.
ALPHA_FACTORS = (10**-0.5, 1.0)


@storable
class ReweightedEncoder:
    """An encoder followed by a learnt metric.

    Parameters
    ----------
    encoder : fitted transformer
        Turns a table into numbers.
    weights : Weights
        Reweights them.
    """

    encoder: Any
    weights: Weights

    def __init__(self, encoder: Any, weights: Weights) -> None:
        self.encoder, self.weights = encoder, weights

    def transform(self, X: Any) -> Any:
        """Return encoded rows whose distances are those of the metric."""
        rows = self.encoder.transform(X)
        return self.weights.reweighted(rows if is_foreign(rows) else np.asarray(rows))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns, or of the directions that the metric makes of them."""
        names = self.encoder.get_feature_names_out(input_features)
        if not self.weights.matrix:
            return np.asarray(names)
        return np.asarray([f"direction {k}" for k in range(len(names))], dtype=object)

    def describe(self) -> str:
        """Return a sentence on the columns, and on those that matter most."""
        shares, names = self.weights.importances(), self.encoder.get_feature_names_out()
        order = np.argsort(-shares, kind="stable")[:3]
        largest = ", ".join(f"{names[k]} {shares[k]:.0%}" for k in order)
        kind = "matrix" if self.weights.matrix else "weights"
        return f"{self.encoder.describe()}; learnt {kind}, largest {largest}"


def is_searchable(n_rows: int | None, width: int) -> bool:
    """Return whether a table is of the size for which metrics are learnt, and fits in memory.

    Examples
    --------
    >>> is_searchable(5000, 10), is_searchable(None, 10)
    (True, False)
    """
    if n_rows is None or not FEWEST_ROWS <= n_rows <= MOST_ROWS or width > WIDEST:
        return False
    return ROW_COPIES * 8 * n_rows * width <= matrix_memory()


def families() -> list[Kernel]:
    """Return the kernels that are compared."""
    return [Matern(nu=1.5), Laplace(), ProductLaplace(), PoweredExponential(power=0.7)]


def learnt_state(
    front_door: Any,
    sample: EncodedSample,
    Y: np.ndarray,
    weights: np.ndarray | None,
    exactly: Callable[..., Any],
    linear: LinearModel | None,
    note: Callable[[str], None],
) -> AutoState | None:
    """Return the state of a front door after a search, its machine not fitted yet.

    ``None`` if the sample cannot tell kernels apart.

    Parameters
    ----------
    front_door : estimator
        Whose parameters hold.
    sample : EncodedSample
        The rows that are searched.
    Y : array of shape (n_rows, n_targets)
        Their expanded targets.
    weights : array of shape (n_rows,) or None
        Their weights; rows of weight 0 are not looked at.
    exactly : callable
        Makes an exact kernel machine.
    linear : LinearModel or None
        A linear model of all rows, which is taken if it has the smaller held-out error.
    note : callable
        Is told of every stage.
    """
    if len(Y) < 2 * FOLDS or not (Y.std(axis=0) > 0).any():
        return None
    seed = seed_of(front_door.random_state)
    deadline = deadline_of(front_door.time_limit, SEARCH_SHARE)
    known = np.flatnonzero(np.ones(len(Y)) if weights is None else weights)
    search = Search(
        lambda name: take_rows(sample.encoded(name), known),
        sample.columns.encodings(),
        Y[known],
        None if weights is None else weights[known],
        families(),
        front_door.effort,
        seed,
        deadline,
        note,
    )
    found = search.run()
    best = found.best
    if best.kernel is None or not np.isfinite(best.error):
        return None
    encoder = finished(sample.columns.encoder_named(best.encoding))
    if best.weights is not None:
        encoder = ReweightedEncoder(encoder, best.weights)
    alpha, n_rows = front_door.alpha, sample.columns.n_rows
    if alpha is None:
        least = smallest_alpha(n_rows)
        alpha = sorted({max(best.alpha * factor, least) for factor in ALPHA_FACTORS})
    method = choose_centres(n_rows, _share_of_time(found, deadline, n_rows))
    need, near = exact_memory(n_rows), sample.encoded(best.encoding)
    most, room = EXACT_ROWS, settings().memory
    if not is_numpy(near):
        most, room = DEVICE_EXACT_ROWS, matrix_memory(near)
    direct = method.name == "exact" and n_rows <= most and need <= room
    if direct:
        method = replace(method, memory=need)
    state = AutoState(
        seed=seed,
        target_name=None,
        encoder=encoder,
        kernel=best.kernel,
        kernel_reason=explained(found),
        method=method,
        machine=exactly(
            kernel=best.kernel,
            alpha=alpha,
            solver="direct" if direct else "iterative",
            n_centres=method.n_components,
            random_state=seed,
        ),
        options={},
        linear_score=None if linear is None else linear.score,
        approximation_error=None,
        repeated_rows=sample.repeated_share(),
        rival=linear,
        outlook=outlook(found, front_door.effort),
    )
    if linear is None:
        return state
    error = search.linear_error(to_numpy(sample.encoded(UNCLIPPED))[known])
    return state.as_linear(linear) if error <= best.error else state


def _share_of_time(found: Found, deadline: float, n_rows: int) -> float:
    """Return the time that is left over what a solve of all rows takes, by that of a trial."""
    if not np.isfinite(deadline):
        return 1.0
    last = found.stages[-1]
    # The search has half of the time: as much as before the deadline is left after it. Candidates
    # are solved on most rows, and the best of them once more on all.
    left = 2 * deadline - found.started - time.perf_counter()
    return left / (2 * last.trial_seconds * (n_rows / last.n_rows) ** 2)


def outlook(found: Found, effort: str) -> str:
    """Return a sentence on what a larger budget would buy."""
    errors, sizes = [s.best.error for s in found.stages], [s.n_rows for s in found.stages]
    if not found.in_time:
        return "the time limit ended the search early; a longer one would go on"
    if len(sizes) < 2:
        return ""
    if not errors[-1] < errors[-2]:
        return (
            f"from {sizes[-2]:,} to {sizes[-1]:,} rows of the search the error did not fall: a "
            "longer search would gain little"
        )
    gain = 1 - errors[-1] / errors[-2]
    grew = f"from {sizes[-2]:,} to {sizes[-1]:,} rows of the search the error fell by {gain:.0%}"
    if gain < SMALL_GAIN:
        return f"{grew}: a longer search would gain little"
    larger = {"quick": "default", "default": "thorough"}.get(effort)
    if larger is None:
        return f"{grew}; it would go on falling with more rows"
    return f"{grew}: effort={larger!r} searches more rows, and is likely to gain more"


def explained(found: Found) -> str:
    """Return a sentence on what was tried and what each stage gained."""
    best = found.best
    steps = ", ".join(f"{s.best.error:.3g} on {s.n_rows:,} rows" for s in found.stages)
    metric = {"none": "no metric", "weights": "a weight per column", "matrix": "a full metric"}
    return (
        f"the best of {found.stages[-1].n_trials} trials of 4 kernels, {best.encoding} columns, "
        f"{metric[best.metric]} (held-out error {found.plain_error:.3g} before metrics, then "
        f"{steps})"
    )


def deadline_of(time_limit: float | None, share: float = 1.0) -> float:
    """Return the value of the clock at which a share of the time is over.

    Examples
    --------
    >>> deadline_of(None)
    inf
    """
    return np.inf if time_limit is None else time.perf_counter() + share * time_limit
