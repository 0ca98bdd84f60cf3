"""Check that the links of the built site, and those of the README, lead somewhere.

Usage: ``python docs/check_links.py site``. Every link between pages must have its file, and its
anchor in that file; so must links to this site and to this repository that are written as absolute
addresses. Nothing is fetched: addresses of others are not checked, and nothing that a page loads
may come from elsewhere.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

ROOT = Path(__file__).parent.parent
SITE = "https://mercer.readthedocs.io/en/latest/"
SOURCES = re.compile(
    r"https://(?:github\.com/mercer-kernels/mercer/(?:blob|tree)|"
    r"raw\.githubusercontent\.com/mercer-kernels/mercer)/main/"
)
#: Tags that load what they name while a page is shown, and where they name it.
LOADS = {"img": "src", "script": "src", "link": "href", "source": "srcset", "iframe": "src"}
#: Relations of a <link> that load nothing.
QUIET = {"canonical", "search", "next", "prev", "index", "author", "copyright", "top"}
MARKDOWN_LINK = re.compile(r"\]\(([^)\s]+)\)|(?:href|src|srcset)=\"([^\"]+)\"")


class Page(HTMLParser):
    """The anchors, the links and the loaded addresses of a page."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.loads = {"", "top"}, [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if tag in LOADS and given.get(LOADS[tag]) and given.get("rel") not in QUIET:
            self.loads.append(given[LOADS[tag]])


def elsewhere(address):
    return bool(urlsplit(address).scheme or address.startswith("//"))


class Site:
    """All pages of a folder, each parsed once."""

    def __init__(self, folder):
        self.folder = Path(folder).resolve()
        found = sorted(self.folder.rglob("*.html"))
        self.pages = {path: Page(path) for path in found if "_static" not in path.parts}

    def trouble_of(self, address, start):
        """Return what is wrong with a link from the folder ``start``, or None."""
        place, anchor = urldefrag(address)
        parts = urlsplit(place)
        path = (start / unquote(parts.path)).resolve() if parts.path else start
        if path.is_dir():
            path /= "index.html"
        if not path.is_file():
            return "leads nowhere"
        if path in self.pages and unquote(anchor) not in self.pages[path].anchors:
            return "has no such anchor"
        return None

    def check(self, address, path):
        """Return what is wrong with an address that a page at ``path`` links to, or None."""
        if SOURCES.match(address):
            target = ROOT / urldefrag(SOURCES.sub("", address))[0]
            return None if target.exists() else "is not in the repository"
        if address.startswith(SITE):
            return self.trouble_of(address.removeprefix(SITE) or "index.html", self.folder)
        if elsewhere(address):
            return None
        if address.startswith("#"):
            return self.trouble_of(path.name + address, path.parent)
        return self.trouble_of(address, path.parent)

    def troubles(self):
        """Yield a line for each dead link, and for each thing that is loaded from elsewhere."""
        for path, page in self.pages.items():
            name = path.relative_to(self.folder)
            for address in sorted({*page.links, *page.loads}):
                if trouble := self.check(address, path):
                    yield f"{name}: {address} {trouble}"
            for address in page.loads:
                if elsewhere(address) and not address.startswith("data:"):
                    yield f"{name}: {address} is loaded over the network"


def readme_troubles(site):
    """Yield a line for each link of the README that is dead, or not absolute."""
    readme = ROOT / "README.md"
    for one, other in MARKDOWN_LINK.findall(readme.read_text(encoding="utf-8")):
        address = one or other
        if address.startswith("#"):
            continue
        if not elsewhere(address):
            yield f"README.md: {address} is relative, and so dead on PyPI"
        elif trouble := site.check(address, readme):
            yield f"README.md: {address} {trouble}"


def main():
    site = Site(sys.argv[1] if len(sys.argv) > 1 else ROOT / "site")
    links = sum(len({*page.links, *page.loads}) for page in site.pages.values())
    troubles = [*site.troubles(), *readme_troubles(site)]
    sys.stdout.write("".join(f"{trouble}\n" for trouble in troubles))
    sys.stdout.write(f"{len(site.pages)} pages, {links:,} links, {len(troubles)} dead\n")
    sys.exit(bool(troubles) or not site.pages)


if __name__ == "__main__":
    main()
