"""Models as graphs: onnxruntime answers as mercer does."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import (
    NTK,
    ArcCosine,
    ArcCosineFeatures,
    CNTKSketch,
    DotProductSketch,
    Exponential,
    FeatureMap,
    FeatureRidge,
    FeatureRidgeClassifier,
    Gaussian,
    GegenbauerFeatures,
    GradientFeatures,
    IRKMRegressor,
    KernelClassifier,
    KernelPCA,
    KernelRegressor,
    KernelRidge,
    KernelRidgeClassifier,
    Laplace,
    Matern,
    NNGPFeatures,
    NTKFeatures,
    NystromFeatures,
    OnColumns,
    Polynomial,
    PolynomialSketch,
    PoweredExponential,
    PowerSeries,
    ProductFeatures,
    ProductLaplace,
    QuantizedFourier,
    RandomFourier,
    RFMClassifier,
    RFMRegressor,
    SphericalCoordinates,
    TableEncoder,
    TensorNTKFeatures,
    TernaryFeatures,
    WaveFeatures,
    to_onnx,
)
from mercer.io.onnx import NotRecordable, convertible, register

skl2onnx = pytest.importorskip("skl2onnx")
onnxruntime = pytest.importorskip("onnxruntime")

GENERATOR = np.random.default_rng(0)
ROWS = GENERATOR.standard_normal((40, 5))
ON_40 = GENERATOR.standard_normal((40, 40)) / 40**0.5
Y = np.sin(ROWS[:, 0]) + ROWS[:, 1] ** 2
LABELS = np.asarray(["low", "middle", "high"])[np.digitize(Y, [0.5, 1.5])]
FOURIER = RandomFourier(Gaussian(2.0), n_components=30, random_state=0)


class Doubled(FeatureMap):
    """A map of one's own."""

    def _kernel(self):
        return Polynomial(degree=1, coef0=0.0)

    def _draw(self, stream, n_features_in):
        return {}

    def _map(self, X, xp, out=None):
        return X * 2.0


def answers(graph, X):
    """Return what onnxruntime makes of rows."""
    session = onnxruntime.InferenceSession(
        graph.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, {"X": X})


def fitted(model, *data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.fit(*data)


def product(**parameters):
    maps = [RandomFourier(Gaussian(2.0), n_components=20), RandomFourier(n_components=10)]
    return ProductFeatures(maps, [[0, 1], [2]], random_state=0, **parameters)


SMALL = {"n_components": 40, "random_state": 0}
KERNELS = [
    Gaussian(2.0),
    Laplace(2.0),
    Matern(3.0, nu=2.5),
    ProductLaplace(3.0),
    PoweredExponential(2.0, power=0.7),
    PoweredExponential(2.0, power=0.5, norm="manhattan"),
    Polynomial(2),
    Exponential(5.0),
    ArcCosine(0),
    NTK(2),
    Gaussian(2.0) * Matern(3.0) + 0.5 * OnColumns(Polynomial(2), [0, 2]),
]
MAPS = [
    *(
        RandomFourier(Gaussian(2.0), projection=name, **SMALL)
        for name in ("orthogonal", "gaussian", "spherical", "ssf", "fastfood")
    ),
    RandomFourier(Matern(3.0), n_components=41, random_state=0),
    RandomFourier(Gaussian(3.0), n_components="auto", tolerance=0.2, random_state=0),
    *(
        ArcCosineFeatures(order, method=method, **SMALL)
        for order in (0, 1)
        for method in ("deflated", "antithetic", "plain")
    ),
    *(NystromFeatures(kernel, n_components=12, random_state=0) for kernel in KERNELS),
    *(
        GegenbauerFeatures(kernel, n_components=80, random_state=0)
        for kernel in (Gaussian(4.0), NTK(2), Exponential(4.0), ArcCosine(1))
    ),
    *(PolynomialSketch(3, method=m, **SMALL) for m in ("tensor", "tree", "product")),
    DotProductSketch(Exponential(4.0), **SMALL),
    DotProductSketch(PowerSeries.near(ArcCosine(1), 6), n_components=41, random_state=0),
    *(NTKFeatures(2, method=m, **SMALL) for m in ("zonal", "one-shot", "random")),
    NTKFeatures(1, method="sketch", degree=3, **SMALL),
    NTKFeatures(1, method="random", variant="paper", **SMALL),
    *(NNGPFeatures(2, method=m, **SMALL) for m in ("zonal", "one-shot", "random")),
    TensorNTKFeatures(n_relu=8, n_step=4, random_state=0),
    GradientFeatures(width=8, random_state=0),
    TernaryFeatures(sparsity=0.5, output="float", **SMALL),
    TernaryFeatures("relu", sparsity=0.5, **SMALL),
    WaveFeatures(Gaussian(2.0), **SMALL),
    WaveFeatures(Gaussian(2.0), levels=3, output="float", n_components=41, random_state=0),
    product(),
    product(n_components=32),
    Doubled(),
]


@pytest.mark.parametrize(("dtype", "opset"), [(np.float32, 18), (np.float64, 22)])
@pytest.mark.parametrize("model", MAPS, ids=repr)
def test_features_are_those_of_the_map(model, dtype, opset):
    X = ROWS.astype(dtype)
    features = fitted(model, X)
    # What the map gives in float64 is what both compute, up to the rounding of their dtype.
    exact = np.asarray(features.transform(X.astype(float)), dtype=float)
    found = answers(to_onnx(features, X, target_opset=opset), X)[0]
    assert found.dtype == dtype
    assert found.shape == exact.shape
    assert np.abs(found - exact).max() < 1e-5 * max(1.0, np.abs(exact).max())


@pytest.mark.parametrize("projection", ["hd3", "ssf", "fastfood"])
def test_structured_projections_of_many_columns_need_no_matrix(projection):
    features = RandomFourier(Gaussian(1.0), projection=projection, **SMALL).fit(ON_40)
    graph = to_onnx(features, ON_40)
    assert np.abs(answers(graph, ON_40)[0] - features.transform(ON_40)).max() < 1e-12
    if projection != "ssf":
        assert max(np.prod(part.dims) for part in graph.graph.initializer) < 40 * 20


def test_a_graph_takes_any_number_of_rows():
    graph = to_onnx(FOURIER.fit(ROWS), ROWS[:3])
    for n in (1, 7, 40):
        assert np.abs(answers(graph, ROWS[:n])[0] - FOURIER.transform(ROWS[:n])).max() < 1e-12


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"depth": 2, "degree": None},
        {"mirrored": True},
        {"pooling": None},
        {"method": "sketch", "depth": 2},
        {"method": "sketch", "pooling": None},
    ],
    ids=repr,
)
def test_maps_of_images_take_flattened_rows(given):
    features = CNTKSketch(image_shape=(4, 4, 1), n_components=16, random_state=0, **given)
    X = ON_40[:, :16].copy()
    assert np.abs(answers(to_onnx(features.fit(X), X), X)[0] - features.transform(X)).max() < 1e-6


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "model",
    [
        FeatureRidge(FOURIER),
        FeatureRidge(),
        FeatureRidge(make_pipeline(StandardScaler(), FOURIER)),
        FeatureRidge(TernaryFeatures(sparsity=0.5, **SMALL)),
        FeatureRidge(TernaryFeatures(sparsity=0.5, bits=1, output="packed", **SMALL)),
        FeatureRidge(WaveFeatures(levels=4, output="packed", **SMALL)),
        make_pipeline(StandardScaler(), FOURIER, Ridge()),
        make_pipeline(StandardScaler(), FeatureRidge(FOURIER)),
        *(KernelRidge(kernel, alpha=0.1) for kernel in KERNELS[:6]),
        KernelRidge(Gaussian(2.0), solver="iterative", n_centres=20),
        KernelRegressor(Gaussian(2.0), alpha=0.1),
        KernelRegressor(Laplace(2.0), approximation="features", n_components=30),
        KernelRegressor(Gaussian(2.0), encoder=StandardScaler(), alpha=0.1),
        IRKMRegressor(Gaussian(2.0), n_iterations=1, solver="exact", random_state=0),
        IRKMRegressor(
            Gaussian(2.0), n_iterations=1, solver="features", n_components=64, random_state=0
        ),
        RFMRegressor(Laplace(2.0), n_iterations=1, solver="nystrom", n_components=20),
    ],
    ids=repr,
)
def test_predictions_are_those_of_the_model(model, dtype):
    fitted(model, ROWS, Y)
    X = np.concatenate([ROWS + 0.1, 3 * ROWS[::-1]]).astype(dtype)
    found = answers(to_onnx(model, X), X)[0]
    assert found.dtype == dtype
    assert found.shape == (80, 1)
    assert np.abs(found[:, 0] - model.predict(X.astype(float))).max() < 1e-5


@pytest.mark.parametrize("kernel", [*KERNELS[:4], KERNELS[-1]], ids=repr)
def test_rows_that_are_centres_are_at_distance_zero(kernel):
    model = KernelRidge(kernel, alpha=0.1).fit(ROWS, Y)
    assert np.abs(answers(to_onnx(model, ROWS), ROWS)[0][:, 0] - model.predict(ROWS)).max() < 1e-7


def test_many_targets_are_columns():
    model = FeatureRidge(FOURIER).fit(ROWS, np.stack([Y, ROWS[:, 2]], axis=1))
    assert np.abs(answers(to_onnx(model, ROWS), ROWS)[0] - model.predict(ROWS)).max() < 1e-5


@pytest.mark.parametrize(
    ("model", "labels"),
    [
        (FeatureRidgeClassifier(FOURIER), LABELS),
        (FeatureRidgeClassifier(FOURIER), Y > 1),
        (FeatureRidgeClassifier(FOURIER), np.where(Y > 1, 2.0, -1.0)),
        (FeatureRidgeClassifier(FOURIER), np.digitize(Y, [0, 1])),
        (FeatureRidgeClassifier(make_pipeline(StandardScaler(), FOURIER)), (Y > 1).astype(int)),
        (KernelRidgeClassifier(Gaussian(2.0), loss="auto"), Y > 1),
        (KernelRidgeClassifier(Laplace(2.0)), LABELS),
        (KernelClassifier(Gaussian(2.0)), LABELS),
        (RFMClassifier(Gaussian(2.0), n_iterations=1, random_state=0), LABELS),
    ],
    ids=repr,
)
def test_labels_and_probabilities_are_those_of_the_classifier(model, labels):
    fitted(model, ROWS, labels)
    graph = to_onnx(model, ROWS)
    names = [output.name for output in graph.graph.output]
    found, shares = answers(graph, ROWS)
    assert names == ["label", "probabilities"]
    assert (found == model.predict(ROWS)).all()
    assert np.abs(shares - model.predict_proba(ROWS)).max() < 1e-5


def test_a_classifier_of_scikit_learn_answers_with_arrays_too():
    model = make_pipeline(StandardScaler(), FOURIER, LogisticRegression()).fit(ROWS, LABELS)
    found, shares = answers(to_onnx(model, ROWS), ROWS)
    assert (found == model.predict(ROWS)).all()
    assert np.abs(shares - model.predict_proba(ROWS)).max() < 1e-5


def test_the_front_door_takes_missing_numbers_and_whole_ones_as_categories():
    X = np.concatenate([ROWS[:, :2], np.arange(40.0)[:, None] % 3], axis=1)
    X[::7, 0] = np.nan
    encoder = TableEncoder(whole_numbers="categories", constant=1.0)
    model = fitted(KernelRegressor(Gaussian(2.0), encoder=encoder, alpha=0.1), X, Y)
    found = answers(to_onnx(model, X), X)[0][:, 0]
    assert np.abs(found - model.predict(X)).max() < 1e-5
    ranked = TableEncoder("ranks").fit(X)
    assert np.abs(answers(to_onnx(ranked, X), X)[0] - ranked.transform(X)).max() < 1e-12


def test_coordinates_on_a_sphere_become_points():
    X = np.asarray([[48.0, 2.0], [-33.0, 511.0], [90.0, -170.0]])
    model = SphericalCoordinates().fit(X)
    assert np.abs(answers(to_onnx(model, X), X)[0] - model.transform(X)).max() < 1e-12


def test_after_register_skl2onnx_knows_the_models_by_itself():
    register()
    model = Pipeline([("scale", StandardScaler()), ("learn", FeatureRidge(FOURIER))]).fit(ROWS, Y)
    graph = skl2onnx.to_onnx(model, ROWS[:1])
    assert np.abs(answers(graph, ROWS)[0][:, 0] - model.predict(ROWS)).max() < 1e-5


def test_a_frame_of_numbers_is_one_input():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS, columns=list("abcde"))
    model = fitted(KernelRegressor(Gaussian(2.0)), frame, Y)
    graph = to_onnx(model, frame)
    assert [part.name for part in graph.graph.input] == ["X"]
    assert np.abs(answers(graph, ROWS)[0][:, 0] - model.predict(frame)).max() < 1e-5
    with pytest.raises(ValueError, match="must hold numbers only"):
        to_onnx(model, frame.astype(str) + "x")


def test_rows_must_have_the_columns_of_the_fit():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS[:, :2], columns=["size", "age"])
    named = KernelRegressor().fit(frame, Y)
    for model in (named, make_pipeline(StandardScaler(), FeatureRidge(FOURIER)).fit(frame, Y)):
        with pytest.raises(ValueError, match="in the same order as they were in fit"):
            to_onnx(model, frame[["age", "size"]])
        with pytest.raises(ValueError, match="eature"):
            to_onnx(model, frame.assign(more=1.0))
    narrow = KernelRegressor().fit(ROWS[:, :1], Y)
    for model in (narrow, FeatureRidge(FOURIER).fit(ROWS[:, :1], Y)):
        with pytest.raises(ValueError, match=r"3 features, but .* is expecting 1 feature"):
            to_onnx(model, ROWS[:, :3])


def test_what_has_no_converter_is_answered_with_what_has_one():
    features = QuantizedFourier(Gaussian(2.0), **SMALL).fit(ROWS)
    with pytest.raises(NotRecordable, match=r"hash of the bits.*RandomFourier"):
        to_onnx(features, ROWS)
    with pytest.raises(NotRecordable, match=r"FeatureRidge cannot.*QuantizedFourier rounds"):
        to_onnx(FeatureRidge(features).fit(ROWS, Y), ROWS)
    components = KernelPCA(n_components=2).fit(ROWS)
    with pytest.raises(NotRecordable, match=r"KernelPCA cannot.*KernelRidge"):
        to_onnx(components, ROWS)
    categories = TableEncoder().fit(np.asarray([["a"], ["b"]], dtype=object))
    with pytest.raises(NotRecordable, match="only numbers"):
        to_onnx(categories, ROWS[:, :1])
    with pytest.raises(ValueError, match="target_opset must be at least 18"):
        to_onnx(FOURIER.fit(ROWS), ROWS, target_opset=17)
    assert "QuantizedFourier" not in convertible()
    assert {"FeatureRidge", "GegenbauerFeatures", "KernelClassifier"} <= set(convertible())
