"""
Data larger than memory: a folder of files, one pass
====================================================

A sensor network has filled a folder with Parquet files, more than fit in memory once the model
has turned each row into a thousand features. The reading of it takes hours on a real archive,
and machines are switched off in between.

You will learn from the folder as it lies on the disk, in one pass, with a budget of 100 MB; see
that neither the memory nor the coefficients depend on how the rows were cut; and resume a pass
after a crash, with the same result to the last bit.
"""

# %%
# A folder of files
# -----------------
# Twenty files of 10,000 rows stand for the archive: six measurements, and what is to be predicted,
# a smooth but far from linear function of four of them, with noise. New rows to test on have no
# noise, so that we see how far a model is from the truth. (Parquet files need
# ``pip install 'mercer[tables]'``.)

import tempfile
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import mercer
from mercer import FeatureRidge, Gaussian, RandomFourier
from mercer.io import TableStream, fit_resumable
from mercer.testing import peak_bytes

COLUMNS = ["pressure", "flow", "valve", "inflow", "pump", "room"]


def records(n, seed, noise=0.3):
    """Return rows of measurements with their target."""
    generator = np.random.default_rng(seed)
    rows = generator.uniform(-1, 1, (n, len(COLUMNS)))
    truth = np.sin(3 * rows[:, 0]) * rows[:, 1] + np.exp(-2 * (rows[:, 2] - rows[:, 3]) ** 2)
    table = pd.DataFrame(rows.astype(np.float32), columns=COLUMNS)
    return table.assign(power=truth + noise * generator.standard_normal(n))


folder = Path(tempfile.mkdtemp()) / "archive"
folder.mkdir()
for number in range(20):
    records(10_000, number).to_parquet(folder / f"{number:02}.parquet")
new = records(5_000, 100, noise=0)
table = TableStream(folder, target="power", block_rows=10_000)
print(f"{table.n_rows:,} rows of {', '.join(table.columns)}")

# %%
# A :obj:`~mercer.io.TableStream` knows the columns and the number of rows, but holds none of
# them: each time it is iterated, it reads the files block by block.
#
# One pass
# --------
# The machine is ridge regression on random Fourier features of a Gaussian kernel. On a stream the
# lengthscale should be a number, as there are no rows yet to estimate it from. Three files are a
# good sample to choose it on: 25,000 rows to learn from, 5,000 to compare by.

sample = pd.concat([pd.read_parquet(folder / f"{number:02}.parquet") for number in range(3)])
X, y = sample[COLUMNS].to_numpy(), sample["power"].to_numpy()
median = Gaussian("median").fitted_to(X).lengthscale
tried = {}
for lengthscale in (2 * median, median, median / 2):
    features = RandomFourier(Gaussian(lengthscale), n_components=1024, random_state=0)
    machine = FeatureRidge(features).fit(X[:25_000], y[:25_000])
    tried[lengthscale] = machine.score(X[25_000:], y[25_000:])
    print(f"lengthscale {lengthscale:.2f}: R2 {tried[lengthscale]:.3f}")

best = max(tried, key=tried.get)
features = RandomFourier(Gaussian(best), n_components=1024, random_state=0)
print(f"all features as float32: {table.n_rows * 1024 * 4 / 1e6:.0f} MB")

# %%
# :obj:`mercer.config` sets the budget for what a fit holds besides its input; ``peak_bytes``
# measures what it does hold. The error is the squared one, as a share of the variance.


def learnt(n_files, features):
    """Return a machine that has learnt from the first files, and the memory that it took."""
    files = sorted(folder.glob("*.parquet"))[:n_files]
    blocks = (block for path in files for block in TableStream(path, target="power"))
    with mercer.config(memory="100MB"):
        return peak_bytes(lambda: FeatureRidge(features).fit(blocks))


X_new, y_new = new[COLUMNS].to_numpy(), new["power"].to_numpy()
linear, _ = learnt(20, None)
linear_error = 1 - linear.score(X_new, y_new)
sizes, peaks, errors = [1, 2, 5, 10, 20], [], []
for n_files in sizes:
    model, peak = learnt(n_files, features)
    peaks.append(peak / 1e6)
    errors.append(1 - model.score(X_new, y_new))
    print(f"{n_files * 10_000:>7,} rows: {peaks[-1]:.0f} MB at the peak, error {errors[-1]:.4f}")
print(f"linear model of all rows: {linear_error:.3f}")

# %%
# Twenty times the rows take the same memory: what is kept are sums of products of features, 8 bytes
# for each *pair of features*, however many rows go by. And the rows are worth it: the linear model
# has learnt all that it can from one file, the kernel is still getting better.

GREY, BLUE = "#7d8590", "#2f7fd1"
rows = 10_000 * np.asarray(sizes)
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.6), layout="constrained")
held = rows * 1024 * 4 / 1e6
left.loglog(rows, held, "--", color=GREY, label="the features, if they were kept")
left.loglog(rows, peaks, "o-", color=BLUE, label="peak memory of the fit")
left.axhline(100, color="#c2591b", lw=1, label="budget")
left.set(xlabel="rows", ylabel="megabytes", ylim=(5, 1000))
left.legend(fontsize="small")
right.loglog(rows, errors, "o-", color=BLUE, label="kernel, 1,024 features")
right.axhline(linear_error, color=GREY, label="linear model")
right.set(xlabel="rows", ylabel="squared error / variance")
right.legend(fontsize="small")
for axes in (left, right):
    axes.grid(alpha=0.25)
plt.show()

# %%
# A crash
# -------
# :obj:`~mercer.io.fit_resumable` writes the sums to a file now and then. Here the disk fails at
# the 13th block; ``every=0`` writes after each block, the default is once a minute.


class FailingTable(TableStream):
    """A table whose disk fails at a block."""

    def __iter__(self):
        for number, block in enumerate(super().__iter__()):
            if number == 12:
                raise OSError("the disk does not answer")
            yield block


checkpoint = folder.parent / "pass.checkpoint"
failing = FailingTable(folder, target="power", block_rows=10_000)
machine = FeatureRidge(features)
try:
    fit_resumable(machine, failing, checkpoint, every=0)
except OSError as error:
    print(f"crash: {error}; the checkpoint has {checkpoint.stat().st_size / 1e6:.1f} MB")

# %%
# The same call, in a new process or on another machine that sees the disk, goes on from there. It
# warns that it does, and ends with the coefficients of a pass without a crash.

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    fit_resumable(machine, table, checkpoint)
print(caught[-1].message.args[0].replace(str(checkpoint), checkpoint.name))
whole = FeatureRidge(features).fit(table)
print("the same coefficients:", np.array_equal(machine.coef_, whole.coef_))
print("checkpoint removed:", not checkpoint.exists())

# %%
# Rows that come later
# --------------------
# The sums are kept in the machine, so that tomorrow's file costs one file. A full model file keeps
# them too (``compact=True`` leaves them out), and machines that have learnt from different files
# can be merged.

tomorrow = records(10_000, 20)
machine.partial_fit(tomorrow[COLUMNS], tomorrow["power"])
other = FeatureRidge(features).fit(X[:10_000], y[:10_000])
other.merge(FeatureRidge(features).fit(X[10_000:20_000], y[10_000:20_000]))
two, _ = learnt(2, features)
difference = abs(other.predict(X_new) - two.predict(X_new)).max()
print(f"predictions of merged machines and of one pass differ by {difference:.0e}")

# %%
# What to read next
# -----------------
# - All kinds of input that are read in blocks, and what a checkpoint holds:
#   :doc:`model files and large data </guide/model-files>`.
# - Categories, dates and gaps in such a folder: ``KernelRegressor().fit(table)`` takes the same
#   stream; see :doc:`front door </guide/front-door>`.
# - What a fit will take before it runs: ``mercer.plan(table, model)``, in
#   :doc:`what will it take? </guide/planning>`
# - More than one machine: :doc:`past this machine </guide/scale>`.
