"""The convolutional tangent kernel, against loops in 40 digits and gradients of finite networks."""

import numpy as np
import pytest

import oracles
from mercer import CNTK, NTK, Gaussian, KernelRidge, OnColumns, config
from mercer._array import to_numpy
from mercer.engine.tiles import Effort, plan_tiles
from mercer.kernels.cntk import COPIES
from mercer.ops.cntk import Network, cntk_of_pairs, cntk_of_pairs_twin, patches_of
from mercer.testing import array_libraries, peak_bytes
from mercer.testing.kernels import KERNEL_CHECKS, check_memory

IMAGES, SIGNALS = (3, 4, 2), (6, 2)


def images(n, shape, seed=0):
    return np.random.default_rng(seed).standard_normal((n, *shape))


def twins(shape):
    """Return images among which are equal, almost equal, opposite and flat ones."""
    X = images(7, shape)
    X[1] = X[0]
    X[2] = X[0] * (1 + 1e-9)
    X[3] = X[0] + 1e-6 * X[4]
    X[4] = -0.5 * X[0]
    X[5], X[6] = 1.0, 3.0
    X[6, 0] = 0.0
    return X


@pytest.mark.parametrize("readout", [True, False])
@pytest.mark.parametrize("pooling", ["gap", None])
@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("shape", [IMAGES, SIGNALS])
def test_kernel_is_that_of_plain_loops(shape, depth, pooling, readout):
    X = images(2, shape)
    K = CNTK(depth, 3, pooling, readout)(X, X[1:])
    pooled = pooling is not None
    expected = oracles.pairwise(
        lambda x, y: oracles.cntk(x, y, depth, 3, pooled, readout), X, X[1:]
    )
    assert pytest.approx(expected, rel=1e-12) == K


@pytest.mark.parametrize("pooling", ["gap", None])
@pytest.mark.parametrize("shape", [IMAGES, SIGNALS])
def test_mirrored_kernel_is_the_mean_of_both_images(shape, pooling):
    X = images(3, shape)
    other = X[..., ::-1, :].copy()
    plain, kernel = CNTK(2, 3, pooling), CNTK(2, 3, pooling, mirrored=True)
    expected = (plain(X) + plain(X, other)) / 2
    assert kernel(X) == pytest.approx(expected, rel=1e-12)
    assert kernel(other, X) == pytest.approx(expected, rel=1e-12)
    assert kernel.diag(X) == pytest.approx(np.diag(expected), rel=1e-12)


@pytest.mark.parametrize("filter_size", [1, 5, 9])
@pytest.mark.parametrize("shape", [(3, 4, 1), (5, 1), (1, 4, 1), (4, 1, 2)])
def test_filters_of_any_odd_size(shape, filter_size):
    X = images(2, shape)
    for pooling in ("gap", None):
        expected = oracles.cntk(X[0], X[1], 2, filter_size, pooling is not None)
        assert CNTK(2, filter_size, pooling)(X)[0, 1] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("pooling", ["gap", None])
def test_extreme_angles_keep_their_digits(pooling):
    X = twins((3, 3, 1))
    pooled = pooling is not None
    expected = oracles.pairwise(lambda x, y: oracles.cntk(x, y, 2, 3, pooled), X, X)
    K = CNTK(2, 3, pooling)(X)
    assert np.max(abs(K - expected)) <= 1e-13 * np.max(expected)
    single = CNTK(2, 3, pooling)(X.astype("float32"))
    assert single.dtype == "float32"
    assert np.max(abs(single - expected)) <= 2e-7 * np.max(expected)


@pytest.mark.arrays
@pytest.mark.parametrize("pooling", ["gap", None])
@pytest.mark.parametrize("shape", [(3, 3, 1), (4, 2)])
def test_every_library_computes_the_same(shape, pooling):
    X = twins(shape)
    for kernel in (CNTK(3, 3, pooling), CNTK(2, 3, pooling, train_readout=False)):
        expected = kernel(X)
        for make in array_libraries().values():
            K = to_numpy(kernel(make(X)))
            assert np.max(abs(K - expected)) <= 1e-13 * np.max(expected)
            single = to_numpy(kernel(make(X.astype("float32"))))
            assert np.max(abs(single - expected)) <= 3e-7 * np.max(expected)
            diagonal = to_numpy(kernel.diag(make(X)))
            assert diagonal == pytest.approx(np.diag(expected), rel=1e-13)


def test_array_formulas_in_float32_are_those_of_loops():
    X = images(3, (4, 3, 2))
    i, j = np.asarray([0, 0, 1]), np.asarray([0, 1, 2])
    for pooled in (True, False):
        network = Network(3, 3, pooled)
        patches = patches_of(X, network, np)
        expected = cntk_of_pairs(patches, patches, i, j, network, np)
        scales = patches.largest[i] * patches.largest[j]
        for single, tolerance in ((True, 3e-7), (False, 1e-14)):
            twin = cntk_of_pairs_twin(patches.take(i), patches.take(j), network, np, single)
            assert twin * scales == pytest.approx(expected, rel=tolerance)


def test_one_pixel_makes_it_the_ntk():
    X = images(5, (1, 1, 4))
    for depth in (1, 3):
        expected = NTK(depth)(X.reshape(5, 4))
        for pooling in ("gap", None):
            assert CNTK(depth, 1, pooling)(X) == pytest.approx(expected, rel=4e-15, abs=4e-15)


@pytest.mark.parametrize(("readout", "trained"), [(True, 4), (False, 3)])
def test_diagonal_without_pooling_counts_the_layers(readout, trained):
    X = images(3, (4, 5, 2))
    squares = (X**2).sum(axis=3)
    for _ in range(3):
        padded = np.pad(squares, ((0, 0), (1, 1), (1, 1)))
        squares = sum(padded[:, i : i + 4, j : j + 5] for i in range(3) for j in range(3)) / 9
    kernel = CNTK(3, 3, None, readout)
    expected = trained * squares.sum(axis=(1, 2))
    assert kernel.diag(X) == pytest.approx(expected, rel=1e-14)
    assert np.diag(kernel(X)) == pytest.approx(expected, rel=1e-14)


def test_order_of_channels_does_not_matter():
    X = images(4, (3, 3, 5))
    assert CNTK()(X[..., ::-1]) == pytest.approx(CNTK()(X), rel=1e-13)


@pytest.mark.arrays
def test_black_borders_and_black_images_are_finite():
    X = np.zeros((4, 6, 6, 1))
    X[0, 2:4, 2:4] = 1.0
    X[1, 0, 0] = 1e-200
    X[2] = 1e150
    for pooling in ("gap", None):
        for make in array_libraries().values():
            K = to_numpy(CNTK(3, 3, pooling)(make(X)))
            assert np.isfinite(K).all()
            assert np.array_equal(K[3], np.zeros(4))
            assert K[0, 0] > 0
            single = CNTK(3, 3, pooling)(make(X[:2].astype("float32")))
            assert np.isfinite(to_numpy(single)).all()


@pytest.mark.parametrize("pooling", ["gap", None])
def test_matrix_is_positive_semi_definite(pooling):
    X = np.concatenate([images(12, (4, 4, 1)), twins((4, 4, 1))])
    eigenvalues = np.linalg.eigvalsh(CNTK(2, 3, pooling)(X))
    assert eigenvalues[0] >= -1e-13 * eigenvalues[-1]


def gradients(X, depth, filter_size, pooled, readout, width, rng):
    """Return the gradients of a finite network at images, forward and backward by hand.

    X has shape (n, height, width, channels); patches are taken along both axes.
    """
    n, rows, columns = X.shape[:3]
    reach, n_taps = filter_size // 2, filter_size**2
    places = rows * columns

    def patches(H):
        padded = np.pad(H, ((0, 0), (reach, reach), (reach, reach), (0, 0)))
        return np.stack(
            [
                padded[:, a : a + rows, b : b + columns]
                for a in range(filter_size)
                for b in range(filter_size)
            ],
            axis=3,
        ) / np.sqrt(n_taps)

    H, inputs, active, weights = X, [], [], []
    for _ in range(depth):
        W = rng.standard_normal((n_taps, H.shape[3], width))
        inputs.append(patches(H).reshape(n, places, -1))
        pre = (inputs[-1] @ W.reshape(-1, width)).reshape(n, rows, columns, width)
        weights.append(W)
        active.append(np.sqrt(2 / width) * (pre > 0))
        H = active[-1] * pre
    w = rng.standard_normal((1 if pooled else places, width))
    last = H.reshape(n, places, width)
    parts = []
    if readout:
        parts.append(last.mean(axis=1) if pooled else last.reshape(n, -1))
    back = np.broadcast_to(w / (places if pooled else 1), (n, places, width))
    for layer in reversed(range(depth)):
        back = back.reshape(n, rows, columns, width) * active[layer]
        flat = back.reshape(n, places, width)
        parts.append((inputs[layer].transpose(0, 2, 1) @ flat).reshape(n, -1))
        if layer > 0:
            # What a patch passes on to its taps is gathered by the mirrored filter.
            mirrored = weights[layer][::-1].transpose(0, 2, 1).reshape(-1, width)
            back = patches(back).reshape(n, places, -1) @ mirrored
    return np.concatenate(parts, axis=1)


@pytest.mark.parametrize(
    ("shape", "depth", "pooling", "readout", "width"),
    [
        ((3, 3, 2), 1, "gap", True, 64),
        ((3, 3, 2), 2, "gap", True, 192),
        ((3, 3, 1), 2, None, True, 192),
        ((2, 3, 1), 2, "gap", False, 192),
        ((3, 2, 1), 3, None, False, 192),
        ((2, 3, 1), 3, "gap", True, 192),
    ],
)
def test_gradients_of_wide_networks_have_this_kernel(shape, depth, pooling, readout, width):
    X = images(3, shape, seed=2)
    rng = np.random.default_rng(depth)
    draws = []
    for _ in range(60):
        G = gradients(X, depth, 3, pooling is not None, readout, width, rng)
        draws.append(G @ G.T)
    K = CNTK(depth, 3, pooling, readout)(X)
    error = np.std(draws, axis=0, ddof=1) / np.sqrt(len(draws))
    assert np.max(abs(np.mean(draws, axis=0) - K) / error) <= 4.0


@pytest.mark.parametrize("check", KERNEL_CHECKS, ids=lambda check: check.__name__)
def test_pooled_kernel_keeps_the_contract(check):
    if check is not check_memory:
        # Its millions of pairs are those of kernels that cost less.
        check(CNTK(2, image_shape=(5, 1)), 5)


def test_memory_stays_in_the_budget():
    X = images(20, (12, 12, 3)).astype("float32")
    kernel = CNTK(2, image_shape=(12, 12, 3))
    kernel(X[:2])
    with config(memory=2_000_000):
        K, peak = peak_bytes(lambda: kernel(X))
        assert peak - K.nbytes <= 2_000_000


def test_pairs_of_array_libraries_stay_in_the_budget():
    positions = 64
    network, X = Network(2, 3), images(6, (8, 8, 1))
    patches = patches_of(X, network, np)
    everyone = np.arange(6)
    x = patches.take(everyone)
    _, peak = peak_bytes(lambda: cntk_of_pairs_twin(x, x, network, np, False))
    assert peak <= 8 * COPIES * positions**2 * 6
    torch = array_libraries().get("torch")
    if torch is not None:
        expected = CNTK(2)(X)
        with config(memory=2 * 8 * COPIES * positions**2):
            assert np.asarray(CNTK(2)(torch(X))) == pytest.approx(expected, rel=1e-13)
        with config(memory=10**5), pytest.raises(ValueError, match="too small"):
            CNTK(2)(torch(X))


def test_few_images_are_shared_among_threads():
    X = images(9, (16, 16, 1))
    rows = X.reshape(9, -1)
    with config(n_jobs=2):
        assert plan_tiles(rows, rows).workers == 1
        assert plan_tiles(rows, rows, effort=Effort(10**7)) == (3, 2)
        assert plan_tiles(rows, rows, effort=Effort(10**9)) == (1, 2)
    expected = CNTK(1)(X)
    with config(n_jobs=1):
        assert np.array_equal(CNTK(1)(X), expected)
    with config(n_jobs=3):
        assert np.array_equal(CNTK(1)(X), expected)


def test_bytes_are_images_too():
    X = np.random.default_rng(0).integers(0, 256, (3, 4, 4, 3), dtype=np.uint8)
    K = CNTK(2)(X)
    assert K.dtype == "float32"
    assert pytest.approx(CNTK(2)(X.astype(float)), rel=1e-6) == K


def test_machines_take_images_and_their_rows():
    X = images(30, (4, 4, 1))
    y = X[:, 1, 1, 0] * X[:, 2, 2, 0]
    model = KernelRidge(CNTK(2)).fit(X, y)
    assert model.kernel.image_shape is None
    assert model.kernel_.image_shape == (4, 4, 1)
    rows = X.reshape(30, -1)
    flat = KernelRidge(CNTK(2, image_shape=(4, 4, 1))).fit(rows, y)
    assert np.array_equal(model.predict(X[:5]), flat.predict(rows[:5]))
    assert np.array_equal(model.predict(rows[:5]), flat.predict(X[:5]))


def test_sums_of_kernels_take_images():
    X = images(4, (4, 4, 1))
    rows = X.reshape(4, -1)
    kernel = 0.5 * CNTK(2) + Gaussian()
    assert kernel(X) == pytest.approx(0.5 * CNTK(2)(X) + Gaussian()(rows), rel=1e-14)
    assert kernel(X, rows[:2]) == pytest.approx(kernel(X)[:, :2], rel=1e-12)


def test_images_among_other_columns():
    X = images(4, (3, 3, 1)).reshape(4, -1)
    kernel = CNTK(1, image_shape=(3, 3, 1))
    beside = np.column_stack([np.arange(4.0), X])
    columns = OnColumns(kernel, list(range(1, 10))) * OnColumns(Gaussian(), [0])
    expected = kernel(X) * Gaussian()(beside[:, :1])
    assert columns(beside) == pytest.approx(expected, rel=1e-14)


def test_what_is_no_image_is_refused_with_the_way_out():
    X = images(4, (4, 4, 1))
    rows = X.reshape(4, -1)
    with pytest.raises(ValueError, match="pass image_shape="):
        CNTK()(rows)
    with pytest.raises(ValueError, match="odd"):
        CNTK(filter_size=2)(X)
    with pytest.raises(ValueError, match="image_shape is"):
        CNTK()(X, X[:, :3])
    with pytest.raises(ValueError, match=r"X\[\.\.\., None\]"):
        CNTK()(X[..., 0])
    with pytest.raises(ValueError, match="image_shape must be"):
        CNTK(image_shape=(4, 4, 0))(rows)
    with pytest.raises(ValueError, match="needs 12"):
        KernelRidge(CNTK(image_shape=(4, 3, 1))).fit(rows, rows[:, 0])
