"""Latitude and longitude, and features of coordinates and times."""

import re

import numpy as np
import pytest

from mercer import Gaussian, GegenbauerFeatures, RandomFourier
from mercer.features import ProductFeatures
from mercer.preprocessing import SphericalCoordinates


def test_coordinates_are_points_of_the_sphere():
    places = np.asarray([[0.0, 0.0], [0.0, 90.0], [90.0, 5.0], [-90.0, 77.0], [45.0, -180.0]])
    root = 0.5**0.5
    expected = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, -1], [-root, 0, root]]
    points = SphericalCoordinates().fit_transform(places)
    assert points == pytest.approx(np.asarray(expected), abs=1e-15)
    radians = SphericalCoordinates(unit="radians").fit_transform(np.deg2rad(places))
    assert radians == pytest.approx(points, abs=1e-15)


def test_longitudes_are_taken_modulo_a_turn():
    turns = np.asarray([[12.0, 33.0 + 360 * k] for k in (-1000, -1, 0, 1, 12345)])
    points = SphericalCoordinates().fit_transform(turns)
    assert abs(points - points[0]).max() < 1e-9
    assert points.dtype == np.float64
    assert SphericalCoordinates().fit_transform(turns.astype("float32")).dtype == np.float32


def test_columns_by_name_and_others_appended():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"time": [1.0, 2.0], "lon": [0.0, 90.0], "lat": [0.0, 0.0]})
    transformer = SphericalCoordinates(columns=("lat", "lon")).set_output(transform="pandas")
    found = transformer.fit_transform(frame)
    assert list(found.columns) == ["x", "y", "z", "time"]
    assert found.to_numpy() == pytest.approx(np.asarray([[1, 0, 0, 1], [0, 1, 0, 2]]), abs=1e-15)


@pytest.mark.parametrize(
    ("parameters", "rows", "word"),
    [
        ({}, [[91.0, 0.0]], "columns=\\(1, 0\\)"),
        ({"unit": "radians"}, [[1.6, 0.0]], "another unit"),
        ({"columns": ("lat", "lon")}, [[0.0, 0.0]], "no names"),
        ({"columns": (0,)}, [[0.0, 0.0]], "latitude and longitude"),
        ({"columns": (0, 0)}, [[0.0, 0.0]], "twice"),
        ({"columns": (0, 2)}, [[0.0, 0.0]], "from 0 to 1 .* got 2"),
        ({"columns": (0, 1.0)}, [[0.0, 0.0]], "from 0 to 1 .* got 1.0"),
        ({}, [[np.nan, 0.0]], "NaN"),
        ({"unit": "turns"}, [[0.0, 0.0]], "unit"),
    ],
)
def test_bad_coordinates_are_refused(parameters, rows, word):
    with pytest.raises(ValueError, match=word):
        SphericalCoordinates(**parameters).fit(np.asarray(rows))


def test_features_of_coordinates_and_times_are_those_of_the_product_kernel():
    rng = np.random.default_rng(0)
    places = np.column_stack(
        [np.rad2deg(np.arcsin(rng.uniform(-1, 1, 80))), rng.uniform(0, 360, 80)]
    )
    rows = np.column_stack([places, rng.uniform(0, 3, 80)])
    X = SphericalCoordinates().fit_transform(rows)
    maps = [
        GegenbauerFeatures(Gaussian(0.6), n_components=150, tolerance=1e-9),
        GegenbauerFeatures(Gaussian(1.0), n_components=20, tolerance=1e-9),
    ]
    features = ProductFeatures(maps, [[0, 1, 2], [3]], random_state=0).fit(X)
    exact = Gaussian(0.6)(X[:, :3]) * Gaussian(1.0)(X[:, 3:])
    assert features.maps_[0].domain_ == "sphere"
    assert features.kernel_(X) == pytest.approx(exact, abs=1e-12)
    Z = features.transform(X)
    assert abs(Z @ Z.T - exact).max() < 1e-6
    sketched = ProductFeatures(maps, [[0, 1, 2], [3]], n_components=4000, random_state=0)
    Z = sketched.fit(X).transform(X)
    assert Z.shape == (80, 4000)
    assert abs(Z @ Z.T - exact).max() < 0.15


@pytest.mark.parametrize(
    ("names", "columns", "right"),
    [
        (["lon", "lat"], (0, 1), "('lat', 'lon')"),
        (["Time", "Latitude", "Longitude"], (0, 1), "('Latitude', 'Longitude')"),
        (["lat", "time", "lon"], (0, 1), "('lat', 'lon')"),
        (["lat", "lon"], ("lon", "lat"), "('lat', 'lon')"),
    ],
)
def test_names_that_contradict_columns_are_refused(names, columns, right):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(np.ones((2, len(names))), columns=names)
    with pytest.raises(ValueError, match=re.escape(f"write columns={right}.")):
        SphericalCoordinates(columns).fit(X)
    others = X.assign(phi=2.0, lam=3.0)
    assert SphericalCoordinates(("phi", "lam")).fit(others).columns_ == (len(names), len(names) + 1)


def test_bad_products_are_refused():
    X = np.random.default_rng(0).standard_normal((20, 3))
    one = RandomFourier(n_components=400)
    with pytest.raises(ValueError, match="2 maps and 1 groups"):
        ProductFeatures([one, one], [[0]]).fit(X)
    with pytest.raises(TypeError, match="got 'time'"):
        ProductFeatures([one, "time"], [[0], [1]]).fit(X)
    with pytest.raises(ValueError, match="n_components"):
        ProductFeatures([one, one], [[0], [1]]).fit(X)
    with pytest.raises(ValueError, match="from 0 to 2"):
        ProductFeatures([one, one], [[0], [5]]).fit(X)
