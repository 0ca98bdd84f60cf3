"""Tests of strings that people read as numbers."""

import pytest

from mercer.cli._numerals import recognised


@pytest.mark.parametrize(
    ("strings", "looks"),
    [
        (["12,5", "7", "-3,25"], "numbers with decimal commas"),
        (["1,234", "2,5"], "numbers with decimal commas"),
        (["1,234", "12,000.50", "7"], "numbers with thousands separators"),
        (["1'234.5", "3"], "numbers with thousands separators"),
        (["1.234,50", "12,5"], "numbers with thousands separators and decimal commas"),
        (["1 234,5", "3"], "numbers with thousands separators and decimal commas"),
        (["€ 12,50", "€ 3"], "numbers with a currency or percent sign"),
        (["CHF 12", "12 CHF"], "numbers with a currency or percent sign"),
        (["12.5", "n.a.", "Unknown"], "numbers, except 'Unknown', 'n.a.'"),
        ([*map(str, range(100)), "abc"], "numbers, except 'abc'"),
    ],
)
def test_numbers_are_recognised(strings, looks):
    assert recognised(strings).looks == looks


@pytest.mark.parametrize(
    "strings",
    [
        [],
        ["?"],
        ["red", "green"],
        ["A1", "B2"],
        ["12", "7", "A1"],
        ["12.5", "7"],
        ["2020-01-01"],
        ["12,5 kg"],
        ["Smith, 12", "Smith, 13"],
    ],
)
def test_other_strings_are_not(strings):
    assert recognised(strings) is None


def test_the_decimal_point_of_the_file_counts():
    assert recognised(["12.5", "7"], ",").looks == "numbers with decimal points"
    assert recognised(["1.234,5", "7"], ",").looks == "numbers with thousands separators"
    assert recognised(["?", "7,5"], ",").options == {"na_values": ["?"]}
