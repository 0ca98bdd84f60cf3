"""Fields on a grid: cells become rows, and values of rows cells."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import FeatureRidge, KernelRegressor, RandomFourier, SphericalCoordinates
from mercer.io import GridRows

xarray = pytest.importorskip("xarray")
pandas = pytest.importorskip("pandas")

GENERATOR = np.random.default_rng(0)
SHAPE = 3, 5, 7


def field(dtype=float):
    values = GENERATOR.standard_normal(SHAPE).astype(dtype)
    values[GENERATOR.random(SHAPE) < 0.3] = np.nan
    return xarray.DataArray(
        values,
        {
            "time": pandas.date_range("2024-01-01", periods=3, freq="MS"),
            "latitude": np.linspace(-60, 60, 5),
            "longitude": np.linspace(0, 300, 7),
        },
        name="temperature",
        attrs={"units": "K"},
    )


def by_loops(array, wanted):
    """Return rows and values of cells, one after the other."""
    rows, values = [], []
    for t in range(array.sizes["time"]):
        for i in range(array.sizes["latitude"]):
            for j in range(array.sizes["longitude"]):
                cell = array[t, i, j]
                if wanted == "all" or np.isnan(float(cell)) == (wanted == "missing"):
                    rows.append([cell[name].values for name in ("time", "latitude", "longitude")])
                    values.append(float(cell))
    return pandas.DataFrame(rows, columns=["time", "latitude", "longitude"]), np.asarray(values)


@pytest.mark.parametrize("cells", ["known", "missing", "all"])
def test_rows_are_the_cells_of_the_grid(cells):
    array = field()
    X, y = by_loops(array, cells)
    found = GridRows(array, cells=cells, block_rows=10).rows()
    if cells == "known":
        found, values = found
        assert np.array_equal(values, y)
    assert list(found.columns) == ["time", "latitude", "longitude"]
    assert found["time"].dtype.kind == "M"
    for name in found:
        assert (found[name].to_numpy() == X[name].to_numpy().astype(found[name].dtype)).all()


@pytest.mark.parametrize("cells", ["known", "missing", "all"])
@pytest.mark.parametrize("chunks", [None, {"time": 2, "latitude": 3, "longitude": 4}, {"time": 1}])
def test_values_of_rows_come_back_to_their_cells(cells, chunks):
    array = field()
    if chunks is not None:
        pytest.importorskip("dask")
        array = array.chunk(chunks)
    rows = GridRows(array, cells=cells, block_rows=4)
    X = rows.rows()[0] if cells == "known" else rows.rows()
    marks = X["latitude"].to_numpy() + 1000 * X["longitude"].to_numpy()
    back = rows.grid(marks)
    truth = (array["latitude"] + 1000 * array["longitude"]).broadcast_like(array)
    truth = truth.transpose(*array.dims)
    if cells != "all":
        truth = truth.where(array.notnull() if cells == "known" else array.isnull())
    xarray.testing.assert_equal(back, truth.compute().rename("temperature"))
    assert back.attrs == {}
    assert rows.grid(marks, name="error").name == "error"


@settings(max_examples=40, deadline=None)
@given(
    shape=st.lists(st.integers(1, 5), min_size=1, max_size=3),
    block_rows=st.integers(1, 7),
    seed=st.integers(0, 2**16),
)
def test_known_and_missing_cells_together_are_the_field(shape, block_rows, seed):
    generator = np.random.default_rng(seed)
    values = generator.standard_normal(shape)
    values[generator.random(shape) < 0.5] = np.nan
    array = xarray.DataArray(values)
    known = GridRows(array, block_rows=block_rows)
    X, y = known.rows()
    xarray.testing.assert_equal(known.grid(y), array)
    assert np.array_equal(values[tuple(X.to_numpy(int).T)], y)
    gaps = GridRows(array, cells="missing", block_rows=block_rows)
    filled = array.fillna(gaps.grid(np.arange(float(len(gaps.rows())))))
    assert not filled.isnull().any()
    assert len(X) + len(gaps.rows()) == array.size


def test_chunks_are_read_one_by_one():
    dask = pytest.importorskip("dask.array")
    largest = []

    def read(block):
        largest.append(block.size)
        return block

    array = field()
    values = dask.from_array(array.values, chunks=(1, 5, 7)).map_blocks(read, dtype=float)
    largest.clear()
    found = [len(y) for _, y in GridRows(array.copy(data=values))]
    assert sum(found) == int(array.notnull().sum())
    assert max(largest) == 35


def test_a_dataset_has_other_variables_as_columns():
    array = field()
    height = xarray.DataArray(
        GENERATOR.standard_normal(SHAPE[1:]), {k: array[k] for k in ("latitude", "longitude")}
    )
    data = xarray.Dataset({"temperature": array, "height": height})
    rows = GridRows(data, "temperature")
    X, y = rows.rows()
    assert rows.columns == ["time", "latitude", "longitude", "height"]
    expected = [
        float(height.sel(latitude=a, longitude=b))
        for a, b in zip(X["latitude"], X["longitude"], strict=True)
    ]
    assert X["height"].tolist() == expected
    assert len(y) == int(array.notnull().sum())
    chosen = GridRows(data, "temperature", columns=["height", "latitude"])
    assert chosen.columns == ["height", "latitude"]


def test_coordinates_of_two_dimensions_are_columns():
    values = GENERATOR.standard_normal((4, 3))
    turned = np.arange(12.0).reshape(4, 3)
    array = xarray.DataArray(values, dims=("y", "x"), coords={"latitude": (("y", "x"), turned)})
    X, _ = GridRows(array, columns=["latitude", "x", "y"]).rows()
    assert X["latitude"].tolist() == turned.ravel().tolist()
    assert X["x"].tolist() == [0, 1, 2] * 4
    assert X["y"].tolist() == np.repeat(np.arange(4), 3).tolist()


def test_machines_learn_from_the_stream_and_predict_the_gaps():
    array = field()[0].drop_vars("time")
    X, y = GridRows(array).rows()
    pipeline = SphericalCoordinates(columns=("latitude", "longitude"))
    known, gaps = GridRows(array, block_rows=4), GridRows(array, cells="missing", block_rows=4)
    streamed = FeatureRidge(alpha=0.1).fit(known)
    whole = FeatureRidge(alpha=0.1).fit(X, y)
    mean, std = streamed.predict(gaps, return_std=True)
    np.testing.assert_allclose(mean, whole.predict(gaps.rows()), atol=1e-9)
    filled = array.fillna(gaps.grid(mean))
    assert not filled.isnull().any()
    assert (filled == array).sum() == array.notnull().sum()
    assert (gaps.grid(std).notnull() == array.isnull()).all()
    points = pipeline.fit(X).transform(X)
    assert np.allclose(np.linalg.norm(points, axis=1), 1)


def test_the_front_door_takes_times_of_a_grid():
    array = field()
    model = KernelRegressor("gaussian", approximation="exact").fit(GridRows(array, block_rows=16))
    rows = GridRows(array, cells="all", block_rows=16)
    assert rows.grid(model.predict(rows)).notnull().all()
    assert "date" in model.report_.encoding


def test_no_gaps_are_said_to_be_none():
    array = field()[0].drop_vars("time").fillna(0.0)
    model = FeatureRidge(alpha=0.1).fit(GridRows(array))
    with pytest.raises(ValueError, match="The field has no missing cells"):
        model.predict(GridRows(array, cells="missing"))


def test_times_of_a_grid_need_an_encoder():
    array = field()
    X, y = GridRows(array).rows()
    for step in (RandomFourier(n_components=10), SphericalCoordinates((1, 2))):
        with pytest.raises(TypeError, match=r"'time' holds dates.*assign_coords\(time=days"):
            step.fit(X, y)
    polars = pytest.importorskip("polars")
    for other in (X[["time"]], polars.from_pandas(X)):
        with pytest.raises(TypeError, match="'time' holds dates"):
            RandomFourier(n_components=10).fit(other)


def test_features_on_a_stream_of_frames():
    array = field()[0].drop_vars("time")
    features = RandomFourier(n_components=10, random_state=0)
    model = FeatureRidge(features, alpha=0.1).fit(GridRows(array))
    assert model.features_.n_features_in_ == 2


def test_what_is_not_a_field_is_refused():
    array, data = field(), xarray.Dataset({"a": field()[0], "b": field()})
    with pytest.raises(TypeError, match="must be an xarray DataArray or Dataset, got ndarray"):
        GridRows(np.zeros((2, 2)))
    with pytest.raises(ValueError, match="target must name a variable of the dataset: a, b"):
        GridRows(data)
    with pytest.raises(ValueError, match="target='B' is not there; did you mean 'b'"):
        GridRows(data, "B")
    with pytest.raises(ValueError, match="a DataArray is its own"):
        GridRows(array, "a")
    with pytest.raises(ValueError, match="'b' varies along 'time'"):
        GridRows(data, "a")
    with pytest.raises(ValueError, match="no 'latitud'; did you mean 'latitude'"):
        GridRows(array, columns=["latitud"])
    with pytest.raises(ValueError, match="no 'lat'; it has time, latitude, longitude"):
        GridRows(array, columns=["lat"])
    with pytest.raises(ValueError, match="'wind' is not there; the dataset has a, b"):
        GridRows(data, "wind")
    with pytest.raises(ValueError, match="cells must be one of"):
        GridRows(array, cells="some")
    with pytest.raises(ValueError, match="block_rows"):
        GridRows(array, block_rows=0)
    with pytest.raises(ValueError, match="single number"):
        GridRows(array[0, 0, 0])
    for wrong in (5, array.size - 1, array.size + 1):
        with pytest.raises(ValueError, match=f"there are {wrong} for the 105 cells"):
            GridRows(array, cells="all").grid(np.zeros(wrong))
    with pytest.raises(ValueError, match="a field of each column"):
        GridRows(array).grid(np.zeros((3, 2)))
