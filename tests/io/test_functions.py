"""Tests of functions in model files: by name, from a closed list, and no code."""

import sys

import numpy as np
import pandas as pd
import pytest
import scipy.special
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import mercer
from mercer import FeatureRidge, Gaussian, KernelRegressor, RandomFourier
from mercer.io import ModelFileError
from mercer.io.functions import MODULES, TYPES, function_key, function_of

X = np.random.default_rng(0).uniform(1.0, 2.0, (60, 3))
Y = np.log(X[:, 0])
FRAME = pd.DataFrame(X, columns=["a", "b", "c"]).assign(kind=["u", "v", "w"] * 20)
FOURIER = RandomFourier(Gaussian(1.0), n_components=32, random_state=0)


def saved(model, tmp_path):
    mercer.save(model, tmp_path / "model.mercer")
    return mercer.load(tmp_path / "model.mercer")


@pytest.mark.parametrize(
    "function",
    [None, np.log1p, np.sqrt, np.abs, np.clip, np.nan_to_num, np.round, np.around,
     scipy.special.expit, scipy.special.log1p, scipy.special.softmax],
)  # fmt: skip
def test_a_pipeline_with_a_function_predicts_the_same(function, tmp_path):
    options = {"a_min": 1.2, "a_max": 1.8} if function is np.clip else None
    step = FunctionTransformer(function, kw_args=options, feature_names_out="one-to-one")
    model = FeatureRidge(make_pipeline(step, StandardScaler(), FOURIER)).fit(X, Y)
    loaded = saved(model, tmp_path)
    assert np.array_equal(loaded.predict(X), model.predict(X))
    assert loaded.features_.steps[0][1].func is function


def test_a_column_transformer_that_passes_columns_through(tmp_path):
    columns = make_column_transformer(
        (OneHotEncoder(), make_column_selector(dtype_exclude=np.number)),
        (FunctionTransformer(np.log1p), make_column_selector(pattern="^a")),
        remainder="passthrough",
    )
    model = KernelRegressor("gaussian", encoder=columns).fit(FRAME, Y)
    loaded = saved(model, tmp_path)
    assert np.array_equal(loaded.predict(FRAME), model.predict(FRAME))
    unfitted = saved(model, tmp_path).encoder
    assert unfitted.transformers[0][2].dtype_exclude is np.number
    again = KernelRegressor("gaussian", encoder=unfitted).fit(FRAME, Y)
    assert np.array_equal(again.predict(FRAME), model.predict(FRAME))


def doubled(rows):
    return 2 * rows


@pytest.mark.parametrize(
    "function",
    [lambda rows: rows, doubled, np.save, np.load, np.frompyfunc(abs, 1, 1), scipy.linalg.inv,
     print, np.random.default_rng, np.linalg.norm],
)  # fmt: skip
def test_other_functions_are_refused_with_the_way_out(function, tmp_path):
    model = make_pipeline(FunctionTransformer(function), FOURIER)
    with pytest.raises(ModelFileError, match=r"func is the function .*numpy\.log1p"):
        mercer.save(model, tmp_path / "model.mercer")
    assert not list(tmp_path.iterdir())


def test_every_function_on_the_list_exists_and_has_its_name():
    for module, names in MODULES.items():
        for name in names:
            function = function_of(f"{module}:{name}")
            assert callable(function)
            assert function_key(function, "func") == f"{module}:{name}"


@pytest.mark.parametrize(
    "key", ["os:system", "numpy:save", "numpy:linalg.inv", "numpy:__loader__", "antigravity:fly",
            "numpy", "", 7, None, ["numpy:log1p"]]
)  # fmt: skip
def test_a_name_that_is_not_on_the_list_is_refused_and_nothing_is_imported(key):
    before = set(sys.modules)
    with pytest.raises(ModelFileError, match="not on the list"):
        function_of(key)
    assert set(sys.modules) == before


def test_types_that_select_columns_are_kept(tmp_path):
    for kind in TYPES.values():
        selector = make_column_selector(dtype_include=[kind, np.float32])
        found = saved(selector, tmp_path).dtype_include
        assert found == [kind, np.float32]
