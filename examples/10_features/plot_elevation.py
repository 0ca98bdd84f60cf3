"""
The earth from 50,000 scattered heights: spherical harmonics as features
========================================================================

On the sphere in three dimensions every zonal kernel has exact features: spherical harmonics,
2l + 1 columns for degree l. Latitude and longitude become points of the sphere, points become
2,500 columns (degrees 0 to 49), and a ridge regression learns heights from them. Only the
choice of the points is random, and there is neither a seam at 180 degrees nor a distortion at
the poles.

Data: ``sphere_elevation.npz`` with ``lat`` and ``lon`` in degrees and ``value`` in metres, on a
grid of 20 minutes (``etopo20`` of NOAA's Ferret data sets), in the folder that the environment
variable ``MERCER_DATA`` names. Without it the terrain is synthetic: a random field, generated
by features with random directions.
"""

import os
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LinearSegmentedColormap, ListedColormap, TwoSlopeNorm
from matplotlib.ticker import NullFormatter
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.pipeline import make_pipeline

from mercer import FeatureRidge, GegenbauerFeatures, Laplace, Matern, SphericalCoordinates
from mercer.kernels import zonal_coefficients

POINTS, COLUMNS = 50_000, 2500
MEASURED = Path(os.environ.get("MERCER_DATA", ".")) / "sphere_elevation.npz"
generator = np.random.default_rng(0)


def coordinates(lat, lon):
    """Return rows (latitude, longitude) of a grid, one latitude after the other."""
    grid = np.meshgrid(lat, lon, indexing="ij")
    return np.column_stack([angles.ravel() for angles in grid]).astype(np.float32)


def measured_terrain(size):
    """Return scattered coordinates and heights, and latitudes, longitudes, heights of a map."""
    with np.load(MEASURED) as file:
        lat, lon, value = file["lat"], file["lon"], file["value"]
    # The grid is denser at the poles; these probabilities make points uniform on the sphere.
    area = np.cos(np.radians(lat.astype(float)))
    drawn = generator.choice(len(value), size, replace=False, p=area / area.sum())
    X, y = np.column_stack([lat, lon])[drawn], value[drawn]
    height = value[np.lexsort([lon, lat])].reshape(len(np.unique(lat)), -1)
    return X, y, np.unique(lat)[1::3], np.unique(lon)[1::3], height[1::3, 1::3]


def synthetic_terrain(size):
    """Return the same for a random field whose spectrum decays like that of the earth."""
    lat, lon = np.arange(-89.5, 90), np.arange(-179.5, 180)
    sine, turn = generator.uniform(-1, 1, size), generator.uniform(-180, 180, size)
    X = np.column_stack([np.degrees(np.arcsin(sine)), turn]).astype(np.float32)
    rows = SphericalCoordinates().fit_transform(np.concatenate([X, coordinates(lat, lon)]))
    waves = GegenbauerFeatures(Laplace(0.5), n_components=600, degree=90, exact=0, random_state=5)
    field = 2500 * waves.fit_transform(rows) @ generator.standard_normal(600) - 1500
    return X, field[:size], lat, lon, field[size:].reshape(len(lat), len(lon))


name = "the earth" if MEASURED.is_file() else "a synthetic terrain"
terrain = measured_terrain if MEASURED.is_file() else synthetic_terrain
X, y, lat, lon, height = terrain(POINTS + 10_000)
train, test = slice(0, POINTS), slice(POINTS, None)

start = time.perf_counter()
kernel = Matern(lengthscale=0.3)
harmonics = GegenbauerFeatures(kernel, n_components=COLUMNS)
model = FeatureRidge(make_pipeline(SphericalCoordinates(), harmonics)).fit(X[train], y[train])
seconds = time.perf_counter() - start
found = model.predict(X[test])
r2, mae = r2_score(y[test], found), mean_absolute_error(y[test], found)
degree = model.features_[-1].degree_
print(f"{name}: {POINTS:,} points, degrees 0 to {degree}, fitted in {seconds:.0f} s")
print(f"10,000 test points: R2 {r2:.3f}, mean absolute error {mae:.0f} m")

fit = model.predict(coordinates(lat, lon)).reshape(height.shape)
# Each column of degree l has the mean square c_l / (2l + 1): the coefficients give a spectrum.
degrees = np.arange(degree + 1)
shares = zonal_coefficients(kernel, 3, degree) / (2 * degrees + 1)
starts = np.cumsum(2 * degrees + 1) - 2 * degrees - 1
spectrum = np.sqrt(np.add.reduceat(np.square(model.coef_).ravel(), starts) * shares)

sea = LinearSegmentedColormap.from_list("sea", ["#0b1e45", "#1f5c99", "#63aad6", "#d5ecf5"])
land = LinearSegmentedColormap.from_list(
    "land", ["#3f7d4e", "#a3bd7b", "#ead9a0", "#b5885a", "#8a6248", "#f7f7f7"]
)
steps = np.linspace(0, 1, 32)
colours = ListedColormap(np.concatenate([sea(steps), land(steps)]))
heights = {"cmap": colours, "norm": TwoSlopeNorm(0, -6500, 5000)}
errors = {"cmap": plt.get_cmap("RdBu_r", 21), "vmin": -1500, "vmax": 1500}
figure, panels = plt.subplots(2, 2, figsize=(10.6, 5.6), layout="constrained")
maps = [
    (f"heights of {name}", height, heights),
    (f"{POINTS:,} scattered points fitted by {COLUMNS:,} harmonics", fit, heights),
    (f"fit minus truth; on test points R² {r2:.3f}, MAE {mae:.0f} m", fit - height, errors),
]
for axes, (title, values, style) in zip(panels.flat, maps, strict=False):
    image = axes.imshow(values, extent=(-180, 180, -90, 90), origin="lower", **style)
    axes.set_title(title, fontsize="medium")
    axes.set(xticks=range(-180, 181, 60), yticks=range(-60, 61, 30))
    label = "height, m" if style is heights else "error, m"
    figure.colorbar(image, ax=axes, label=label, extend="both", fraction=0.024, pad=0.01)
last = panels[1, 1]
line = np.median((degrees * spectrum)[degree // 2 :]) / degrees[1:]
last.loglog(degrees[1:], spectrum[1:], "o-", ms=3, label="coefficients of the fit")
last.loglog(degrees[1:], line, "--", color="0.5", label="1 / degree")
for axis, ticks in ((last.xaxis, [1, 2, 5, 10, 20, 50]), (last.yaxis, [100, 300, 1000, 3000])):
    axis.set_ticks(ticks, labels=[f"{tick:,}" for tick in ticks])
    axis.set_minor_formatter(NullFormatter())
last.set_title("heights by degree", fontsize="medium")
last.set(xlabel="degree l: waves of 360 / l degrees", ylabel="root mean square, m")
last.grid(alpha=0.3)
last.legend()

plt.show()
