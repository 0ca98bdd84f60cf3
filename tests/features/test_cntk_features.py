"""Features of the convolutional tangent kernel: errors, invariances, shapes and libraries."""

import math

import numpy as np
import pytest

import mercer
import oracles
from mercer import CNTK, CNTKSketch, FeatureRidgeClassifier, approximation_error
from mercer.features.for_kernel import features_for
from mercer.ops.patches import patches


def images_of(n, *shape, seed=0):
    return np.random.default_rng(seed).standard_normal((n, *shape))


def errors(features, images, seeds):
    """Return relative errors of the kernel matrix, for some seeds."""
    exact, found = None, []
    for seed in range(seeds):
        fitted = features.set_params(random_state=seed).fit(images)
        Z = fitted.transform(images)
        exact = fitted.kernel_(images) if exact is None else exact
        found.append(np.linalg.norm(Z @ Z.T - exact) / np.linalg.norm(exact))
    return np.asarray(found)


@pytest.mark.parametrize("pooling", ["gap", None])
@pytest.mark.parametrize("readout", [True, False])
@pytest.mark.parametrize("shape", [(3, 3, 1), (5, 2)])
def test_features_of_one_layer_are_unbiased_beside_loops(pooling, readout, shape):
    images = images_of(3, *shape)
    exact = np.asarray(
        [[oracles.cntk(x, y, 1, 3, pooling is not None, readout) for x in images] for y in images]
    )
    found = []
    for seed in range(200):
        features = CNTKSketch(
            *(1, 3, 40), degree=None, pooling=pooling, train_readout=readout, random_state=seed
        )
        Z = features.fit_transform(images)
        found.append(Z @ Z.T)
    error = np.std(found, axis=0, ddof=1) / 200**0.5
    assert (abs(np.mean(found, axis=0) - exact) / error).max() < 4.5


@pytest.mark.parametrize("pooling", ["gap", None])
def test_features_of_a_series_have_its_kernel(pooling):
    images = images_of(3, 3, 3, 2)
    rows = patches(images, 3, 2, np)
    norms = np.linalg.norm(rows, axis=1)
    c = rows @ rows.T / np.outer(norms, norms)
    # Directions of one length d ** 0.5: their squares have the kernel (d c² - 1) / (d + 2).
    square = (18 * c**2 - 1) / 20
    U = np.outer(norms, norms) * (1 / np.pi + c / 2 + square / (2 * np.pi))
    T = (((0.5 + c / np.pi) * (rows @ rows.T)) + U).reshape(3, 9, 3, 9)
    exact = T.mean(axis=(1, 3)) if pooling else np.einsum("ipjp->ij", T)
    found = []
    for seed in range(200):
        features = CNTKSketch(
            1, n_components=40, degree=2, pooling=pooling, method="random", random_state=seed
        )
        Z = features.fit_transform(images)
        found.append(Z @ Z.T)
    error = np.std(found, axis=0, ddof=1) / 200**0.5
    assert (abs(np.mean(found, axis=0) - exact) / error).max() < 4.5


@pytest.mark.parametrize(
    ("pooling", "method", "degree"),
    [("gap", "random", 2), (None, "random", None), ("gap", "sketch", 8)],
)
def test_degrees_that_are_chosen(pooling, method, degree):
    images = images_of(3, 4, 4, 1)
    features = CNTKSketch(2, n_components=24, pooling=pooling, method=method, random_state=0)
    Z = features.fit_transform(images)
    assert np.array_equal(features.set_params(degree=degree).fit_transform(images), Z)
    other = 3 if degree is None else degree + 2
    assert not np.allclose(features.set_params(degree=other).fit_transform(images), Z)


def test_the_relu_itself_is_not_sketched():
    images = images_of(2, 3, 3, 1)
    assert CNTKSketch(1, n_components=8, degree=None).fit(images).traits_.unbiased
    assert not CNTKSketch(1, n_components=8).fit(images).traits_.unbiased
    with pytest.raises(ValueError, match="pass a degree"):
        CNTKSketch(1, n_components=8, degree=None, method="sketch").fit(images)


@pytest.mark.parametrize("shape", [(3, 4, 1), (5, 2)])
def test_mirrored_images_have_the_same_features_and_the_kernel_of_both(shape):
    images = images_of(3, *shape)
    features = CNTKSketch(2, n_components=2048, degree=None, mirrored=True, random_state=0)
    Z = features.fit_transform(images)
    assert features.transform(images[..., ::-1, :]) == pytest.approx(Z, abs=1e-12)
    plain = CNTK(2)
    expected = (plain(images) + plain(images, images[..., ::-1, :].copy())) / 2
    assert features.kernel_(images) == pytest.approx(expected, abs=1e-12)
    assert errors(features, images, 4).mean() < 0.06


@pytest.mark.parametrize("method", ["random", "sketch"])
@pytest.mark.parametrize(
    ("depth", "n_components", "published"),
    [(2, 512, 0.100), (2, 2048, 0.041), (3, 512, 0.118), (3, 2048, 0.052)],
)
def test_errors_are_those_of_the_reference(method, depth, n_components, published):
    images = images_of(6, 5, 5, 3)
    degree = 8 if method == "sketch" else None
    features = CNTKSketch(depth, n_components=n_components, degree=degree, method=method)
    assert errors(features, images, 8).mean() < 1.25 * published


@pytest.mark.parametrize("pooling", ["gap", None])
def test_the_squared_error_falls_like_the_number_of_features(pooling):
    images = images_of(6, 4, 4, 2)
    features = CNTKSketch(3, degree=None, pooling=pooling)
    small, large = (
        (errors(features.set_params(n_components=m), images, 30) ** 2).mean() for m in (128, 512)
    )
    # A quarter, within what 30 seeds tell.
    assert 0.12 < large / small < 0.5


@pytest.mark.parametrize("method", ["random", "sketch"])
def test_all_positions_share_their_sketches(method):
    images = np.zeros((2, 11, 12, 2))
    thing = images_of(1, 3, 3, 2)[0]
    images[0, 4:7, 4:7] = images[1, 3:6, 5:8] = thing
    features = CNTKSketch(3, n_components=20, method=method, random_state=0)
    Z = features.fit_transform(images)
    assert Z[1] == pytest.approx(Z[0], abs=1e-12)


@pytest.mark.parametrize("method", ["random", "sketch"])
@pytest.mark.parametrize("pooling", ["gap", None])
def test_black_images_and_borders_give_numbers(method, pooling):
    images = images_of(3, 6, 6, 1)
    images[0] = 0.0
    images[1, :3] = 0.0
    features = CNTKSketch(3, n_components=24, method=method, pooling=pooling, random_state=0)
    Z = features.fit_transform(images)
    assert np.isfinite(Z).all()
    assert not Z[0].any()
    assert features.transform(images.astype("float32")).dtype == np.float32


def test_features_of_scaled_images_are_scaled():
    images = images_of(2, 4, 5, 3)
    for method in ("random", "sketch"):
        features = CNTKSketch(2, n_components=32, method=method, random_state=0).fit(images)
        expected = 8.0 * features.transform(images)
        assert features.transform(8.0 * images) == pytest.approx(expected, abs=1e-9)


def test_images_and_flattened_rows_are_the_same():
    images = images_of(5, 4, 3, 2)
    rows = images.reshape(5, -1)
    features = CNTKSketch(2, n_components=16, random_state=0).fit(images)
    assert features.kernel_.get_params() == CNTK(2, image_shape=(4, 3, 2)).get_params()
    given = CNTKSketch(2, n_components=16, image_shape=(4, 3, 2), random_state=0).fit(rows)
    assert np.array_equal(given.transform(rows), features.transform(images))
    assert np.array_equal(features.transform(rows), features.transform(images))
    with pytest.raises(ValueError, match="image_shape"):
        CNTKSketch(2, n_components=16).fit(rows)
    with pytest.raises(ValueError, match="odd"):
        CNTKSketch(2, filter_size=2, n_components=16).fit(images)


def test_width_and_components_are_what_is_asked_for():
    images = images_of(3, 4, 4, 1)
    for method in ("random", "sketch"):
        for n_components in (1, 2, 3, 37):
            for readout in (True, False):
                features = CNTKSketch(
                    *(2, 3, n_components),
                    width=11,
                    method=method,
                    train_readout=readout,
                    random_state=0,
                )
                assert features.fit_transform(images).shape == (3, n_components)


def test_the_map_for_the_kernel():
    kernel = CNTK(2, 5, None, False, image_shape=(4, 4, 1), mirrored=True)
    features = features_for(kernel, 64, 0).fit(images_of(2, 4, 4, 1))
    assert isinstance(features, CNTKSketch)
    assert features.kernel_.get_params() == kernel.get_params()


def test_machines_learn_on_images_and_files_keep_the_map(tmp_path):
    labels = np.arange(60) % 2
    images = images_of(60, 5, 5, 2) + labels[:, None, None, None]
    features = CNTKSketch(2, n_components=64, image_shape=(5, 5, 2), random_state=0)
    rows = images.reshape(60, -1)
    model = FeatureRidgeClassifier(features).fit(rows, labels)
    assert model.score(rows, labels) > 0.9
    for compact in (False, True):
        mercer.save(model, tmp_path / "model.mercer", compact=compact)
        loaded = mercer.load(tmp_path / "model.mercer")
        assert np.array_equal(loaded.predict(rows), model.predict(rows))


def test_rounded_layers_stay_close():
    torch = pytest.importorskip("torch")
    images = images_of(6, 8, 8, 3).astype("float32")
    features = CNTKSketch(3, n_components=512, random_state=0).fit(images)
    exact = features.transform(images)
    with mercer.config(precision="bfloat16"):
        rounded = features.transform(torch.asarray(images))
    assert rounded.dtype == torch.float32
    K, rounded_K = exact @ exact.T, (rounded @ rounded.T).numpy()
    assert 0 < np.linalg.norm(rounded_K - K) < 0.02 * np.linalg.norm(K)


def test_the_memory_of_an_image_is_counted():
    from mercer.testing import peak_bytes

    images = images_of(40, 16, 16, 3).astype("float32")
    features = CNTKSketch(3, n_components=256, random_state=0).fit(images)
    features.transform(images[:2])
    one = 4 * features.traits_.scratch
    assert one >= 4 * math.prod((16, 16)) * 256
    with mercer.config(memory=8 * one, n_jobs=2):
        _, peak = peak_bytes(lambda: features.transform(images))
    assert peak < 8 * one


def test_the_error_of_images_is_that_of_their_rows():
    images = np.random.default_rng(0).standard_normal((30, 5, 5, 1))
    given = {"depth": 1, "n_components": 32, "random_state": 0}
    found = approximation_error(CNTKSketch(**given).fit(images), images)
    rows = images.reshape(30, -1)
    features = CNTKSketch(image_shape=(5, 5, 1), **given).fit(rows)
    assert found.relative == pytest.approx(approximation_error(features, rows).relative, rel=1e-9)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_a_machine_of_features_says_how_images_become_rows(library):
    images = images_of(6, 4, 3, 2)
    if library == "torch":
        images = pytest.importorskip("torch").asarray(images)
    model = FeatureRidgeClassifier(CNTKSketch(depth=1, n_components=16))
    with pytest.raises(ValueError, match=r"X\.reshape\(X\.shape\[0\], -1\).*\(4, 3, 2\)"):
        model.fit(images, [0, 1] * 3)
    model.features.set_params(image_shape=(4, 3, 2))
    assert model.fit(images.reshape(images.shape[0], -1), [0, 1] * 3).n_features_in_ == 24
