"""
The front door: encoding, kernel, features and ridge parameter are chosen from the table
========================================================================================

A synthetic table of houses has numbers, a category, a date and missing values. One call of
``fit`` encodes it, compares kernels on a sample, learns, and reports what it chose and what
to expect on new rows. Left: predictions for held-out rows with error bars. Right: the scores
that ``fit`` expected, and those on the held-out rows.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline

from mercer import FeatureRidge, KernelRegressor, TableEncoder


def houses(n):
    """Return a table of houses, and their prices in thousands."""
    generator = np.random.default_rng(0)
    days = generator.integers(0, 3650, n)
    frame = pd.DataFrame(
        {
            "area": generator.gamma(9.0, 14.0, n).round(),
            "distance": generator.gamma(2.0, 3.0, n).round(1),
            "built": generator.integers(1900, 2020, n).astype(float),
            "district": generator.choice(["north", "south", "lake", "old town"], n),
            "garden": generator.random(n) < 0.4,
            "sold": pd.Timestamp("2010-01-01") + pd.to_timedelta(days, "D"),
        }
    )
    factor = frame["district"].map({"north": 0.8, "south": 1.0, "lake": 1.6, "old town": 1.3})
    price = 4 * frame["area"] * factor * np.exp(-frame["distance"] / 12)
    price *= 1 + 0.25 * np.sin(days / 600)
    price += 60 * ((frame["built"] - 1970) / 40) ** 2 * (1 + frame["garden"])
    price += generator.normal(0, 30, n)
    frame.loc[generator.random(n) < 0.1, "built"] = np.nan
    return frame, price.rename("price")


frame, price = houses(8000)
train, new = slice(0, 4000), slice(4000, 8000)
model = KernelRegressor(effort="quick").fit(frame[train], price[train])
mean, std = model.predict(frame[new], return_std=True)
inside = (abs(mean - price[new]) < 2 * std).mean()
linear = make_pipeline(TableEncoder(limit=None), FeatureRidge(selection=5))
linear.fit(frame[train], price[train])
measured = [each.score(frame[new], price[new]) for each in (linear, model)]
expected = [model.report_.linear_score, model.report_.score]
print(model.report_)
print(f"measured on {len(mean):,} new rows: R2 {measured[1]:.3f}, linear model {measured[0]:.3f}")
print(f"{inside:.1%} of them lie within 2 standard deviations")

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
some = np.arange(0, len(mean), 40)
left.axline((0, 0), slope=1, color="0.5", lw=1, label="prediction = price")
label = "prediction, ± 2 standard deviations"
left.errorbar(price[new].iloc[some], mean[some], 2 * std[some], fmt="o", ms=3, lw=1, label=label)
left.set(xlabel="price of a new row, thousands", ylabel="prediction, thousands")
left.set_title(f"{len(some)} of {len(mean):,} new rows ({inside:.0%} of all within the bars)")
left.legend(loc="upper left")
for shift, scores, name in ((-0.2, expected, "expected"), (0.2, measured, "measured on new rows")):
    colour = "0.7" if shift < 0 else "C0"
    bars = right.bar(np.arange(2) + shift, scores, 0.38, label=name, color=colour)
    right.bar_label(bars, fmt="%.3f", padding=2)
right.set_xticks([0, 1], ["linear model", "kernel"])
right.set(ylim=(0, 1.2), yticks=np.linspace(0, 1, 6), ylabel="R²")
right.set_title("score expected by fit, and score on new rows")
right.legend(loc="upper left", ncols=2)

plt.show()
