"""Recorded arrays: what is done to them is what a graph of it computes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("onnxruntime")
helper = pytest.importorskip("onnx.helper")
numpy_helper = pytest.importorskip("onnx.numpy_helper")
import onnxruntime  # noqa: E402

from mercer import TableEncoder  # noqa: E402
from mercer.io.onnx import NotRecordable, namespace  # noqa: E402
from mercer.io.onnx.array import Recorded  # noqa: E402
from mercer.io.onnx.models import features_of  # noqa: E402
from mercer.io.onnx.operations import tensor_type  # noqa: E402
from mercer.io.onnx.tape import Rows, Tape  # noqa: E402
from mercer.machines.auto.learnt import ReweightedEncoder  # noqa: E402
from mercer.machines.feature_learning.weights import ColumnWeights, Metric  # noqa: E402

X = np.random.default_rng(0).standard_normal((6, 8))


def run(function, X=X, opset=18):
    """Return what a graph of a function of rows computes, and the recorded array."""
    tape = Tape(opset)
    found = function(Recorded.rows(tape, "X", X.shape[1], X.dtype), namespace)
    nodes, numbers = tape.needed([found.name])
    kind = tensor_type
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info("X", kind(X.dtype), ["rows", X.shape[1]])],
        [helper.make_tensor_value_info(found.name, tensor_type(found.dtype), None)],
        [numpy_helper.from_array(value, name) for name, value in numbers.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    return session.run(None, {"X": X})[0], found


def assigned(X, key, value):
    """Assign to a copy of an array."""
    Z = X * 1.0
    Z[key] = value(X)
    return Z


FUNCTIONS = {
    "scalars on both sides": lambda X, xp: 1 - 2 * X / 4 + 3.0 / (X * X + 1) - X**3,
    "comparisons": lambda X, xp: xp.where((X > 0) & ~(X >= 1) | (X < -1), X, xp.zeros_like(X)),
    "exchanged comparisons": lambda X, xp: xp.where(0.5 > X, X, -X),
    "a column": lambda X, xp: X[:, 2] * X[:, -1],
    "slices": lambda X, xp: X[:, 1:7:2] + X[:, 5:2:-1],
    "new axes": lambda X, xp: X[:, None, :3] * X[:, :3, None],
    "an ellipsis": lambda X, xp: X[..., 0] + X[..., None][:, 3, 0],
    "the first row": lambda X, xp: X[:1, :] * X,
    "concat": lambda X, xp: xp.concat([X, X[:, :2]], axis=1),
    "stack": lambda X, xp: xp.stack([X, -X], axis=1),
    "reshape": lambda X, xp: xp.reshape(X, (X.shape[0], 2, 2, -1))[:, :, 1, :],
    "rows in a product": lambda X, xp: xp.reshape(xp.reshape(X, (X.shape[0] * 4, 2)), (-1, 8)),
    "permute": lambda X, xp: xp.permute_dims(xp.reshape(X, (X.shape[0], 2, 4)), (0, 2, 1)),
    "take": lambda X, xp: xp.take(X, np.asarray([3, 0, 3]), axis=1),
    "sums": lambda X, xp: X / xp.sum(X * X, axis=1, keepdims=True) + xp.sum(X, axis=1)[:, None],
    "extremes": lambda X, xp: xp.max(X, axis=1) - xp.min(X, axis=1) + xp.mean(X, axis=1),
    "argmax": lambda X, xp: xp.argmax(X, axis=1),
    "functions": lambda X, xp: xp.sin(X) + xp.cos(X) + xp.exp(-xp.abs(X)) + xp.sqrt(abs(X)),
    "more functions": lambda X, xp: xp.floor(X) + xp.sign(X) + xp.log(xp.abs(X) + 1),
    "clip": lambda X, xp: xp.clip(X, -0.5, 0.5) + xp.maximum(X, X * 0) - xp.minimum(X, -X),
    "remainder": lambda X, xp: xp.remainder(X, xp.ones_like(X) * 0.3),
    "small integers": lambda X, xp: xp.astype(xp.astype(X > 0, xp.int8) * 2 - 1, X.dtype),
    "zeros of rows": lambda X, xp: xp.concat(
        [X, xp.zeros((X.shape[0], 2), dtype=X.dtype), xp.full_like(X[:, :1], 4.0)], axis=1
    ),
    "assigned columns": lambda X, xp: assigned(X, (slice(None), slice(2, 4)), lambda X: X[:, :2]),
    "assigned column": lambda X, xp: assigned(X, (slice(None), -1), lambda X: X[:, 0]),
    "assigned number": lambda X, xp: assigned(X, (slice(None), 1), lambda X: 7.0),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_graph_computes_what_numpy_does(name):
    import array_api_compat.numpy as xp

    found, recorded = run(FUNCTIONS[name])
    expected = np.asarray(FUNCTIONS[name](X, xp))
    assert found.shape == expected.shape
    assert list(recorded.shape[1:]) == list(expected.shape[1:])
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


SLICES = st.builds(slice, *3 * [st.none() | st.integers(-9, 9).filter(bool)])


@settings(max_examples=60, deadline=None)
@given(first=SLICES, second=SLICES | st.integers(-2, 1))
def test_slices_are_those_of_numpy(first, second):
    def part(X, xp):
        return xp.reshape(X, (X.shape[0], 4, 2))[:, first, second]

    expected = X.reshape(6, 4, 2)[:, first, second]
    if expected.size:
        np.testing.assert_array_equal(run(part)[0], expected)


@settings(max_examples=40, deadline=None)
@given(first=SLICES | st.integers(-4, 3), second=SLICES | st.integers(-2, 1))
def test_assignments_are_those_of_numpy(first, second):
    if any(isinstance(key, slice) and key.step not in (None, 1) for key in (first, second)):
        return
    expected = X.reshape(6, 4, 2).copy()
    expected[:, first, second] = expected[:, first, second] * 10 + 1

    def assigned(X, xp):
        Z = xp.reshape(X * 1.0, (X.shape[0], 4, 2))
        if expected[:, first, second].size:
            Z[:, first, second] = Z[:, first, second] * 10 + 1
        return Z

    np.testing.assert_allclose(run(assigned)[0], expected, rtol=1e-14)


def test_assigning_to_a_part_of_several_dimensions():
    def function(X, xp):
        Z = xp.reshape(X * 1.0, (X.shape[0], 2, 2, 2))
        Z[:, 1, :, 0] = Z[:, 0, :, 1] * 10
        return Z

    found, _ = run(function)
    expected = X.reshape(6, 2, 2, 2).copy()
    expected[:, 1, :, 0] = expected[:, 0, :, 1] * 10
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("opset", [18, 22])
@pytest.mark.parametrize("length", [5, 8, 11])
def test_fourier_transforms_are_inverse_to_each_other(opset, length):
    def function(X, xp):
        spectra = xp.fft.rfft(X, n=length, axis=1)
        return xp.fft.irfft(spectra * spectra, n=length, axis=1)

    found, _ = run(function, opset=opset)
    spectra = np.fft.rfft(X, n=length, axis=1)
    np.testing.assert_allclose(found, np.fft.irfft(spectra**2, n=length, axis=1), atol=1e-6)


def test_known_numbers_are_computed_at_once():
    known = Recorded.known(X)
    found = namespace.sum(namespace.concat([known, known * 2], axis=1)[:, 3:] @ np.ones(13))
    assert found.tape is None
    assert float(found) == pytest.approx((np.concatenate([X, 2 * X], axis=1)[:, 3:]).sum())


def test_equal_numbers_are_stored_once_and_unused_nodes_not_at_all():
    tape = Tape(18)
    rows = Recorded.rows(tape, "X", 3, np.float32)
    found = rows * 2.0 + 2.0
    _ = rows * 3.0
    nodes, numbers = tape.needed([found.name])
    assert [node.op_type for node in nodes] == ["Mul", "Add"]
    assert len(numbers) == 1


@pytest.mark.parametrize(
    ("course", "reason"),
    [
        (lambda X, xp: X if bool(X[:1, 0] > 0) else -X, "looks at the numbers"),
        (lambda X, xp: X[X > 0], "by a mask"),
        (lambda X, xp: X[2:, :], "some of its rows"),
        (lambda X, xp: assigned(X, slice(0, 1), lambda X: 0.0), "some of its rows"),
        (lambda X, xp: xp.nonzero(X), r"uses nonzero\(\)"),
        (lambda X, xp: xp.astype(X, xp.complex64), "complex"),
        (lambda X, xp: range(X.shape[0]), "number of rows"),
    ],
)
def test_what_depends_on_numbers_is_refused(course, reason):
    with pytest.raises(NotRecordable, match=reason):
        course(Recorded.rows(Tape(18), "X", 4, np.float32), namespace)


def test_the_number_of_rows_is_a_multiple_of_that_of_the_input():
    rows = Rows(Tape(18), "X")
    assert rows * 6 // 2 == 3 * rows
    assert rows != 2 * rows
    assert repr(rows) == "rows"
    with pytest.raises(NotRecordable, match="not known"):
        _ = rows // 2


def test_a_learnt_metric_multiplies_encoded_columns():
    table = TableEncoder().fit(X)
    weights = np.linspace(0, 2, 8)
    for metric in (ColumnWeights(weights), Metric(np.diag(weights) + 0.1)):
        encoder = ReweightedEncoder(table, metric)
        found, _ = run(lambda X, xp, encoder=encoder: features_of(encoder, X))
        np.testing.assert_allclose(found, encoder.transform(X), atol=1e-12)
