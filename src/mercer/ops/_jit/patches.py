"""Sparse sketches of patches: the compiled form of ``ops.patches``."""

from __future__ import annotations

from . import compiled


@compiled
def add_taps(images, channels, offsets, columns, signs, out):
    """Add to each row of ``out`` the channels of its neighbours, times signs."""
    n, height, width, _ = images.shape
    n_taps, size = columns.shape
    for image in range(n):
        for y in range(height):
            for x in range(width):
                row = out[(image * height + y) * width + x]
                for tap in range(n_taps):
                    down, right = y + offsets[tap, 0], x + offsets[tap, 1]
                    if down < 0 or down >= height or right < 0 or right >= width:
                        continue
                    pixel = images[image, down, right]
                    start = 0
                    while start < size:
                        # A run of channels that follow each other ends where they wrap around.
                        first = columns[tap, start]
                        turn = (start // channels + 1) * channels
                        stop = min(size, start + channels - first, turn)
                        own, target = signs[tap, start:stop], row[start:stop]
                        part = pixel[first : first + stop - start]
                        for j in range(stop - start):
                            target[j] += own[j] * part[j]
                        start = stop
