"""Tests of the command line."""

import subprocess
import sys
import warnings
from importlib.metadata import PackageNotFoundError

import click
import pytest
from click.testing import CliRunner

import mercer
from mercer import _limits
from mercer.cli import COMMANDS, main
from mercer.cli._screen import explained


def run(*arguments):
    return CliRunner().invoke(main, list(arguments))


def test_help_teaches_every_command():
    text = run("--help").output
    assert "Kernel methods at any size" in text
    for name in COMMANDS:
        assert name in text
        assert run(name, "--help").exit_code == 0


def test_version():
    assert mercer.__version__ in run("--version").output


def test_info_names_versions_and_the_budget():
    result = run("info")
    assert result.exit_code == 0
    for word in ("numpy", "numba", "narwhals", "threads", "memory budget", mercer.__version__):
        assert word in result.output


def test_info_lists_what_is_installed_and_names_the_extra_of_what_is_not(monkeypatch):
    def version(package):
        if package in ("polars", "onnx"):
            raise PackageNotFoundError
        return "1.2.3"

    monkeypatch.setattr("mercer.cli.info.version", version)
    lines = {line.split()[0]: line.rstrip() for line in run("info").output.splitlines()}
    assert lines["pandas"].endswith("1.2.3")
    assert "polars" not in lines
    assert lines["onnx"].endswith("not installed (pip install 'mercer[onnx]')")


def test_info_says_where_threads_and_memory_come_from(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    limit = _limits.Limit(3 * 10**9, "memory limit of the container (here)")
    monkeypatch.setattr(_limits, "memory", lambda: limit)
    monkeypatch.setattr(_limits, "free_memory", lambda: 2 * 10**9)
    output = " ".join(run("info").output.split())
    assert "threads 1: environment variable OMP_NUM_THREADS" in output
    assert "memory 3 GB: memory limit of the container (here); 2 GB free" in output


def test_demo_prints_a_table_and_writes_a_picture(tmp_path):
    picture = tmp_path / "demo.png"
    result = run("demo", "--picture", str(picture))
    assert result.exit_code == 0, result.output
    for word in ("linear model", "exact kernel", "2048 features", "kernel error"):
        assert word in result.output
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_bad_use_exits_with_two_and_a_sentence(tmp_path):
    result = run("demo", "--picture", str(tmp_path / "nowhere" / "demo.png"))
    assert result.exit_code == 2
    assert "does not exist" in result.output
    assert run("no-such-command").exit_code == 2


def test_a_missing_matplotlib_is_answered_with_the_pip_line(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = run("demo", "--picture", str(tmp_path / "demo.png"))
    assert result.exit_code == 1
    assert "pip install 'mercer[plot]'" in result.output


@pytest.mark.parametrize("command", [["-m", "mercer", "--version"]])
def test_it_runs_as_a_module(command):
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("mercer")


def test_warnings_are_told_in_a_line_without_the_place_in_the_code():
    @click.command()
    @explained
    def command():
        warnings.warn("All is\nwell.", UserWarning, stacklevel=1)
        click.echo("done")

    result = CliRunner().invoke(command, [])
    assert result.stderr == "Note: All is well.\n"
    assert (result.stdout, result.exit_code) == ("done\n", 0)
