"""The worked examples of CONTRIBUTING.md: they run, and pass the contract that they are about."""

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

PAGE = Path(__file__).parent.parent / "CONTRIBUTING.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.fixture
def module(monkeypatch):
    """Return a module in which the code of the page runs: pickles need one."""
    made = ModuleType("worked_examples")
    monkeypatch.setitem(sys.modules, made.__name__, made)
    return made


def test_the_examples_run_all_three_contracts(module):
    code = "\n".join(BLOCKS)
    assert all(f"\ncheck_{part}(" in code for part in ("kernel", "feature_map", "machine"))
    exec(code, vars(module))
    machine = module.PlainRidge().fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    assert machine.score([[0.0], [2.0]], [0, 2]) > 0.5


def test_a_kernel_with_another_diagonal_fails_the_contract(module):
    wrong = BLOCKS[0].replace("return 1 / (1 + ", "return 1 / (2 + ")
    assert wrong != BLOCKS[0]
    with pytest.raises(AssertionError):
        exec("\n".join([wrong, BLOCKS[1]]), vars(module))
