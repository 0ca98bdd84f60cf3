"""Kernels of networks layer by layer: features of two kernels, and their products."""

from __future__ import annotations

from ...kernels import ArcCosine
from ...kernels.series import nonnegative_fit
from ...ops.columns import join
from ...ops.norms import unit_rows
from ...sketches import ReluLayer, SeriesSketch, TensorSketch


class _Layers:
    """The recursion Φ = [Ψ, sketch of Λ ⊗ Φ] over layers; a subclass makes Ψ and Λ.

    Parameters
    ----------
    stream : Stream
        Where everything comes from; layers are independent.
    n_features, depth : int
        Columns of the rows, and hidden layers.
    sizes : triple of int
        Columns of Ψ, of Λ and of the sketch.
    """

    def __init__(self, stream, n_features, depth, sizes):
        n_relu, n_step, n_sketch = sizes
        self._n_relu = n_relu
        self._products = []
        width = n_features
        for layer in range(depth):
            branch = stream.child("product", layer)
            self._products.append(TensorSketch(branch, (n_step, width), n_sketch))
            width = n_relu + n_sketch
        # Of a single column both parts are the sum, with a random sign between them.
        self._sign = float(stream.child("sign").generator().choice([-1.0, 1.0]))
        #: Numbers that a row takes at most: features of two layers and their transforms.
        self.scratch = 3 * (n_relu + n_step) + 5 * n_sketch

    def features(self, X, xp, out=None):
        """Return the features of a block of rows, in ``out`` if given (NumPy only)."""
        phi = psi = X
        last = len(self._products) - 1
        for number, product in enumerate(self._products):
            place = out if number == last else None
            psi, lam = self._layer(number, psi, xp, place)
            phi = join([psi, product.sketch([lam, phi], xp)], xp, place)
        return phi

    def only_column(self, X, xp):
        """Return one feature: that of the last layer, and its sketch, added up."""
        both = self.features(X, xp)
        return both[:, :1] * self._sign + both[:, 1:]


class RandomLayers(_Layers):
    """Random features of the arc-cosine kernels in every layer (Han et al., Algorithm 1)."""

    def __init__(self, stream, n_features, depth, sizes, options):
        super().__init__(stream, n_features, depth, sizes)
        n_relu, n_step, _ = sizes
        widths = [n_features] + [n_relu] * (depth - 1)
        self._layers = [
            ReluLayer(stream.child("layer", k), width, n_relu, n_step, **options)
            for k, width in enumerate(widths)
        ]

    def _layer(self, number, psi, xp, out):
        place = None if out is None else out[:, : self._n_relu]
        return self._layers[number].features(psi, xp, place)


class SketchLayers(_Layers):
    """Sketches of polynomials near the arc-cosine kernels in every layer (Zandieh et al.).

    They are sketches of powers of the cosine, so rows are brought to norm one first.
    """

    def __init__(self, stream, n_features, depth, sizes, degree):
        super().__init__(stream, n_features, depth, sizes)
        n_relu, n_step, _ = sizes
        step, relu = (nonnegative_fit(ArcCosine(order=order), degree) for order in (0, 1))
        self._layers = []
        width = n_features
        for k in range(depth):
            branch = stream.child("layer", k)
            self._layers.append(
                (
                    SeriesSketch(branch.child("relu"), width, n_relu, relu),
                    SeriesSketch(branch.child("step"), width, n_step, step),
                )
            )
            width = n_relu
        self.scratch += max(part.scratch for part in self._layers[0])

    def _layer(self, number, psi, xp, out):
        unit, norms = unit_rows(psi, xp)
        relu, step = self._layers[number]
        return relu.sketch(unit, xp) * norms[:, None], step.sketch(unit, xp)


class ProcessLayers:
    """Random features of order 1, layer after layer."""

    def __init__(self, stream, n_features, depth, size, sampling):
        options = {"improved": True, "sampling": sampling, "share": False}
        self._layers = []
        for layer in range(depth):
            branch = stream.child("layer", layer)
            self._layers.append(ReluLayer(branch, n_features, size, 0, **options))
            n_features = size
        self.scratch = 3 * size

    def features(self, X, xp, out=None):
        """Return the features of the last layer, in ``out`` if given (NumPy only)."""
        for layer in self._layers:
            X, _ = layer.features(X, xp, out if layer is self._layers[-1] else None)
        return X
