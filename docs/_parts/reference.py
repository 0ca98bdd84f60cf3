"""The reference: which guide page a name belongs to, and which name a reference means.

Each name is documented once, under its shortest address: ``mercer.Gaussian``, not
``mercer.kernels.Gaussian``. Docstrings may use either, or the bare name inside its module.
"""

from importlib import import_module

from sphinx.util import logging
from sphinx.util.nodes import make_refnode

LOGGER = logging.getLogger(__name__)

#: Guide page: the names, below ``mercer``, that it is about.
GUIDES = {
    "front-door": "KernelRegressor KernelClassifier machines.FitReport machines.Expectation "
    "TableEncoder",
    "random-fourier": "RandomFourier",
    "arc-cosine": "ArcCosineFeatures",
    "ntk": "NTK NNGP NTKFeatures NNGPFeatures TensorNTKFeatures GradientFeatures PolynomialSketch "
    "DotProductSketch",
    "cntk": "CNTK CNTKSketch ImageWhitening",
    "zonal": "GegenbauerFeatures Zonal DotProduct GeneralizedZonal SphericalCoordinates "
    "ProductFeatures kernels.zonal_coefficients",
    "landmarks": "NystromFeatures",
    "few-bits": "PackedFeatures QuantizedFourier TernaryFeatures WaveFeatures Ternary WaveKernel",
    "how-good": "approximation_error diagnostics.ApproximationError "
    "diagnostics.statistical_dimension diagnostics.spectral_approximation "
    "diagnostics.projection_cost",
    "comparing": "compare diagnostics.Comparison diagnostics.ApproximationDisplay "
    "diagnostics.PathDisplay diagnostics.SpectrumDisplay diagnostics.IntervalDisplay",
    "planning": "plan diagnostics.Plan diagnostics.PlannedStep diagnostics.grown_features",
    "kernels": "Kernel Gaussian Laplace Matern ProductLaplace PoweredExponential Exponential "
    "Polynomial PowerSeries ArcCosine OnColumns FunctionKernel kernels.Sum kernels.Product "
    "kernels.Scaled kernels.Isotropic",
    "ridge": "FeatureRidge FeatureRidgeClassifier",
    "exact-kernels": "KernelRidge KernelRidgeClassifier",
    "clusters": "KernelKMeans KernelPCA machines.KernelObjective",
    "design": "GreedyDesign",
    "feature-learning": "IRKMRegressor IRKMClassifier RFMRegressor RFMClassifier "
    "machines.LearnerReport diagnostics.WeightsDisplay diagnostics.selection_frequencies",
    "model-files": "save load io.ModelFileError io.fit_resumable io.TableStream",
    "engine": "set_config config",
}
#: Where public names live; what comes first is the address under which a name is documented.
HOMES = (
    "mercer",
    "mercer.kernels",
    "mercer.features",
    "mercer.machines",
    "mercer.preprocessing",
    "mercer.diagnostics",
    "mercer.diagnostics.comparison",
    "mercer.io",
    "mercer.datasets",
    "mercer.sketches",
    "mercer.solvers",
    "mercer.testing",
)


def context():
    """Return what the templates of the reference know."""
    pages = {f"mercer.{name}": page for page, names in GUIDES.items() for name in names.split()}
    return {"guides": {name: f"/guide/{page}" for name, page in pages.items()}}


def resolve(app, env, node, content):
    """Find a name of mercer that is documented under another address."""
    if node.get("refdomain") != "py":
        return None
    target, python = node["reftarget"], env.domains["py"]
    for address in candidates(target, node.get("py:module"), node.get("py:class")):
        if address in python.objects:
            found = python.objects[address]
            builder, here = app.builder, node.get("refdoc", env.docname)
            return make_refnode(builder, here, found.docname, found.node_id, content, address)
    return code_of_mercer(target, node, content)


def candidates(target, module, owner):
    """Yield the addresses that a name may mean, seen from a module and a class."""
    head, _, method = target.rpartition(".")
    for home in HOMES:
        yield f"{home}.{target.removeprefix('mercer.')}"
        if head:
            last = head.rpartition(".")[2]
            yield f"{home}.{method}"
            yield f"{home}.{last}.{method}"
        if owner:
            yield f"{home}.{owner}.{target}"
    if module:
        yield f"{module}.{target}"


def code_of_mercer(target, node, content):
    """Leave a name that exists but has no page (it is internal) as code, without a link."""
    folder, _, name = target.rpartition(".")
    for module in (folder, node.get("py:module") or ""):
        try:
            if module.startswith("mercer") and hasattr(import_module(module), name):
                return content
        except ImportError:
            continue
    return None


def setup(app):
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
