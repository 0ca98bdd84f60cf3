"""Images from rows and back, and sums over patches, against plain loops."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mercer.ops.images import (
    as_images,
    as_rows,
    checked_filter_size,
    checked_image_shape,
    image_shape_of,
    patch_sums,
)
from mercer.testing import array_libraries

SHAPES = st.one_of(
    st.tuples(*[st.integers(1, 4)] * 2),
    st.tuples(*[st.integers(1, 4)] * 3),
)


def plain_patch_sum(A, filter_size, axes):
    """Return sums over neighbours by loops over positions and shifts."""
    reach = filter_size // 2
    sums = np.zeros_like(A)
    for place in itertools.product(*map(range, A.shape)):
        for shift in range(-reach, reach + 1):
            there = list(place)
            for axis in axes:
                there[axis] += shift
            if all(0 <= i < size for i, size in zip(there, A.shape, strict=True)):
                sums[place] += A[tuple(there)]
    return sums


@given(shape=SHAPES, n=st.integers(1, 3))
def test_rows_become_images_and_rows_again(shape, n):
    X = np.arange(n * np.prod(shape)).reshape(n, -1)
    images = as_images(X, shape)
    assert images.shape == (n, *shape)
    assert np.array_equal(images, X.reshape(n, *shape))
    assert np.array_equal(as_rows(images), X)
    assert np.array_equal(as_images(images, shape), images)
    assert image_shape_of(images, shape) == shape
    if len(shape) == 3 or shape[0] != shape[1]:
        assert image_shape_of(images) == shape
    for make in array_libraries().values():
        assert tuple(as_rows(as_images(make(X), shape)).shape) == X.shape


@settings(deadline=None)
@given(
    A=arrays(float, st.tuples(*[st.integers(1, 5)] * 3), elements=st.integers(-9, 9)),
    filter_size=st.sampled_from([1, 3, 5, 9]),
    axes=st.sampled_from([(0,), (1,), (2,), (0, 1), (1, 2), (0, 2), (0, 1, 2)]),
)
def test_patch_sums_are_sums_over_neighbours(A, filter_size, axes):
    expected = plain_patch_sum(A, filter_size, axes)
    kept = A.copy()
    assert np.array_equal(patch_sums(A, filter_size, [axes]), expected)
    assert np.array_equal(A, kept)
    for make in array_libraries().values():
        found = patch_sums(make(A), filter_size, [axes])
        assert np.array_equal(np.asarray(found), expected)


def test_axis_after_axis_is_the_sum_over_a_square():
    A = np.random.default_rng(0).standard_normal((2, 5, 4))
    padded = np.pad(A, ((0, 0), (1, 1), (1, 1)))
    square = sum(padded[:, i : i + 5, j : j + 4] for i in range(3) for j in range(3))
    assert patch_sums(A, 3, axes=[1, 2]) == pytest.approx(square, abs=1e-14)


def test_a_patch_of_one_is_a_copy():
    A = np.ones((3, 3))
    for axes in ([0], []):
        B = patch_sums(A, 1, axes)
        assert np.array_equal(A, B)
        assert not np.shares_memory(A, B)


@pytest.mark.parametrize("shape", [(3,), (2, 2, 2, 2), (0, 2, 1), (2, 2.5), 7, "ab"])
def test_bad_image_shapes_are_refused(shape):
    with pytest.raises(ValueError, match="image_shape must be"):
        checked_image_shape(shape)


@pytest.mark.parametrize("size", [2, 0, -1, 3.0, None])
def test_bad_filter_sizes_are_refused(size):
    with pytest.raises(ValueError, match="filter_size must be an odd"):
        checked_filter_size(size)


def test_batches_that_do_not_fit_are_refused_with_the_way_out():
    with pytest.raises(ValueError, match="pass image_shape="):
        as_images(np.zeros((2, 12)))
    with pytest.raises(ValueError, match="needs 27"):
        as_images(np.zeros((2, 12)), (3, 3, 3))
    with pytest.raises(ValueError, match="pass image_shape=None"):
        as_images(np.zeros((2, 3, 3, 1)), (3, 3, 3))
    with pytest.raises(ValueError, match="may hold grey images or signals"):
        as_images(np.zeros((2, 8, 8)))
    with pytest.raises(ValueError, match="last axis of one channel"):
        as_images(np.zeros(5), (5, 1))
