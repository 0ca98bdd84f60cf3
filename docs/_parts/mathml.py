r"""Formulas as MathML, made when the site is built, in a font that the site brings along.

Browsers lay out MathML themselves: no script, no network, no jump while a page loads, and a
reader of screens reads it. A command that the converter does not know is a warning of the
build, and so an error, instead of red text that a visitor finds. The font is STIX Two Math, cut
down to the characters of the formulas.
"""

import re
from html import unescape
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

import latex2mathml.converter
from docutils import nodes
from fontTools import subset
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)
FONT = "stix-two-math.woff"
#: Always in it: plain letters, accents and roots that stretch, and the slanted letters in which
#: browsers show a name of one letter. Formulas do not name these.
ALWAYS = "U+20-7E,U+300-338,U+2032,U+203E,U+210E,U+221A,U+23DC-23E1,U+1D434-1D467,U+1D6E2-1D71B"
FORMULA = re.compile(r"<math\b.*?</math>", re.DOTALL)
#: Elements whose children stand side by side.
ROWS = {"math", "mrow", "mstyle", "msqrt", "mtd"}
BARS = {"|", "\u2016"}
MATHML = "http://www.w3.org/1998/Math/MathML"


def convert(latex, display):
    """Return a formula as MathML; an unknown command raises ValueError."""
    mathml = latex2mathml.converter.convert(latex, display=display)
    if "\\" in mathml or "<merror" in mathml:
        raise ValueError(f"a command of this formula is unknown: {latex.strip()}")
    ElementTree.register_namespace("", MATHML)
    root = ElementTree.fromstring(mathml)
    for element in root.iter():
        set_as_in_tex(element)
    return ElementTree.tostring(root, encoding="unicode")


def set_as_in_tex(element):
    """Set an element as TeX does where the converter does not."""
    tag, text = kind(element), element.text or ""
    if tag == "mo" and text in BARS and element.get("fence") is None:
        # Bars that are no pair of left and right do not grow, and are no operators.
        element.attrib |= {"stretchy": "false", "lspace": "0", "rspace": "0"}
    elif tag == "mi" and len(text) == 1 and "\u0391" <= text <= "\u03a9":
        element.set("mathvariant", "normal")
    elif tag in ROWS:
        # A thin space between the name of a function and what is no operator.
        children = list(element)
        for place in range(len(children) - 1, 0, -1):
            pair = children[place - 1 : place + 1]
            if any(is_function(one) for one in pair) and not any(kind(one) == "mo" for one in pair):
                element.insert(place, ElementTree.Element(f"{{{MATHML}}}mspace", width="0.17em"))


def kind(element):
    return element.tag.rpartition("}")[2]


def is_function(element):
    """Return whether an element is the name of a function, or one with an index or a power."""
    if kind(element) in ("msub", "msup", "msubsup"):
        element = element[0]
    return kind(element) == "mi" and len(element.text or "") > 1 and element.text.isalpha()


def rendered(node, display):
    try:
        return convert(node.astext(), display)
    except Exception as error:
        LOGGER.warning("formula: %s", error, location=node)
        return ""


def visit_inline(translator, node):
    translator.body.append(f'<span class="math">{rendered(node, "inline")}</span>')
    raise nodes.SkipNode


def visit_block(translator, node):
    translator.body.append(f'<div class="math">{rendered(node, "block")}</div>')
    raise nodes.SkipNode


def characters(folder):
    """Return the characters of all formulas of all pages."""
    pages = (path.read_text(encoding="utf-8") for path in Path(folder).rglob("*.html"))
    return "".join(
        {letter for page in pages for math in FORMULA.findall(page) for letter in unescape(math)}
    )


def bring_font(app, _error):
    """Write the font beside the pages."""
    if _error is None and app.builder.format == "html":
        options = subset.Options(flavor="woff", layout_features=["*"], name_IDs=[0, 1, 2, 13, 14])
        source = Path(find_spec("ziamath").origin).parent / "fonts/STIXTwoMath-Regular.ttf"
        font = subset.load_font(source, options)
        cutter = subset.Subsetter(options)
        cutter.populate(unicodes=subset.parse_unicodes(ALWAYS), text=characters(app.outdir))
        cutter.subset(font)
        subset.save_font(font, Path(app.outdir, "_static", FONT), options)


def setup(app):
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    app.connect("build-finished", bring_font)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
