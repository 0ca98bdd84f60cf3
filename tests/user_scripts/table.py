"""A table with categories and gaps."""

import numpy as np
import polars as pl

from mercer import KernelRegressor, TableEncoder

rng = np.random.default_rng(0)
frame = pl.DataFrame(
    {
        "size": rng.uniform(20, 120, 100),
        "district": rng.choice(["north", "south"], 100),
        "rooms": [None if k % 9 == 0 else k % 5 for k in range(100)],
    }
)
price = 3 * frame["size"].to_numpy() + 50 * (frame["district"] == "north").to_numpy()

encoder = TableEncoder().fit(frame)
kinds: list[str] = encoder.kinds_
names: np.ndarray = encoder.get_feature_names_out()
model = KernelRegressor("gaussian").fit(frame, price)
assert len(kinds) == 3
assert len(names) == np.asarray(encoder.transform(frame)).shape[1]
assert model.score(frame, price) > 0.9
