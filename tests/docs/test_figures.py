"""Tests of pictures for light and for dark paper."""

import importlib
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sphinx")
matplotlib = pytest.importorskip("matplotlib")
Image = pytest.importorskip("PIL.Image")


@pytest.fixture
def figures(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "docs/_parts")
    return importlib.import_module("figures")


def test_greys_are_mirrored_and_colours_stay(figures):
    white, black = figures.mirrored((1, 1, 1, 1)), figures.mirrored((0, 0, 0, 0.5))
    assert white == pytest.approx((*figures.DARK, 1))
    assert black == pytest.approx((figures.LIGHT,) * 3 + (0.5,))
    assert figures.mirrored((0.2, 0.5, 0.8, 1)) == (0.2, 0.5, 0.8, 1)


def test_both_pictures_have_the_background_and_words_of_their_theme(figures, tmp_path):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2, 2))
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], "o-", color="#2f7fd1")
    axes.plot([0, 1], [1, 0], "k^-")
    figures.save_both(figure, tmp_path / "a.png", dpi=50)
    light, dark = (
        np.asarray(Image.open(tmp_path / name).convert("RGB")).reshape(-1, 3)
        for name in ("a.png", "a-dark.png")
    )
    assert light[0].tolist() == [255, 255, 255]
    assert dark[0].tolist() == [0x14, 0x18, 0x1E]
    # Black words, ticks and markers are nearly white on dark paper, and nothing is black there.
    assert light.min() < 40
    assert dark.max() > 200
    assert dark.sum(axis=1).min() >= sum((0x14, 0x18, 0x1E)) - 6
    for pixels in (light, dark):
        assert (abs(pixels.astype(int) - [0x2F, 0x7F, 0xD1]).max(axis=1) < 8).any()
