"""Dates: strings that are recognised, days, months and weekdays."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer import TableEncoder
from mercer.preprocessing.dates import PARTS, WEEKDAYS, date_parts, days, parsed_date

TEXTS = ["2024-01-01", "2024-01-31T12:00:00", None, "2023-12-31 23:59:59.5", "2024-07-01T00:00Z"]
FRAMES = {
    "pandas": lambda columns: pd.DataFrame(columns),
    "pandas objects": lambda columns: pd.DataFrame(columns, dtype=object),
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "objects": lambda columns: np.array(list(columns.values()), dtype=object).T,
}


@pytest.mark.parametrize("name", FRAMES)
def test_strings_that_are_dates_are_dates(name):
    make = FRAMES[name]
    dates = [None if text is None else parsed_date(text) for text in TEXTS]
    x = [1.0, 2.0, 3.0, 4.0, 6.0]
    texts = make({"day": TEXTS, "x": x, "word": list("aabba")})
    encoder = TableEncoder().fit(texts)
    assert encoder.kinds_ == ["date", "number", "category"]
    expected = TableEncoder().fit_transform(
        pl.DataFrame({"day": dates, "x": x, "word": list("aabba")})
    )
    assert encoder.transform(texts) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    "text",
    ["2024", "2024-05", "20240501", "01.05.2024", "2023-02-29", "2024-13-01", "x2024-01-01", "", 5],
)
def test_what_is_no_date_stays_a_category(text):
    assert parsed_date(text) is None
    frame = pd.DataFrame({"day": ["2024-01-01", str(text)] * 3})
    assert TableEncoder().fit(frame).kinds_ == ["category"]


def test_offsets_are_taken_into_account():
    assert parsed_date("2024-01-01T01:30+02:00") == datetime.datetime(2023, 12, 31, 23, 30)
    assert parsed_date("0001-01-01T00:00+14:00") is None


def test_columns_that_are_categorical_stay_so():
    texts = pd.DataFrame({"day": ["2024-01-01", "2024-01-02"] * 2})
    for frame in (
        texts.astype("category"),
        pl.from_pandas(texts).cast(pl.Categorical),
        pl.from_pandas(texts).cast(pl.Enum(["2024-01-01", "2024-01-02"])),
        pa.table({"day": pa.array(texts["day"]).dictionary_encode()}),
    ):
        encoder = TableEncoder().fit(frame)
        assert encoder.kinds_ == ["category"]
        assert np.array_equal(encoder.transform(frame)[:, 0], [1, 0, 1, 0])
    assert np.array_equal(TableEncoder().fit(texts.astype("category")).transform(texts)[0], [1, 0])


def test_later_blocks_are_read_as_the_first():
    dates, words = pd.DataFrame({"day": TEXTS}), pd.DataFrame({"day": ["soon", "2024-01-01"]})
    with pytest.raises(ValueError, match=r"'day' held dates .* holds categories now; 'soon' is no"):
        TableEncoder().partial_fit(dates).partial_fit(words)
    mixed = TableEncoder().partial_fit(words).partial_fit(dates)
    assert mixed.kinds_ == ["category"]
    assert set(mixed.categories_[0]) == {"soon", *TEXTS}
    assert mixed.transform(dates).sum() == 5
    nothing = pd.DataFrame({"day": pd.array([None, None], dtype="string")})
    late = TableEncoder().partial_fit(nothing).partial_fit(dates).partial_fit(nothing)
    assert late.kinds_ == ["date"]
    assert list(late.get_feature_names_out()) == ["day", "day is missing"]
    encoder = TableEncoder().fit(dates)
    with pytest.raises(ValueError, match=r"held dates when .* but holds 'soon' now; write dates"):
        encoder.transform(words)
    assert encoder.transform(nothing).tolist() == [[0, 1], [0, 1]]


@given(st.datetimes(datetime.datetime(1600, 1, 1), datetime.datetime(9999, 12, 31)))
def test_parts_are_those_of_the_calendar(date):
    parts = date_parts(days(np.asarray([date], dtype="datetime64[us]")))[0]
    start = date.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    end = (start + datetime.timedelta(days=32)).replace(day=1) if start.year < 9999 else None
    length = datetime.timedelta(days=31) if end is None else end - start
    if end is not None or date.month == 12:
        angle = 2 * np.pi * (date.month - 1 + (date - start) / length) / 12
        assert parts[:2] == pytest.approx([np.cos(angle), np.sin(angle)], abs=1e-6)
    assert WEEKDAYS[int(np.argmax(parts[2:]))] == date.strftime("%A")
    assert parts[2:].sum() == 1


def test_parts_of_dates_become_columns():
    start = np.datetime64("2023-01-01")
    frame = pd.DataFrame({"day": start + np.arange(0, 730, 1), "x": np.arange(730.0)})
    frame.loc[3, "day"] = None
    encoder = TableEncoder(dates="parts", limit=None).fit(frame)
    names = ["day", "x", *(f"day{part}" for part in PARTS), "day is missing"]
    assert list(encoder.get_feature_names_out()) == names
    rows = encoder.transform(frame)
    assert np.delete(rows, 3, axis=0)[:, 2:4].std(axis=0) == pytest.approx([1.0, 1.0])
    assert not rows[3, 2:11].any()
    mondays = frame["day"].dt.day_of_week == 0
    assert rows[mondays, 4] == pytest.approx(rows[mondays, 4].max())
    assert rows[0, 2:4] == pytest.approx(rows[365, 2:4], abs=1e-6)
    plain = TableEncoder(limit=None).fit(frame)
    assert np.array_equal(plain.transform(frame)[:, :2], rows[:, :2])
    assert encoder.describe() == (
        "1 numeric, 1 date; 12 columns once encoded, 1 with missing values"
    )
    parts = TableEncoder(dates="parts", limit=None)
    for block in (frame[500:], frame[:200], frame[200:500]):
        parts.partial_fit(block)
    assert parts.transform(frame) == pytest.approx(rows, abs=1e-9)


def test_parts_that_do_not_vary_are_dropped_and_durations_have_none():
    mondays = np.datetime64("2024-01-01") + 7 * np.arange(60)
    frame = pd.DataFrame({"day": mondays, "span": pd.to_timedelta(np.arange(60), "h")})
    encoder = TableEncoder(dates="parts").fit(frame)
    assert list(encoder.get_feature_names_out()) == [
        "day",
        "span",
        "day month cos",
        "day month sin",
    ]
    assert encoder.kinds_ == ["date", "duration"]
    with pytest.raises(ValueError, match=r"held durations .* holds dates now"):
        encoder.transform(frame.assign(span=mondays))
