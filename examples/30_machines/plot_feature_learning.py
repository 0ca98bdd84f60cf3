"""
Two genes that matter only together: a kernel machine finds them among a hundred
================================================================================

Simulated people have 100 loci. A disease depends on two of these, but only jointly: neither
locus has an effect alone, so methods that look at one column at a time, as trees do at their
first split, find nothing. Left: the area under the ROC curve on test people against the number
of training people, with the best possible value. Middle: the column weights learnt from 1,000
people. Right: the weights by iteration.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score

from mercer import IRKMClassifier
from mercer.datasets import make_epistasis, penetrance_table
from mercer.diagnostics import WeightsDisplay

SIZES = (250, 500, 1000)
N_SEEDS = 4
HERITABILITY = 0.2


def people(seed):
    """Return training and test people, and the probabilities of illness of the latter."""
    X, y, loci = make_epistasis(
        3000, 100, heritability=HERITABILITY, random_state=seed, return_loci=True
    )
    table = penetrance_table(heritability=HERITABILITY, random_state=seed)
    chances = table[tuple(X[1000:, locus] for locus in loci)]
    return X[:1000], y[:1000], X[1000:], y[1000:], loci, chances


machines = {
    # Neither locus has an effect of its own: that is what a large mixing finds. And labels are
    # mostly noise, so that leave-one-out would choose too smooth a function at first.
    "IRKMClassifier": lambda: IRKMClassifier(mixing=0.9, alpha=1.0, random_state=0),
    "RandomForestClassifier": lambda: RandomForestClassifier(200, random_state=0),
}
areas = {name: np.empty((N_SEEDS, len(SIZES))) for name in machines}
best, found = [], np.zeros(len(SIZES), dtype=int)
for seed in range(N_SEEDS):
    X, y, X_new, y_new, loci, chances = people(seed)
    best.append(roc_auc_score(y_new, chances))
    for k, size in enumerate(SIZES):
        for name, make in machines.items():
            model = make().fit(X[:size], y[:size])
            if name == "IRKMClassifier":
                values = model.decision_function(X_new)
                found[k] += set(np.argsort(model.column_weights_)[-2:]) == set(loci)
                if (seed, k) == (0, len(SIZES) - 1):
                    shown, shown_loci = model, loci
            else:
                values = model.predict_proba(X_new)[:, 1]
            areas[name][seed, k] = roc_auc_score(y_new, values)

print("training people       " + "".join(f"{size:>8,}" for size in SIZES))
for name, values in areas.items():
    print(f"{name:22}" + "".join(f"{value:8.3f}" for value in values.mean(axis=0)))
print(f"{'both loci found':22}" + "".join(f"{f'{count} of {N_SEEDS}':>8}" for count in found))
print(f"best possible: {np.mean(best):.3f}")

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13.5, 4.4), layout="constrained")
for (name, values), colour in zip(areas.items(), ("C2", "C4"), strict=True):
    left.plot(SIZES, values.mean(axis=0), "o-", color=colour, label=name)
    left.plot(SIZES, values.T, ".", color=colour, alpha=0.4)
left.axhline(np.mean(best), color="0.4", ls="--", lw=1, label="best possible")
left.axhline(0.5, color="0.4", ls=":", lw=1, label="guessing")
left.set(xlabel="training people", ylabel="area under the ROC curve", xticks=SIZES)
left.set(title=f"2,000 test people, mean of {N_SEEDS} diseases", ylim=(0.45, 0.85))
left.legend(loc="upper left", fontsize="small", ncols=2)

names = [f"locus {number}" for number in range(100)]
display = WeightsDisplay.from_estimator(
    shown, feature_names=names, n_features=12, ax=middle, color="0.7"
)
causal = {names[locus] for locus in shown_loci}
for number, label in enumerate(middle.get_yticklabels()):
    if label.get_text() in causal:
        label.set_fontweight("bold")
        middle.patches[number].set_facecolor(f"C{number}")
middle.set_title("12 largest of 100 weights; bold: the true loci")
display.plot(kind="path", n_features=2, ax=right)

plt.show()
