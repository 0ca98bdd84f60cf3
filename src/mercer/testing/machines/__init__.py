"""What every machine promises, one check a promise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._words import did_you_mean
from .interruption import check_interruption, check_interruption_by_progress
from .libraries import check_answers_where_rows_are, check_array_libraries
from .refusals import (
    check_bad_parameters,
    check_bad_rows,
    check_bad_targets,
    check_bad_weights,
    check_wrong_columns,
)
from .rows import (
    check_dtypes,
    check_input_is_not_modified,
    check_it_learns,
    check_rows_are_independent,
    check_several_targets,
    check_sparse_fit,
    check_sparse_questions,
    check_threads_and_blocks,
)
from .storage import (
    check_clone,
    check_model_file,
    check_parameters,
    check_pickle,
    check_refit,
    check_repr,
)
from .streams import (
    check_merge,
    check_partial_fit,
    check_refused_merge,
    check_streams,
    check_streams_refuse_second_targets,
)
from .trial import MachineOptions, MachineTrial
from .weights import (
    check_blocks_without_weight,
    check_equal_weights,
    check_rows_without_weight,
    check_weights_repeat_rows,
)

__all__ = ["MACHINE_CHECKS", "MachineOptions", "MachineTrial", "check_machine"]

#: Every check, called as ``check(MachineTrial(machine, options))``.
MACHINE_CHECKS: list[Callable[[MachineTrial], None]] = [
    check_it_learns,
    check_parameters,
    check_clone,
    check_refit,
    check_pickle,
    check_model_file,
    check_repr,
    check_rows_are_independent,
    check_threads_and_blocks,
    check_input_is_not_modified,
    check_dtypes,
    check_array_libraries,
    check_answers_where_rows_are,
    check_sparse_fit,
    check_sparse_questions,
    check_several_targets,
    check_streams,
    check_streams_refuse_second_targets,
    check_partial_fit,
    check_merge,
    check_refused_merge,
    check_equal_weights,
    check_weights_repeat_rows,
    check_rows_without_weight,
    check_blocks_without_weight,
    check_bad_rows,
    check_wrong_columns,
    check_bad_targets,
    check_bad_weights,
    check_bad_parameters,
    check_interruption,
    check_interruption_by_progress,
]


def check_machine(machine: Any, options: MachineOptions | None = None) -> None:
    """Run every check of the contract on a machine; raise at the first that fails.

    What a machine can do is seen from its methods and arguments: ``partial_fit`` and ``merge``
    are checked where there are such methods, weights where ``fit`` has ``sample_weight``, streams
    where the default of ``y`` in ``fit`` is ``None``, and sparse rows, missing values and several
    targets where scikit-learn's tags say so.

    Parameters
    ----------
    machine : estimator
        A regressor or classifier, with parameters that suit 60 rows; it is cloned.
    options : MachineOptions or None, default=None
        The data it is tried on, and the checks that do not hold for it, each with the reason.

    Examples
    --------
    >>> from mercer import IRKMRegressor
    >>> from mercer.testing import MachineOptions, check_machine
    >>> reason = "choices are made by held-out errors, and a row is held out with all its weight"
    >>> options = MachineOptions(exceptions={"check_weights_repeat_rows": reason})
    >>> check_machine(IRKMRegressor(n_iterations=2), options)
    """
    options = MachineOptions() if options is None else options
    names = [check.__name__ for check in MACHINE_CHECKS]
    for name in options.exceptions:
        if name not in names:
            raise ValueError(
                f"exceptions must name checks of machines, got {name!r}; "
                f"{did_you_mean(name, names, 'see mercer.testing.MACHINE_CHECKS.')}"
            )
    trial = MachineTrial(machine, options)
    for check in MACHINE_CHECKS:
        if check.__name__ not in options.exceptions:
            check(trial)
