"""
A field on the sphere with gaps, filled with error bars
=======================================================

Satellites see a part of the earth: the field comes on a grid of latitude and longitude, in stripes,
with noise. ``GridRows`` makes rows of the cells that were seen, a ridge regression on spherical
harmonics learns them, and its predictions for the gaps become a field again, together with their
standard errors: small between two stripes, as large as the field itself where nothing is near.

The field is drawn from a Matérn process on the sphere, so that it is known in the gaps as well.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
import xarray
from sklearn.pipeline import make_pipeline

from mercer import FeatureRidge, GegenbauerFeatures, Matern, SphericalCoordinates
from mercer.io import GridRows

NOISE, STRIPES, TILT = 0.1, 9, 35.0
kernel = Matern(lengthscale=0.35, nu=1.5)
generator = np.random.default_rng(2)
latitude = xarray.DataArray(np.arange(-89.0, 90, 2), dims="latitude")
longitude = xarray.DataArray(np.arange(-179.0, 180, 2), dims="longitude")

# A random field with the covariance of the kernel: normal coefficients of its features.
everywhere = xarray.DataArray(
    np.zeros((latitude.size, longitude.size)), {"latitude": latitude, "longitude": longitude}
)
cells = GridRows(everywhere, cells="all")
waves = make_pipeline(SphericalCoordinates(), GegenbauerFeatures(kernel, n_components=2500))
draws = waves.fit_transform(cells.rows()) @ generator.standard_normal(2500)
truth = cells.grid(draws, name="anomaly")

# Stripes between the poles that lean as orbits do, and a cloud.
turn = (longitude + TILT * np.sin(np.radians(latitude)) * 2) % (360 / STRIPES)
cloud = (abs(latitude - 10) < 22) & (abs(longitude + 60) < 35)
noise = NOISE * generator.standard_normal(truth.shape)
seen = (truth + noise).where((turn < 360 / STRIPES * 0.45) & ~cloud)

start = time.perf_counter()
known, gaps = GridRows(seen), GridRows(seen, cells="missing")
harmonics = GegenbauerFeatures(kernel, n_components=1600)
model = FeatureRidge(make_pipeline(SphericalCoordinates(), harmonics)).fit(*known.rows())
mean, std = model.predict(gaps, return_std=True)
filled, error = seen.fillna(gaps.grid(mean)), gaps.grid(std)
seconds = time.perf_counter() - start

observed = truth + NOISE * generator.standard_normal(truth.shape)
inside = abs(gaps.grid(mean) - observed) < 1.96 * error
share = float(inside.where(error.notnull()).mean())
print(f"{int(seen.notnull().sum()):,} cells with a value, {int(seen.isnull().sum()):,} without")
print(f"filled in {seconds:.1f} s; 95 % intervals hold {share:.1%} of what was not seen")

figure, panels = plt.subplots(2, 2, figsize=(10.6, 5.8), layout="constrained")
limit = float(abs(truth).quantile(0.99))
colours = {"cmap": "RdBu_r", "vmin": -limit, "vmax": limit}
maps = [
    ("what was seen", seen, colours),
    ("the gaps filled", filled, colours),
    ("the truth", truth, colours),
    (f"standard error in the gaps; 95 % intervals hold {share:.1%}", error, {"cmap": "viridis"}),
]
for axes, (title, values, style) in zip(panels.flat, maps, strict=True):
    axes.set_facecolor("0.6")
    image = axes.pcolormesh(values["longitude"], values["latitude"], values, **style)
    axes.set_title(title, fontsize="medium")
    axes.set(xticks=range(-180, 181, 60), yticks=range(-60, 61, 30))
    label = "standard error" if "viridis" in style.values() else "anomaly"
    figure.colorbar(image, ax=axes, label=label, fraction=0.024, pad=0.01)

plt.show()
