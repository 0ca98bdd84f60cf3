"""Tests of model files: the same predictions, bit by bit, and no trust in damaged files."""

import os
import stat
import sys

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import save_file
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer, OneHotEncoder, StandardScaler

import mercer
from forged_files import forged
from mercer import (
    ArcCosineFeatures,
    FeatureRidge,
    FeatureRidgeClassifier,
    Gaussian,
    KernelClassifier,
    KernelRegressor,
    Matern,
    NTKFeatures,
    PolynomialSketch,
    ProductLaplace,
    RandomFourier,
    TableEncoder,
)
from mercer.io import ModelFileError, storable
from mercer.io.classes import SCIKIT_LEARN, class_of
from mercer.io.model_file import FORMAT, checksum

X = np.random.default_rng(0).standard_normal((80, 4)).astype(np.float32)
Y = np.sin(X[:, 0]).astype(float)
LABELS = np.where(Y > 0, "up", "down")
FOURIER = RandomFourier(Gaussian(2.0), n_components=30, random_state=0)

MODELS = {
    "dual": lambda: FeatureRidge(RandomFourier(n_components=200, random_state=1)).fit(X, Y),
    "primal": lambda: FeatureRidge(FOURIER).fit(X, Y),
    "raw": lambda: FeatureRidge().fit(X, np.column_stack([Y, X[:, 1]])),
    "folds": lambda: FeatureRidge(FOURIER, selection=3, per_target=True).fit(X, Y),
    "classifier": lambda: FeatureRidgeClassifier(FOURIER).fit(X, LABELS),
    "pipeline": lambda: FeatureRidge(make_pipeline(StandardScaler(), PCA(3), FOURIER)).fit(X, Y),
    "front door": lambda: KernelRegressor("gaussian").fit(X, Y),
    "front door, features": lambda: KernelRegressor("gaussian", n_components=40).fit(X, Y),
    "front door, classes": lambda: KernelClassifier("matern", n_components=40).fit(X, LABELS),
    "arc-cosine": lambda: FeatureRidge(ArcCosineFeatures(n_components=50, random_state=3)).fit(
        X, Y
    ),
}


@pytest.mark.parametrize("compact", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_predictions_are_identical(name, compact, tmp_path):
    model = MODELS[name]()
    path = tmp_path / "model.mercer"
    mercer.save(model, path, compact=compact)
    loaded = mercer.load(path)
    assert type(loaded) is type(model)
    assert np.array_equal(loaded.predict(X), model.predict(X))
    if hasattr(model, "predict_proba"):
        assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))
    elif not compact:
        for found, wanted in zip(
            loaded.predict(X, return_std=True), model.predict(X, return_std=True), strict=True
        ):
            assert np.array_equal(found, wanted)
    # What was loaded can be saved again, to the same content.
    mercer.save(loaded, tmp_path / "again.mercer", compact=compact)
    assert np.array_equal(mercer.load(tmp_path / "again.mercer").predict(X), model.predict(X))


@pytest.mark.parametrize(
    "features",
    [
        FOURIER,
        RandomFourier(Matern(nu=2.5), n_components=31, projection="fastfood", random_state=2),
        RandomFourier(ProductLaplace(1.5), n_components=16, random_state=2),
        RandomFourier(Gaussian("median"), n_components=16, projection="ssf", random_state=2),
        ArcCosineFeatures(order=0, n_components=20, random_state=5),
    ],
    ids=repr,
)
@pytest.mark.parametrize("compact", [False, True])
def test_maps_are_identical(features, compact, tmp_path):
    features = features.fit(X)
    mercer.save(features, tmp_path / "map.mercer", compact=compact)
    loaded = mercer.load(tmp_path / "map.mercer")
    assert np.array_equal(loaded.transform(X), features.transform(X))
    assert repr(loaded.kernel_) == repr(features.kernel_)


def test_a_full_model_goes_on_learning_and_a_compact_one_says_why_not(tmp_path):
    model = MODELS["primal"]()
    mercer.save(model, tmp_path / "full.mercer")
    loaded = mercer.load(tmp_path / "full.mercer")
    assert np.array_equal(loaded.partial_fit(X, Y).coef_, model.partial_fit(X, Y).coef_)
    other = MODELS["primal"]()
    assert np.array_equal(loaded.merge(other).coef_, model.merge(other).coef_)
    mercer.save(model, tmp_path / "compact.mercer", compact=True)
    compact = mercer.load(tmp_path / "compact.mercer")
    for call in (
        lambda: compact.partial_fit(X, Y),
        lambda: compact.merge(model),
        lambda: compact.predict(X, return_std=True),
    ):
        with pytest.raises(ValueError, match="compact=False"):
            call()


def test_a_compact_file_is_small(tmp_path):
    wide = RandomFourier(Gaussian(2.0), n_components=1000, random_state=0)
    model = FeatureRidge(wide).fit(np.tile(X, (15, 30)), np.tile(Y, 15))
    mercer.save(model, tmp_path / "full.mercer")
    mercer.save(model, tmp_path / "compact.mercer", compact=True)
    assert (tmp_path / "compact.mercer").stat().st_size < 20_000
    assert (tmp_path / "full.mercer").stat().st_size > 8_000_000


def test_frames_with_categories_and_dates(tmp_path):
    frame = pd.DataFrame(
        {
            "a": [1.0, None, 3.0, 4.0] * 5,
            "b": ["x", "y", None, "z"] * 5,
            "c": pd.Categorical([1, 2, 3, 1] * 5),
            "d": pd.to_datetime(["2020-01-01", "2021-02-03", "2020-05-05", "2024-01-01"] * 5),
        }
    )
    model = KernelRegressor("gaussian", encoder=TableEncoder(unseen="ignore"))
    model.fit(frame, np.arange(20.0))
    mercer.save(model, tmp_path / "m.mercer")
    loaded = mercer.load(tmp_path / "m.mercer")
    assert np.array_equal(loaded.predict(frame), model.predict(frame))
    assert loaded.report_ == model.report_


def test_scikit_learn_s_column_transformer(tmp_path):
    frame = pd.DataFrame({"a": np.arange(20.0), "b": list("uv") * 10})
    columns = make_column_transformer((StandardScaler(), ["a"]), (OneHotEncoder(), ["b"]))
    model = FeatureRidge(make_pipeline(columns, FOURIER)).fit(frame, np.arange(20.0))
    mercer.save(model, tmp_path / "m.mercer")
    assert np.array_equal(mercer.load(tmp_path / "m.mercer").predict(frame), model.predict(frame))


def test_what_is_not_on_the_list_cannot_be_saved(tmp_path):
    path = tmp_path / "m.mercer"
    mercer.save(MODELS["raw"](), path)
    before = path.read_bytes()
    model = FeatureRidge(make_pipeline(Binarizer(), FOURIER)).fit(X, Y)
    with pytest.raises(ModelFileError, match=r"Binarizer.*before the model.*joblib"):
        mercer.save(model, path)
    with pytest.raises(FileNotFoundError, match="does not exist"):
        mercer.save(MODELS["raw"](), tmp_path / "nowhere" / "m.mercer")
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["m.mercer"]


def test_every_class_of_scikit_learn_on_the_list_exists():
    for module, names in SCIKIT_LEARN.items():
        for name in names:
            assert class_of(f"{module}:{name}").__name__ == name


@pytest.mark.parametrize(
    "key",
    [
        "antigravity:fly",
        "this:s",
        "os:system",
        "sklearn.dummy:DummyClassifier",
        "sklearn.preprocessing:TargetEncoder",
        "mercer.__main__:main",
        "mercer_of_another:Gaussian",
        "mercer:save",
        "mercer.io.model_file:save",
        "mercer.kernels.base:Kernel",
        "mercer.kernels.gaussian:Laplace",
        "Gaussian",
        ":",
        7,
        None,
    ],
)
def test_a_name_that_is_not_on_the_list_is_refused_and_its_module_is_not_imported(key):
    before = set(sys.modules)
    with pytest.raises(ModelFileError, match="not on the list"):
        class_of(key)
    assert set(sys.modules) == before


def test_a_class_of_the_same_name_elsewhere_is_refused(tmp_path):
    other = type("Gaussian", (Gaussian,), {"__module__": "elsewhere"})
    with pytest.raises(ModelFileError, match=r"elsewhere\.Gaussian"):
        mercer.save(other(1.0), tmp_path / "m.mercer")


def test_a_stranger_s_class_can_be_registered(tmp_path):
    @storable
    class Doubled(Gaussian):
        """A kernel that another package might have."""

    mercer.save(Doubled(3.0), tmp_path / "m.mercer")
    assert type(mercer.load(tmp_path / "m.mercer")) is Doubled


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_file_has_the_permissions_of_others(tmp_path):
    mercer.save(MODELS["raw"](), tmp_path / "m.mercer")
    plain = tmp_path / "plain"
    plain.touch()
    modes = [stat.S_IMODE(p.stat().st_mode) for p in (tmp_path / "m.mercer", plain)]
    assert modes[0] == modes[1]


def test_ten_thousand_mutations_are_refused_or_harmless(tmp_path):
    model = MODELS["classifier"]()
    path = tmp_path / "m.mercer"
    mercer.save(model, path, compact=True)
    original = path.read_bytes()
    wanted = model.predict_proba(X[:3])
    generator = np.random.default_rng(0)
    harmless = 0
    for _ in range(10_000):
        data = bytearray(original)
        kind = generator.integers(5)
        place = int(generator.integers(len(data)))
        length = int(generator.integers(1, 64))
        if kind == 0:
            data[place] ^= 1 << int(generator.integers(8))
        elif kind == 1:
            del data[place:]
        elif kind == 2:
            del data[place : place + length]
        elif kind == 3:
            data[place:place] = generator.bytes(length)
        else:
            data[place : place + length] = generator.bytes(length)
        path.write_bytes(bytes(data))
        try:
            loaded = mercer.load(path)
        except ModelFileError:
            continue
        harmless += 1
        assert np.array_equal(loaded.predict_proba(X[:3]), wanted)
    assert harmless < 100


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda s, a: s.update(version=99), "newer than this version reads"),
        (lambda s, a: s.update(version="x"), "structure cannot be read"),
        (lambda s, a: s.update(model={"object": "os.system", "state": {}}), "not on the list"),
        (
            lambda s, a: s.update(model={"object": "subprocess:Popen", "state": {}}),
            "not on the list",
        ),
        (lambda s, a: s.update(version=1), "older than this version"),
        (lambda s, a: s.update(model={"generator": {"dict": [["bit_generator", "X"]]}}), "'X'"),
        (lambda s, a: s.update(model={"function": "os:system"}), "'os:system'"),
        (lambda s, a: s.update(model={"function": "numpy:load"}), "'numpy:load'"),
        (lambda s, a: s.update(model={"function": "numpy:f2py.compile"}), "not on the list"),
        (lambda s, a: s.update(model={"function": None}), "not on the list"),
        (lambda s, a: s.update(model={"type": "os.PathLike"}), "not a model"),
        (lambda s, a: s.update(model={"pickle": "gASVLg=="}), "unknown"),
        (lambda s, a: s["model"]["state"].update(__class__="x"), "__class__"),
        (lambda s, a: s.update(model={"array": "gone", "order": "C"}), "gone"),
        (lambda s, a: s.update(model={"drawn": s["model"]}), "FeatureRidge cannot be drawn"),
        (lambda s, a: s.pop("model"), "model"),
        (lambda s, a: a.clear(), "not a model"),
        (lambda s, a: s.update(model={}), "not a model"),
    ],
)
def test_hostile_and_future_files_are_refused(change, text, tmp_path):
    path = tmp_path / "m.mercer"
    mercer.save(MODELS["primal"](), path, compact=True)
    forged(path, change)
    with pytest.raises(ModelFileError, match=text):
        mercer.load(path)


def test_a_recipe_cannot_ask_for_all_memory(tmp_path):
    path = tmp_path / "m.mercer"
    mercer.save(FOURIER.fit(X), path, compact=True)

    def enlarged(change):
        mercer.save(FOURIER.fit(X), path, compact=True)
        forged(path, lambda structure, arrays: change(structure["model"]["drawn"]["state"]))
        with pytest.raises(ModelFileError, match="too large"):
            mercer.load(path)

    enlarged(lambda recipe: put(recipe["parameters"], "n_components", 10**12))
    scalar = {"scalar": 10**12, "dtype": "int64"}
    enlarged(lambda recipe: put(recipe["parameters"], "n_components", scalar))
    enlarged(lambda recipe: put(recipe["state"], "n_features_in_", 10**12))
    enlarged(lambda recipe: recipe.update(n_drawn=10**12))
    # Few numbers are said to be drawn, and many would be.
    enlarged(lambda recipe: put(recipe["parameters"], "n_components", 10**6))

    def both(recipe):
        put(recipe["parameters"], "n_components", 10**8)
        recipe["n_drawn"] = 2**27

    enlarged(both)


def test_a_recipe_sets_what_a_map_learns_and_nothing_else(tmp_path):
    path = tmp_path / "m.mercer"
    mercer.save(FOURIER.fit(X), path, compact=True)

    def change(structure, arrays):
        structure["model"]["drawn"]["state"]["state"]["dict"].append(["transform", 1])

    forged(path, change)
    with pytest.raises(ModelFileError, match="sets 'transform'"):
        mercer.load(path)


def put(node, name, value):
    """Set an entry of a stored dictionary."""
    next(pair for pair in node["dict"] if pair[0] == name)[1] = value


@pytest.mark.parametrize(
    ("features", "width"),
    [
        (PolynomialSketch(degree=3, n_components=2048, random_state=0), 30_000),
        (NTKFeatures(3, n_components=4096, degree=16, random_state=0), 784),
        (RandomFourier(n_components=2**15, projection="fastfood", random_state=0), 2**13),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_compact_file_that_saves_can_be_loaded(features, width, tmp_path):
    rows = np.cos(np.arange(3.0 * width)).reshape(3, width)
    features = features.fit(rows)
    mercer.save(features, tmp_path / "m.mercer", compact=True)
    assert (tmp_path / "m.mercer").stat().st_size < 20_000
    loaded = mercer.load(tmp_path / "m.mercer")
    assert np.array_equal(loaded.transform(rows), features.transform(rows))


def test_a_map_that_is_too_large_to_be_drawn_again_is_refused_when_it_is_saved(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("mercer.features.recipe.LARGEST_DRAW", 1000)
    model = MODELS["dual"]()
    with pytest.raises(ModelFileError, match=r"fitted cannot be saved: .*compact=False"):
        mercer.save(model, tmp_path / "m.mercer", compact=True)
    mercer.save(model, tmp_path / "m.mercer")
    assert np.array_equal(mercer.load(tmp_path / "m.mercer").predict(X), model.predict(X))


def test_deep_nesting_is_refused(tmp_path):
    path = tmp_path / "m.mercer"
    text = f'{{"version": {FORMAT}, "model": ' + "[" * 100_000 + "]" * 100_000 + "}"
    arrays = {"a": np.zeros(1)}
    save_file(arrays, str(path), metadata={"mercer": text, "sha256": checksum(text, arrays)})
    with pytest.raises(ModelFileError):
        mercer.load(path)


def test_other_files_are_told_apart(tmp_path):
    with pytest.raises(FileNotFoundError, match="no file"):
        mercer.load(tmp_path / "gone.mercer")
    mercer.save(MODELS["raw"](), tmp_path / "houses.mercer")
    with pytest.raises(FileNotFoundError, match=r"did you mean 'houses.mercer'"):
        mercer.load(tmp_path / "house.mercer")
    (tmp_path / "text.mercer").write_text("a,b\n1,2\n")
    with pytest.raises(ModelFileError, match="not a model file"):
        mercer.load(tmp_path / "text.mercer")
    save_file({"a": np.zeros(2)}, str(tmp_path / "other.mercer"))
    with pytest.raises(ModelFileError, match="no mercer model"):
        mercer.load(tmp_path / "other.mercer")
    with pytest.raises(ModelFileError):
        mercer.load(tmp_path)


@pytest.mark.parametrize("compact", [False, True])
@pytest.mark.parametrize("state", [np.random.default_rng(0), np.random.RandomState(0), None, 3])
@pytest.mark.filterwarnings("ignore:The kernel matrix of 16 features")
def test_every_kind_of_random_state_can_be_kept(state, compact, tmp_path):
    features = RandomFourier(Gaussian(1.0), n_components=16, random_state=state).fit(X)
    model = KernelRegressor(Gaussian(1.0), n_components=16, random_state=state).fit(X, Y)
    for k, fitted in enumerate((features, model)):
        mercer.save(fitted, tmp_path / str(k), compact=compact)
    assert np.array_equal(mercer.load(tmp_path / "0").transform(X), features.transform(X))
    assert np.array_equal(mercer.load(tmp_path / "1").predict(X), model.predict(X))


def test_arrays_of_foreign_byte_order(tmp_path):
    model = FeatureRidgeClassifier().fit(X, (Y > 0).astype(">i4"))
    mercer.save(model, tmp_path / "m.mercer")
    assert np.array_equal(mercer.load(tmp_path / "m.mercer").predict(X), model.predict(X))


def test_compact_maps_keep_their_output(tmp_path):
    features = RandomFourier(n_components=4, random_state=0).set_output(transform="pandas").fit(X)
    mercer.save(features, tmp_path / "m.mercer", compact=True)
    assert isinstance(mercer.load(tmp_path / "m.mercer").transform(X), pd.DataFrame)


@pytest.mark.parametrize(
    "node",
    [
        {"objects": ["a"], "shape": [1], "dtype": "<U100000000"},
        {"scalar": 500_000_000, "dtype": "S"},
        {"scalar": 500_000_000, "dtype": "V"},
    ],
)
def test_small_files_cannot_ask_for_much(node, tmp_path):
    path = tmp_path / "m.mercer"
    mercer.save(FOURIER.fit(X), path)
    forged(path, lambda structure, arrays: structure.update(model=node))
    try:
        value = mercer.load(path)
    except ModelFileError:
        return
    assert value.nbytes < 100


@pytest.mark.parametrize("compact", [False, True])
@pytest.mark.parametrize("make", [np.random.RandomState, np.random.default_rng])
def test_a_fitted_machine_whose_map_has_a_generator_can_be_saved(make, compact, tmp_path):
    features = RandomFourier(Gaussian(2.0), n_components=16, random_state=make(0))
    model = FeatureRidge(features).fit(X, Y)
    mercer.save(model, tmp_path / "m.mercer", compact=compact)
    assert np.array_equal(mercer.load(tmp_path / "m.mercer").predict(X), model.predict(X))


BIT_GENERATORS = ["MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"]


@pytest.mark.parametrize("name", BIT_GENERATORS)
def test_an_unfitted_map_keeps_its_generator_and_where_it_stands(name, tmp_path):
    for kind in (np.random.Generator, np.random.RandomState):
        generator = kind(getattr(np.random, name)(3))
        generator.normal(size=5)
        features = RandomFourier(n_components=8, random_state=generator)
        mercer.save(features, tmp_path / "m.mercer")
        loaded = mercer.load(tmp_path / "m.mercer")
        assert type(loaded.random_state) is kind
        assert loaded.fit(X).seed_ == features.fit(X).seed_
