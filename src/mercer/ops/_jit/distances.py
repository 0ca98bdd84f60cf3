"""Numba twins of ``ops.distances``: in place, with close pairs measured from differences."""

from __future__ import annotations

from . import compiled


@compiled
def finish_distances(products, X, Y, squares_x, squares_y, near):
    """Turn inner products into squared distances, in place.

    The first loop over a row only counts the close pairs: without a branch it is vectorised,
    and few rows need the second.
    """
    n, m = products.shape
    for i in range(n):
        row = products[i]
        square = squares_x[i]
        close = 0
        for j in range(m):
            total = square + squares_y[j]
            distance = total - 2.0 * row[j]
            close += 1 if distance < near * total else 0
            row[j] = distance
        if close == 0:
            continue
        for j in range(m):
            if row[j] < near * (square + squares_y[j]):
                row[j] = _gap(X[i], Y[j], 1.0)


@compiled
def finish_chords(cosines, X, Y, near):
    """Turn cosines of unit rows into the code of ``signed_half_chords``, in place."""
    n, m = cosines.shape
    for i in range(n):
        row = cosines[i]
        extreme = 0
        for j in range(m):
            half = 0.5 * row[j]
            near_code, far_code = 0.5 - half, -(0.5 + half)
            code = far_code if half < 0.0 else near_code
            extreme += 1 if abs(code) < near else 0
            row[j] = code
        if extreme == 0:
            continue
        for j in range(m):
            code = row[j]
            if -near < code < near:
                # The sign of the code is lost in rounding at 0 and 180 degrees: ask the rows.
                close = 0.25 * _gap(X[i], Y[j], 1.0)
                if close < 0.5:
                    row[j] = close
                else:
                    row[j] = -max(0.25 * _gap(X[i], Y[j], -1.0), 1e-300)


@compiled
def _gap(x, y, sign):
    """Return |x - sign y|²."""
    total = 0.0
    for k in range(x.shape[0]):
        difference = x[k] - sign * y[k]
        total += difference * difference
    return total
