"""Show the reStructuredText roles of our docstrings in Markdown pages.

Docstrings follow numpydoc, so that ``help()`` and editors read them well: formulas are
``:math:`` roles and cross references are ``:class:`` roles. This extension of griffe, which
reads the docstrings for the site, turns them into ``$...$`` and plain code.
"""

import re

import griffe


class RestructuredText(griffe.Extension):
    """Rewrites every docstring once, when the package has been loaded."""

    def on_package(self, *, pkg, loader, **kwargs):
        self._seen = set()
        self._rewrite(pkg)

    def _rewrite(self, obj):
        if obj.is_alias or id(obj) in self._seen:
            return
        self._seen.add(id(obj))
        if obj.docstring:
            obj.docstring.value = to_markdown(obj.docstring.value)
        for member in getattr(obj, "members", {}).values():
            self._rewrite(member)


def to_markdown(text):
    """Return a docstring with its roles, displayed formulas and citations in Markdown."""
    text = re.sub(r"^( *)\.\. math:: *((?:.+\n?)+)", _displayed, text, flags=re.MULTILINE)
    # Of "{0, 1}, default=1" griffe would show the first choice as the default.
    text = re.sub(r"^( *\w+ : )\{([^}\n]*)\}(?=, default=)", _choices, text, flags=re.MULTILINE)
    text = re.sub(r":math:`([^`]+)`", lambda m: "$" + " ".join(m[1].split()) + "$", text)
    text = re.sub(r":(?:class|func|data|meth):`~?([\w.]+)`", _code, text)
    text = re.sub(r"\[(\d+)\]_", r"[\1]", text)
    return re.sub(r"^( *)\.\. \[(\d+)\] ", r"\1\2. ", text, flags=re.MULTILINE)


def _displayed(match):
    return f"{match[1]}$$ {' '.join(match[2].split())} $$\n"


def _choices(match):
    return match[1] + " or ".join(choice.strip() for choice in match[2].split(","))


def _code(match):
    return f"`{match[1].rpartition('.')[2]}`"
