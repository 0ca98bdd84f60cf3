"""Pictures on light and on dark paper.

A picture ``NAME.png`` or ``NAME.svg`` with a sibling ``NAME-dark.png`` or ``NAME-dark.svg`` is
shown on light paper, and its sibling on dark paper: pages name the first only.
"""

from copy import copy
from pathlib import Path

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

#: Of pictures on dark paper.
SUFFIX = "-dark"


def dark_sibling(path):
    """Return the path of the dark version of a picture."""
    path = Path(path)
    return path.with_name(f"{path.stem}{SUFFIX}{path.suffix}")


class TwoThemes(SphinxPostTransform):
    """Shows the dark sibling of a picture on dark paper."""

    #: Before images are collected for the output.
    default_priority = 5

    def run(self, **kwargs):
        for image in list(self.document.findall(nodes.image)):
            dark = dark_sibling(image["uri"])
            if SUFFIX not in image["uri"] and (Path(self.env.srcdir) / dark).is_file():
                image.replace_self(self._both(image, dark.as_posix()))

    def _both(self, image, dark):
        light, other = image, copy(image)
        other.attributes = dict(image.attributes) | {"uri": dark, "candidates": {"*": dark}}
        other["classes"] = [*image["classes"], "only-dark"]
        light["classes"] = [*image["classes"], "only-light"]
        self.env.images.add_file(self.env.docname, dark)
        return [light, other]


def setup(app):
    app.add_post_transform(TwoThemes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
