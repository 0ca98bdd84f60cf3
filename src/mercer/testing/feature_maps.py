"""What every feature map promises, one check a promise."""

from __future__ import annotations

import importlib.util
import pickle
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import clone

from .._array import dtype_name, to_numpy
from ..engine.config import config
from ..features import FeatureMap
from ..kernels import Kernel
from .arrays import array_libraries
from .bad_input import assert_bad_parameters_are_refused, assert_bad_rows_are_refused
from .data import (
    TOLERANCE,
    assert_close,
    awkward_layouts,
    ordinary_rows,
    raised,
    telling_rows,
)
from .memory import peak_bytes
from .statistics import bias_in_standard_errors


def check_unbiased(feature_map: FeatureMap, n_features: int) -> None:
    """E[Z Zᵀ] is the kernel, within 4.5 standard errors over 200 seeds.

    Of a map with ``mean_kernel_`` that kernel, which must be near the other; a map whose
    average is not known must come closer to its kernel as it grows.
    """
    X = telling_rows(n_features)
    fitted = _fitted(feature_map, X)
    if not fitted.traits_.unbiased:
        small, large = (_mean_error(part, X) for part in (feature_map, _grown(feature_map)))
        assert large < 0.75 * small, f"16 times the features have {large / small:.2f} of the error"
        return
    if not _draws(feature_map):
        Z = fitted.transform(X)
        assert_close(Z @ Z.T, fitted.kernel_(X), 1e-10, "a map that draws nothing")
        return
    if hasattr(fitted, "mean_kernel_"):
        X = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-300)
        exact = fitted.kernel_(X)
        off = np.linalg.norm(fitted.mean_kernel_(X) - exact) / np.linalg.norm(exact)
        assert off < 0.1, f"the mean kernel is {off:.2f} off the kernel"
    deviation = bias_in_standard_errors(feature_map, X)
    assert deviation <= 4.5, f"the mean is {deviation:.1f} standard errors off the kernel"


def _mean_error(feature_map: FeatureMap, X: Any) -> float:
    """Return the error of a map relative to its kernel, the mean over eight seeds."""
    errors = []
    for seed in range(8):
        fitted = _seeded(feature_map, seed).fit(X)
        Z, exact = fitted.transform(X), fitted.kernel_(X)
        errors.append(np.linalg.norm(Z @ Z.T - exact) / np.linalg.norm(exact))
    return float(np.mean(errors))


def _grown(feature_map: FeatureMap) -> Any:
    """Return the map with sixteen times as many features, or about as many."""
    sizes = {"n_components": 16, "n_relu": 16, "n_step": 4, "width": 16}
    given = feature_map.get_params(deep=False)
    larger = {name: given[name] * by for name, by in sizes.items() if given.get(name)}
    return clone(feature_map).set_params(**larger)


def check_kernel_is_named(feature_map: FeatureMap, n_features: int) -> None:
    """``kernel_`` is a kernel, and it is callable on the rows."""
    X = ordinary_rows(4, n_features)
    kernel = _fitted(feature_map, X).kernel_
    assert isinstance(kernel, Kernel)
    assert kernel(X).shape == (4, 4)


def check_block_size(feature_map: FeatureMap, n_features: int) -> None:
    """Features do not depend on how rows are cut into blocks, nor on the rows beside them."""
    X = ordinary_rows(40, n_features)
    fitted = _fitted(feature_map, X)
    expected = fitted.transform(X)
    for rows in (1, 7, 39, 1000):
        with config(block_rows=rows):
            actual = fitted.transform(X)
        assert_close(actual, expected, TOLERANCE["float64"], f"blocks of {rows} rows")
    assert_close(fitted.transform(X[7:8]), expected[7:8], TOLERANCE["float64"], "one row alone")


def check_threads(feature_map: FeatureMap, n_features: int) -> None:
    """Features do not depend on the number of threads."""
    X = ordinary_rows(300, n_features)
    fitted = _fitted(feature_map, X)
    with config(n_jobs=1, block_rows=16):
        expected = fitted.transform(X)
    with config(n_jobs=4, block_rows=16):
        assert np.array_equal(fitted.transform(X), expected), "threads changed the features"


def check_seed(feature_map: FeatureMap, n_features: int) -> None:
    """The same seed gives the same map, ``seed_`` gives it again, another one another map."""
    if not _draws(feature_map):
        return
    X = ordinary_rows(10, n_features)
    first = _fitted(feature_map, X)
    assert np.array_equal(first.transform(X), _fitted(feature_map, X).transform(X))
    again = _seeded(feature_map, first.seed_).fit(X)
    assert np.array_equal(first.transform(X), again.transform(X)), "seed_ gives another map"
    other = _seeded(feature_map, 1).fit(X)
    if first.traits_.random:
        assert not np.allclose(first.transform(X), other.transform(X)), "the seed changes nothing"
    for state in (np.random.default_rng(0), np.random.RandomState(0), None):
        drawn = _seeded(feature_map, state).fit(X)
        again = _seeded(feature_map, drawn.seed_).fit(X)
        assert np.array_equal(drawn.transform(X), again.transform(X)), "seed_ gives another map"


def check_dtypes(feature_map: FeatureMap, n_features: int) -> None:
    """float32 stays, narrow integers become float32, wide ones float64, all to rounding."""
    X = np.round(40 * ordinary_rows(30, n_features))
    expected = _fitted(feature_map, X).transform(X)
    wanted = {"float32": "float32", "float64": "float64", "float16": "float32"}
    wanted |= {"int8": "float32"} | dict.fromkeys(("int16", "int32", "int64"), "float64")
    for dtype, result in wanted.items():
        rows = X.astype(dtype)
        fitted = _fitted(feature_map, rows)
        actual = fitted.transform(rows)
        assert actual.dtype == result, f"{dtype} became {actual.dtype}"
        # Phases of some hundreds carry the rounding of float32 into the features.
        tolerance = 1e-3 if result == "float32" else TOLERANCE["float64"]
        assert_close(actual, expected, tolerance, f"{dtype} input", fitted.traits_.step)
    for dtype in ("uint8", "bool"):
        rows = (X > 0).astype(dtype)
        actual = _fitted(feature_map, rows).transform(rows)
        assert actual.dtype == np.float32
        same = _fitted(feature_map, rows).transform(rows.astype("float32"))
        assert np.array_equal(actual, same), f"{dtype} differs from float32"


def check_sparse(feature_map: FeatureMap, n_features: int) -> None:
    """Sparse rows give the features of dense ones, in every format, dense enough or not."""
    for share in (0.02, 0.6):
        X = ordinary_rows(60, n_features)
        X[np.random.default_rng(2).random(X.shape) > share] = 0.0
        fitted = _fitted(feature_map, X)
        expected = fitted.transform(X)
        for form in (scipy.sparse.csr_array, scipy.sparse.csc_matrix, scipy.sparse.coo_array):
            rows = form(X)
            actual = fitted.transform(rows)
            assert isinstance(actual, np.ndarray), "sparse rows must give dense features"
            assert_close(actual, expected, TOLERANCE["float64"], f"{form.__name__} input")
            assert_close(
                _fitted(feature_map, rows).transform(X), expected, 1e-12, "fitted on sparse rows"
            )
        assert fitted.transform(scipy.sparse.csr_array(X.astype("float32"))).dtype == np.float32


def check_array_libraries(feature_map: FeatureMap, n_features: int) -> None:
    """Arrays of any library give the same features, in that library and dtype."""
    for dtype in ("float32", "float64"):
        X = ordinary_rows(20, n_features, dtype)
        expected = _fitted(feature_map, X).transform(X)
        for library, make in array_libraries().items():
            rows = make(X)
            actual = _fitted(feature_map, rows).transform(rows)
            assert type(actual) is type(rows), f"{library} became {type(actual)}"
            assert dtype_name(actual) == dtype
            assert getattr(actual, "device", None) == getattr(rows, "device", None)
            assert_close(to_numpy(actual), expected, TOLERANCE[dtype], f"{library} {dtype}")
            with config(block_rows=6):
                in_blocks = _fitted(feature_map, X).transform(rows)
            assert_close(to_numpy(in_blocks), expected, TOLERANCE[dtype], f"{library} in blocks")


def check_data_frames(feature_map: FeatureMap, n_features: int) -> None:
    """pandas and polars frames go in, and come out by ``set_output``, with feature names."""
    X = ordinary_rows(8, n_features)
    names = [f"column {j}" for j in range(n_features)]
    expected = _fitted(feature_map, X).transform(X)
    for library in ("pandas", "polars"):
        if not importlib.util.find_spec(library):
            continue
        make = importlib.import_module(library).DataFrame
        frame = make(dict(zip(names, X.T, strict=True)))
        fitted = _seeded(feature_map, 0).set_output(transform=library)
        actual = fitted.fit(frame).transform(frame)
        assert type(actual) is type(frame), f"set_output gave {type(actual)}"
        assert list(actual.columns) == list(fitted.get_feature_names_out())
        assert list(fitted.feature_names_in_) == names
        assert_close(actual.to_numpy(), expected, TOLERANCE["float64"], f"{library} frame")
        swapped = frame[names[::-1]]
        message = raised(partial(fitted.transform, swapped), ValueError)
        assert "feature names" in message.lower()


def check_clone_and_pickle(feature_map: FeatureMap, n_features: int) -> None:
    """A pickled map gives identical features; a clone is unfitted and has equal parameters."""
    X = ordinary_rows(10, n_features)
    fitted = _fitted(feature_map, X)
    loaded = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(loaded.transform(X), fitted.transform(X)), "pickling changed the map"
    assert not hasattr(clone(fitted), "kernel_")


def check_input_is_not_modified(feature_map: FeatureMap, n_features: int) -> None:
    """Input is not modified, and may be read-only, strided, column-major or a memory map."""
    X = ordinary_rows(30, n_features)
    kept = X.copy()
    expected = _fitted(feature_map, X).transform(X)
    assert np.array_equal(X, kept), "the input was modified"
    for rows in awkward_layouts(X):
        actual = _fitted(feature_map, rows).transform(rows)
        assert_close(actual, expected, TOLERANCE["float64"], "read-only or strided input")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npy"
        np.save(path, X)
        mapped = np.load(path, mmap_mode="r")
        actual = _fitted(feature_map, mapped).transform(mapped)
        del mapped
    assert_close(actual, expected, TOLERANCE["float64"], "memory-mapped input")


def check_memory(feature_map: FeatureMap, n_features: int) -> None:
    """Beyond input and output a transform stays within the budget."""
    X = np.random.default_rng(0).integers(-3, 4, (6000, n_features), dtype="int8")
    fitted = _fitted(feature_map, X)
    fitted.transform(X[:10])
    row = 4 * (n_features + fitted.transform(X[:1]).shape[1])
    for budget in (64_000_000, max(2_000_000, 40 * row)):
        with config(memory=budget):
            result, peak = peak_bytes(lambda: fitted.transform(X))
        extra = peak - result.nbytes
        assert extra <= budget, f"{extra} bytes were used beyond the output, of {budget}"
    wide = scipy.sparse.random_array(
        (300, n_features), density=0.05, format="csr", random_state=np.random.default_rng(0)
    )
    for rows in (X.astype("float64")[:2000], wide):
        # Code that is compiled or loaded at a first call would count.
        fitted.transform(rows[:10])
        with config(memory=budget):
            result, peak = peak_bytes(partial(fitted.transform, rows))
        assert peak - result.nbytes <= budget, "float64 or sparse rows broke the budget"
        with config(memory=budget):
            _, peak = peak_bytes(partial(_seeded(feature_map, 0).fit, rows))
        # A lengthscale from data looks at a thousand rows and all their distances.
        assert peak <= max(4 * budget, 40_000_000), f"fit took {peak} bytes of {budget}"
    with config(memory=1):
        message = raised(lambda: fitted.transform(X), ValueError)
    assert "memory" in message
    assert "config(memory" in message


def check_edge_cases(feature_map: FeatureMap, n_features: int) -> None:
    """One row, a constant column, a zero row and extreme magnitudes give finite features."""
    X = ordinary_rows(5, n_features)
    X[:, -1] = 3.0
    X[2] = 0.0
    for rows in (X, 1e-150 * X, 1e150 * X, *((s * X).astype("float32") for s in (1e-30, 1e18))):
        try:
            Z = _fitted(feature_map, rows).transform(rows)
        except ValueError as error:
            # A power of the rows may be out of range; that must be said.
            assert "overflow" in str(error), f"large rows are refused without saying so: {error}"
        else:
            assert np.isfinite(Z).all(), f"rows of {abs(rows).max()} give infinite features"
    one = _fitted(feature_map, X).transform(X[:1])
    assert one.shape[0] == 1
    try:
        column = _fitted(feature_map, X[:, :1])
    except ValueError as error:
        assert "column" in str(error), f"one column is refused without saying so: {error}"
    else:
        assert np.isfinite(column.transform(X[:, :1])).all()


def check_bad_rows(feature_map: FeatureMap, n_features: int) -> None:
    """Bad data is refused, in ``fit`` and in ``transform``, with an error that says why."""
    X = ordinary_rows(10, n_features)
    fitted = _fitted(feature_map, X)
    assert_bad_rows_are_refused(lambda rows: _fitted(feature_map, rows), n_features)
    assert_bad_rows_are_refused(fitted.transform, n_features)
    message = raised(lambda: fitted.transform(X[:, 1:]), ValueError)
    assert str(n_features) in message
    assert str(n_features - 1) in message


def check_bad_parameters(feature_map: FeatureMap, n_features: int) -> None:
    """Every parameter refuses bad values with an error that names it."""
    X = ordinary_rows(10, n_features)
    assert_bad_parameters_are_refused(feature_map, lambda broken: broken.fit(X))


def check_partial_fit(feature_map: FeatureMap, n_features: int) -> None:
    """Blocks seen one after the other give the map of all rows at once."""
    X = ordinary_rows(50, n_features)
    expected = _fitted(feature_map, X)
    streamed = _seeded(feature_map, 0)
    for start in (0, 20, 21):
        streamed.partial_fit(X[start : {0: 20, 20: 21, 21: 50}[start]])
    assert_close(streamed.transform(X), expected.transform(X), 1e-9, "partial_fit")


def check_with_scikit_learn(feature_map: FeatureMap, n_features: int) -> None:
    """scikit-learn's own checks of estimators pass."""
    from sklearn.utils.estimator_checks import check_estimator

    small = clone(feature_map)
    if "n_components" in small.get_params(deep=False):
        small.set_params(n_components=1)
    try:
        _fitted(feature_map, ordinary_rows(10, 1))
        _fitted(small, ordinary_rows(10, 3))
    except ValueError:
        # Its checks use rows of one to ten columns, and one component; a map that refuses them
        # is not for these.
        return
    check_estimator(_seeded(feature_map, 0), on_skip=None, expected_failed_checks=EXPECTED_TO_FAIL)


#: Checks of scikit-learn that no map passes, with the reason.
EXPECTED_TO_FAIL = {
    "check_array_api_same_namespace": "a map follows the library of the rows it is given"
}
#: Every check, called as ``check(feature_map, n_features)``.
FEATURE_MAP_CHECKS: list[Callable[[FeatureMap, int], None]] = [
    check_unbiased,
    check_kernel_is_named,
    check_block_size,
    check_threads,
    check_seed,
    check_dtypes,
    check_sparse,
    check_array_libraries,
    check_data_frames,
    check_clone_and_pickle,
    check_input_is_not_modified,
    check_memory,
    check_edge_cases,
    check_bad_rows,
    check_bad_parameters,
    check_partial_fit,
    check_with_scikit_learn,
]


def check_feature_map(feature_map: FeatureMap, n_features: int = 5) -> None:
    """Run every check of the contract on a feature map; raise at the first that fails.

    Parameters
    ----------
    feature_map : FeatureMap
        The map, with parameters that suit small data; it is cloned.
    n_features : int, default=5
        Columns of the data that it is tried on; at least 3, as a wrong sampler can look
        right in one dimension.

    Examples
    --------
    >>> from mercer import RandomFourier
    >>> from mercer.testing import check_feature_map
    >>> check_feature_map(RandomFourier(n_components=20))
    """
    for check in FEATURE_MAP_CHECKS:
        check(feature_map, n_features)


def _fitted(feature_map: FeatureMap, X: Any) -> Any:
    """Return a copy of the map, fitted with seed 0."""
    return _seeded(feature_map, 0).fit(X)


def _seeded(feature_map: FeatureMap, random_state: Any) -> Any:
    """Return a copy of the map with that seed; a map that draws nothing has none."""
    copied = clone(feature_map)
    if _draws(copied):
        copied.set_params(random_state=random_state)
    return copied


def _draws(feature_map: FeatureMap) -> bool:
    return "random_state" in feature_map.get_params(deep=False)
