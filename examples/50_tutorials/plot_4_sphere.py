"""
A field on the sphere, with error bars
======================================

Weather stations stand where people live: crowded on some continents, rare on the oceans and near
the poles. From 600 of them we want a map of the whole earth, and to know where not to believe
it.

Longitude and latitude look like two columns of a table, but they are not: 179 degrees east and 179
degrees west are neighbours, and at a pole all longitudes meet. You will see what goes wrong if a
model does not know, tell it with two lines, and draw the error bars as a map of their own.
"""

# %%
# Stations
# --------
# The true field is a smooth random function on the sphere, 10 degrees warmer or colder than usual,
# so that we know it everywhere. Stations gather around some towns; every measurement has an error
# of one degree.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import r2_score
from sklearn.pipeline import make_pipeline

from mercer import (
    FeatureRidge,
    GegenbauerFeatures,
    KernelRegressor,
    Matern,
    SphericalCoordinates,
)
from mercer.diagnostics import IntervalDisplay

generator = np.random.default_rng(3)
STATIONS, NOISE = 600, 1.0


def coordinates_of(points):
    """Return latitude and longitude, in degrees, of points on the sphere."""
    latitude = np.degrees(np.arcsin(points[:, 2]))
    return np.column_stack([latitude, np.degrees(np.arctan2(points[:, 1], points[:, 0]))])


def on_sphere(points):
    """Return points divided by their norms."""
    return points / np.linalg.norm(points, axis=1, keepdims=True)


towns = on_sphere(generator.standard_normal((16, 3)) * [1, 1, 0.5])
near = towns[generator.integers(0, 16, STATIONS)]
crowded = on_sphere(near + 0.22 * generator.standard_normal((STATIONS, 3)))
anywhere = on_sphere(generator.standard_normal((STATIONS, 3)))
X = coordinates_of(np.where(generator.random((STATIONS, 1)) < 0.93, crowded, anywhere))
X_new = coordinates_of(on_sphere(generator.standard_normal((4000, 3))))
latitudes, longitudes = np.arange(-88.5, 90, 3), np.arange(-178.5, 180, 3)
grid = np.column_stack([part.ravel() for part in np.meshgrid(latitudes, longitudes, indexing="ij")])

rows = SphericalCoordinates().fit_transform(np.concatenate([X, X_new, grid]))
waves = GegenbauerFeatures(Matern(lengthscale=0.45, nu=2.5), n_components=900).fit_transform(rows)
field = waves @ generator.standard_normal(waves.shape[1])
field *= 5 / field.std()
truth, truth_new, truth_grid = np.split(field, [STATIONS, STATIONS + 4000])
y = truth + generator.normal(0, NOISE, STATIONS)

# %%
# The flat way
# ------------
# Latitude and longitude as two columns, for a linear model and for a kernel machine that chooses
# its own lengthscale and ridge parameter. The 4,000 test points are spread evenly over the sphere.

linear = FeatureRidge().fit(X, y)
flat = KernelRegressor("matern").fit(X, y)

# %%
# The round way
# -------------
# :obj:`~mercer.SphericalCoordinates` turns latitude and longitude into points of the sphere, and
# :obj:`~mercer.GegenbauerFeatures` of a kernel there are spherical harmonics: waves that know
# neither poles nor date lines. With 900 of them, degrees 0 to 29, nothing is random.

harmonics = GegenbauerFeatures(Matern(lengthscale=0.5, nu=2.5), n_components=900)
model = FeatureRidge(make_pipeline(SphericalCoordinates(), harmonics)).fit(X, y)
print(f"degrees 0 to {model.features_[-1].degree_}, noise {model.noise_variance_[0] ** 0.5:.2f}")

places = {
    "everywhere": np.ones(4000, dtype=bool),
    "within 15° of the date line": abs(X_new[:, 1]) > 165,
    "within 25° of a pole": abs(X_new[:, 0]) > 65,
}
print(f"{'R2 on new places':28}" + "".join(f"{name:>10}" for name in ("linear", "flat", "sphere")))
for name, there in places.items():
    scores = [
        r2_score(truth_new[there], machine.predict(X_new[there]))
        for machine in (linear, flat, model)
    ]
    print(f"{name:28}" + "".join(f"{score:10.2f}" for score in scores))

# %%
# A plane is good enough in the middle of its map. At the edges it is not: near the poles the sphere
# leaves about half as much unexplained, from the same stations.
#
# A map and its error bars
# ------------------------
# ``return_std=True`` gives the standard deviation of a *measurement* at a place, its error
# included; without that error it says how well the field itself is known.

mean, std = model.predict(grid, return_std=True)
known = np.sqrt(np.maximum(std**2 - model.noise_variance_[0], 0))
shape = (len(latitudes), len(longitudes))
figure, panels = plt.subplots(2, 2, figsize=(10, 5.6), layout="constrained")
warmth = {"cmap": "RdBu_r", "vmin": -12, "vmax": 12}
doubt = {"cmap": "viridis", "vmin": 0, "vmax": 6}
maps = [
    ("the truth, and the stations", truth_grid, warmth),
    ("the map from 600 stations", mean, warmth),
    ("how far the map is off", abs(mean - truth_grid), doubt),
    ("how far it says that it may be off (1 std)", known, doubt),
]
for axes, (title, values, style) in zip(panels.flat, maps, strict=True):
    image = axes.imshow(
        values.reshape(shape), extent=(-180, 180, -90, 90), origin="lower", aspect="auto", **style
    )
    axes.set_title(title, fontsize="medium")
    axes.set(xticks=range(-180, 181, 60), yticks=range(-60, 61, 30))
    figure.colorbar(image, ax=axes, label="degrees", fraction=0.04, pad=0.01)
panels[0, 0].plot(X[:, 1], X[:, 0], ".", color="#4b0082", ms=2)
plt.show()

# %%
# The lower maps are alike: the model is off where it says that it may be. That is more than a
# picture: of the 4,000 test places, sorted by the promised error, the worst quarter is

promised = np.sqrt(
    np.maximum(model.predict(X_new, return_std=True)[1] ** 2 - model.noise_variance_[0], 0)
)
error = abs(model.predict(X_new) - truth_new)
for part, name in zip(np.array_split(np.argsort(promised), 4), range(1, 5), strict=True):
    print(
        f"quarter {name}: promised {np.sqrt(np.mean(promised[part] ** 2)):.2f}, "
        f"measured {np.sqrt(np.mean(error[part] ** 2)):.2f} degrees"
    )

# %%
# And the share of new measurements in their intervals, at every level:

measured = truth_new + generator.normal(0, NOISE, 4000)
figure, axes = plt.subplots(figsize=(4.6, 4.2), layout="constrained")
display = IntervalDisplay.from_estimator(model, X_new, measured, ax=axes, color="#2f7fd1")
axes.set_title("4,000 new measurements")
plt.show()
print(f"95 % intervals hold {display.coverage(0.95):.1%}")

# %%
# What to read next
# -----------------
# - Harmonics, balls and spheres, and time as one more column:
#   :doc:`zonal features </guide/zonal>`.
# - A terrain from 50,000 points:
#   :ref:`the earth <sphx_glr_auto_examples_10_features_plot_elevation.py>`.
# - Which machines give which error bars: :doc:`error bars </howto/error-bars>`.
# - Where to put the next station: :doc:`what to label </guide/design>`.
