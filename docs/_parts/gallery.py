"""How the gallery runs the examples, and saves their figures for light and for dark paper."""

from multiprocessing import spawn
from pathlib import Path
from tempfile import gettempdir

import figures
import matplotlib as mpl
import matplotlib.pyplot as plt
import themes
from PIL import Image, ImageOps

from mercer.diagnostics.comparison.palette import COLOURS

DOCS = Path(__file__).parent.parent
#: The colours of the site, in the order of hues that matplotlib has (blue, orange, green, red ...).
CYCLE = [COLOURS[number] for number in (4, 1, 7, 8, 2, 6, 3, 0, 9, 5)]


def settings():
    """Return the settings of sphinx-gallery."""
    return {
        "examples_dirs": "../examples",
        "gallery_dirs": "auto_examples",
        "filename_pattern": r"/plot_",
        "subsection_order": "gallery.tutorials_first",
        "within_subsection_order": "FileNameSortKey",
        "backreferences_dir": "auto_examples/backreferences",
        "doc_module": ("mercer",),
        "image_scrapers": ("gallery.scrape",),
        "reset_modules": ("gallery.reset",),
        "reset_argv": "gallery.arguments",
        "capture_repr": ("_repr_html_",),
        "remove_config_comments": True,
        "download_all_examples": False,
        "show_memory": False,
        "show_signature": False,
        "write_computation_times": False,
        "min_reported_time": 3600,
    }


def tutorials_first(folder):
    """Return what folders of examples are sorted by."""
    return "tutorials" not in folder, folder


#: The example that runs: its file, by the module it runs in.
RUNNING = {}


def reset(_conf, name):
    """Start an example with fresh settings, and the colours of the site."""
    RUNNING["__main__"] = str(name)
    mpl.use("agg")
    mpl.rcdefaults()
    mpl.rcParams["axes.prop_cycle"] = mpl.cycler(color=CYCLE)


def arguments(_conf, _script):
    """Examples that save their picture themselves do it in a temporary folder."""
    return [str(Path(gettempdir()) / "example.png")]


def scrape(_block, block_vars, conf):
    """Save every open figure twice, and return how the page shows it."""
    shown = []
    for number, path in zip(plt.get_fignums(), block_vars["image_path_iterator"], strict=False):
        figures.save_both(plt.figure(number), path)
        address = Path(path).relative_to(conf["src_dir"]).as_posix()
        titles = " ".join(axes.get_title() for axes in plt.figure(number).axes)
        options = f"   :alt: {' '.join(titles.split())}\n   :class: sphx-glr-single-img"
        shown.append(f".. image:: /{address}\n{options}\n\n")
    plt.close("all")
    return "".join(shown)


def darken_thumbnails(app):
    """Make a thumbnail for dark paper of every first picture that has a dark sibling."""
    for thumb in DOCS.glob("auto_examples/**/images/thumb/*_thumb.png"):
        first = thumb.parent.parent / f"{thumb.stem.removesuffix('_thumb')}_001.png"
        dark = themes.dark_sibling(first)
        if not dark.is_file():
            continue
        with Image.open(thumb) as light:
            paper = Image.new("RGB", light.size, tuple(round(255 * c) for c in figures.DARK))
        with Image.open(dark) as picture:
            small = ImageOps.contain(picture.convert("RGB"), paper.size)
        paper.paste(small, [(a - b) // 2 for a, b in zip(paper.size, small.size, strict=True)])
        paper.save(themes.dark_sibling(thumb))


def let_examples_start_processes():
    """Let a new process find the functions of an example.

    It looks for them in the module that the example runs in. sphinx-gallery makes one that has a
    name, as if it could be imported, and no file; that of the example is what must be run.
    """
    own = spawn.get_preparation_data

    def prepared(name):
        data = own(name)
        if data.get("init_main_from_name") in RUNNING:
            data["init_main_from_path"] = RUNNING[data.pop("init_main_from_name")]
        return data

    spawn.get_preparation_data = prepared


def setup(app):
    let_examples_start_processes()
    # After sphinx-gallery, which has the default priority of 500.
    app.connect("builder-inited", darken_thumbnails, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
