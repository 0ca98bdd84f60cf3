"""Tests of packed features against the dense arrays they stand for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mercer
from mercer import PackedFeatures
from mercer.features.packed import (
    EVEN,
    SIGN,
    TERNARY,
    Code,
    add_column_gram,
    column_gram,
    column_products,
    column_sums,
)
from mercer.testing import peak_bytes

CODES = [TERNARY, EVEN, SIGN, Code((1, 2)), Code((1, -1), 3), Code((1, 2, 4), -3, "int16")]
REAL = [Code.uniform(bits, -0.7, 0.7) for bits in (1, 2, 4, 8)]
SHAPES = st.tuples(st.integers(1, 140), st.integers(1, 140))


def values_of(code, shape, seed=0):
    rng = np.random.default_rng(seed)
    return code.values[rng.integers(len(code.values), size=shape)]


def packed_of(code, shape, seed=0):
    """Return values and the same in packed form."""
    values = values_of(code, shape, seed)
    return values, PackedFeatures.pack(values, code)


@given(shape=SHAPES, code=st.sampled_from(CODES + REAL), seed=st.integers(0, 99))
def test_values_are_those_that_were_packed(shape, code, seed):
    values, packed = packed_of(code, shape, seed)
    assert packed.shape == shape
    assert len(packed) == shape[0]
    assert packed.dtype == values.dtype
    assert packed.nbytes == 8 * code.n_planes * shape[0] * -(-shape[1] // 64)
    assert np.array_equal(packed.unpack(), values)
    assert np.array_equal(np.asarray(packed), values)
    assert np.array_equal(np.concatenate(list(packed.unpack_blocks(9))), values)
    assert PackedFeatures.pack(packed.unpack(), code) == packed


@given(shape=SHAPES, code=st.sampled_from(CODES), seed=st.integers(0, 99))
def test_gram_matrices_are_exact_integers(shape, code, seed):
    values, packed = packed_of(code, shape, seed)
    Z = values.astype(np.int64)
    gram, columns = packed.gram(), column_gram(packed)
    assert gram.dtype == columns.dtype == np.int64
    assert np.array_equal(gram, Z @ Z.T)
    assert np.array_equal(columns, Z.T @ Z)
    sums = column_sums(packed)
    assert sums.dtype == np.int64
    assert np.array_equal(sums, Z.sum(axis=0))
    other_values, other = packed_of(code, (17, shape[1]), seed + 1)
    assert np.array_equal(packed.gram(other), Z @ other_values.astype(np.int64).T)


@given(shape=SHAPES, code=st.sampled_from(REAL), seed=st.integers(0, 99))
def test_products_of_real_values_are_accurate_to_float64(shape, code, seed):
    _, packed = packed_of(code, shape, seed)
    Z = packed.unpack(np.float64)
    for found, wanted in (
        (packed.gram(), Z @ Z.T), (column_gram(packed), Z.T @ Z), (column_sums(packed), Z.sum(0)),
    ):  # fmt: skip
        assert found.dtype == np.float64
        assert found == pytest.approx(wanted, abs=1e-11)


@pytest.mark.parametrize("code", CODES + REAL, ids=str)
@pytest.mark.parametrize("n_targets", [1, 3, 20])
def test_products_with_dense_arrays(code, n_targets):
    _, packed = packed_of(code, (333, 150))
    Z, rng = packed.unpack(np.float64), np.random.default_rng(1)
    Y, V = rng.standard_normal((333, n_targets)), rng.standard_normal((150, n_targets))
    assert column_products(packed, Y) == pytest.approx(Z.T @ Y, abs=1e-10)
    assert Y.T @ packed == pytest.approx(Y.T @ Z, abs=1e-10)
    assert packed @ V == pytest.approx(Z @ V, abs=1e-10)
    assert column_products(packed, Y[:, 0]) == pytest.approx(Z.T @ Y[:, 0], abs=1e-10)
    assert packed.matmul(V[:, 0]) == pytest.approx(Z @ V[:, 0], abs=1e-10)
    single = packed @ V.astype(np.float32)
    assert single.dtype == np.float32
    assert single == pytest.approx(Z @ V, abs=1e-3)


@pytest.mark.parametrize("code", [TERNARY, SIGN, REAL[0], REAL[2]], ids=str)
def test_sums_over_columns_add_up_over_blocks_and_chunks(code, monkeypatch):
    monkeypatch.setattr("mercer.features.packed.products.CHUNK_ROWS", 128)
    _, packed = packed_of(code, (500, 90))
    Z = packed.unpack(np.float64)
    total = np.zeros((90, 90), order="F")
    add_column_gram(total, packed[:300])
    add_column_gram(total, packed[300:])
    assert np.triu(total) == pytest.approx(np.triu(Z.T @ Z), abs=1e-10)
    assert column_sums(packed) == pytest.approx(Z.sum(axis=0), abs=1e-10)


def test_large_gram_matrices_are_put_together_from_tiles():
    values, packed = packed_of(TERNARY, (1100, 70))
    Z = values.astype(np.int64)
    assert np.array_equal(packed.gram(), Z @ Z.T)
    values, packed = packed_of(SIGN, (130, 1100))
    Z = values.astype(np.int64)
    assert np.array_equal(column_gram(packed), Z.T @ Z)
    _, packed = packed_of(REAL[2], (300, 4200))
    Z = packed.unpack(np.float64)
    assert packed.gram() == pytest.approx(Z @ Z.T, abs=1e-9)


@pytest.mark.parametrize("code", [TERNARY, SIGN, REAL[2]], ids=str)
def test_rows_are_taken_as_from_an_array(code):
    values, packed = packed_of(code, (50, 70))
    mask = np.arange(50) % 3 == 0
    for rows in (slice(3, 40, 2), slice(None), np.asarray([4, 4, -1]), mask, [1, 2], []):
        part = packed[rows]
        index = np.asarray(rows, dtype=int) if isinstance(rows, list) else rows
        assert np.array_equal(part.unpack(), values[index])
        assert part.code == code
    assert np.shares_memory(packed[5:9].planes, packed.planes)
    assert not np.shares_memory(packed.take([5, 6]).planes, packed.planes)
    assert np.array_equal(packed[-2], values[-2])
    assert [row.tolist() for row in packed] == values.tolist()
    Z = packed.unpack(np.float64)[mask]
    assert column_gram(packed[mask]) == pytest.approx(Z.T @ Z, abs=1e-11)
    parts = PackedFeatures.concatenate([packed[:7], packed[7:7], packed[7:]])
    assert parts == packed
    assert packed[:7] != packed
    empty = packed[:0]
    assert empty.unpack().shape == (0, 70)
    assert empty.gram().shape == (0, 0)
    assert not column_gram(empty).any()


def test_unpacking_into_an_array_and_in_other_dtypes():
    values, packed = packed_of(TERNARY, (5, 70))
    out = np.empty((5, 70), dtype=np.float32)
    assert packed.unpack(out=out) is out
    assert np.array_equal(out, values)
    for dtype in ("int16", "int64", "float64"):
        assert packed.unpack(dtype).dtype == dtype
    assert np.asarray(packed, dtype=np.uint16).dtype == np.uint16
    with pytest.raises(ValueError, match="dtype must be one of"):
        packed.unpack(np.uint8)
    with pytest.raises(ValueError, match="out must have shape"):
        packed.unpack(out=out[:3])
    with pytest.raises(ValueError, match="dtype must be one of float32, float64"):
        packed_of(REAL[0], (2, 2))[1].unpack(np.int8)
    with pytest.raises(ValueError, match="copy must not be False"):
        np.asarray(packed, copy=False)


def test_codes_are_packed_bit_by_bit():
    code = Code.uniform(3, 0.0, 7.0)
    codes = np.random.default_rng(0).integers(8, size=(9, 66))
    assert np.array_equal(PackedFeatures.from_codes(codes, code).unpack(), codes)
    for wrong in (codes - 1, codes + 1, codes.astype(float)):
        with pytest.raises(ValueError, match="codes must be integers from 0 to 7"):
            PackedFeatures.from_codes(wrong, code)


@pytest.mark.parametrize("wrong", [[[2]], [[0.5]], [[np.nan]], [["a"]], [1]])
def test_values_without_a_code_are_refused(wrong):
    with pytest.raises(ValueError, match="value"):
        PackedFeatures.pack(wrong, TERNARY)


@pytest.mark.parametrize(
    "wrong",
    [
        {"weights": ()},
        {"weights": (1,) * 9},
        {"weights": [1]},
        {"weights": (1.5,)},
        {"weights": (1,), "offset": 0.5},
        {"weights": (np.inf,), "dtype": "float32"},
        {"weights": ("1",), "dtype": "float32"},
        {"weights": (1,), "dtype": "uint8"},
        {"weights": (100, 100)},
    ],
)
def test_wrong_codes_are_refused(wrong):
    with pytest.raises(ValueError):
        Code(**wrong)


def test_wrong_partners_are_refused():
    _, packed = packed_of(TERNARY, (5, 70))
    with pytest.raises(ValueError, match="same code"):
        packed.gram(packed_of(EVEN, (5, 70))[1])
    with pytest.raises(ValueError, match="70 rows"):
        packed @ np.zeros(5)
    with pytest.raises(ValueError, match="5 rows"):
        column_products(packed, np.zeros(70))
    with pytest.raises(ValueError, match="one code"):
        PackedFeatures.concatenate([])
    with pytest.raises(TypeError, match="by rows"):
        packed[:, 0]
    with pytest.raises(TypeError, match="integers or a boolean mask"):
        packed[np.zeros(3)]
    with pytest.raises(IndexError):
        packed[5]
    with pytest.raises(ValueError, match="total must be float64"):
        add_column_gram(np.zeros((70, 70), dtype=int), packed_of(REAL[0], (5, 70))[1])


def test_packed_features_say_what_they_are_and_are_not_changed():
    packed = packed_of(TERNARY, (1000, 640))[1]
    assert repr(packed) == "PackedFeatures(1,000 x 640, 2 bits an entry, 0.16 MB)"
    with pytest.raises(ValueError, match="read-only"):
        packed.planes[0, 0, 0] = 1
    assert packed != "something else"


@pytest.mark.parametrize("code", [TERNARY, SIGN, REAL[2]], ids=str)
@pytest.mark.parametrize("shape", [(1, 1), (30, 70)])
def test_packed_features_are_saved(code, shape, tmp_path):
    _, packed = packed_of(code, shape)
    mercer.save(packed, tmp_path / "z.mercer")
    assert mercer.load(tmp_path / "z.mercer") == packed
    mercer.save(packed[::2], tmp_path / "z.mercer")
    assert mercer.load(tmp_path / "z.mercer") == packed[::2]


DAMAGED = {
    "bits beyond column 70": lambda packed: packed | np.uint64(1 << 6),
    "planes must have shape": lambda packed: packed[:1],
    "planes must be a uint64 array": lambda packed: packed.astype(np.int64),
}


@pytest.mark.parametrize("message", DAMAGED)
def test_damaged_planes_are_refused(message, tmp_path):
    _, packed = packed_of(TERNARY, (30, 70))
    planes = DAMAGED[message](packed.planes)
    with pytest.raises(ValueError, match=message):
        PackedFeatures(planes, 70, TERNARY)
    packed.planes = planes
    mercer.save(packed, tmp_path / "z.mercer")
    with pytest.raises(mercer.io.ModelFileError, match=message):
        mercer.load(tmp_path / "z.mercer")


def test_products_do_not_unpack_the_whole():
    _, packed = packed_of(TERNARY, (20_000, 512))
    with mercer.config(memory="64MB"):
        for function in (
            lambda: packed @ np.ones(512), lambda: column_products(packed, np.ones(20_000)),
            lambda: column_gram(packed), lambda: packed.gram(packed[:10]),
        ):  # fmt: skip
            function()
            _, peak = peak_bytes(function)
            assert peak < 20_000 * 512 * 4 / 2
