"""
Finding genes that act only together
====================================

A disease runs in families, and yet no single gene is associated with it: tested one at a time, a
hundred candidates all look like chance. That happens when genes act *together*, each harmless
without the other. Geneticists call it epistasis.

We simulate such a disease, so that the answer is known; see common methods find nothing; let a
kernel machine learn a weight for every locus; and ask the question that must follow any discovery:
would other people, or pure chance, have given the same genes?
"""

# %%
# 1,200 people and 100 loci
# -------------------------
# :obj:`~mercer.datasets.make_epistasis` draws genotypes (0, 1 or 2 minor alleles) and a disease
# that depends on two of the loci by a *penetrance table*: the probability of illness for each of
# the nine combinations.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from mercer import IRKMClassifier
from mercer.datasets import make_epistasis, marginal_penetrance, penetrance_table
from mercer.diagnostics import WeightsDisplay, selection_frequencies

X, y, loci = make_epistasis(3200, 100, heritability=0.25, random_state=2, return_loci=True)
table = penetrance_table(heritability=0.25, random_state=2)
X_new, y_new, X, y = X[1200:], y[1200:], X[:1200], y[:1200]
names = np.asarray([f"locus {number}" for number in range(100)])
print(f"the truth, which nobody knows: {' and '.join(sorted(names[loci]))}")
print(table.round(2))

# %%
# A row is a genotype of the first locus, a column one of the second. Averaged over the other locus,
# by how frequent its genotypes are, every genotype has the same risk. That is what makes it hard.

print("risk by the first locus alone: ", marginal_penetrance(table, 0.2, [0]).round(3))
print("risk by the second locus alone:", marginal_penetrance(table, 0.2, [1]).round(3))

# %%
# One at a time
# -------------
# A test for each locus, as a genome-wide association study does it: where are the two causal loci
# among the hundred?

_, chance = f_classif(X, y)
ranks = np.argsort(np.argsort(chance))[loci] + 1
print(f"ranks of the causal loci by their p-values: {sorted(ranks.tolist())} of 100")

# %%
# Nor do a logistic regression and a random forest predict who falls ill. 0.5 is a guess; the best
# possible is what the true table gives.

areas = {}
for model in (LogisticRegression(max_iter=1000), RandomForestClassifier(200, random_state=0)):
    chances = model.fit(X, y).predict_proba(X_new)[:, 1]
    areas[type(model).__name__] = roc_auc_score(y_new, chances)
areas["best possible"] = roc_auc_score(y_new, table[tuple(X_new[:, loci].T)])

# %%
# A weight for every locus
# ------------------------
# :obj:`~mercer.IRKMClassifier` fits a kernel machine, looks at its derivatives to see which
# columns would improve the fit if they counted more, gives these more weight, and repeats.
# ``mixing=0.9`` asks for the derivatives that see columns without an effect of their own, and
# ``alpha=1`` smooths much, as most of a label is noise.

machine = IRKMClassifier(mixing=0.9, alpha=1.0, random_state=0).fit(X, y)
areas["IRKMClassifier"] = roc_auc_score(y_new, machine.decision_function(X_new))
for name, area in areas.items():
    print(f"{name:24} area under the ROC curve {area:.3f}")
found = np.argsort(machine.column_weights_)[-2:]
print(f"largest weights: {' and '.join(sorted(names[found]))}")

# %%
# :obj:`~mercer.diagnostics.WeightsDisplay` draws the weights, and how they came about: in the
# first iterations all loci are alike, then two leave the others behind.

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained")
display = WeightsDisplay.from_estimator(
    machine, feature_names=names, n_features=8, ax=left, color="#c9428f"
)
left.set_title("the 8 largest of 100 weights")
display.plot(kind="path", n_features=4, ax=right)
plt.show()

# %%
# Is it luck?
# -----------
# Some locus always has the largest weight. So repeat it: with other samples of the people, and with
# labels that are shuffled among them, where there is nothing to find.

shuffled = np.random.default_rng(0).permutation(y)
frequencies = {}
for label, labels in (("people drawn again", y), ("labels shuffled", shuffled)):
    again = selection_frequencies(
        IRKMClassifier(mixing=0.9, alpha=1.0),
        X,
        labels,
        n_features=2,
        n_repeats=6,
        random_state=0,
    )
    frequencies[label] = again.selection_frequencies_
    largest = np.argsort(-again.selection_frequencies_, kind="stable")[:3]
    often = ", ".join(f"{names[k]} {again.selection_frequencies_[k]:.0%}" for k in largest)
    print(f"{label}: among the two largest were {often}")

# %%
# What do they do?
# ----------------
# With two loci out of a hundred the question is small: count. Ill and healthy people were drawn in
# equal numbers, while 30 % of the population are ill; Bayes' rule turns one share into the other.

first, second = sorted(found, key=list(loci).index)
ill, people = np.zeros((3, 3)), np.zeros((3, 3))
np.add.at(people, (X[:, first], X[:, second]), 1)
np.add.at(ill, (X[:, first], X[:, second]), y)
share = np.divide(ill, people, out=np.full((3, 3), np.nan), where=people > 0)
risk = 0.3 * share / (0.3 * share + 0.7 * (1 - share))
WORDS = ("#fff3c4", "#2b1055")  # on dark and on light cells, whatever the page
figure, panels = plt.subplots(1, 2, figsize=(8.5, 3.6), layout="constrained")
panes = zip(panels, (table, risk), ("the true table", "seen at the two loci found"), strict=True)
for axes, values, title in panes:
    image = axes.imshow(values, vmin=0, vmax=1, cmap="magma")
    for (a, b), value in np.ndenumerate(values):
        axes.text(b, a, f"{value:.2f}", ha="center", va="center", color=WORDS[int(value > 0.6)])
    axes.set(title=title, xlabel=f"minor alleles, {names[second]}", xticks=range(3))
    axes.set(ylabel=f"minor alleles, {names[first]}", yticks=range(3))
figure.colorbar(image, ax=panels, label="probability of illness")
plt.show()

# %%
# What to read next
# -----------------
# - What is computed, which ``mixing`` and ``alpha``, and more rows:
#   :doc:`feature-learning machines </guide/feature-learning>`.
# - Directions instead of columns: :obj:`~mercer.RFMClassifier`, on the same page.
# - A table with categories: :obj:`~mercer.KernelClassifier` learns such weights on the way; see
#   :doc:`front door </guide/front-door>`.
