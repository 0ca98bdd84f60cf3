"""The reference: which guide page a name belongs to, and which name a reference means.

Each name is documented once, under its shortest address: ``mercer.Gaussian``, not
``mercer.kernels.Gaussian``. Docstrings may use either, or the bare name inside its module. In all
pages code that is the name of a class, or the address of a function, becomes a link to the
reference, and the path of an example a link to its page in the gallery.
"""

import re
from importlib import import_module

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

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
    "choosing": "choose_map features.MapChoice",
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
    "onnx": "to_onnx",
    "grids": "io.GridRows",
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


class LinkedCode(SphinxPostTransform):
    """Links code in a page with the reference, and paths of examples with the gallery."""

    #: Before references are resolved.
    default_priority = 6
    example = re.compile(r"examples/(\w+/plot_\w+)\.py")

    def run(self, **kwargs):
        for code in list(self.document.findall(nodes.literal)):
            if isinstance(code.parent, nodes.reference | pending_xref):
                continue
            link = self._to_example(code) or self._to_name(code)
            if link is not None:
                code.replace_self(link)

    def _to_example(self, code):
        found = self.example.fullmatch(code.astext())
        page = f"auto_examples/{found[1]}" if found else None
        return self._link(page, "", code, "its page in the gallery")

    def _to_name(self, code):
        text = code.astext().removesuffix("()")
        if not re.fullmatch(r"mercer\.[\w.]+|[A-Z]\w+", text):
            return None
        for address in candidates(text, None, None):
            found = self.env.domains["py"].objects.get(address)
            if found is not None:
                return self._link(found.docname, found.node_id, code, address)
        return None

    def _link(self, page, anchor, code, title):
        if page not in self.env.all_docs or page == self.env.docname:
            return None
        return make_refnode(
            self.app.builder, self.env.docname, page, anchor, code.deepcopy(), title
        )


def setup(app):
    app.add_post_transform(LinkedCode)
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
