"""Tests of the settings."""

import threading
import warnings

import numpy as np
import pytest

import mercer
from mercer import _settings as settings_module
from mercer.engine.config import matrix_memory, parse_memory, settings


@pytest.fixture(autouse=True)
def _settings_as_they_were(monkeypatch):
    monkeypatch.setattr(settings_module, "_of_process", settings_module.Settings())


def test_a_with_block_ends_and_what_is_set_stays():
    with mercer.config(memory="2GB", n_jobs=3, block_rows=7, progress=False):
        assert (settings().memory, settings().n_jobs, settings().block_rows) == (2 * 10**9, 3, 7)
        with mercer.config(n_jobs=None):
            assert (settings().n_jobs, settings().block_rows) == (None, 7)
        assert settings().n_jobs == 3
    assert settings().memory == 10**9
    mercer.set_config(block_rows=11)
    assert mercer.config().block_rows == 11
    assert "block_rows=11" in repr(mercer.config())


def test_making_a_config_sets_nothing():
    before = settings()
    limited = mercer.config(memory="5MB")
    assert settings() is before
    assert limited.memory == 5_000_000
    assert "not in force" in repr(limited)
    with limited:
        assert settings().memory == 5_000_000
        with limited:
            assert "not in force" not in repr(limited)
        assert settings().memory == 5_000_000
    assert settings() is before


def test_a_config_that_is_never_entered_does_not_pass_in_silence():
    with pytest.warns(RuntimeWarning, match=r"config\(memory, n_jobs\).*set_config") as caught:
        mercer.config(memory="5MB", n_jobs=2)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mercer.config()
        mercer.config(n_jobs=2).__enter__().__exit__()


def test_what_is_set_inside_a_block_stays_and_the_block_keeps_its_own():
    with mercer.config(n_jobs=3):
        mercer.set_config(n_jobs=5, block_rows=11)
        assert (settings().n_jobs, settings().block_rows) == (3, 11)
    assert (settings().n_jobs, settings().block_rows) == (5, 11)


def test_what_is_set_is_seen_by_every_thread():
    mercer.set_config(block_rows=13)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(settings().block_rows))
    thread.start()
    thread.join()
    assert seen == [13]


def test_blocks_in_two_threads_do_not_meet():
    entered, left = threading.Event(), threading.Event()
    seen = {}

    def other():
        with mercer.config(memory="5MB"):
            seen["inside"] = (settings().memory, settings().n_jobs)
            entered.set()
            left.wait(5)

    thread = threading.Thread(target=other)
    with mercer.config(n_jobs=1):
        thread.start()
        entered.wait(5)
        assert (settings().memory, settings().n_jobs) == (10**9, 1)
    left.set()
    thread.join()
    assert seen["inside"] == (5_000_000, None)
    assert (settings().memory, settings().n_jobs) == (10**9, None)


def test_an_error_inside_restores_the_settings():
    with pytest.raises(KeyError), mercer.config(memory="5MB"):
        raise KeyError
    assert settings().memory == 10**9


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2GB", 2 * 10**9),
        ("1.5 MB", 1_500_000),
        ("512MiB", 512 * 2**20),
        ("10", 10),
        (77, 77),
        (np.int64(5), 5),
    ],
)
def test_memory_is_read_from_text(text, expected):
    assert parse_memory(text) == expected


@pytest.mark.parametrize(
    ("setting", "values"),
    [
        ("memory", ["lots", "2XB", -1, 0, "0GB", 1.5, True]),
        ("n_jobs", [0, "two", 1.5, True]),
        ("block_rows", [0, -3, "all"]),
        ("progress", ["yes", 3]),
    ],
)
def test_bad_settings_name_themselves_and_change_nothing(setting, values):
    before = settings()
    for value in values:
        with pytest.raises(ValueError, match=setting):
            mercer.config(**{setting: value})
        with pytest.raises(ValueError, match=setting):
            mercer.set_config(**{setting: value})
        assert settings() == before


def test_workers_count_from_the_cores(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert settings().workers() == 1
    with mercer.config(n_jobs=5):
        assert settings().workers() == 5
    with mercer.config(n_jobs=-1):
        assert settings().workers() == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "not a number")
    assert settings().workers() >= 1


def test_the_default_memory_can_be_set_again():
    room = matrix_memory()
    with mercer.config(memory="3GB"):
        assert matrix_memory() == 3 * 10**9
        with mercer.config(memory="default"):
            assert settings().memory == 10**9
            assert abs(matrix_memory() - room) < 0.5 * room


def test_device_and_precision_are_set_and_read():
    with mercer.config(device="cuda", precision="tf32"):
        assert mercer.config().device == "cuda"
        assert mercer.config().precision == "tf32"
        with mercer.config(device=None):
            assert mercer.config().device is None
    assert (mercer.config().device, mercer.config().precision) == (None, "float32")


@pytest.mark.parametrize("setting", [{"device": 3}, {"device": ""}, {"precision": "half"}])
def test_wrong_device_and_precision_are_refused(setting):
    with pytest.raises(ValueError, match=next(iter(setting))):
        mercer.config(**setting)
