"""Scripts as users write them run; ``make check`` has mypy check their types.

Their types are checked in the strict mode, without a configuration and without mercer's sources, as
on a user's machine; ``mistakes.py`` holds what must be found, in functions
that are not called.
"""

import runpy
from pathlib import Path

import pytest

SCRIPTS = sorted(Path(__file__).parent.glob("user_scripts/*.py"))


def test_there_are_ten_scripts_and_the_mistakes():
    assert len(SCRIPTS) == 11


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_scripts_run(path):
    runpy.run_path(str(path))
