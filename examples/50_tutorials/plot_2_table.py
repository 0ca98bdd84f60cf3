"""
A table with categories and gaps: what is a used car worth?
===========================================================

A dealer has a table of 1,800 sold cars, as tables are: makes and fuels are words, sales have
dates, some entries are missing, and one seller typed a number wrongly. What is asked for is a
price *with an interval*: "between 9,000 and 12,000" helps, a bare number does not.

You will give the frame to a model as it is, read what became of each column, meet three errors
and a warning that say how to go on, and check that the intervals keep their promise.
"""

# %%
# The table
# ---------
# The worth of a car falls with age and mileage by a *factor*, which differs by fuel; electric cars
# from before batteries improved fall fastest, and damage costs a young car more. So columns act
# together, which is what a linear model cannot see.

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from mercer import KernelRegressor
from mercer.diagnostics import IntervalDisplay

generator = np.random.default_rng(1)
MAKES = {"Adler": 34, "Borg": 21, "Corvo": 16, "Dacre": 26, "Elan": 45, "Fjord": 30}
FUELS = {"petrol": 0.13, "diesel": 0.11, "electric": 0.20}


def cars(n):
    """Return a table of cars, and their prices in thousands."""
    sold = pd.Timestamp("2023-01-01") + pd.to_timedelta(generator.integers(0, 730, n), "D")
    age = generator.gamma(2.5, 2.0, n).clip(0.2, 14)
    table = pd.DataFrame(
        {
            "make": generator.choice(list(MAKES), n, p=[0.25, 0.2, 0.2, 0.15, 0.1, 0.1]),
            "fuel": generator.choice(list(FUELS), n, p=[0.5, 0.25, 0.25]),
            "first_registration": sold - pd.to_timedelta((365 * age).round(), "D"),
            "sold": sold,
            "mileage": (age * generator.gamma(6.0, 2.4, n)).round(1),
            "power": generator.normal(95, 25, n).clip(45, 220).round(),
            "damaged": generator.random(n) < 0.12,
        }
    )
    worth = table["make"].map(MAKES) * (table["power"] / 95) ** 0.7
    rate = table["fuel"].map(FUELS) - 0.06 * (table["fuel"].eq("electric") & (age < 4))
    worth = worth * np.exp(-rate * age - 0.0022 * table["mileage"])
    worth = worth * np.where(table["damaged"], np.where(age < 5, 0.6, 0.85), 1.0)
    price = (worth + generator.normal(0, 0.8, n)).rename("price")
    # Owners of cars that were driven far like to forget how far.
    forgets = 0.05 + 0.6 / (1 + np.exp((110 - table["mileage"]) / 15))
    table.loc[generator.random(n) < forgets, "mileage"] = np.nan
    table.loc[generator.random(n) < 0.10, "power"] = np.nan
    table.loc[generator.random(n) < 0.08, "fuel"] = None
    return table, price


table, price = cars(1800)
print(table.head(4).to_string(index=False))
print(f"{table.isna().any(axis=1).mean():.0%} of the cars lack an entry")

# %%
# First try
# ---------
# One entry in the table is a slip of the keyboard. Methods that take what they get would learn
# from it; this one stops, and says where to look.

train, new = slice(0, 1200), slice(1200, 1800)
spoiled = table[train].copy()
spoiled.loc[17, "mileage"] = np.inf
try:
    KernelRegressor().fit(spoiled, price[train])
except ValueError as error:
    print(error)

# %%
# A missing *price* is another matter than a missing mileage: nothing can be learnt from that row.

unsold = price[train].copy()
unsold[5] = np.nan
try:
    KernelRegressor().fit(table[train], unsold)
except ValueError as error:
    print(error)

# %%
# The model
# ---------

model = KernelRegressor().fit(table[train], price[train])
print(model.report_)

# %%
# ``data`` says how columns were read, and ``encoder_`` what became of them: words are a column for
# each value, with one for "missing"; dates are days; numbers with gaps get the mean, and a column
# that says that they were missing.

print(list(model.encoder_.get_feature_names_out()))

# %%
# The report has the score of a linear model on the same columns, next to its own. Both are
# estimates from the rows that were learnt; here are new cars:

scores = {
    "linear model, as the report expects": model.report_.linear_score,
    "kernel, as the report expects": model.report_.score,
    "kernel, on 600 new cars": model.score(table[new], price[new]),
}
for name, score in scores.items():
    print(f"{name:36} R2 {score:.3f}")

# %%
# Why not drop the incomplete rows?
# ---------------------------------
# It would lose a third of the table, and something else: owners of cars that were driven far often
# leave the mileage out, so a gap says something. A model that has never seen one takes it for the
# mean, and offers too much:

complete = table[train].dropna().index
dropped = KernelRegressor(kernel=model.kernel_).fit(table.loc[complete], price[complete])
gap = table[new]["mileage"].isna()
for name, fitted in (("learnt with gaps", model), ("learnt from complete rows", dropped)):
    error = (fitted.predict(table[new]) - price[new])[gap]
    typical = np.sqrt(np.mean(error**2))
    print(f"{name:26} mean error {error.mean():+.2f}, typical error {typical:.2f} thousand")

# %%
# New tables are not always like the old one
# ------------------------------------------
# Columns are checked by name. One that is not there is an error, which ends with the name that may
# be meant; ``table[model.feature_names_in_]`` picks those that are needed out of a larger table.

try:
    model.predict(table[new].rename(columns={"mileage": "milage"}))
except ValueError as error:
    print(error)

# %%
# A make that the model has never seen is no error, as it will happen; but it is said:

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    model.predict(table[new].head(2).assign(make="Gazelle"))
print(caught[0].message)

# %%
# Prices with intervals
# ---------------------
# The standard deviation has two parts: what the model does not know of the function, which is
# larger for unusual cars, and the noise, which is one number for all of them. So intervals are
# right on average. A car with a gap is harder than that, and a complete one easier: where that
# matters, look at both kinds.

mean, std = model.predict(table[new], return_std=True)
low, high = mean - 1.96 * std, mean + 1.96 * std
first = table[new][["make", "fuel", "mileage"]].assign(low=low, high=high, price=price[new])
print(first.head(5).round(1).to_string(index=False))
whole = table[new].notna().all(axis=1)
inside = (price[new] > low) & (price[new] < high)
print(f"inside: {inside.mean():.1%} of 600 prices", end=", ")
print(f"{inside[whole].mean():.1%} of complete cars, {inside[~whole].mean():.1%} of others")

GREY, BLUE = "#7d8590", "#2f7fd1"
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4.2), layout="constrained")
some = np.argsort(mean)[::8]
left.errorbar(
    mean[some],
    price[new].to_numpy()[some],
    xerr=1.96 * std[some],
    fmt="o",
    ms=3,
    lw=1,
    color=BLUE,
    label="prediction, 95 % interval",
)
left.axline((0, 0), slope=1, color=GREY, lw=1, label="prediction = price")
left.set(xlabel="prediction, thousands", ylabel="price, thousands", title="75 of 600 new cars")
left.legend(loc="upper left", fontsize="small")
display = IntervalDisplay.from_estimator(model, table[new], price[new], ax=right, color=BLUE)
right.set_title("do intervals keep their promise?")
plt.show()

# %%
# What does a year cost?
# ----------------------
# A model is also a way to ask. The same car at all ages, for each fuel:

ages = np.linspace(0.3, 10, 60)
sold = pd.Timestamp("2024-06-01")
figure, axes = plt.subplots(figsize=(6.5, 3.8), layout="constrained")
for fuel, colour in zip(FUELS, ("#c2591b", "#8a5cc7", BLUE), strict=True):
    asked = pd.DataFrame(
        {
            "make": "Adler",
            "fuel": fuel,
            "first_registration": sold - pd.to_timedelta((365 * ages).round(), "D"),
            "sold": sold,
            "mileage": 14 * ages,
            "power": 95.0,
            "damaged": False,
        }
    )
    curve, width = model.predict(asked, return_std=True)
    axes.plot(ages, curve, color=colour, label=fuel)
    axes.fill_between(ages, curve - width, curve + width, color=colour, alpha=0.15, lw=0)
axes.set(xlabel="age, years", ylabel="price, thousands", title="an Adler of 95 kW, ± 1 std")
axes.legend()
axes.grid(alpha=0.25)
plt.show()

# %%
# What to read next
# -----------------
# - How each kind of column is encoded, and how to choose otherwise:
#   :doc:`front door </guide/front-door>`.
# - Which machines give which error bars: :doc:`error bars </howto/error-bars>`.
# - The same from a shell, without Python: :doc:`command line </guide/command-line>`.
# - Tables on disk, larger than memory:
#   :ref:`the next tutorial <sphx_glr_auto_examples_50_tutorials_plot_3_larger_than_memory.py>`.
