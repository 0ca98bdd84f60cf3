"""Tests of transformers of others as the encoder of the front door."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
    TargetEncoder,
)

import mercer
from mercer import Gaussian, KernelClassifier, KernelRegressor
from mercer.io import ModelFileError, fit_resumable

N = 400
RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "size": RNG.uniform(20, 150, N),
        "age": np.where(RNG.random(N) < 0.2, np.nan, RNG.uniform(0, 80, N)),
        "city": RNG.choice(["Bern", "Genf", "Chur"], N),
    }
)
Y = FRAME["size"].to_numpy() / 20 + 2.0 * (FRAME["city"] == "Bern").to_numpy()


def columns(**options):
    return make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), ["size", "age"]),
        (OneHotEncoder(handle_unknown="ignore"), ["city"]),
        **options,
    )


def test_a_column_transformer_from_end_to_end(tmp_path):
    model = KernelRegressor(encoder=columns()).fit(FRAME, Y)
    assert isinstance(model.encoder_, ColumnTransformer)
    assert not hasattr(model.encoder, "transformers_")
    assert model.report_.encoding == "ColumnTransformer; 5 columns once encoded"
    assert model.report_.n_columns == 3
    assert model.feature_names_in_.tolist() == ["size", "age", "city"]
    assert model.score(FRAME, Y) > 0.99
    # The machine sees what the transformer makes, and nothing else.
    encoded = columns().fit(FRAME).transform(FRAME)
    assert np.array_equal(model.predict(FRAME), model.machine_.predict(encoded))
    mercer.save(model, tmp_path / "model.mercer")
    loaded = mercer.load(tmp_path / "model.mercer")
    assert np.array_equal(loaded.predict(FRAME), model.predict(FRAME))
    assert isinstance(loaded.encoder_, ColumnTransformer)


@pytest.mark.parametrize("arguments", [{}, {"n_components": 60}, {"approximation": "features"}])
@pytest.mark.parametrize("kernel", ["gaussian", "ntk", "auto", Gaussian(2.0)])
def test_every_way_to_learn_takes_it(kernel, arguments):
    if arguments == {"approximation": "features"} and kernel == "auto":
        # As slow as all the others together.
        return
    model = KernelRegressor(kernel, encoder=columns(), **arguments).fit(FRAME, Y)
    assert model.score(FRAME, Y) > 0.95


def test_frames_of_other_libraries_are_answered_alike():
    model = KernelRegressor("gaussian", encoder=columns()).fit(FRAME, Y)
    polars = pl.from_pandas(FRAME)
    for rows in (polars, polars.to_arrow(), polars.to_arrow().to_batches()[0]):
        assert model.predict(rows) == pytest.approx(model.predict(FRAME), abs=1e-12)
    from_polars = KernelRegressor("gaussian", encoder=columns()).fit(polars, Y)
    assert from_polars.predict(FRAME) == pytest.approx(model.predict(FRAME), abs=1e-9)


def test_a_stream_teaches_it_by_its_first_block_and_says_so():
    blocks = [(FRAME[:300], Y[:300]), (FRAME[300:], Y[300:])]
    with pytest.warns(UserWarning, match=r"no partial_fit.*first block.*300 rows"):
        model = KernelRegressor("gaussian", encoder=columns()).fit(blocks)
    assert model.report_.n_rows == N
    expected = columns().fit(FRAME[:300]).transform(FRAME)
    assert np.array_equal(model.encoder_.transform(FRAME), expected)
    # One that learns block by block learns from all.
    numbers = [(rows[["size"]], y) for rows, y in blocks]
    model = KernelRegressor("gaussian", encoder=StandardScaler()).fit(numbers)
    assert model.encoder_.mean_ == pytest.approx(FRAME[["size"]].mean().to_numpy())


def test_a_pass_with_it_is_resumed(tmp_path):
    class Stopped(Exception):
        pass

    class Blocks:
        left = 13

        def __iter__(self):
            for rows in np.split(np.arange(N), 4):
                self.left -= 1
                if self.left == 0:
                    raise Stopped
                yield FRAME.iloc[rows], Y[rows]

    file, blocks = tmp_path / "pass.checkpoint", Blocks()
    model = KernelRegressor(Gaussian(2.0), n_components=32, encoder=columns())
    first = r"no partial_fit"
    with pytest.raises(Stopped), pytest.warns(UserWarning, match=first):
        fit_resumable(model, blocks, file, every=0)
    blocks.left = 10**9
    with pytest.warns(UserWarning, match="Resumed from"):
        fit_resumable(model, blocks, file)
    with pytest.warns(UserWarning, match=first):
        whole = KernelRegressor(Gaussian(2.0), n_components=32, encoder=columns()).fit(blocks)
    assert np.array_equal(model.predict(FRAME), whole.predict(FRAME))


def test_sparse_and_framed_outputs_are_numbers():
    dense = KernelRegressor("gaussian", encoder=columns(sparse_threshold=0)).fit(FRAME, Y)
    sparse = KernelRegressor("gaussian", encoder=columns(sparse_threshold=1)).fit(FRAME, Y)
    assert scipy.sparse.issparse(sparse.encoder_.transform(FRAME))
    assert sparse.predict(FRAME) == pytest.approx(dense.predict(FRAME), abs=1e-3)
    for library in ("pandas", "polars"):
        framed = columns(sparse_threshold=0)
        framed.set_params(onehotencoder__sparse_output=False).set_output(transform=library)
        model = KernelRegressor("gaussian", encoder=framed).fit(FRAME, Y)
        assert model.predict(FRAME) == pytest.approx(dense.predict(FRAME), abs=1e-9)


def test_transformers_without_names_and_of_arrays():
    X = RNG.standard_normal((200, 3))
    y = np.sin(X[:, 0])
    squares = FunctionTransformer(lambda rows: np.hstack([rows, rows**2]))
    model = KernelRegressor("gaussian", encoder=squares).fit(X, y)
    assert model.report_.encoding == "FunctionTransformer; 6 columns once encoded"
    assert model.score(X, y) > 0.9
    pipeline = make_pipeline(StandardScaler(), PCA(2))
    classifier = KernelClassifier("gaussian", encoder=pipeline).fit(X, X[:, 0] > 0)
    assert classifier.report_.encoding == "Pipeline; 2 columns once encoded"
    assert classifier.predict_proba(X).shape == (200, 2)


@pytest.mark.parametrize(
    ("encoder", "words"),
    [
        (make_column_transformer((OrdinalEncoder(), ["city"]), remainder="passthrough"),
         r"column 'remainder__age' holds missing.*SimpleImputer"),
        (FunctionTransformer(), r"no numbers .*OneHotEncoder"),
        (make_column_transformer((TargetEncoder(), ["city"])), r"TargetEncoder learns from the "
         r"targets.*make_pipeline\(TargetEncoder\(\), KernelRegressor\(\)\)"),
        (FunctionTransformer(lambda X: np.ones(len(X))), r"output has shape \(2,\)"),
    ],
)  # fmt: skip
def test_what_it_cannot_use_is_told_with_the_way_out(encoder, words):
    with pytest.raises(ValueError, match=words):
        KernelRegressor("gaussian", encoder=encoder).fit(FRAME, Y)


def test_no_transformer_is_refused():
    with pytest.raises(ValueError, match="'encoder' parameter"):
        KernelRegressor("gaussian", encoder="onehot").fit(FRAME, Y)


def test_a_model_file_cannot_hold_what_it_does_not_know(tmp_path):
    squares = FunctionTransformer(lambda rows: rows**2)
    model = KernelRegressor("gaussian", encoder=squares).fit(FRAME[["size"]], Y)
    with pytest.raises(ModelFileError, match="func"):
        mercer.save(model, tmp_path / "model.mercer")
    assert not (tmp_path / "model.mercer").exists()


def test_skrub(tmp_path):
    skrub = pytest.importorskip("skrub")
    day = pd.Series(pd.date_range("2024-01-01", periods=N)).astype(str)
    frame = FRAME.assign(day=day, street=RNG.choice([f"street {k}" for k in range(60)], N))
    for rows in (frame, pl.from_pandas(frame)):
        model = KernelRegressor("gaussian", encoder=skrub.TableVectorizer())
        # It leaves gaps of numbers as they are.
        with pytest.raises(ValueError, match=r"TableVectorizer.*'age' holds missing"):
            model.fit(rows, Y)
        vectorizer = make_pipeline(skrub.TableVectorizer(), SimpleImputer(), StandardScaler())
        model = KernelRegressor("gaussian", encoder=vectorizer).fit(rows, Y)
        assert model.score(rows, Y) > 0.95
        assert model.predict(frame) == pytest.approx(model.predict(pl.from_pandas(frame)))
    with pytest.raises(ModelFileError, match=r"skrub.*TableVectorizer"):
        mercer.save(model, tmp_path / "model.mercer")
