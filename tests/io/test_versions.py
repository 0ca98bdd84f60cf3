"""Tests of the versions that model files are written with."""

import json
import warnings

import numpy as np
import pytest
import sklearn
from safetensors import safe_open
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from forged_files import forged
from mercer import FeatureRidge, Gaussian, RandomFourier
from mercer.io import ModelFileError, fit_resumable
from mercer.io.versions import minor

X = np.random.default_rng(0).standard_normal((80, 4))
Y = np.sin(X[:, 0])
FOURIER = RandomFourier(Gaussian(2.0), n_components=16, random_state=0)
MODELS = {
    "mercer": FeatureRidge(FOURIER),
    "scikit-learn": FeatureRidge(make_pipeline(StandardScaler(), FOURIER)),
}


def written(tmp_path, name, **versions):
    path = tmp_path / "model.mercer"
    mercer.save(MODELS[name].fit(X, Y), path)
    forged(path, lambda content, _: content.update(versions))
    return path


def loads_silently(path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return mercer.load(path)


def test_a_file_holds_the_versions_that_it_was_written_with(tmp_path):
    path = written(tmp_path, "mercer")
    with safe_open(str(path), framework="numpy") as file:
        content = json.loads(file.metadata()["mercer"])
    assert content["mercer"] == mercer.__version__
    assert content["scikit-learn"] == sklearn.__version__
    loads_silently(path)


def test_another_scikit_learn_is_told_where_its_estimators_are_in_the_file(tmp_path):
    other = {"scikit-learn": "0.24.2"}
    loads_silently(written(tmp_path, "mercer", **other))
    path = written(tmp_path, "scikit-learn", **other)
    words = f"scikit-learn 0.24.2, not {sklearn.__version__}: what it predicts may differ"
    with pytest.warns(UserWarning, match=words) as caught:
        loaded = mercer.load(path)
    assert loaded.predict(X).shape == Y.shape
    # It names the line of the user.
    assert [warning.filename for warning in caught] == [__file__]


def test_another_patch_of_a_version_does_not_matter(tmp_path):
    patch = f"{minor(sklearn.__version__)}.99"
    loads_silently(written(tmp_path, "scikit-learn", **{"scikit-learn": patch}))


@pytest.mark.parametrize("name", MODELS)
def test_another_mercer_is_told_always(name, tmp_path):
    with pytest.warns(UserWarning, match=r"mercer 7\.0\.0, not"):
        mercer.load(written(tmp_path, name, mercer="7.0.0"))


def test_both_are_told_in_one_sentence(tmp_path):
    path = written(tmp_path, "scikit-learn", **{"mercer": "7.0.0", "scikit-learn": "9.1.0"})
    with pytest.warns(UserWarning, match=r"mercer 7\.0\.0.* and scikit-learn 9\.1\.0") as caught:
        mercer.load(path)
    assert len(caught) == 1


def test_what_cannot_be_read_says_which_version_wrote_it(tmp_path):
    path = written(tmp_path, "mercer", mercer="7.0.0")
    unknown = {"object": "mercer.kernels.novel:Novel", "state": {}}
    forged(path, lambda content, _: content.update(model=unknown))
    with pytest.raises(ModelFileError, match=r"not on the list \(.*with mercer 7\.0\.0"):
        mercer.load(path)


@pytest.mark.parametrize("strange", [None, 7, ["1.0"]])
def test_files_without_a_version_and_strange_ones_are_read(strange, tmp_path):
    loads_silently(written(tmp_path, "scikit-learn", **{"scikit-learn": strange}))


def test_checkpoints_are_told_apart_too(tmp_path):
    path = tmp_path / "pass.checkpoint"

    class Stopped(Exception):
        pass

    class Blocks:
        left = 3

        def __iter__(self):
            for k in range(4):
                if self.left == k:
                    raise Stopped
                yield X[k::4], Y[k::4]

    blocks = Blocks()
    with pytest.raises(Stopped):
        fit_resumable(FeatureRidge(FOURIER), blocks, path, every=0)
    forged(path, lambda content, _: content.update(mercer="7.0.0"))
    blocks.left = None
    with pytest.warns(UserWarning, match="mercer|Resumed") as caught:
        fit_resumable(FeatureRidge(FOURIER), blocks, path)
    assert ["mercer 7.0.0" in str(warning.message) for warning in caught] == [True, False]
