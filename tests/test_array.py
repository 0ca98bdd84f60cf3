"""Tests of the seam to array libraries."""

import gc

import numpy as np
import pytest

from mercer import NTK, Gaussian, RandomFourier
from mercer._array import _moved, dtype_name, floating_name, frozen, like


def test_parameters_are_converted_once_and_forgotten_with_their_owner():
    parameter = frozen(np.arange(6.0))
    block = np.zeros((2, 3), dtype=np.float32)
    first = like(block, parameter)
    assert first.dtype == np.float32
    assert like(block, parameter) is first
    assert like(block.astype(float), parameter) is parameter
    kept = len(_moved)
    del parameter
    gc.collect()
    assert len(_moved) == kept - 1


def test_indices_keep_their_dtype():
    permutation = frozen(np.array([2, 0, 1]))
    assert like(np.zeros((1, 3), dtype=np.float32), permutation) is permutation


@pytest.mark.parametrize("dtype", [">f8", ">f4", ">i2", ">i8"])
def test_foreign_byte_orders_are_read(dtype):
    X = np.arange(12).reshape(4, 3).astype(dtype)
    native = X.astype(X.dtype.newbyteorder("="))
    assert dtype_name(X) == native.dtype.name
    assert floating_name(X) == floating_name(native)
    assert np.array_equal(NTK()(X), NTK()(native))
    features = RandomFourier(Gaussian(5.0), n_components=4, random_state=0).fit(X)
    assert np.array_equal(features.transform(X), features.transform(native))
