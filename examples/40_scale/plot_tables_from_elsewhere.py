"""
A query of polars or DuckDB, learnt from without loading its rows
=================================================================

Sales of flats and a list of towns are two Parquet files; the rows to learn from are a query that
joins them. `TableStream` reads the query in blocks: the front door finds categories and dates in
it, and a ridge machine learns two million rows of another. Left: what the model says of the price
by the distance from the centre. Right: memory while learning, of a query that is read block by
block and of one that is computed first (on Linux, where a process can tell).
"""

import tempfile
import time
from multiprocessing import get_context
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
from sklearn.base import clone

from mercer import FeatureRidge, KernelRegressor
from mercer.io import TableStream

N_SALES, N_ROWS, N_COLUMNS, BLOCK = 3300, 2_000_000, 30, 20_000
COLOURS = {"polars": "#0072B2", "duckdb": "#E69F00", "computed first": "#D55E00"}
STATUS = Path("/proc/self/status")


def write_sales(folder):
    """Write sales and towns as two files, as a data base would give them."""
    generator = np.random.default_rng(0)
    towns = pl.DataFrame({"town": ["Bern", "Chur", "Genf", "Sion"], "level": [1.0, 0.7, 1.5, 0.6]})
    names = generator.choice(towns["town"], N_SALES)
    distance = generator.exponential(4.0, N_SALES)
    size = generator.uniform(25, 180, N_SALES)
    day = np.datetime64("2019-01-01") + generator.integers(0, 2000, N_SALES)
    level = dict(zip(towns["town"], towns["level"], strict=True))
    price = size * np.asarray([level[name] for name in names]) * (4 + 6 * np.exp(-distance / 3))
    sales = {"town": names, "distance": distance, "size": size, "day": day, "price": price}
    pl.DataFrame(sales).write_parquet(folder / "sales.parquet")
    towns.write_parquet(folder / "towns.parquet")


def joined(folder):
    """Return a lazy frame: nothing is read here."""
    sales, towns = (pl.scan_parquet(folder / f"{name}.parquet") for name in ("sales", "towns"))
    return sales.filter(pl.col("size") > 30).join(
        towns, on="town", how="left", maintain_order="left"
    )


def write_long(path):
    """Write a long table of numbers in parts, as one that does not fit would be written."""
    generator = np.random.default_rng(0)
    parts = [path.with_name(f"long{k}.parquet") for k in range(10)]
    for part in parts:
        X = generator.standard_normal((N_ROWS // len(parts), N_COLUMNS))
        frame = pl.DataFrame(X, schema=[f"x{j}" for j in range(N_COLUMNS)])
        frame.with_columns(y=pl.col("x0") + pl.col("x1") / 2).write_parquet(part)


def query(kind, folder):
    """Return the rows of the long table that have a target below 2, as a query, and its owner."""
    files = str(folder / "long*.parquet")
    if kind == "duckdb":
        import duckdb

        # What it may hold of files and buffers; each thread reads some row groups ahead.
        connection = duckdb.connect(config={"memory_limit": "200MB", "threads": 2})
        return connection, connection.sql(f"select * from '{files}' where y < 2")
    return None, pl.scan_parquet(files).filter(pl.col("y") < 2)


def blocks_of(frame):
    """Yield the rows of a frame that is in memory."""
    for start in range(0, frame.height, BLOCK):
        part = frame[start : start + BLOCK]
        yield part.drop("y").to_numpy(), part["y"].to_numpy()


def memory():
    """Return the megabytes that this process holds of its own."""
    lines = STATUS.read_text().splitlines() if STATUS.exists() else ["RssAnon: 0 kB"]
    return int(next(line for line in lines if line.startswith("RssAnon")).split()[1]) / 1e3


def learn(kind, folder, answers):
    """Learn the long table in a process of its own, and tell the memory after each block."""
    machine = FeatureRidge()
    clone(machine).fit(np.eye(3), np.arange(3.0))
    base, start = memory(), time.perf_counter()
    if kind == "computed first":
        rows = blocks_of(query("polars", folder)[1].collect())
    else:
        _open, lazy = query(kind, folder)
        rows = TableStream(lazy, "y", block_rows=BLOCK, dtype="float64")
    told = [memory() - base for _ in machine.fit_in_steps(rows)]
    answers.put((kind, told, time.perf_counter() - start, machine.coef_))


def curves(folder, kinds):
    """Return memory by block, and print times; the coefficients are the same for all."""
    processes = get_context("spawn")
    found, coefficients = {}, []
    for kind in kinds:
        answers = processes.Queue()
        process = processes.Process(target=learn, args=(kind, folder, answers))
        process.start()
        _, found[kind], seconds, coef = answers.get(timeout=200)
        process.join()
        coefficients.append(coef)
        print(f"{kind}: {seconds:.1f} s, at most {max(found[kind]):.0f} MB more memory")
    # The sums are rounded; all else is the same.
    assert all(np.allclose(coef, coefficients[0], atol=1e-6) for coef in coefficients)
    return found


def installed_kinds():
    try:
        import duckdb  # noqa: F401
    except ImportError:
        return ["polars", "computed first"]
    return ["polars", "duckdb", "computed first"]


def main():
    _, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained", facecolor="white")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_sales(folder)
        table = TableStream(joined(folder), target="price", block_rows=BLOCK)
        model = KernelRegressor("gaussian").fit(table)
        print(model.report_)
        distance = np.linspace(0, 15, 100)
        for town, level in (("Genf", 1.5), ("Bern", 1.0), ("Sion", 0.6)):
            new = pl.DataFrame(
                {"town": town, "distance": distance, "size": 80.0, "level": level}
            ).with_columns(day=pl.date(2022, 1, 1))
            new = new.select(table.columns)
            left.plot(distance, model.predict(new), label=town)
            truth = 80 * level * (4 + 6 * np.exp(-distance / 3))
            left.plot(distance, truth, color="black", ls=":", lw=1)
        left.plot([], [], color="black", ls=":", lw=1, label="true price")
        left.set(xlabel="distance from the centre (km)", ylabel="price of 80 m² (thousand)", ylim=0)
        left.legend()
        write_long(folder / "long")
        for kind, told in curves(folder, installed_kinds()).items():
            rows = BLOCK * np.arange(1, len(told) + 1) / 1e6
            right.plot(rows, told, label=kind, color=COLOURS[kind])
    right.set(xlabel="rows learnt (million)", ylabel="memory of the process (MB)", ylim=0)
    right.legend()
    for panel in (left, right):
        panel.grid(alpha=0.25)
        panel.set_axisbelow(True)
    plt.show()


if __name__ == "__main__":
    main()
