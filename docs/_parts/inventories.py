"""Links to the pages of other projects, without a network.

``docs/inventories.txt`` has a line ``role name address`` for each name that the docs and the
examples link to, below a line ``[project] address``. Sphinx wants such a list as a file of its
own format, which is made here.
"""

import zlib
from pathlib import Path
from tempfile import mkdtemp


def read(path):
    """Return for each project its address and its lines, each split into role, name, address."""
    projects = {}
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            project, address = line[1:].split("] ")
            projects[project] = address, []
        elif line and not line.startswith("#"):
            projects[project][1].append(line.split())
    return projects


def mapping(path):
    """Return the setting ``intersphinx_mapping``."""
    folder = Path(mkdtemp())
    found = {}
    for project, (address, names) in read(path).items():
        target = folder / f"{project}.inv"
        head = f"# Sphinx inventory version 2\n# Project: {project}\n# Version: \n"
        head += "# The remainder of this file is compressed using zlib.\n"
        lines = "".join(f"{name} {role} 1 {place} -\n" for role, name, place in names)
        target.write_bytes(head.encode() + zlib.compress(lines.encode()))
        found[project] = address, str(target)
    return found
