"""Tests of streams of lazy frames, relations and datasets: the rows of a file, block by block."""

import re
import sys
import tracemalloc

import numpy as np
import polars as pl
import pytest

from mercer import (
    FeatureRidge,
    FeatureRidgeClassifier,
    Gaussian,
    KernelClassifier,
    KernelRegressor,
    RandomFourier,
)
from mercer.io import ModelFileError, TableStream, fit_resumable

N = 1000
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, 3))
#: A column whose name looks like that of a column of a table, beside plain ones.
ODD = "a b.c"
FRAME = pl.DataFrame({"u": X[:, 0], ODD: X[:, 1], "w": X[:, 2], "y": np.sin(X[:, 0]) + X[:, 1]})
MIXED = FRAME.with_columns(
    kind=pl.Series(np.where(X[:, 2] > 0, "up", None)).cast(pl.Categorical),
    day=pl.date_range(pl.date(2020, 1, 1), pl.date(2022, 9, 26), "1d", eager=True),
    label=pl.Series(np.where(X[:, 0] > 0, "yes", "no")),
    gap=pl.Series([None, 1.5] * (N // 2)),
)


def lazy(frame):
    # Computed, not only looked up.
    return frame.lazy().filter(pl.col("u") < 1e9)


#: Relations of DuckDB 1 do not keep their connections.
CONNECTIONS = []


def relation(frame):
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    CONNECTIONS.append(connection)
    connection.register("frame", frame.to_arrow())
    connection.execute("create table rows as from frame")
    return connection.sql("from rows where u < 1e9")


def hugging_face():
    # A folder of these tests has the name of the package.
    pytest.importorskip("datasets.arrow_dataset")
    return sys.modules["datasets"]


def dataset(frame):
    datasets = hugging_face()
    return datasets.Dataset(frame.to_arrow())


def iterable_dataset(frame):
    return dataset(frame).to_iterable_dataset(num_shards=3)


def generated_dataset(frame):
    datasets = hugging_face()
    rows = frame.to_dicts()
    return datasets.IterableDataset.from_generator(lambda: iter(rows))


KINDS = [lazy, relation, dataset, iterable_dataset, generated_dataset]


@pytest.mark.parametrize("make", KINDS)
def test_blocks_are_those_of_the_rows_in_every_pass(make):
    table = TableStream(make(FRAME), "y", columns=["w", ODD], block_rows=300, dtype="float64")
    assert table.columns == ["w", ODD]
    assert table.n_rows == (None if "iterable" in make.__name__ or "gen" in make.__name__ else N)
    for _ in range(2):
        blocks = list(table)
        assert [len(rows) for rows, _ in blocks] == [300, 300, 300, 100]
        assert np.array_equal(np.concatenate([rows for rows, _ in blocks]), X[:, [2, 1]])
        assert np.array_equal(np.concatenate([y for _, y in blocks]), FRAME["y"].to_numpy())
    assert np.array_equal(np.concatenate(list(table.targets())), FRAME["y"].to_numpy())


@pytest.mark.parametrize("make", KINDS)
def test_a_machine_learns_the_same_as_from_memory(make):
    features = RandomFourier(Gaussian(2.0), n_components=64, random_state=0)
    machine = FeatureRidge(features, alpha=1e-3)
    columns, y = FRAME.drop("y").to_numpy(), FRAME["y"].to_numpy()
    streamed = machine.fit(TableStream(make(FRAME), "y", block_rows=256, dtype="float64"))
    assert streamed.feature_names_in_.tolist() == FRAME.drop("y").columns
    found = streamed.predict(FRAME.drop("y"))
    assert found == pytest.approx(machine.fit(columns, y).predict(columns), abs=1e-8)


@pytest.mark.parametrize("make", KINDS)
def test_the_front_door_takes_categories_dates_and_missing_values(make):
    frame = MIXED
    if make is generated_dataset:
        # Python objects of rows: categories are strings there.
        frame = MIXED.with_columns(pl.col("kind").cast(pl.String))
    table = TableStream(make(frame.drop("label")), "y", block_rows=400)
    model = KernelRegressor("gaussian", n_components=64).fit(table)
    assert model.report_.n_rows == N
    assert "1 categorical" in model.report_.encoding
    assert "1 date" in model.report_.encoding
    plain = KernelRegressor("gaussian", n_components=64)
    rows = frame.drop("y", "label")
    expected = plain.fit(rows, frame["y"]).predict(rows)
    assert model.predict(rows) == pytest.approx(expected, abs=1e-6)
    labels = TableStream(make(frame.drop("y")), "label", block_rows=400)
    classifier = KernelClassifier("gaussian", n_components=64).fit(labels)
    assert classifier.classes_.tolist() == ["no", "yes"]
    assert classifier.score(rows, frame["label"].to_numpy()) > 0.95


@pytest.mark.parametrize("make", KINDS)
def test_machines_predict_and_score_a_query(make):
    rows, y = FRAME.drop("y"), FRAME["y"].to_numpy()
    for machine in (FeatureRidge(), KernelRegressor(Gaussian(2.0))):
        machine.fit(rows, y)
        with_targets = TableStream(make(FRAME), "y", block_rows=300, dtype="float64")
        assert machine.score(with_targets) == pytest.approx(machine.score(rows, y), abs=1e-9)
        turned = TableStream(make(FRAME), "y", columns=rows.columns[::-1])
        with pytest.raises(ValueError, match=r"columns of the stream are .*in this order"):
            machine.score(turned)
        alone = TableStream(make(rows), None, block_rows=300, dtype="float64")
        assert machine.predict(alone) == pytest.approx(machine.predict(rows), abs=1e-9)


class Interrupted(Exception):
    pass


def interrupted(machine, block):
    """Return a machine that fails after so many blocks."""

    class Failing(type(machine)):
        def fit_in_steps(self, *args, **kwargs):
            for position in super().fit_in_steps(*args, **kwargs):
                yield position
                if position == block:
                    raise Interrupted

    failing = Failing(**machine.get_params(deep=False))
    failing.__class__.__name__ = type(machine).__name__
    return failing


@pytest.mark.parametrize("make", [lazy, relation, iterable_dataset])
def test_a_pass_is_resumed_where_it_stood(make, tmp_path):
    file = tmp_path / "pass.checkpoint"
    features = RandomFourier(Gaussian(2.0), n_components=32, random_state=0)
    machine = FeatureRidge(features, alpha=1e-3)
    table = TableStream(make(FRAME), "y", block_rows=150)
    with pytest.raises(Interrupted):
        fit_resumable(interrupted(machine, 4), table, file, every=0)
    assert file.exists()
    table = TableStream(make(FRAME), "y", block_rows=150)
    with pytest.warns(UserWarning, match="after block 4"):
        resumed = fit_resumable(machine, table, file)
    whole = FeatureRidge(features, alpha=1e-3).fit(table)
    assert np.array_equal(resumed.coef_, whole.coef_)
    with pytest.raises(Interrupted):
        fit_resumable(interrupted(machine, 4), table, file, every=0)
    other = TableStream(make(FRAME.reverse()), "y", block_rows=150)
    with pytest.raises(ModelFileError, match="another fit"):
        fit_resumable(machine, other, file)


def test_rows_that_come_in_another_order_are_told():
    passes = iter(range(9))

    def shuffled(batch):
        return batch.sample(fraction=1.0, shuffle=True, seed=next(passes))

    query = FRAME.lazy().map_batches(shuffled, projection_pushdown=False, slice_pushdown=False)
    table = TableStream(query, "y", block_rows=300)
    for _ in table:
        pass
    with pytest.warns(UserWarning, match=r"another order.*from block 0 on.*sort the query"):
        list(table)
    # Once.
    list(table)


def test_a_relation_whose_connection_is_used_meanwhile_is_not_cut_short():
    table = TableStream(relation(FRAME), "y", block_rows=100)
    blocks, others = iter(table), iter(table)
    next(blocks)
    # DuckDB 1 ends the first of two results early, DuckDB 2 refuses the second.
    with pytest.raises(Exception, match=r"connection"):
        list(map(next, (others, blocks, *([blocks] * 10))))


def test_a_relation_is_free_after_a_pass_that_was_given_up():
    table = TableStream(relation(FRAME), "y", block_rows=100)
    for _ in table:
        break
    assert sum(len(y) for _, y in table) == N


def test_decimals_and_whole_numbers_of_a_query_are_numbers():
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    rows = connection.sql(
        "select sum(range) as total, avg(range * 1.5) as mean, count(*) % 2 = 0 as even, "
        "range % 7 as y from range(100) group by y order by y"
    )
    (columns, y), *rest = TableStream(rows, "y")
    assert not rest
    assert columns.dtype == np.float32
    assert columns[:, 0].tolist() == [sum(range(k, 100, 7)) for k in range(7)]
    assert y.tolist() == list(range(7))


def test_names_of_columns_are_no_code():
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    rows = connection.sql('select 1 as "a ""b""", 2 as "*", 3 as "select", 4 as y')
    (columns, y), *_ = TableStream(rows, "y", columns=["*", 'a "b"'])
    assert columns.tolist() == [[2.0, 1.0]]
    assert y.tolist() == [4]


@pytest.mark.parametrize("make", KINDS)
def test_bad_requests_name_the_table(make):
    table = make(MIXED.with_columns(pl.col("kind").cast(pl.String)))
    name = type(table).__name__
    with pytest.raises(ValueError, match="no column 'z'"):
        TableStream(table, "z")
    with pytest.raises(ValueError, match=f"'kind' of the {name} has type .*KernelRegressor"):
        next(iter(TableStream(table, "y", columns=["kind"])))
    with pytest.raises(ValueError, match=f"'gap' of the {name} has a missing value in row 0"):
        next(iter(TableStream(table, "gap", columns=["u"])))
    with pytest.raises(ValueError, match=f"only for CSV files, but this is the {name}"):
        TableStream(table, "y", sep=";")
    assert f"TableStream(the {name}, target=['y']" in repr(TableStream(table, "y"))


@pytest.mark.parametrize("make", [lazy, relation, dataset, generated_dataset])
def test_lists_are_no_values_of_a_column(make):
    table = make(FRAME.with_columns(parts=pl.concat_list("u", "w")))
    with pytest.raises(ValueError, match=r"'parts' .* has type .*list.*numpy\.stack"):
        TableStream(table, "y")
    assert TableStream(table, "y", columns=["u", "w"]).columns == ["u", "w"]


def test_rows_in_memory_need_no_stream():
    for rows, name in ((FRAME, "polars DataFrame"), (X, "numpy ndarray"), (3, "builtins int")):
        with pytest.raises(TypeError, match=f"{name}; rows in memory need no stream"):
            TableStream(rows, "y")


def test_an_old_polars_is_told_from(monkeypatch):
    monkeypatch.delattr(pl.LazyFrame, "collect_batches", raising=False)
    with pytest.raises(ImportError, match=re.escape("polars 1.34 or newer")):
        TableStream(lazy(FRAME), "y")


def test_an_empty_query_is_an_empty_stream():
    table = TableStream(FRAME.lazy().filter(pl.col("u") > 1e9), "y")
    assert table.n_rows == 0
    with pytest.raises(ValueError, match="stream of blocks is empty"):
        FeatureRidgeClassifier().fit(table)


@pytest.mark.parametrize("make", [dataset, iterable_dataset])
def test_a_dataset_given_as_rows_is_refused_with_the_way_out(make):
    with pytest.raises((TypeError, ValueError), match=r"mercer\.io\.TableStream\("):
        KernelRegressor().fit(make(FRAME))


def test_several_splits_are_refused():
    datasets = hugging_face()
    with pytest.raises(TypeError, match=re.escape("dataset['train']")):
        TableStream(datasets.DatasetDict({"train": dataset(FRAME)}), "y")


def test_a_dataset_that_does_not_know_its_types_asks_for_them():
    datasets = hugging_face()
    rows = [{"a": None, "y": 1.0}] * 1000 + [{"a": 1.0, "y": 1.0}]
    unknown = datasets.IterableDataset.from_generator(lambda: iter(rows))
    with pytest.raises(ValueError, match=r"'a' is empty.*datasets\.Features"):
        TableStream(unknown, "y")
    rows = [{"a": 1, "y": 1.0}] * 1000 + [{"a": 1.5, "y": 1.0}]
    unknown = datasets.IterableDataset.from_generator(lambda: iter(rows))
    with pytest.raises(ValueError, match=r"do not fit.*datasets\.Features"):
        list(TableStream(unknown, "y"))


@pytest.mark.parametrize("make", [relation, lazy])
def test_memory_is_that_of_a_block(make):
    big = pl.DataFrame({f"x{k}": np.arange(200_000.0) for k in range(10)} | {"y": np.ones(200_000)})
    table = TableStream(make(big.with_columns(u=pl.lit(1.0))), "y", block_rows=5000)
    tracemalloc.start()
    rows = sum(len(y) for _, y in table)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert rows == 200_000
    # What NumPy holds; a block has 0.2 MB, the table 18 MB.
    assert peak < 2e6
