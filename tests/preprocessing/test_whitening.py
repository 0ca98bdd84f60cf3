"""Images of one contrast and without correlations: formulas, streams, libraries, bad input."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer.preprocessing import ImageWhitening
from mercer.testing import array_libraries


def smooth(n=80, shape=(4, 5, 2)):
    noise = np.random.default_rng(0).standard_normal((n, *shape))
    return 3.0 + 2.0 * (noise + np.roll(noise, 1, axis=1) + np.roll(noise, 1, axis=2))


def dense_formula(train, images, share):
    def normal(X):
        X = X - X.mean(axis=1, keepdims=True)
        return X / X.std(axis=1, keepdims=True)

    train, images = (normal(part.reshape(len(part), -1)) for part in (train, images))
    values, vectors = np.linalg.eigh(np.cov(train.T, bias=True))
    scales = (values + share * values.mean()) ** -0.5
    return (images - train.mean(axis=0)) @ (vectors * scales) @ vectors.T


def test_whitening_is_the_formula_and_keeps_the_shape():
    images = smooth()
    model = ImageWhitening(0.05).fit(images[:60])
    found = model.transform(images)
    assert found.shape == images.shape
    assert found.reshape(80, -1) == pytest.approx(
        dense_formula(images[:60], images, 0.05), abs=1e-9
    )
    rows = images.reshape(80, -1)
    assert np.array_equal(model.transform(rows), found.reshape(80, -1))
    assert model.n_samples_seen_ == 60


def test_without_regularisation_images_are_only_normalised():
    found = ImageWhitening(None).fit_transform(smooth()).reshape(80, -1)
    assert found.mean(axis=1) == pytest.approx(np.zeros(80), abs=1e-12)
    assert found.std(axis=1) == pytest.approx(np.ones(80))


def test_covariance_is_near_the_identity():
    noise = np.random.default_rng(0).standard_normal((4000, 9))
    rows = noise @ np.random.default_rng(1).standard_normal((9, 9))
    found = ImageWhitening(1e-7, normalize=False).fit_transform(rows)
    assert np.cov(found.T, bias=True) == pytest.approx(np.eye(9), abs=1e-3)


def test_blocks_add_up_whatever_their_size():
    images = smooth()
    whole = ImageWhitening().fit(images)
    streamed = ImageWhitening()
    for start, stop in ((0, 1), (1, 50), (50, 80)):
        streamed.partial_fit(images[start:stop])
    expected = whole.transform(images)
    assert streamed.transform(images) == pytest.approx(expected, abs=1e-9)
    # A fit begins anew.
    assert streamed.fit(images).transform(images) == pytest.approx(expected, abs=1e-12)


def test_every_library_gives_the_same():
    images = smooth()
    expected = ImageWhitening().fit(images).transform(images)
    for make in array_libraries().values():
        for dtype, tolerance in (("float64", 1e-9), ("float32", 2e-4)):
            given = make(images.astype(dtype))
            found = ImageWhitening().fit(given).transform(given)
            assert type(found) is type(given)
            assert np.asarray(found) == pytest.approx(expected, abs=tolerance)


def test_images_of_one_colour_and_bytes():
    images = np.random.default_rng(0).integers(256, size=(30, 4, 4, 3), dtype=np.uint8)
    images[3] = 77
    found = ImageWhitening(None).fit_transform(images)
    assert found.dtype == np.float32
    assert not found[3].any()
    assert np.isfinite(ImageWhitening().fit_transform(images)).all()


def test_bad_input_is_refused():
    images = smooth()
    with pytest.raises(ValueError, match="expecting 40"):
        ImageWhitening().fit(images).transform(images[:, :3])
    with pytest.raises(ValueError, match="NaN"):
        ImageWhitening().fit(np.full((3, 2, 2, 1), np.nan))
    with pytest.raises(ValueError, match="regularization"):
        ImageWhitening(-1.0).fit(images)


@parametrize_with_checks(
    [ImageWhitening()],
    expected_failed_checks=lambda _: dict.fromkeys(
        (
            "check_array_api_input",
            "check_array_api_mixed_inputs",
            "check_array_api_same_namespace",
        ),
        "what is fitted are NumPy arrays, and images of any library are transformed there",
    ),
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
