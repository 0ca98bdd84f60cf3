"""What importing costs, and what it must not pull in."""

import subprocess
import sys

import pytest

import mercer
from mercer._optional import require


def loaded_after(code):
    """Return the modules that a fresh interpreter has loaded after running ``code``."""
    script = f"{code}\nimport sys; print(' '.join(sys.modules))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(run.stdout.splitlines()[-1].split())


def test_import_loads_nothing_heavy():
    heavy = {"numba", "sklearn", "scipy", "matplotlib", "torch", "pyarrow", "pandas", "rich"}
    heavy |= {"dask", "distributed"}
    assert not heavy & loaded_after("import mercer")


def test_the_estimators_load_without_optional_packages():
    heavy = {"numba", "matplotlib", "torch", "pyarrow", "pandas", "polars", "rich", "click"}
    heavy |= {"dask", "distributed"}
    loaded = loaded_after("from mercer import RandomFourier, NTK, ArcCosineFeatures")
    # What scikit-learn itself brings along is not ours to avoid.
    assert not heavy & (loaded - loaded_after("import sklearn.base"))


def test_help_answers_without_scikit_learn():
    code = (
        "from click.testing import CliRunner; from mercer.cli import main\n"
        "assert CliRunner().invoke(main, ['--help']).exit_code == 0"
    )
    assert not {"sklearn", "numpy", "scipy", "numba"} & loaded_after(code)


def test_every_public_name_is_there():
    for name in mercer.__all__:
        assert getattr(mercer, name) is not None
    assert {*mercer.__all__} == {*mercer._HOMES, "__version__"}
    assert set(mercer.__all__) <= set(dir(mercer))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = mercer.nothing


def test_a_missing_extra_is_answered_with_the_pip_line():
    with pytest.raises(ImportError, match=r"pip install 'mercer\[plot\]'"):
        require("a_package_that_is_not_there", "plot", "Drawing")
