"""The picture of ``mercer demo``: the kernel, what two maps get wrong, and the error curve."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def draw(data: tuple[Any, Any, Any, Any], maps: list[Any], rows: list[Any], path: Path) -> None:
    """Draw the exact kernel, the errors of two approximations and their fall into a file."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    import numpy as np
    from matplotlib.colors import PowerNorm

    train, _, labels, _ = data
    chosen = np.argsort(labels[:1200], kind="stable")[::6]
    X = train[chosen]
    exact = maps[0].kernel_(X)
    figure, axes = plt.subplots(1, 4, figsize=(14, 3.8), layout="constrained")
    image = axes[0].imshow(exact, vmin=0, vmax=1, cmap="viridis")
    axes[0].set_title("exact kernel of 200 images")
    figure.colorbar(image, ax=axes[0], shrink=0.8, label="similarity")
    ends = [features.transform(X) for features in (maps[0], maps[-1])]
    wrong = [abs(Z @ Z.T - exact) for Z in ends]
    for ax, Z, error in zip(axes[1:], ends, wrong, strict=False):
        # The root of the error: on a plain scale the second picture would be black.
        image = ax.imshow(error, cmap="magma", norm=PowerNorm(0.5, 0, wrong[0].max()))
        ax.set_title(f"error with {Z.shape[1]} features")
    figure.colorbar(image, ax=axes[2], shrink=0.8, label="absolute error")
    for ax in axes[:3]:
        ax.set(xticks=[], yticks=[], xlabel="images, sorted by digit")
    errors = [100 * row.error for row in rows if row.error is not None]
    sizes = [features.n_components for features in maps]
    expected = [errors[0] * (sizes[0] / size) ** 0.5 for size in sizes]
    axes[3].loglog(sizes, errors, "o-", label="measured")
    axes[3].loglog(sizes, expected, "--", label="falls as 1/√m")
    axes[3].set(xlabel="number of features m", title="relative kernel error")
    axes[3].set_xticks(sizes, [str(size) for size in sizes])
    axes[3].set_yticks(errors, [f"{error:.1f} %" for error in errors])
    axes[3].minorticks_off()
    axes[3].legend()
    figure.savefig(path, dpi=110)
    plt.close(figure)
