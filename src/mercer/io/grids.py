"""Fields on a grid as rows of coordinates, and predictions as fields again, by xarray."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from .._optional import require
from .._words import did_you_mean, listed
from ..engine.blocks import cut

#: Which cells of a grid are rows.
CELLS = ("known", "missing", "all")
#: Cells of a field without chunks that are read at once.
SLAB = 2**22
#: The most rows in a block.
BLOCK_ROWS = 2**16


class GridRows:
    """The cells of a field on a grid as rows, block by block, and values of rows as a field.

    A row holds the coordinates of a cell, a column for each dimension of the field, under the
    names of the dimensions; of a dataset the other variables are columns, too. Machines take it as
    the stream of blocks that it is, as often as they like. Chunked fields (Dask) and lazy ones of
    files are read chunk by chunk.

    Parameters
    ----------
    field : xarray.DataArray or xarray.Dataset
        The field; its missing values (NaN) are the gaps.
    target : str, default=None
        The variable of a dataset that is predicted; a DataArray is its own.
    cells : {"known", "missing", "all"}, default="known"
        Which cells are rows: those with a value, those without one, or all.
    columns : list of str, default=None
        What becomes columns: dimensions, coordinates (of one or more dimensions, as those of a
        curvilinear grid) and variables; ``None``: all dimensions of the target, then all other
        variables.
    block_rows : int, default=65536
        The most rows in a block.

    Attributes
    ----------
    columns : list of str
        The columns, in order.

    Examples
    --------
    >>> import numpy as np
    >>> import xarray
    >>> from mercer import FeatureRidge
    >>> from mercer.io import GridRows
    >>> values = [[1.0, np.nan], [3.0, 4.0]]
    >>> field = xarray.DataArray(values, {"latitude": [0.0, 1.0], "longitude": [10.0, 11.0]})
    >>> known, gaps = GridRows(field), GridRows(field, cells="missing")
    >>> known.rows()[0]
       latitude  longitude
    0       0.0       10.0
    1       1.0       10.0
    2       1.0       11.0
    >>> model = FeatureRidge(alpha=1e-9).fit(known)
    >>> field.fillna(gaps.grid(model.predict(gaps))).values.round(2)
    array([[1., 2.],
           [3., 4.]])
    """

    block_rows: int
    target: Any

    def __init__(
        self,
        field: Any,
        target: str | None = None,
        *,
        cells: str = "known",
        columns: Sequence[str] | None = None,
        block_rows: int = BLOCK_ROWS,
    ) -> None:
        if cells not in CELLS:
            raise ValueError(f"cells must be one of {', '.join(CELLS)}, got {cells!r}.")
        if isinstance(block_rows, bool) or not isinstance(block_rows, int) or block_rows < 1:
            raise ValueError(f"block_rows must be a positive integer, got {block_rows!r}.")
        self.cells, self.block_rows = cells, block_rows
        self.target, others = _target_of(field, target)
        if not self.target.dims:
            raise ValueError("field must have at least one dimension, got a single number.")
        chosen = [*self.target.dims, *others] if columns is None else list(columns)
        self._sources = {str(name): self._source(field, name, others) for name in chosen}

    @property
    def columns(self) -> list[str]:
        """The columns, in order."""
        return list(self._sources)

    def __iter__(self) -> Iterator[Any]:
        empty = True
        for X, y in self._blocks():
            empty = False
            yield X if y is None else (X, y)
        if empty:
            raise ValueError(f"The field has no {self._kind()}cells, and so there are no rows.")

    def rows(self) -> Any:
        """Return all rows at once.

        Returns
        -------
        X : pandas.DataFrame
            The coordinates and other columns.
        y : array of shape (n_rows,)
            The values of the cells, only of known ones.
        """
        pandas = require("pandas", "grids", "GridRows")
        blocks = list(self._blocks())
        empty = pandas.DataFrame(columns=self.columns)
        X = pandas.concat([X for X, _ in blocks], ignore_index=True) if blocks else empty
        if self.cells != "known":
            return X
        none = np.empty(0, dtype=self.target.dtype)
        return X, np.concatenate([none, *(y for _, y in blocks if y is not None)])

    def _blocks(self) -> Iterator[tuple[Any, np.ndarray | None]]:
        """Yield columns, and the values of known cells."""
        for spans in self._chunks():
            part = self.target.isel(spans)
            places, values = self._rows_of(part)
            sources = {name: _part(source, spans) for name, source in self._sources.items()}
            for start, stop in cut(len(places), self.block_rows):
                some = places[start:stop]
                known = values[some] if values is not None and self.cells == "known" else None
                yield _frame(sources, part, some), known

    def grid(self, values: Any, name: str | None = None) -> Any:
        """Return values of the rows as a field on the same grid.

        Parameters
        ----------
        values : array of shape (n_rows,)
            A number for each row, in their order: predictions or their standard deviations.
        name : str, default=None
            The name of the field; ``None``: that of the target.

        Returns
        -------
        field : xarray.DataArray
            With the dimensions and coordinates of the target, and NaN in cells that are no rows.
        """
        given = np.asarray(values)
        if given.ndim != 1:
            raise ValueError(
                f"values must be a number for each row, got an array of shape {given.shape}; make "
                "a field of each column."
            )
        dtype = given.dtype if self.cells == "all" else np.result_type(given.dtype, np.float32)
        found = np.full(self.target.shape, 0 if self.cells == "all" else np.nan, dtype=dtype)
        start = 0
        for spans in self._chunks():
            place = found[tuple(spans[dim] for dim in self.target.dims)]
            places, _ = self._rows_of(self.target.isel(spans))
            own = given[start : start + len(places)]
            if len(own) < len(places):
                break
            place[np.unravel_index(places, place.shape)] = own
            start += len(places)
        else:
            if start == len(given):
                made = self.target.copy(data=found)
                # A unit, or a scale in a file, need not be that of a standard deviation.
                made.attrs, made.encoding = {}, {}
                return made.rename(self.target.name if name is None else name)
        n_cells = sum(len(self._rows_of(self.target.isel(spans))[0]) for spans in self._chunks())
        raise ValueError(
            f"values must be a number for each row, but there are {len(given):,} for the "
            f"{n_cells:,} {self._kind()}cells."
        )

    def _kind(self) -> str:
        return "" if self.cells == "all" else f"{self.cells} "

    def _source(self, field: Any, name: Any, others: dict[str, Any]) -> Any:
        """Return what a column is taken from."""
        target = self.target
        if name in others:
            source = others[name]
        elif name in target.coords:
            source = target.coords[name]
        elif name in target.dims:
            # A dimension without coordinates counts its places.
            source = target[name]
        else:
            known = [str(known) for known in (*target.dims, *target.coords, *others)]
            raise ValueError(
                f"columns: the field has no {name!r}; "
                + did_you_mean(str(name), known, f"it has {listed(known)}.")
            )
        strange = set(source.dims) - set(target.dims)
        if strange:
            raise ValueError(
                f"{name!r} varies along {', '.join(map(repr, sorted(map(str, strange))))}, which "
                "the target does not; select one place of it, or name the columns."
            )
        return source

    def _chunks(self) -> Iterator[dict[Any, slice]]:
        """Yield the slices of all dimensions for each chunk."""
        target = self.target
        sizes = target.chunks
        if sizes is None:
            rest = math.prod(target.shape[1:])
            first = cut(target.shape[0], max(1, SLAB // max(1, rest)))
            spans = [list(first), *([(0, size)] for size in target.shape[1:])]
        else:
            stops = [np.cumsum(own).tolist() for own in sizes]
            spans = [list(zip([0, *own[:-1]], own, strict=True)) for own in stops]
        for chosen in product(*spans):
            parts = (slice(*span) for span in chosen)
            yield dict(zip(target.dims, parts, strict=True))

    def _rows_of(self, part: Any) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the numbers of the cells of a part that are rows, and values if they matter."""
        if self.cells == "all":
            return np.arange(part.size), None
        values = part.values.ravel()
        missing = require("pandas", "grids", "GridRows").isna(values)
        return np.flatnonzero(missing if self.cells == "missing" else ~missing), values


def _target_of(field: Any, target: str | None) -> tuple[Any, dict[str, Any]]:
    """Return the variable that is predicted, and the others, by name."""
    if hasattr(field, "data_vars"):
        names = [str(name) for name in field.data_vars]
        if target is None:
            raise ValueError(f"target must name a variable of the dataset: {', '.join(names)}.")
        if target not in field.data_vars:
            hint = did_you_mean(target, names, f"the dataset has {listed(names)}.")
            raise ValueError(f"target={target!r} is not there; {hint}")
        others = {name: field[name] for name in field.data_vars if name != target}
        return field[target], others
    if not (hasattr(field, "dims") and hasattr(field, "isel")):
        raise TypeError(
            f"field must be an xarray DataArray or Dataset, got {type(field).__name__}."
        )
    if target is not None:
        raise ValueError("target names a variable of a dataset, and a DataArray is its own.")
    return field, {}


def _part(source: Any, spans: dict[Any, slice]) -> Any:
    """Return the part of a coordinate or variable that belongs to a chunk, read."""
    part = source.isel({dim: spans[dim] for dim in source.dims})
    return part.dims, part.values


def _frame(sources: dict[str, Any], part: Any, places: np.ndarray) -> Any:
    """Return the columns of some cells of a chunk."""
    pandas = require("pandas", "grids", "GridRows")
    along = dict(zip(part.dims, np.unravel_index(places, part.shape), strict=True))
    return pandas.DataFrame(
        {
            name: values[tuple(along[dim] for dim in dims)]
            for name, (dims, values) in sources.items()
        }
    )
