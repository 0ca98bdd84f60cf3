"""Fused kernels give what their twins give, where they run: on CUDA, or interpreted."""

import mpmath
import numpy as np
import pytest

from mercer import NNGP, NTK, ArcCosine, GegenbauerFeatures, NTKFeatures, RandomFourier, save
from mercer._array import to_numpy
from mercer._devices import has_fused_kernels
from mercer.ops import arccosine
from mercer.ops.angles import RELU, STEP, TANGENT, relu_kernel_of_rows
from mercer.ops.count_sketch import count_sketch, gathered_sketch, gathering
from mercer.ops.fourier import cosine_sine
from mercer.ops.gates import Activation, activated, n_directions
from mercer.ops.gegenbauer import orthonormal, weighted_sum
from mercer.ops.norms import row_norms, unit_rows
from mercer.ops.patches import Picks, Taps, neighbours, tapped
from mercer.testing import array_libraries

pytestmark = pytest.mark.arrays
FOREIGN = {name: make for name, make in array_libraries().items() if name != "numpy"}
TOLERANCE = {"float32": 3e-6, "float64": 1e-12}


@pytest.fixture(params=FOREIGN)
def make(request):
    return FOREIGN[request.param]


@pytest.fixture(params=TOLERANCE)
def dtype(request):
    return request.param


def namespace_of(X):
    import array_api_compat

    return array_api_compat.array_namespace(X)


def rows(n, d, dtype, scale=1.0):
    return (scale * np.random.default_rng(0).standard_normal((n, d))).astype(dtype)


@pytest.mark.parametrize("n_components", [2600, 2599])
def test_cosines_and_sines_of_every_phase(make, dtype, n_components):
    phases = rows(3, 1300, dtype, scale=40.0)
    phases[0, :4] = [0.0, np.pi / 4, -1e5, 3e5]
    found = to_numpy(cosine_sine(make(phases), n_components, namespace_of(make(phases))))
    wanted = np.concatenate([np.cos(phases.astype(float)), np.sin(phases.astype(float))], axis=1)
    wanted = (2 / n_components) ** 0.5 * wanted[:, :n_components]
    assert found.dtype == dtype
    assert np.abs(found - wanted).max() < TOLERANCE[dtype]


@pytest.mark.parametrize("scale", [1.0, 1e30, 1e-30])
def test_norms_neither_overflow_nor_vanish(make, dtype, scale):
    X = rows(4, 70, dtype)
    X[2], X[3] = 0, X[3] * scale
    unit, norms = unit_rows(make(X), namespace_of(make(X)))
    wanted = np.linalg.norm(X.astype(float), axis=1)
    assert np.allclose(to_numpy(norms), wanted, rtol=TOLERANCE[dtype], atol=0)
    assert np.allclose(to_numpy(row_norms(make(X), namespace_of(make(X)))), wanted, rtol=1e-5)
    wanted[2] = 1
    assert np.abs(to_numpy(unit) - X / wanted[:, None]).max() < TOLERANCE[dtype]


def test_phases_that_overflow_are_refused(make):
    phases = make(np.asarray([[0.0, np.inf]], dtype=np.float32))
    with pytest.raises(ValueError, match="overflows; scale X down"):
        cosine_sine(phases, 4, namespace_of(phases))


def test_activations_are_those_of_numpy(make, dtype):
    X, P = rows(4, 3, dtype), rows(4, 1500, dtype)
    norms = np.linalg.norm(X, axis=1).astype(dtype)
    for function in (
        lambda X, P, norms, xp: arccosine.plain(P, 1, xp),
        lambda X, P, norms, xp: arccosine.plain(P, 0, xp),
        lambda X, P, norms, xp: arccosine.antithetic(P, 1, 2999, xp),
        lambda X, P, norms, xp: arccosine.deflated_relu(X, norms, P, 0.8, xp),
        lambda X, P, norms, xp: arccosine.deflated_step(X, norms, P, 0.8, xp),
        lambda X, P, norms, xp: arccosine.constant_and_sign(P, xp),
    ):
        wanted = function(X, P, norms, np)
        found = function(make(X), make(P), make(norms), namespace_of(make(X)))
        assert np.abs(to_numpy(found) - wanted).max() < TOLERANCE[dtype]


def test_sums_of_polynomials_are_sums_of_polynomials(make, dtype):
    T = np.tanh(rows(3, 1100, dtype))
    weights = rows(3, 6, dtype)
    found = to_numpy(weighted_sum(make(T), make(weights), 7, namespace_of(make(T))))
    wanted = np.einsum("il,lij->ij", weights, orthonormal(T.astype(float), 7, 5))
    assert np.abs(found - wanted).max() < 30 * TOLERANCE[dtype]


@pytest.mark.parametrize(("width", "size"), [(5, 1100), (1100, 7), (1, 1)])
def test_sketches_gather_what_numpy_scatters(make, dtype, width, size):
    rng = np.random.default_rng(1)
    places, signs = rng.integers(size, size=width), rng.choice([-1.0, 1.0], width)
    X = rows(3, width, dtype)
    found = gathered_sketch(make(X), gathering(places, signs, size), size, namespace_of(make(X)))
    assert np.abs(to_numpy(found) - count_sketch(X, places, signs, size)).max() < 1e-5


def exact_kernel(x, y, depth, quantity):
    """Return the recursion in 60 digits."""
    with mpmath.workdps(60):
        x, y = mpmath.matrix(x.tolist()), mpmath.matrix(y.tolist())
        norms = mpmath.norm(x) * mpmath.norm(y)
        cosine = (x.T * y)[0] / norms
        S = K = min(max(cosine, mpmath.mpf(-1)), mpmath.mpf(1))
        for _ in range(depth):
            angle = mpmath.acos(S)
            D = 1 - angle / mpmath.pi
            S = (mpmath.sqrt(1 - S * S) + (mpmath.pi - angle) * S) / mpmath.pi
            K = K * D + S
        return float((D, S, K)[quantity] * (1 if quantity == STEP else norms))


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("quantity", [STEP, RELU, TANGENT])
def test_kernels_of_networks_keep_their_digits(make, dtype, depth, quantity):
    X = rows(5, 4, "float64")
    X[1] = X[0] * (1 + 1e-9) + [1e-7, 0, 0, 0]
    X[2] = -X[0] + [0, 1e-6, 0, 0]
    xp = namespace_of(make(X))
    out = make(np.empty((5, 5), dtype))
    found = relu_kernel_of_rows(make(X), make(X), depth, quantity, xp, out)
    wanted = [[exact_kernel(x, y, depth, quantity) for y in X] for x in X]
    scale = 1.0 if quantity == STEP else np.abs(wanted).max()
    assert np.abs(to_numpy(found) - wanted).max() < 2 * TOLERANCE[dtype] * scale


@pytest.mark.parametrize(
    "features",
    [
        RandomFourier(n_components=63, random_state=0),
        NTKFeatures(depth=1, method="random", n_components=512, random_state=0),
        NTKFeatures(depth=3, method="one-shot", n_components=128, random_state=0),
        NTKFeatures(depth=2, method="sketch", n_components=128, degree=3, random_state=0),
        GegenbauerFeatures(NTK(depth=2), n_components=200, random_state=0),
    ],
    ids=["fourier", "random", "one-shot", "sketch", "zonal"],
)
def test_maps_are_those_of_numpy(make, dtype, features):
    X = rows(30, 8, dtype)
    wanted = features.fit(X).transform(X)
    found = to_numpy(features.transform(make(X)))
    assert found.dtype == dtype
    assert np.abs(found - wanted).max() < 20 * TOLERANCE[dtype]


def test_what_devices_need_is_not_stored(make, tmp_path):
    X = rows(30, 8, "float32")
    for number, method in enumerate(("random", "one-shot", "zonal")):
        features = NTKFeatures(method=method, n_components=256, random_state=0).fit(X)
        paths = [tmp_path / f"{number}-{when}.mercer" for when in ("before", "after")]
        save(features, paths[0])
        features.transform(make(X))
        save(features, paths[1])
        assert abs(paths[0].stat().st_size - paths[1].stat().st_size) < 100


@pytest.mark.parametrize("kernel", [NTK(depth=3), NNGP(depth=2), ArcCosine(order=0)], ids=repr)
def test_kernels_are_those_of_numpy(make, dtype, kernel):
    X, Y = rows(70, 5, dtype), rows(45, 5, dtype)[::-1].copy()
    tolerance = 20 * TOLERANCE[dtype]
    assert np.abs(to_numpy(kernel(make(X))) - kernel(X)).max() < tolerance
    assert np.abs(to_numpy(kernel(make(X), make(Y))) - kernel(X, Y)).max() < tolerance


def test_fused_kernels_serve_torch_where_triton_runs():
    torch = pytest.importorskip("torch")
    assert not has_fused_kernels(np.eye(2))
    for name, make in FOREIGN.items():
        X = make(np.eye(2))
        if not name.startswith("torch"):
            assert not has_fused_kernels(X)
        elif has_fused_kernels(X):
            assert not has_fused_kernels(X.T[:1, :].expand(2, 2).T)
    assert torch.get_default_dtype() == torch.float32


@pytest.mark.parametrize(("channels", "size"), [(20, 200), (20, 20), (300, 20)])
@pytest.mark.parametrize("filter_size", [1, 3])
def test_sketches_of_patches(make, dtype, channels, size, filter_size):
    generator = np.random.default_rng(0)
    images = generator.standard_normal((3, 4, 5, channels + 2)).astype(dtype)
    steps = np.asarray(neighbours(filter_size, 2), dtype=np.int32)
    starts = generator.integers(channels, size=(len(steps), -(-size // channels)))
    columns = np.repeat(starts, channels, axis=1)[:, :size] + np.arange(size)
    signs = generator.choice([-1.0, 1.0], columns.shape)
    taps = Taps(channels, steps, (columns % channels).astype(np.int32), signs)
    expected = tapped(images, taps, np)
    given = make(images)
    found = tapped(given, taps, namespace_of(given))
    assert type(found) is type(given)
    assert to_numpy(found) == pytest.approx(expected, abs=10 * TOLERANCE[dtype])


@pytest.mark.parametrize("pooled", [True, False])
@pytest.mark.parametrize("degree", [None, 1, 2, 5])
@pytest.mark.parametrize(("n_relu", "n_gated"), [(0, 7), (150, 131), (5, 1)])
def test_activated_projections_and_slopes(make, dtype, n_relu, n_gated, degree, pooled):
    generator = np.random.default_rng(0)
    planes = generator.standard_normal((2, 3, 4, 7)).astype(dtype)
    P = generator.standard_normal((24, n_directions(max(n_relu, n_gated)) + 3)).astype(dtype)
    P[0, 0] = 0.0
    norms = generator.uniform(0.5, 2.0, 24).astype(dtype)
    norms[3], P[3] = 0.0, 0.0
    places = generator.integers([[-1], [-1], [0]], [[2], [2], [7]], (3, n_gated), dtype=np.int32)
    picks = Picks(places, generator.standard_normal(n_gated))
    rest = picks, n_relu, Activation.of_degree(degree), pooled
    expected = activated(P, norms, planes, *rest, np)
    given = make(P)
    found = activated(given, make(norms), make(planes), *rest, namespace_of(given))
    assert type(found) is type(given)
    assert to_numpy(found) == pytest.approx(expected, abs=30 * TOLERANCE[dtype])
