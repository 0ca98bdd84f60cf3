"""Tests of progress: the callback, and the bar that only shows on a terminal after a while."""

import io

import numpy as np

import mercer
from mercer.engine import progress


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


def shown(monkeypatch, stream, patience):
    monkeypatch.setattr(progress, "PATIENCE", patience)
    monkeypatch.setattr("sys.stderr", stream)
    with progress.Progress("counting", 10) as bar:
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
