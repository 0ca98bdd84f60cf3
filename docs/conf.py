"""How Sphinx builds the site: ``make docs``, or ``make docs-quick`` without running examples."""

import os
import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path[:0] = [str(DOCS / "_parts"), str(DOCS.parent / "src")]

import gallery
import inventories
import reference

import mercer

project = "mercer"
author = "The mercer developers"
copyright = author
version = release = mercer.__version__
html_title = "mercer"
html_baseurl = "https://mercer.readthedocs.io/en/latest/"

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "gallery",
    "mathml",
    "themes",
    "reference",
]

# Pages. Markdown is read by MyST: formulas in dollars, an anchor at every heading.
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_parts", "_templates", "**/GALLERY_HEADER.*", "**sg_execution_times.rst"]
myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
myst_dmath_double_inline = True
templates_path = ["_templates"]
language = "en"
smartquotes = False
nitpicky = True
suppress_warnings = ["config.cache"]
root_doc = "index"

# Reference. A page for each name, with all methods, those that are inherited included.
autosummary_generate = True
autosummary_context = reference.context()
autodoc_default_options = {"member-order": "alphabetical"}
autodoc_typehints = "none"
autodoc_class_signature = "mixed"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False
toc_object_entries_show_parents = "hide"
maximum_signature_line_length = 80

# Links to other projects, from lists that are kept here: a build needs no network.
intersphinx_mapping = inventories.mapping(DOCS / "inventories.txt")
intersphinx_timeout = 5

# Examples. MERCER_DOCS_QUICK=1 builds pages without running them.
sphinx_gallery_conf = gallery.settings()
plot_gallery = "False" if os.environ.get("MERCER_DOCS_QUICK") else "True"

# Formulas become MathML when the site is built; see _parts/mathml.py.
html_math_renderer = "mathml"

html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "mercer", "image_light": "_static/logo.svg", "image_dark": "_static/logo.svg"},
    "icon_links": [
        {
            "name": "Source",
            "url": "https://github.com/mercer-kernels/mercer",
            "icon": "fa-brands fa-github",
        }
    ],
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_prev_next": False,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_context = {"default_mode": "auto"}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
