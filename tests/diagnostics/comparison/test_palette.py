"""Tests of the colours."""

import pytest

from mercer.diagnostics.comparison.methods import DEFAULT, NAMED
from mercer.diagnostics.comparison.palette import COLOURS, looks


def luminance(colour):
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("paper", ["#f6f7f8", "#1d2024"])
@pytest.mark.parametrize("colour", COLOURS)
def test_colours_are_legible_on_both_papers(colour, paper):
    light, dark = sorted((luminance(colour), luminance(paper)), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 3


def test_every_method_has_a_look_of_its_own():
    names = [f"method {k}" for k in range(30)]
    found = looks(names)
    assert list(found) == names
    assert len(set(found.values())) == 30
    assert len({look.colour for look in list(found.values())[:10]}) == 10


def test_named_methods_look_the_same_in_every_comparison():
    labels = [NAMED[name].label for name in DEFAULT]
    everything = looks(labels)
    assert len({look.colour for look in everything.values()}) == len(COLOURS)
    some = looks(["mine", labels[5], "yours", labels[0]])
    assert some[labels[5]] == everything[labels[5]]
    assert some[labels[0]] == everything[labels[0]]
    assert len({look.colour for look in some.values()}) == 4
