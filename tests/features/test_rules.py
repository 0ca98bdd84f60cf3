"""Rules of ``"auto"``: which choice for which rows, and that what was measured supports them."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

from mercer import (
    CNTK,
    NNGP,
    NTK,
    ArcCosine,
    ArcCosineFeatures,
    DotProductSketch,
    Exponential,
    Gaussian,
    GegenbauerFeatures,
    KernelRegressor,
    Laplace,
    Matern,
    NNGPFeatures,
    NTKFeatures,
    NystromFeatures,
    Polynomial,
    PolynomialSketch,
    ProductLaplace,
    RandomFourier,
    Zonal,
    approximation_error,
    choose_map,
    config,
)
from mercer.features.rules import RULES, Situation, choose
from mercer.machines.auto.preparation import measured_features

ROOT = Path(__file__).parents[2]


def normal_rows(n, d, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d)) / d**0.5


def on_sphere(X):
    return X / np.linalg.norm(X, axis=1)[:, None]


def make_rules():
    spec = importlib.util.spec_from_file_location("make_rules", ROOT / "docs" / "make_rules.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("kernel", "d", "expected"),
    [
        (Gaussian(2.0), 8, GegenbauerFeatures),
        (Gaussian(0.5), 8, RandomFourier),
        (Gaussian("median"), 50, GegenbauerFeatures),
        (Laplace(2.0), 8, RandomFourier),
        (Matern(2.0), 8, RandomFourier),
        (ProductLaplace(2.0), 8, RandomFourier),
        (NTK(2), 8, NTKFeatures),
        (NNGP(2), 8, NNGPFeatures),
        (ArcCosine(1), 8, GegenbauerFeatures),
        (Exponential(1.0), 8, GegenbauerFeatures),
        (Polynomial(3), 8, NystromFeatures),
        (Polynomial(3), 40, DotProductSketch),
        (Matern() + Gaussian(), 8, NystromFeatures),
        (Zonal(np.exp), 8, NystromFeatures),
    ],
    ids=str,
)
def test_a_map_is_chosen_by_kernel_and_rows(kernel, d, expected):
    choice = choose_map(kernel, normal_rows(300, d), n_components=512, random_state=3)
    assert type(choice.features) is expected
    assert (choice.features.n_components, choice.features.random_state) == (512, 3)
    assert repr(choice.features).split("(")[0] in repr(choice)
    assert choice.reason in repr(choice)


@pytest.mark.parametrize("kernel", [Gaussian(0.5), Laplace(0.5), Matern(0.5)], ids=str)
def test_rows_on_a_sphere_have_harmonics(kernel):
    X = normal_rows(300, 3)
    assert type(choose_map(kernel, X).features) is RandomFourier
    chosen = choose_map(kernel, on_sphere(X), n_components=400, random_state=0)
    assert type(chosen.features) is GegenbauerFeatures
    others = RandomFourier(kernel, n_components=400, random_state=0)
    rows = on_sphere(normal_rows(200, 3, seed=1))
    ours, theirs = (
        approximation_error(f.fit(on_sphere(X)), rows).relative for f in (chosen.features, others)
    )
    assert ours < theirs / 3


def test_it_is_the_distance_from_the_mean_that_counts_not_that_from_the_origin():
    X = normal_rows(300, 8)
    near, moved = (choose_map(Gaussian(2.0), rows).situation for rows in (X, X + 100))
    assert moved.reach == pytest.approx(near.reach)
    assert near.reach == pytest.approx(0.5, rel=0.1)
    assert near.furthest == pytest.approx(
        np.linalg.norm(X - X.mean(axis=0), axis=1).max() / 2, rel=1e-9
    )


def test_one_row_far_out_is_no_row_for_polynomials():
    X = normal_rows(300, 8)
    X[7] *= 20
    assert type(choose_map(Gaussian(2.0), X).features) is RandomFourier


def test_sparse_rows_are_not_centred():
    X = scipy.sparse.random_array((300, 50), density=0.05, random_state=0, format="csr")
    choice = choose_map(Gaussian(10.0), X)
    assert choice.situation.density == pytest.approx(0.05)
    assert type(choice.features) is RandomFourier
    assert type(choose_map(Gaussian(10.0), X.toarray()).features) is GegenbauerFeatures


def test_wide_rows_have_transforms_where_they_are_dense():
    X = np.ones((20, 5000))
    X[::2] += np.random.default_rng(0).standard_normal((10, 5000))
    sparse = scipy.sparse.csr_array(np.where(X > 1.5, X, 0))
    kernel = Gaussian(1.0)
    assert choose_map(kernel, X, 1024).features.projection == "hd3"
    assert "hd3 (dense rows" in choose_map(kernel, X, 1024).reason
    with config(device="cpu"):
        assert choose_map(kernel, X, 1024).features.projection == "auto"
    assert choose_map(kernel, sparse, 1024).features.projection == "auto"
    assert choose_map(kernel, X, 1023).features.projection == "auto"
    networks = [choose_map(NTK(1), rows, 1024) for rows in (X, sparse)]
    assert [one.features.method for one in networks] == ["auto", "zonal"]
    assert ["one-shot (" in one.reason for one in networks] == [True, False]


def test_some_rows_cannot_tell_that_all_are_on_a_sphere():
    rows = on_sphere(normal_rows(300, 3))
    kinds = [
        type(measured_features(Gaussian(0.5), 256, 0, rows, whole)[0]) for whole in (True, False)
    ]
    assert kinds == [GegenbauerFeatures, RandomFourier]


def test_the_front_door_fixes_where_rows_lie_before_it_learns():
    X = normal_rows(600, 5)
    y = np.sin(3 * X[:, 0])
    blocks = [(X[k : k + 200], y[k : k + 200]) for k in range(0, 600, 200)]
    whole, streamed = (
        KernelRegressor(Gaussian(6.0), n_components=64).fit(*rows) for rows in ((X, y), (blocks,))
    )
    regions = [model.machine_.features_.region_ for model in (whole, streamed)]
    assert regions[0].norms == pytest.approx(regions[1].norms)
    assert streamed.predict(X) == pytest.approx(whole.predict(X), abs=1e-6)


@pytest.mark.parametrize("question", RULES)
def test_one_rule_applies_whatever_the_rows(question):
    assert RULES[question][-1].holds(Situation(n_features=10**6, n_components=1, power=99))
    assert all(rule.choice and rule.when and rule.why for rule in RULES[question])


@pytest.mark.parametrize("question", RULES)
def test_reasons_can_be_read_without_the_rules_before_them(question):
    for rule in RULES[question]:
        words = f"{rule.when} ".replace("fewer than", "below").split()
        assert not {"other", "others", "fewer", "higher", "else"} & set(words), rule.reason
    assert len({rule.when for rule in RULES[question]}) == len(RULES[question])


@pytest.mark.parametrize(
    ("question", "situation", "expected"),
    [
        ("NTKFeatures", Situation(4096, 1024), "zonal"),
        ("NTKFeatures", Situation(4097, 1024), "one-shot"),
        ("NTKFeatures", Situation(4097, 1023), "zonal"),
        ("NTKFeatures", Situation(4097, 1024, power=3), "zonal"),
        ("NTKFeatures", Situation(8193, 1024, power=3), "one-shot"),
        ("NTKFeatures", Situation(4097, 1024, density=0.1), "zonal"),
        ("RandomFourier", Situation(4097, 1024), "orthogonal"),
        ("RandomFourier", Situation(4097, 1024, density=1.0), "hd3"),
        ("RandomFourier", Situation(4097, 1024, density=1.0, device=True), "orthogonal"),
        ("RandomFourier", Situation(4097, 1024, density=0.1), "orthogonal"),
        ("Gaussian", Situation(8, 512, reach=1, furthest=3, density=1), "GegenbauerFeatures"),
        ("Gaussian", Situation(8, 512, reach=1.2, furthest=3, density=1), "RandomFourier"),
        ("Gaussian", Situation(8, 512, reach=1, furthest=3.1, density=1), "RandomFourier"),
        ("Gaussian", Situation(256, 512, reach=1, furthest=2, density=1), "RandomFourier"),
        ("Gaussian", Situation(8, 512, sphere=True), "GegenbauerFeatures"),
        ("arc-cosine", Situation(21, 512), "GegenbauerFeatures"),
        ("arc-cosine", Situation(22, 512), "ArcCosineFeatures"),
        ("ArcCosineFeatures", Situation(7, 10), "deflated"),
        ("ArcCosineFeatures", Situation(7, 9), "antithetic"),
        ("PolynomialSketch", Situation(power=5), "tensor"),
        ("PolynomialSketch", Situation(power=6), "tree"),
    ],
)
def test_a_method_is_chosen_by_the_rules(question, situation, expected):
    assert choose(question, situation).choice == expected


@pytest.mark.parametrize(
    ("features", "expected"),
    [
        (NTKFeatures(n_components=64), "zonal"),
        (NNGPFeatures(n_components=64), "zonal"),
        (ArcCosineFeatures(n_components=64), "deflated"),
        (PolynomialSketch(6, n_components=64), "tree"),
    ],
    ids=str,
)
def test_maps_say_why(features, expected):
    fitted = features.fit(np.eye(5))
    assert fitted.method_ == expected
    assert fitted.method_reason_.startswith(f"{expected} (")
    asked = type(features)(n_components=64, method=expected).fit(np.eye(5))
    assert asked.method_reason_ == "as you asked for"


def test_the_front_door_says_which_map_and_why():
    X = normal_rows(600, 5)
    y = np.sin(3 * X[:, 0])
    report = KernelRegressor(Gaussian(6.0), n_components=128).fit(X, y).report_
    assert (
        "GegenbauerFeatures (dense rows on average within 1.1 lengthscales" in report.method_reason
    )
    report = KernelRegressor(Laplace(6.0), n_components=128).fit(X, y).report_
    assert "RandomFourier (" in report.method_reason


def test_what_is_no_kernel_or_no_image_is_refused():
    for wrong in ("gaussian", None, Gaussian):
        with pytest.raises(TypeError, match=r"must be a kernel, such as mercer\.Gaussian"):
            choose_map(wrong, normal_rows(20, 4))
    with pytest.raises(ValueError, match="pass image_shape="):
        choose_map(CNTK(depth=1), normal_rows(20, 16))
    with pytest.raises(ValueError, match="needs 9"):
        choose_map(CNTK(depth=1, image_shape=(3, 3, 1)), normal_rows(20, 16))


def test_what_was_measured_supports_the_rules():
    rules = make_rules()
    content = json.loads(rules.RESULTS.read_text())
    for (question, number), evidence in rules.EVIDENCE.items():
        assert RULES[question][number].choice
        ratios = evidence.ratios(content)
        assert len(ratios) >= 3
        assert np.median(ratios) < 1, (question, number)


def test_the_guide_has_the_table_of_the_rules_as_they_are():
    rules = make_rules()
    content = json.loads(rules.RESULTS.read_text())
    assert rules.table(content) in rules.PAGE.read_text()
