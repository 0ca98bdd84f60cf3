"""The figures of a comparison, drawn by matplotlib."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._optional import require
from ..spectrum_display import FLOOR, dimensions, ridge_grid
from .palette import Look, looks
from .records import Comparison, Trial

#: Of a figure, in inches: at 72 dots an inch as wide as a phone, where its text is then legible.
SIZE = (4.9, 3.7)
#: How lines with intervals are drawn.
LINE: dict[str, Any] = {"markersize": 5, "lw": 1.6, "elinewidth": 1, "capsize": 2}
#: The grey of what is neither a method nor text.
NEUTRAL = "#7d8590"
#: Points of a scatter plot, and columns of bars, at most.
POINTS, BARS = 600, 15
#: Classes of a table of confusions, at most.
CLASSES = 20


@dataclass(frozen=True)
class Figure:
    """A picture of a comparison.

    Attributes
    ----------
    name : str
        Of its file.
    group : str
        The section of the report that it belongs to.
    choice : str
        What tells it from others of its group, such as what the horizontal axis has.
    title, caption : str
        Its heading, and what is to be seen.
    draw : callable
        Draws it on axes.
    """

    name: str
    group: str
    choice: str
    title: str
    caption: str
    draw: Callable[[Any], None]

    def render(self, style: dict[str, Any], save: Callable[[Any], Any], legend: bool) -> Any:
        """Draw on a new figure, and return what ``save(figure)`` makes of it.

        Parameters
        ----------
        style : dict
            Settings of matplotlib.
        save : callable
            Writes the figure.
        legend : bool
            Whether it has a legend and a title of its own.
        """
        matplotlib = require("matplotlib", "plot", "The report of a comparison")
        backend = require("matplotlib.backends.backend_agg", "plot", "The report of a comparison")
        figures = require("matplotlib.figure", "plot", "The report of a comparison")
        with matplotlib.rc_context(style):
            size = (SIZE[0] + 2.4, SIZE[1] + 0.4) if legend else SIZE
            figure = figures.Figure(figsize=size, layout="constrained")
            backend.FigureCanvasAgg(figure)
            ax = figure.add_subplot()
            self.draw(ax)
            ax.spines[["top", "right"]].set_visible(False)
            if legend:
                ax.set_title(self.title)
                handles, labels = ax.get_legend_handles_labels()
                if handles:
                    figure.legend(handles, labels, loc="outside right upper", fontsize="small")
            return save(figure)


def figures_of(comparison: Comparison) -> list[Figure]:
    """Return the figures that a comparison has numbers for.

    Parameters
    ----------
    comparison : Comparison
        What was measured.

    Examples
    --------
    >>> import mercer
    >>> X = np.random.default_rng(0).standard_normal((200, 2))
    >>> found = mercer.compare(X, X[:, 0], maps=["linear"])
    >>> [figure.name for figure in figures_of(found)]
    ['error_by_time', 'error_by_memory', 'error_by_size', 'residuals', 'losses']
    """
    look = looks(comparison.methods)
    return [
        *_errors(comparison, look),
        *_kernels(comparison, look),
        *_residuals(comparison, look),
        *_weights(comparison, look),
    ]


#: What the horizontal axis of an error can have: its heading, its label and the number of a trial.
AXES: dict[str, tuple[str, str, Callable[[Trial], float | None]]] = {
    "dimension": ("number of features", "number of features", lambda trial: trial.n_components),
    "time": ("fit time", "seconds to fit", lambda trial: trial.fit_seconds),
    "memory": ("memory", "peak memory of the fit (MB)", lambda trial: trial.memory / 1e6),
    "size": ("model size", "size of the model (kB)", lambda trial: trial.model_bytes / 1e3),
}


def _errors(comparison: Comparison, look: dict[str, Look]) -> Iterator[Figure]:
    """Yield the error against everything that it costs."""
    for name, (heading, label, number) in AXES.items():
        sized = any(trial.n_components for trial in comparison.trials)
        if name == "dimension" and not sized:
            continue

        def draw(ax: Any, name: str = name, label: str = label, number: Any = number) -> None:
            for method in comparison.methods:
                trials = [trial for trial in comparison.trials if trial.method == method]
                if trials:
                    with marked(ax, comparison.methods.index(method)):
                        _draw_method(ax, method, trials, number, look[method])
            ax.set(xscale="log", xlabel=label, ylabel=f"{comparison.error_name} (test rows)")
            ax.set_ylim(bottom=0)
            if name == "dimension":
                _tick_sizes(ax, comparison.trials)

        caption = (
            f"{_capital(comparison.error_name)} on {comparison.n_test:,} test rows against "
            f"{label}; bars are 95 % intervals"
        )
        if name == "dimension":
            caption += ", horizontal lines methods without a number of features"
        caption += "." + _sampled(comparison)
        yield Figure(f"error_by_{name}", "error", heading, f"Error by {heading}", caption, draw)


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _tick_sizes(ax: Any, trials: Sequence[Trial]) -> None:
    """Put a tick at each number of features, with a label where there is room."""
    sizes = sorted({trial.n_components for trial in trials if trial.n_components})
    labels, last = [], 0.0
    for size in sizes:
        roomy = size >= 1.6 * last
        labels.append(f"{size:,}" if roomy else "")
        last = size if roomy else last
    ax.set_xticks(sizes, labels)
    ax.minorticks_off()


def _sampled(comparison: Comparison) -> str:
    """Return a sentence on methods that learn from fewer rows than the others."""
    few = {t.method: t.n_train for t in comparison.trials if t.n_train < comparison.n_train}
    if not few:
        return ""
    return f" From {max(few.values()):,} rows only learn: {'; '.join(few)}."


def _draw_method(ax: Any, method: str, trials: list[Trial], number: Any, look: Look) -> None:
    xs = [number(trial) for trial in trials]
    errors = np.asarray([trial.error for trial in trials])
    style = {"color": look.colour, "label": method}
    if any(x is None for x in xs):
        ax.axhline(errors.min(), lw=1.6, ls=(0, (4, 2)), **style)
        return
    reach = np.abs([[trial.low, trial.high] for trial in trials] - errors[:, None]).T
    # Memory below what can be seen has no logarithm.
    places = np.maximum(np.asarray(xs, dtype=float), 1e-3)
    # In the order of their numbers of features: a line that goes back says that more cost less.
    ax.errorbar(
        places,
        errors,
        yerr=reach,
        marker=look.marker,
        ls=look.line,
        **LINE,
        **style,
    )


@contextmanager
def marked(ax: Any, number: int) -> Iterator[None]:
    """Name what is drawn meanwhile by the number of its method, so that the page can hide it.

    Parameters
    ----------
    ax : matplotlib Axes
        Where it is drawn.
    number : int
        Place of the method among all.
    """
    before = set(ax.get_children())
    yield
    for artist in set(ax.get_children()) - before:
        artist.set_gid(f"method-{number}")


def _kernels(comparison: Comparison, look: dict[str, Look]) -> Iterator[Figure]:
    """Yield the kernel error, and the spectra."""
    known = [trial for trial in comparison.trials if trial.kernel_error is not None]
    if any(trial.n_components for trial in known):

        def draw_error(ax: Any) -> None:
            for method in comparison.methods:
                own = [t for t in known if t.method == method and t.n_components]
                if own:
                    with marked(ax, comparison.methods.index(method)):
                        _draw_kernel_errors(ax, own, look[method])
            ax.set(xscale="log", yscale="log", xlabel="number of features")
            ax.set_ylabel("relative kernel error")
            _tick_sizes(ax, known)

        yield Figure(
            "kernel_error",
            "kernel",
            "kernel error",
            "Kernel error by number of features",
            "Relative Frobenius distance between the kernel matrix and that of the features, with "
            "95 % intervals. A small one need not mean a small test error.",
            draw_error,
        )
    if not comparison.spectra:
        return

    def draw_values(ax: Any) -> None:
        for spectrum in comparison.spectra:
            values = spectrum.eigenvalues
            shown = values[values > FLOOR * values[0]]
            with marked(ax, comparison.methods.index(spectrum.method)):
                colour = look[spectrum.method].colour
                ax.plot(
                    np.arange(1, len(shown) + 1), shown, color=colour, lw=1.6, label=spectrum.kernel
                )
        ax.set(xscale="log", yscale="log", xlabel="number of the eigenvalue")
        ax.set_ylabel("eigenvalue / rows")

    def draw_dimensions(ax: Any) -> None:
        for spectrum in comparison.spectra:
            alphas = ridge_grid(spectrum.eigenvalues)
            sizes = dimensions(spectrum.eigenvalues, alphas)
            with marked(ax, comparison.methods.index(spectrum.method)):
                colour = look[spectrum.method].colour
                ax.plot(alphas, sizes, color=colour, lw=1.6, label=spectrum.kernel)
        ax.set(xscale="log", yscale="log", xlabel="ridge parameter / rows")
        ax.set_ylabel("effective dimension")

    rows = max(len(spectrum.eigenvalues) for spectrum in comparison.spectra)
    names = "; ".join(f"{s.method}: {s.kernel}" for s in comparison.spectra)
    yield Figure(
        "spectrum",
        "kernel",
        "spectrum",
        "Spectrum of the kernels",
        f"Eigenvalues of the kernel matrix of {rows:,} training rows, over that number. {names}.",
        draw_values,
    )
    yield Figure(
        "effective_dimension",
        "kernel",
        "effective dimension",
        "Effective dimension",
        "Degrees of freedom of ridge regression with the exact kernel: fewer features than these "
        f"cannot do the same. Of {rows:,} rows, so at most {rows:,}.",
        draw_dimensions,
    )


def _draw_kernel_errors(ax: Any, trials: list[Trial], look: Look) -> None:
    values = np.asarray([trial.kernel_error for trial in trials], dtype=float)
    # Where all rows were compared there is no interval.
    ends = [
        [
            trial.kernel_error if end is None else end
            for end in (trial.kernel_low, trial.kernel_high)
        ]
        for trial in trials
    ]
    ax.errorbar(
        [trial.n_components for trial in trials],
        values,
        yerr=np.abs(np.asarray(ends, dtype=float) - values[:, None]).T,
        color=look.colour,
        marker=look.marker,
        ls=look.line,
        label=trials[0].method,
        **LINE,
    )


def _residuals(comparison: Comparison, look: dict[str, Look]) -> Iterator[Figure]:
    """Yield what the best trial gets wrong, and how large the losses of each method are."""
    best, truth = comparison.best, comparison.truth
    if comparison.task == "regression":

        def draw_residuals(ax: Any) -> None:
            some = slice(None, None, max(1, len(truth) // POINTS))
            predicted, missed = best.predicted[some], (truth - best.predicted)[some]
            colour = look[best.method].colour
            ax.plot(predicted, missed, "o", markersize=3, mew=0, alpha=0.6, color=colour)
            ax.axhline(0, lw=1, color=NEUTRAL)
            ax.set(xlabel="predicted", ylabel="true less predicted")

        yield Figure(
            "residuals",
            "residuals",
            "residuals",
            f"Residuals of {best.label}",
            f"Test rows of the best trial ({min(len(truth), POINTS):,} of {len(truth):,}). A bend "
            "is what the method has not learnt; a funnel is noise that is not the same everywhere.",
            draw_residuals,
        )

        def draw_losses(ax: Any) -> None:
            shares = np.linspace(0, 1, 101)
            for method in comparison.methods:
                own = comparison.best_of(method)
                if own is not None:
                    sizes = np.quantile(np.sqrt(own.losses), shares)
                    with marked(ax, comparison.methods.index(method)):
                        ax.plot(sizes, shares, color=look[method].colour, lw=1.6, label=method)
            ax.set(xlabel="absolute residual", ylabel="share of rows below", ylim=(0, 1))
            ax.set_xlim(left=0)

        yield Figure(
            "losses",
            "residuals",
            "sizes of residuals",
            "How large residuals are",
            "The share of test rows whose residual is smaller, for the best trial of each method.",
            draw_losses,
        )
        return
    classes = np.unique(truth)
    if len(classes) > CLASSES:
        return

    def draw_confusions(ax: Any) -> None:
        counts = np.asarray(
            [[np.sum((truth == a) & (best.predicted == b)) for b in classes] for a in classes]
        )
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        ax.imshow(shares, cmap="viridis", vmin=0, vmax=1)
        size = 10 if len(classes) <= 5 else 7
        for (row, column), share in np.ndenumerate(shares):
            if len(classes) <= 10 and share > 0:
                ink = "black" if share > 0.55 else "white"
                text = f"{share:.0%}".replace("0%", "<1%") if share < 0.005 else f"{share:.0%}"
                ax.text(column, row, text, ha="center", va="center", color=ink, fontsize=size)
        names = [str(label) for label in classes]
        ax.set_xticks(range(len(names)), names, rotation=90 if max(map(len, names)) > 3 else 0)
        ax.set_yticks(range(len(names)), names)
        ax.grid(False)
        ax.set(xlabel="predicted", ylabel="true")

    yield Figure(
        "confusions",
        "residuals",
        "confusions",
        f"Confusions of {best.label}",
        "Of the test rows with each true label (lines) the share that is predicted as each.",
        draw_confusions,
    )


def _weights(comparison: Comparison, look: dict[str, Look]) -> Iterator[Figure]:
    """Yield the column weights of methods that learn them."""
    for number, weights in enumerate(comparison.weights):

        def draw(ax: Any, weights: Any = weights) -> None:
            top = np.argsort(-weights.values, kind="stable")[:BARS]
            colour = look[weights.method].colour
            ax.barh(np.arange(len(top)), weights.values[top], color=colour)
            ax.set_yticks(np.arange(len(top)), [weights.names[k] for k in top])
            ax.invert_yaxis()
            ax.set_xlabel("share of all weights")

        shown = min(BARS, len(weights.names))
        yield Figure(
            "weights" if not number else f"weights_{number}",
            "weights",
            weights.method,
            f"Column weights of {weights.method}",
            f"The {shown} largest of {len(weights.names)} weights that the method has learnt: by "
            "how much the prediction changes along a column.",
            draw,
        )
