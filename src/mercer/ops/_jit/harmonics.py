"""Numba twin of ``ops.harmonics`` on the sphere: one pass over the rows."""

from __future__ import annotations

from . import compiled


@compiled
def sphere_columns(unit, out, starts, ahead, behind):
    """Write real spherical harmonics of unit rows, degree after degree, m = 0, 1, 1, 2, 2, ...

    ``starts[m]`` is q_mm, and q_(l+1, m) = ahead[l, m] z q_lm - behind[l, m] q_(l-1, m).
    """
    degree = starts.shape[0] - 1
    for i in range(unit.shape[0]):
        x, y, z = unit[i, 0], unit[i, 1], unit[i, 2]
        row = out[i]
        cosine, sine = 1.0, 0.0
        for m in range(degree + 1):
            if m > 0:
                cosine, sine = cosine * x - sine * y, sine * x + cosine * y
            before, now = 0.0, starts[m]
            for l in range(m, degree + 1):
                scaled = now / (2.0 * l + 1.0) ** 0.5
                if m == 0:
                    row[l * l] = scaled
                else:
                    row[l * l + 2 * m - 1] = scaled * cosine
                    row[l * l + 2 * m] = scaled * sine
                before, now = now, ahead[l, m] * z * now - behind[l, m] * before
