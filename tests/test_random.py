"""Tests of the tree of random streams."""

import numpy as np
import pytest

from mercer._random import Stream, seed_of


def test_streams_are_reproducible_and_differ():
    draws = {
        path: Stream(3).child(*path).generator().random(4).tobytes()
        for path in [(), ("a",), ("b",), ("a", 0), ("a", 1), (0,), (1,)]
    }
    assert len(set(draws.values())) == len(draws)
    assert draws[("a", 1)] == Stream(3).child("a").child(1).generator().random(4).tobytes()


def test_streams_are_the_same_in_every_release():
    expected = [0.63879956379356, 0.7518968976113021]
    assert Stream(0).child("directions", 2).generator().random(2) == pytest.approx(expected)


def test_seeds_of_all_kinds_of_random_state():
    assert seed_of(7) == 7
    assert seed_of(np.random.default_rng(0)) == seed_of(np.random.default_rng(0))
    assert seed_of(np.random.RandomState(0)) == seed_of(np.random.RandomState(0))
    generator = np.random.default_rng(0)
    assert seed_of(generator) != seed_of(generator)
    assert seed_of(None) != seed_of(None)
