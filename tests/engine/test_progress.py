"""Tests of progress: the callback, the bar that shows after a while, and the stages of a job."""

import builtins
import contextlib
import io
import re
import sys
import threading
import time
from importlib.machinery import ModuleSpec
from types import ModuleType

import numpy as np
import pytest

import mercer
from mercer.engine import screen
from mercer.engine.progress import Job, Progress
from mercer.engine.threads import run_tasks


def test_a_callback_hears_of_all_the_work():
    heard = []
    X = np.zeros((40, 3))
    features = mercer.RandomFourier(n_components=4, random_state=0).fit(X)
    for n_jobs in (1, 2):
        heard.clear()
        with mercer.config(
            progress=lambda done, total, label: heard.append((done, total, label)),
            block_rows=10,
            n_jobs=n_jobs,
        ):
            features.transform(X)
        assert heard[-1] == (40, 40, "RandomFourier")
        assert [done for done, _, _ in heard] == sorted({done for done, _, _ in heard})


class Terminal(io.StringIO):
    def isatty(self):
        return True


def screen_of(monkeypatch, stream, patience=0.0):
    """Let stderr be a stream, in the test itself: pytest puts its own there before each."""
    monkeypatch.setattr(screen, "PATIENCE", patience)
    monkeypatch.setattr("sys.stderr", stream)
    return stream


def shown(monkeypatch, stream, patience):
    screen_of(monkeypatch, stream, patience)
    with Progress("counting", 10) as bar:
        bar.advance(4)
        bar.show()
        bar.advance(6)
    return stream.getvalue()


def test_a_bar_shows_on_a_terminal_for_long_work_only(monkeypatch):
    assert "counting" in shown(monkeypatch, Terminal(), patience=0.0)
    assert shown(monkeypatch, Terminal(), patience=60.0) == ""
    assert shown(monkeypatch, io.StringIO(), patience=0.0) == ""


def test_progress_can_be_switched_off(monkeypatch):
    with mercer.config(progress=False):
        assert shown(monkeypatch, Terminal(), patience=0.0) == ""


def count(label, total=4):
    """Do some work that counts."""
    run_tasks(lambda task: None, list(range(total)), lambda task: 1, label, workers=1)


def machine(verbose=0):
    """Run a job of three stages, of which the second counts and the third is skipped."""
    with Job("KernelRegressor", ["columns", "search", "solve"], verbose=verbose) as job:
        with job.stage("columns"):
            time.sleep(0.01)
        with job.stage("search") as stage:
            count("kernel")
            stage.note("Gaussian(lengthscale=2) of 26 candidates")


def test_a_job_shows_one_bar_with_its_stages(monkeypatch):
    terminal = screen_of(monkeypatch, Terminal())
    machine()
    text = terminal.getvalue()
    assert "KernelRegressor: columns (1/3)" in text
    assert "KernelRegressor: search (2/3)" in text
    assert "4/4" in text
    assert "kernel " not in text
    # The cursor is shown again as often as it was hidden: once.
    assert text.count("\x1b[?25l") == text.count("\x1b[?25h") == 1


def test_a_silent_stage_shows_its_bar_too(monkeypatch):
    screen_of(monkeypatch, Terminal(), patience=0.05)
    with Job("KernelRegressor", ["solve"]) as job, job.stage("solve"):
        deadline = time.monotonic() + 10
        while "solve (1/1)" not in sys.stderr.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
        assert "solve (1/1)" in sys.stderr.getvalue()


def test_short_jobs_leave_no_trace(monkeypatch):
    terminal = screen_of(monkeypatch, Terminal(), patience=60.0)
    machine()
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.join(10)
            assert not thread.is_alive()
    assert terminal.getvalue() == ""


def test_without_a_terminal_verbose_writes_a_line_for_every_stage(monkeypatch):
    log = screen_of(monkeypatch, io.StringIO())
    machine()
    assert log.getvalue() == ""
    for verbose in (1, True):
        machine(verbose)
        lines = log.getvalue().splitlines()
        assert re.fullmatch(r"KernelRegressor: columns \(1/3\) \d+\.\d s", lines[0])
        assert re.fullmatch(r"KernelRegressor: search \(2/3\) \d+\.\d s: Gaussian.*", lines[1])
        assert lines[1].endswith("Gaussian(lengthscale=2) of 26 candidates")
        log.truncate(0)
        log.seek(0)


def test_lines_stand_above_the_bar(monkeypatch):
    terminal = screen_of(monkeypatch, Terminal())
    machine(verbose=1)
    assert re.search(r"search \(2/3\) \d+\.\d s: Gaussian\(lengthscale=2\)", terminal.getvalue())


def test_verbose_speaks_where_progress_is_switched_off(monkeypatch):
    terminal = screen_of(monkeypatch, Terminal())
    with mercer.config(progress=False):
        machine()
        assert terminal.getvalue() == ""
        machine(verbose=1)
    assert len(terminal.getvalue().splitlines()) == 2


def test_a_callback_hears_of_stages():
    heard = []
    with mercer.config(progress=lambda *news: heard.append(news)):
        machine()
    columns, search = "KernelRegressor: columns (1/3)", "KernelRegressor: search (2/3)"
    counts = [(done, 4, search) for done in (1, 2, 3, 4)]
    assert heard == [(0, 1, columns), (1, 1, columns), (0, 1, search), *counts, (1, 1, search)]


def test_work_inside_counted_work_is_silent_in_a_job_and_heard_outside():
    heard = []

    def nested():
        with Progress("candidates", 2) as progress:
            for _ in range(2):
                count("kernel")
                progress.advance(1)
                progress.show()

    with mercer.config(progress=lambda *news: heard.append(news)):
        with Job("KernelRegressor", ["search"]) as job, job.stage("search"):
            nested()
        label = "KernelRegressor: search (1/1)"
        assert heard == [(0, 1, label), (1, 2, label), (2, 2, label), (1, 1, label)]
        heard.clear()
        nested()
    assert {label for _, _, label in heard} == {"candidates", "kernel"}


def test_work_that_was_told_to_be_silent_does_not_move_the_bar_of_a_job():
    heard = []
    with (
        mercer.config(progress=lambda *news: heard.append(news)),
        Job("Selection", ["fits"]) as job,
        job.stage("fits"),
        mercer.config(progress=False),
    ):
        count("kernel")
    assert [news[:2] for news in heard] == [(0, 1), (1, 1)]


def test_a_job_inside_a_job_moves_no_bar_of_its_own(monkeypatch):
    terminal = screen_of(monkeypatch, Terminal())
    with Job("Outer", ["fits"]) as job, job.stage("fits"):
        machine()
    assert "Outer: fits (1/1)" in terminal.getvalue()
    assert "KernelRegressor" not in terminal.getvalue()


def test_bars_of_two_threads_do_not_meet(monkeypatch):
    terminal = screen_of(monkeypatch, Terminal())
    with Progress("first", 2) as progress:
        progress.advance(1)
        progress.show()
        thread = threading.Thread(target=machine)
        thread.start()
        thread.join()
    assert "first" in terminal.getvalue()
    assert "KernelRegressor" not in terminal.getvalue()


@pytest.mark.parametrize("error", [ArithmeticError, KeyboardInterrupt])
def test_an_error_closes_the_bar_and_ends_the_job(monkeypatch, error):
    terminal = screen_of(monkeypatch, Terminal())

    def failing():
        with (
            Job("KernelRegressor", ["search", "solve"], verbose=1) as job,
            job.stage("search"),
            Progress("kernel", 3) as progress,
        ):
            progress.advance(1)
            progress.show()
            raise error

    with pytest.raises(error):
        failing()
    text = terminal.getvalue()
    assert text.count("\x1b[?25l") == text.count("\x1b[?25h") == 1
    assert " s" not in re.sub(r"\x1b\[[^a-zA-Z]*[a-zA-Z]", "", text).split("search (1/2)")[-1]
    # The next job has the screen to itself.
    machine()
    assert "KernelRegressor: search (2/3)" in terminal.getvalue()


def test_a_callback_may_interrupt():
    def interrupt(done, total, label):
        if done == 2:
            raise KeyboardInterrupt

    with mercer.config(progress=interrupt):
        with pytest.raises(KeyboardInterrupt):
            machine()
        heard = []
        with mercer.config(progress=lambda *news: heard.append(news)):
            count("kernel")
    assert heard[-1] == (4, 4, "kernel")


def test_an_unknown_stage_is_named():
    job = Job("KernelRegressor", ["search"])
    with job, pytest.raises(ValueError, match="got 'solv'"), job.stage("solv"):
        pass


def test_a_notebook_shows_the_bar(monkeypatch):
    screen_of(monkeypatch, io.StringIO())
    displayed = []

    class ZMQInteractiveShell:
        pass

    class Output(contextlib.nullcontext):
        def clear_output(self, wait=False):
            pass

        def close(self):
            displayed.append("closed")

    for name, content in (
        ("IPython", {}),
        ("IPython.display", {"display": lambda *what, **how: displayed.append(what)}),
        ("ipywidgets", {"Output": Output}),
    ):
        module = ModuleType(name)
        module.__spec__ = ModuleSpec(name, None)
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(builtins, "get_ipython", ZMQInteractiveShell, raising=False)
    machine()
    assert isinstance(displayed[0][0], Output)
    assert "closed" in displayed
