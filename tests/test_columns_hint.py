"""Errors about the columns of a table say which name is wrong, and how to mend it."""

import numpy as np
import pandas as pd
import pytest

from mercer import FeatureRidge, Gaussian, KernelRegressor, KernelRidge


@pytest.fixture(params=[FeatureRidge(), KernelRidge(Gaussian()), KernelRegressor("gaussian")])
def model_and_table(request):
    generator = np.random.default_rng(0)
    table = pd.DataFrame(generator.standard_normal((60, 3)), columns=["mileage", "power", "age"])
    return request.param.fit(table, table["mileage"] + table["age"]), table


def test_the_nearest_name_of_a_missing_column_is_proposed(model_and_table):
    model, table = model_and_table
    with pytest.raises(ValueError, match="no column 'mileage'; did you mean 'milage'"):
        model.predict(table.rename(columns={"mileage": "milage"}))


def test_a_column_that_is_like_no_other_is_named(model_and_table):
    model, table = model_and_table
    with pytest.raises(ValueError, match="no column 'power'; the model needs it"):
        model.predict(table.drop(columns="power"))


@pytest.mark.parametrize(
    "change",
    [lambda table: table[["age", "power", "mileage"]], lambda table: table.assign(colour=1.0)],
)
def test_the_way_out_of_another_order_and_of_further_columns_works(model_and_table, change):
    model, table = model_and_table
    changed = change(table)
    with pytest.raises(ValueError, match="feature_names_in_"):
        model.predict(changed)
    # The values stand in another order in memory, and products round otherwise.
    found = model.predict(changed[list(model.feature_names_in_)])
    assert np.allclose(found, model.predict(table), rtol=1e-12, atol=1e-12)
