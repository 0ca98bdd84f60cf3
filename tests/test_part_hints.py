"""Errors about a kernel or a map that is none say how to write it."""

import numpy as np
import pytest

from mercer import FeatureRidge, Gaussian, KernelRidge, RandomFourier


@pytest.mark.parametrize(
    ("model", "hint"),
    [
        (KernelRidge("gaussian"), r"Got 'gaussian' instead\. Write mercer\.Gaussian\('median'\)\."),
        (RandomFourier("Laplace"), r"Write mercer\.Laplace\('median'\)\."),
        (FeatureRidge(RandomFourier("wavy")), r"Write mercer\.Gaussian\('median'\), for example\."),
        (
            FeatureRidge(Gaussian(1.0)),
            r"FeatureRidge\(RandomFourier\(Gaussian\(\)\)\); mercer\.choose_map",
        ),
        (KernelRidge(RandomFourier()), r"as in FeatureRidge\(RandomFourier\(\.\.\.\)\)"),
    ],
    ids=["name", "capitals", "no name", "kernel for a map", "map for a kernel"],
)
def test_what_is_no_kernel_or_no_map_is_refused_with_the_way_to_write_it(model, hint):
    with pytest.raises((ValueError, TypeError), match=hint):
        model.fit(np.eye(4), np.arange(4.0))


def test_other_wrong_parameters_are_refused_as_ever():
    with pytest.raises(ValueError, match=r"instead\.$"):
        KernelRidge(Gaussian(), solver="magic").fit(np.eye(4), np.arange(4.0))
