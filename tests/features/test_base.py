"""Tests of what all maps share: the hooks, rows that are checked already, streams, recipes."""

import inspect
import pickle

import numpy as np
import pytest

import mercer
from mercer import (
    NTK,
    ArcCosine,
    ArcCosineFeatures,
    DotProductSketch,
    Exponential,
    FeatureMap,
    Gaussian,
    GegenbauerFeatures,
    Laplace,
    Matern,
    NTKFeatures,
    Polynomial,
    PolynomialSketch,
    PowerSeries,
    ProductFeatures,
    RandomFourier,
    Zonal,
)
from mercer._random import DrawBudget, Stream, stored_random_state
from mercer.engine import rows as engine_rows
from mercer.features import base, rows_seen
from mercer.features.for_kernel import features_for, has_features
from mercer.features.recipe import Recipe
from mercer.sketches import FastfoodProjection, HadamardProjection, TensorSketch

X = np.random.default_rng(0).standard_normal((60, 4))
PRODUCT = ProductFeatures([RandomFourier(n_components=4), RandomFourier()], [[0], [1, 2, 3]])


def test_a_map_has_three_hooks_and_ours_use_no_others():
    hooks = ["_kernel", "_draw", "_map"]
    assert hooks == [
        name
        for name, value in vars(FeatureMap).items()
        if getattr(value, "__isabstractmethod__", False)
    ]
    ours = [vars(mercer.features)[name] for name in mercer.features.__all__]
    kinds = [kind for kind in ours if isinstance(kind, type) and issubclass(kind, FeatureMap)]
    for kind in (kind for kind in kinds if kind is not FeatureMap):
        shared = {name for name in vars(kind) if hasattr(FeatureMap, name)}
        methods = {name for name in shared if inspect.isfunction(vars(kind)[name])}
        # Features that are no floats are computed by a loop of their own.
        few_bits = kind.__module__.startswith("mercer.features.packed.")
        own = {"_all_rows", "__sklearn_tags__"} if few_bits else set()
        assert methods <= {*hooks, "__init__", *own}, kind


@pytest.mark.parametrize(
    ("features", "needs"),
    [
        (RandomFourier(), False),
        (RandomFourier(Gaussian("median")), True),
        (GegenbauerFeatures(), True),
        (GegenbauerFeatures(NTK()), False),
        (GegenbauerFeatures(domain=GegenbauerFeatures().fit(X).region_), False),
        (NTKFeatures(), False),
        (PRODUCT, True),
    ],
    ids=repr,
)
def test_a_map_says_whether_it_needs_data(features, needs):
    assert features.needs_data() is needs
    assert isinstance(features.target_kernel(), mercer.Kernel)


@pytest.mark.parametrize(
    "features",
    [
        RandomFourier(Gaussian("median"), n_components=8, random_state=0),
        GegenbauerFeatures(n_components=8, random_state=0),
        NTKFeatures(n_components=8, random_state=0),
    ],
    ids=repr,
)
def test_rows_that_are_checked_already_give_the_same_map(features):
    expected = features.fit(X).transform(X)
    assert np.array_equal(features.fit_checked(X).transform_checked(X), expected)
    assert features.n_features_in_ == 4
    with pytest.raises(ValueError, match="n_components"):
        features.set_params(n_components=0).fit_checked(X)


def test_rows_that_do_not_matter_are_read_only_to_check_them(monkeypatch):
    visits = []

    def counted(function, X, **options):
        visits.append(X.shape[0])
        return engine_rows.visit_rows(function, X, **options)

    monkeypatch.setattr(base, "visit_rows", counted)
    monkeypatch.setattr(rows_seen, "visit_rows", counted)
    RandomFourier(n_components=8).fit_checked(X)
    assert visits == []
    RandomFourier(n_components=8).fit(X)
    RandomFourier(Gaussian("median"), n_components=8).fit_checked(X)
    assert visits == [60, 60]


def test_names_of_columns_and_set_output_are_left_out_of_checked_rows():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcd"))
    features = RandomFourier(n_components=8, random_state=0).set_output(transform="pandas")
    assert isinstance(features.fit(frame).transform(frame), pandas.DataFrame)
    Z = features.transform_checked(X)
    assert isinstance(Z, np.ndarray)
    assert not hasattr(features.fit_checked(X), "feature_names_in_")


def test_a_block_that_is_refused_leaves_a_stream_as_it_was():
    bad = X.copy()
    bad[3, 2] = np.nan
    features = RandomFourier(Gaussian("scale"), n_components=8, random_state=0)
    features.partial_fit(X[:30])
    before = features.kernel_
    with pytest.raises(ValueError, match="row 3"):
        features.partial_fit(bad)
    assert features.kernel_ is before
    whole = RandomFourier(Gaussian("scale"), n_components=8, random_state=0).fit(X)
    assert features.partial_fit(X[30:]).kernel_.lengthscale == pytest.approx(
        whole.kernel_.lengthscale
    )


def test_a_fitted_map_holds_no_rows():
    wide = np.random.default_rng(0).standard_normal((200, 300))
    features = RandomFourier(Gaussian("median"), n_components=2, random_state=0).fit(wide)
    assert len(pickle.dumps(features)) < 20_000


def test_a_refused_fit_leaves_the_last_one():
    features = RandomFourier(n_components=8, random_state=0).fit(X)
    expected = features.transform(X)
    for refused in (features.fit, features.partial_fit):
        with pytest.raises(ValueError, match="NaN"):
            refused(np.full((3, X.shape[1]), np.nan))
        assert np.array_equal(features.transform(X), expected)
    fresh = RandomFourier(n_components=8)
    with pytest.raises(ValueError, match="NaN"):
        fresh.fit(np.full((3, 4), np.nan))
    with pytest.raises(ValueError, match="not fitted"):
        fresh.transform(X)


@pytest.mark.parametrize(
    ("kernel", "kind"),
    [
        (Gaussian(), RandomFourier),
        (Laplace(), RandomFourier),
        (Matern(), RandomFourier),
        (ArcCosine(0), ArcCosineFeatures),
        (NTK(2), NTKFeatures),
        (mercer.NNGP(2), mercer.NNGPFeatures),
        (Polynomial(2), PolynomialSketch),
        (Exponential(), DotProductSketch),
        (PowerSeries((0.0, 1.0)), DotProductSketch),
    ],
    ids=repr,
)
def test_a_kernel_has_its_map(kernel, kind):
    assert has_features(kernel)
    features = features_for(kernel, 16, 3)
    assert type(features) is kind
    assert (features.n_components, features.random_state) == (16, 3)
    assert repr(features.target_kernel()) == repr(kernel)


def test_a_kernel_without_a_map_of_its_own_is_seen_through_landmarks():
    kernel = Zonal(np.exp)
    assert not has_features(kernel)
    features = features_for(kernel, 16, 0)
    assert isinstance(features, mercer.NystromFeatures)
    assert features.kernel is kernel


@pytest.mark.parametrize(
    ("draw", "held"),
    [
        (lambda stream: mercer.sketches.CountSketch(stream, 1000, 10), 2000),
        (lambda stream: TensorSketch(stream, [500, 500], 10), 2000),
        (lambda stream: HadamardProjection(stream, 64, 100, np.ones(100)), 3 * 128),
        (lambda stream: FastfoodProjection(stream, 64, 100, np.ones(100)), 3 * 128),
        (lambda stream: mercer.sketches.ProductSketch(stream, 30, 20, 3), 1800),
        (lambda stream: mercer.sketches.haar_directions(stream, 30, 70), 2100),
        (lambda stream: mercer.sketches.gibbs_directions(stream, 30, 70), 2100),
    ],
)
def test_what_is_drawn_is_counted_and_refused_before_it_is_drawn(draw, held):
    budget = DrawBudget()
    draw(Stream(0, budget=budget))
    assert held <= budget.spent <= held + 20 * 256
    with pytest.raises(ValueError, match="too large"):
        draw(Stream(0, budget=DrawBudget(budget.spent - 1)))
    draw(Stream(0, budget=DrawBudget(budget.spent)))


def test_recipes_are_of_fitted_maps_that_can_be_drawn_again():
    features = RandomFourier(n_components=8, random_state=0)
    assert not Recipe.serves(features)
    assert Recipe.serves(features.fit(X))
    assert not Recipe.serves(PRODUCT.fit(X))
    recipe = Recipe.of(features)
    again = recipe.draw()
    assert np.array_equal(again.transform(X), features.transform(X))
    assert again.partial_fit(X).seed_ == features.seed_
    other = Recipe(recipe.kind, recipe.parameters, recipe.state, recipe.n_drawn, recipe.proof + 1)
    with pytest.raises(ValueError, match="come out differently"):
        other.draw()
    with pytest.raises(ValueError, match="cannot be drawn again"):
        Recipe("mercer.kernels.gaussian:Gaussian", {}, recipe.state, 0, recipe.proof).draw()


def test_a_degree_without_end_is_refused_before_anything_is_drawn():
    recipe = Recipe.of(PolynomialSketch(random_state=0).fit(X))
    recipe.parameters["degree"] = 10**7
    with pytest.raises(ValueError, match=r"degree=10,000,000 is too large"):
        recipe.draw()


def test_a_generator_is_stored_as_the_seed_that_it_gave():
    for state in (np.random.RandomState(0), np.random.default_rng(0)):
        assert stored_random_state(state, None) is state
        assert stored_random_state(state, 7) == 7
    for state in (None, 3, np.int64(3)):
        assert stored_random_state(state, 7) is state
