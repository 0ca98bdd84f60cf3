"""Fitted estimators as plain structure and arrays, and back: no pickle, no code.

Everything that may stand in a model file is listed here: plain values, arrays, and the objects
of :data:`CLASSES`. Whatever else is met is refused, when a file is written as when it is read.
"""

from __future__ import annotations

import datetime
import math
from collections import Counter
from importlib import import_module
from typing import Any

import numpy as np

#: The classes whose objects may stand in a file, by the modules they live in.
MODULES = {
    "mercer.machines.regressor": ("FeatureRidge",),
    "mercer.machines.classifier": ("FeatureRidgeClassifier",),
    "mercer.machines.kernel_regressor": ("KernelRegressor",),
    "mercer.machines.kernel_classifier": ("KernelClassifier",),
    "mercer.machines.irkm": ("IRKMClassifier", "IRKMRegressor"),
    "mercer.machines.rfm": ("RFMClassifier", "RFMRegressor"),
    "mercer.machines.standardized": ("Scales",),
    "mercer.machines.weighted_fits": ("FourierFunctions", "KernelFunctions"),
    "mercer.machines.weights": ("ColumnWeights", "Metric"),
    "mercer.machines.learner_report": ("LearnerReport",),
    "mercer.machines.report": ("FitReport",),
    "mercer.machines.choosing": ("Method",),
    "mercer.machines.solving": ("FewRows", "KernelRows"),
    "mercer.solvers.ridge": ("Solution",),
    "mercer.solvers.statistics": ("Moments", "RidgeStatistics"),
    "mercer.engine.moments": ("ColumnMoments",),
    "mercer.engine.sample": ("RowSample",),
    "mercer._random": ("Stream",),
    "mercer.features.fourier": ("RandomFourier",),
    "mercer.features.ntk.maps": ("NNGPFeatures", "NTKFeatures"),
    "mercer.features.ntk.baselines": ("GradientFeatures", "TensorNTKFeatures"),
    "mercer.features.ntk.layers": ("ProcessLayers", "RandomLayers", "SketchLayers"),
    "mercer.features.polynomial": ("DotProductSketch", "PolynomialSketch"),
    "mercer.features.zonal.gegenbauer": ("GegenbauerFeatures",),
    "mercer.features.product": ("ProductFeatures",),
    "mercer.preprocessing.spherical": ("SphericalCoordinates",),
    "mercer.features.zonal.columns": ("ZonalColumns",),
    "mercer.features.zonal.region": ("Region",),
    "mercer.kernels.columns": ("OnColumns",),
    "mercer.kernels.radial": (
        "AngularSeries",
        "GivenRadial",
        "PowerSeriesRadial",
        "RadialFunctions",
    ),
    "mercer.kernels.series": ("PowerSeries",),
    "mercer.kernels.zonal": ("DotProduct", "GeneralizedZonal", "Zonal"),
    "mercer.sketches.count_sketch": ("CountSketch",),
    "mercer.sketches.poly_sketch": ("PolyChain", "PolyTree"),
    "mercer.sketches.product_sketch": ("ProductSketch",),
    "mercer.sketches.relu_layer": ("ReluLayer",),
    "mercer.sketches.series_sketch": ("SeriesSketch",),
    "mercer.sketches.tensor_sketch": ("TensorSketch",),
    "mercer.sketches.tensor_srht": ("TensorSRHT",),
    "mercer.features.arccosine": ("ArcCosineFeatures",),
    "mercer.features.exact": ("KernelColumns",),
    "mercer.preprocessing.encoder": ("TableEncoder",),
    "mercer.preprocessing.encoding": ("Encoding",),
    "mercer.preprocessing.scaling": ("Scaling",),
    "mercer.preprocessing.table_summary": ("TableSummary",),
    "mercer.kernels.lengthscale": ("RowSummary",),
    "mercer.sketches.projection": ("DenseProjection",),
    "mercer.sketches.hadamard": ("HadamardProjection",),
    "mercer.sketches.fastfood": ("FastfoodProjection",),
    "mercer.kernels.gaussian": ("Gaussian",),
    "mercer.kernels.laplace": ("Laplace", "ProductLaplace"),
    "mercer.kernels.matern": ("Matern",),
    "mercer.kernels.dot_product": ("Exponential", "Polynomial"),
    "mercer.kernels.relu": ("ArcCosine", "NNGP", "NTK"),
    "mercer.kernels.algebra": ("Sum", "Product", "Scaled"),
    "sklearn.pipeline": ("Pipeline", "FeatureUnion"),
    "sklearn.compose": ("ColumnTransformer",),
    "sklearn.preprocessing": (
        "MaxAbsScaler",
        "MinMaxScaler",
        "Normalizer",
        "OneHotEncoder",
        "OrdinalEncoder",
        "PolynomialFeatures",
        "QuantileTransformer",
        "RobustScaler",
        "StandardScaler",
    ),
    "sklearn.impute": ("SimpleImputer",),
    "sklearn.decomposition": ("PCA", "TruncatedSVD"),
    "sklearn.feature_selection": ("VarianceThreshold",),
}
CLASSES = {name: module for module, names in MODULES.items() for name in names}
#: Kinds of arrays that are stored as they are; texts and objects go into the structure.
STORED_KINDS = "biuf"


class ModelFileError(ValueError):
    """A model file that cannot be written, or cannot be trusted.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import mercer
    >>> path = Path(tempfile.mkdtemp()) / "damaged.mercer"
    >>> _ = path.write_text("not a model")
    >>> try:
    ...     mercer.load(path)
    ... except mercer.io.ModelFileError as error:
    ...     print("is not a model file" in str(error))
    True
    """


class Packer:
    """Turns objects into a structure of plain values and a dictionary of arrays.

    Parameters
    ----------
    compact : bool
        Leave out what only further learning needs, and keep maps as seed and shape.
    """

    def __init__(self, compact: bool) -> None:
        self.compact = compact
        self.arrays: dict[str, np.ndarray] = {}
        self._names: dict[int, str] = {}
        self._kept: list[Any] = []

    def pack(self, value: Any, where: str = "model") -> Any:
        """Return the structure of a value."""
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if isinstance(value, (np.generic,)):
            return {"scalar": self.pack(value.item(), where), "dtype": value.dtype.name}
        if isinstance(value, int):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, (list, tuple, set)):
            items = [self.pack(item, f"{where}[{k}]") for k, item in enumerate(value)]
            return items if isinstance(value, list) else {type(value).__name__: items}
        if isinstance(value, dict):
            pairs = [
                [self.pack(k, where), self.pack(v, f"{where}[{k!r}]")] for k, v in value.items()
            ]
            return {"counter" if isinstance(value, Counter) else "dict": pairs}
        if isinstance(value, slice):
            return {
                "slice": [self.pack(part, where) for part in (value.start, value.stop, value.step)]
            }
        if isinstance(value, np.dtype):
            return {"dtype": value.str}
        if isinstance(value, type) and issubclass(value, np.generic):
            return {"type": np.dtype(value).str}
        if isinstance(value, datetime.date):
            return {"date": value.isoformat()}
        if isinstance(value, np.random.Generator) and _is_philox(value):
            return {"philox": self.pack(value.bit_generator.state, where)}
        return self._object(value, where)

    def _array(self, array: np.ndarray, where: str) -> Any:
        if array.dtype.kind in STORED_KINDS:
            if not array.dtype.isnative:
                array = array.astype(array.dtype.newbyteorder("="))
            name = self._names.get(id(array))
            if name is None:
                name = self._names[id(array)] = f"a{len(self.arrays)}"
                self._kept.append(array)
                by_columns = array.ndim > 1 and array.flags.f_contiguous
                self.arrays[name] = np.ascontiguousarray(array.T if by_columns else array)
            by_columns = array.ndim > 1 and array.flags.f_contiguous
            return {
                "array": name,
                "order": "F" if by_columns else "C",
                "writeable": bool(array.flags.writeable),
            }
        if array.dtype.kind not in "OU":
            raise ModelFileError(
                f"{where} is an array of {array.dtype}, which a model file cannot hold."
            )
        items = [self.pack(item, where) for item in array.ravel().tolist()]
        return {"objects": items, "shape": list(array.shape), "dtype": array.dtype.str}

    def _object(self, value: Any, where: str) -> Any:
        name = type(value).__name__
        if CLASSES.get(name) is None or class_of(name) is not type(value):
            raise ModelFileError(
                f"{where} is a {type(value).__module__}.{name}, which a model file cannot hold; "
                "it holds mercer's own estimators and these of scikit-learn: "
                + ", ".join(key for key, module in CLASSES.items() if module.startswith("sklearn"))
                + "."
            )
        if self.compact and getattr(value, "_by_recipe", False) and hasattr(value, "seed_"):
            recipe = value._recipe()
            return {"drawn": name, "recipe": {k: self.pack(v, where) for k, v in recipe.items()}}
        state = value._stored(self.compact) if hasattr(value, "_stored") else dict(value.__dict__)
        return {
            "object": name,
            "state": {key: self.pack(part, f"{where}.{key}") for key, part in state.items()},
        }


def _is_philox(generator: np.random.Generator) -> bool:
    return isinstance(generator.bit_generator, np.random.Philox)


class Unpacker:
    """Makes objects of what a :class:`Packer` has written.

    Parameters
    ----------
    arrays : dict of str to array
        The arrays of the file.
    """

    def __init__(self, arrays: dict[str, np.ndarray]) -> None:
        self._arrays = arrays

    def unpack(self, node: Any) -> Any:
        """Return the value that a structure stands for."""
        if node is None or isinstance(node, (bool, int, float, str)):
            return node
        if isinstance(node, list):
            return [self.unpack(item) for item in node]
        kind = next(iter(node), None)
        maker = getattr(self, f"_{kind}", None) if kind in KINDS else None
        if maker is None:
            raise ModelFileError(f"it holds something unknown, {kind!r}")
        return maker(node)

    def _array(self, node: Any) -> np.ndarray:
        stored = self._arrays[node["array"]]
        array = stored.T if node["order"] == "F" else stored
        array.flags.writeable = bool(node["writeable"])
        return array

    def _objects(self, node: Any) -> np.ndarray:
        dtype = np.dtype(node["dtype"])
        if dtype.kind not in "OU":
            raise ModelFileError(f"it holds an array of {dtype}")
        items = [self.unpack(item) for item in node["objects"]]
        if dtype.kind == "U":
            # As wide as the longest text; the file's width is not to be trusted.
            return np.array([str(item) for item in items], dtype=str).reshape(node["shape"])
        found = np.empty(len(items), dtype=object)
        found[:] = items
        return found.reshape(node["shape"])

    def _scalar(self, node: Any) -> Any:
        dtype = np.dtype(node["dtype"])
        if dtype.kind not in STORED_KINDS + "U":
            raise ModelFileError(f"it holds a number of type {dtype}")
        return dtype.type(self.unpack(node["scalar"]))

    def _float(self, node: Any) -> float:
        return float(node["float"])

    def _tuple(self, node: Any) -> tuple:
        return tuple(self.unpack(item) for item in node["tuple"])

    def _set(self, node: Any) -> set:
        return {self.unpack(item) for item in node["set"]}

    def _dict(self, node: Any) -> dict:
        return {self.unpack(key): self.unpack(value) for key, value in node["dict"]}

    def _counter(self, node: Any) -> Counter:
        return Counter({self.unpack(key): self.unpack(value) for key, value in node["counter"]})

    def _slice(self, node: Any) -> slice:
        return slice(*(self.unpack(part) for part in node["slice"]))

    def _dtype(self, node: Any) -> np.dtype:
        return np.dtype(node["dtype"])

    def _type(self, node: Any) -> type:
        return np.dtype(node["type"]).type

    def _date(self, node: Any) -> datetime.date:
        text = node["date"]
        whole = datetime.datetime if "T" in text else datetime.date
        return whole.fromisoformat(text)

    def _philox(self, node: Any) -> np.random.Generator:
        generator = np.random.Generator(np.random.Philox(0))
        generator.bit_generator.state = self.unpack(node["philox"])
        return generator

    def _object(self, node: Any) -> Any:
        made = object.__new__(class_of(node["object"]))
        for name, part in node["state"].items():
            if name.startswith("__"):
                raise ModelFileError(f"it sets {name!r}")
            made.__dict__[name] = self.unpack(part)
        return made

    def _drawn(self, node: Any) -> Any:
        recipe = {name: self.unpack(part) for name, part in node["recipe"].items()}
        kind = class_of(node["drawn"])
        if not hasattr(kind, "_from_recipe"):
            raise ModelFileError(f"a {node['drawn']} cannot be drawn anew")
        return kind._from_recipe(recipe)


#: The kinds of nodes that a file may hold.
KINDS = {name[1:] for name in vars(Unpacker) if name.startswith("_") and not name.startswith("__")}


def class_of(name: Any) -> Any:
    """Return the class of a name that may stand in a file."""
    if name not in CLASSES:
        raise ModelFileError(f"it holds an object of class {name!r}, which is not on the list")
    return getattr(import_module(CLASSES[name]), name)
