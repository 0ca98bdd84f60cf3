"""
A first model: how much power will a town need?
===============================================

A small town asks how much electricity it will need tomorrow, hour by hour. It has kept records:
the hour, the day of the year, the temperature, and whether people work that day. Demand rises
with cold *and* with heat, peaks twice on working days, and the hours of these peaks change with
daylight. No straight line has this shape, but a kernel method needs nothing else than the table.

You will fit a model in one line, read its report, compare it with a linear model, ask for error
bars, and store it in a file. It takes about ten seconds.
"""

# %%
# The records
# -----------
# We make them up, so that the truth is known: 1,800 hours of a year, drawn at random. Of these
# 1,000 are to learn from, and 800 to test on.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import train_test_split

import mercer

generator = np.random.default_rng(0)
NOISE = 1.5


def temperature_of(day, hour):
    """Return the usual temperature in degrees Celsius."""
    return 11 - 11 * np.cos(2 * np.pi * (day - 20) / 365) + 4 * np.sin(2 * np.pi * (hour - 9) / 24)


def demand_of(table):
    """Return the true demand in megawatts, without noise."""
    hour, temperature = table["hour"], table["temperature"]
    evening = 19 - 1.5 * np.cos(2 * np.pi * (table["day"] - 172) / 365)
    morning = np.exp(-(((hour - 8) / 2) ** 2)) * np.where(table["working"], 14, 5)
    night = 10 * np.exp(-(((hour - evening) / 2.5) ** 2)) - 8 * np.cos(2 * np.pi * (hour - 2) / 24)
    heating = 1.1 * np.maximum(15 - temperature, 0)
    cooling = 1.6 * np.maximum(temperature - 22, 0) * (1 + np.tanh(hour - 9)) / 2
    return 45 + morning + night + heating + cooling


n = 1800
table = pd.DataFrame(
    {
        "day": generator.integers(1, 366, n),
        "hour": generator.uniform(0, 24, n),
        "working": generator.random(n) < 5 / 7,
    }
)
usual = temperature_of(table["day"], table["hour"])
table["temperature"] = usual + generator.normal(0, 4, n)
demand = (demand_of(table) + generator.normal(0, NOISE, n)).rename("demand")
X, X_new, y, y_new = train_test_split(table, demand, test_size=800, random_state=0)
print(X.head(3).round(1))

# %%
# Fit
# ---
# :obj:`mercer.KernelRegressor` takes the table as it is. It turns the columns into numbers,
# compares kernels and their lengthscales, chooses how strongly to smooth, and writes down what it
# did.

model = mercer.KernelRegressor().fit(X, y)
print(model.report_)

# %%
# The lines say, in order: what the columns became; which kernel was the best of how many tried;
# whether the kernel is exact or approximated, and why; the ridge parameter, which smooths; the
# score to expect on new rows; and the cost. ``score`` is an estimate from the training rows alone:
# each row is predicted by a model that has not seen it. Is it right?

linear = LinearRegression().fit(X, y)
print(f"expected R2 {model.report_.score:.3f}, measured {model.score(X_new, y_new):.3f}")
print(f"linear model: R2 {linear.score(X_new, y_new):.3f}")

# %%
# A linear model explains a quarter of the demand, the kernel nearly all of it. What is left is the
# noise that we have added ourselves and that no method can predict, and what 1,000 hours do not
# tell:

error = np.sqrt(np.mean((model.predict(X_new) - y_new) ** 2))
linear_error = np.sqrt(np.mean((linear.predict(X_new) - y_new) ** 2))
print(f"typical error {error:.2f} MW; noise {NOISE} MW; linear model {linear_error:.2f} MW")

# %%
# Two days, with error bars
# -------------------------
# ``return_std=True`` gives a standard deviation with each prediction, which includes the noise. We
# ask for a winter day and a summer day, and draw intervals of 1.96 standard deviations: 95 % of
# the measurements should lie within them.

GREY, BLUE = "#7d8590", "#2f7fd1"
hours = np.linspace(0, 24, 97)
figure, panels = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained", sharey=True)
for axes, day, title in zip(panels, (15, 200), ("15 January", "19 July"), strict=True):
    asked = pd.DataFrame({"day": day, "hour": hours, "working": True})
    asked["temperature"] = temperature_of(day, hours) + 5
    mean, std = model.predict(asked, return_std=True)
    band = (mean - 1.96 * std, mean + 1.96 * std)
    axes.fill_between(hours, *band, color=BLUE, alpha=0.25, lw=0, label="95 % interval")
    axes.plot(hours, mean, color=BLUE, label="kernel")
    axes.plot(hours, linear.predict(asked), color=GREY, label="linear model")
    axes.plot(hours, demand_of(asked), "k:", label="truth")
    axes.set(title=f"{title}, 5 degrees warmer than usual", xlabel="hour", xlim=(0, 24))
    axes.set_xticks(range(0, 25, 4))
    axes.grid(alpha=0.25)
panels[0].set_ylabel("demand, megawatts")
panels[1].legend(loc="lower center", fontsize="small")
plt.show()

mean, std = model.predict(X_new, return_std=True)
inside = (abs(mean - y_new) < 1.96 * std).mean()
print(f"{inside:.1%} of the 800 test hours lie within their 95 % interval")

# %%
# Keep it
# -------
# The model goes into one file, without pickle; what comes back predicts the same numbers to the
# last bit.

path = Path(tempfile.mkdtemp()) / "town.mercer"
mercer.save(model, path, compact=True)
same = np.array_equal(mercer.load(path).predict(X_new), model.predict(X_new))
print(f"{path.name}: {path.stat().st_size / 1e3:.0f} kB, the same predictions: {same}")

# %%
# What to read next
# -----------------
# - A table with categories, dates and missing values:
#   :ref:`the next tutorial <sphx_glr_auto_examples_50_tutorials_plot_2_table.py>`.
# - What the report chose, and how: :doc:`front door </guide/front-door>`.
# - How far error bars can be trusted: :doc:`error bars </howto/error-bars>`.
# - Data that does not fit in memory:
#   :ref:`a folder of files <sphx_glr_auto_examples_50_tutorials_plot_3_larger_than_memory.py>`.
