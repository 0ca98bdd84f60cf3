"""Tests of names that are near, and of errors that are spelled in two ways."""

import pickle

import pytest

from mercer._words import AdvisedError, did_you_mean, listed


@pytest.mark.parametrize("name", ["PRICE", "Price", "prize", " price"])
def test_the_nearest_name_is_proposed_whatever_its_capital_letters(name):
    assert did_you_mean(name, ["size", "price"]) == "did you mean 'price'?"


def test_a_name_is_proposed_as_it_is_spelled():
    assert did_you_mean("unitprice", ["UnitPrice"]) == "did you mean 'UnitPrice'?"
    assert did_you_mean("x", ["price"], "no.") == "no."


def test_long_lists_are_cut():
    assert listed(list(range(3))) == "0, 1, 2"
    assert listed(list(range(1000)), most=2) == "0, 1, ... (1,000 in all)"


def test_advice_is_spelled_for_python_and_for_the_shell():
    error = AdvisedError("Use ", {"sep": "\t", "decimal": ",", "na_values": ["?", "n.a."]}, "!")
    assert str(error) == "Use sep='\\t', decimal=',', na_values=['?', 'n.a.']!"
    assert error.for_command_line() == "Use --sep '\\t' --decimal ',' --na '?' --na n.a.!"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert str(AdvisedError("It is empty")) == "It is empty."
