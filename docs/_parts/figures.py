"""Save a figure for light and for dark paper.

For dark paper the greys (words, axes, grids, black and grey lines) are mirrored: white becomes the
background of the site, black nearly white. Colours, which stand for methods, are the same on both.
"""

import matplotlib as mpl
import themes
from matplotlib.collections import Collection
from matplotlib.colors import to_rgba
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text
from PIL import Image

DPI = 200
#: The background of the site's dark theme, and its words.
DARK, LIGHT = (0x14 / 255, 0x18 / 255, 0x1E / 255), 0.86


def save_both(figure, path, dpi=DPI):
    """Save ``path`` and its sibling for dark paper; the figure is changed."""
    figure.canvas.draw()
    save(figure, path, dpi)
    repaint(figure, mirrored)
    save(figure, themes.dark_sibling(path), dpi)


def save(figure, path, dpi):
    metadata = {"Date": None} if str(path).endswith(".svg") else None
    figure.savefig(path, dpi=dpi, facecolor=figure.get_facecolor(), metadata=metadata)
    if str(path).endswith(".png"):
        fewer_colours(path)


def mirrored(colour):
    """Return a colour for dark paper: greys are mirrored, others stay."""
    red, green, blue, alpha = colour
    if max(red, green, blue) - min(red, green, blue) > 0.1:
        return colour
    grey = (red + green + blue) / 3
    return *(LIGHT - (LIGHT - dark) * grey for dark in DARK), alpha


def repaint(figure, change):
    """Give every line, word and area of a figure the colour that ``change`` returns."""
    for artist in figure.findobj():
        names = [name for kind, of in PAINTED.items() if isinstance(artist, kind) for name in of]
        # All are read before one is set, as markers take the colour of their line.
        colours = {name: getattr(artist, f"get_{name}")() for name in names}
        for name, colour in colours.items():
            changed = repainted(artist, colour, change)
            if changed is not None:
                getattr(artist, f"set_{name}")(changed)
    # Ticks that are made when the figure is saved, and their labels.
    for axes in figure.axes:
        for axis, default in ((axes.xaxis, "xtick"), (axes.yaxis, "ytick")):
            given = axis.get_tick_params()
            colour = given.get("color", mpl.rcParams[f"{default}.color"])
            words = given.get("labelcolor", mpl.rcParams["text.color"])
            axis.set_tick_params(color=change(to_rgba(colour)), labelcolor=change(to_rgba(words)))


#: Artist: what of it has a colour.
PAINTED = {
    Text: ("color",),
    Line2D: ("color", "markerfacecolor", "markeredgecolor"),
    Patch: ("facecolor", "edgecolor"),
    Collection: ("facecolor", "edgecolor"),
}


def repainted(artist, colour, change):
    """Return a changed colour, or None where there is none to change."""
    if isinstance(colour, str) and colour in ("none", "auto"):
        return None
    if isinstance(artist, Collection):
        mapped = artist.get_array() is not None or len(colour) == 0
        return None if mapped else [change(one) for one in colour]
    return change(to_rgba(colour))


def fewer_colours(path):
    """Store a picture with 256 colours: a third of the bytes, no difference to the eye."""
    few = Image.open(path).convert("RGB").quantize(256, dither=Image.Dither.NONE)
    few.save(path, optimize=True)
