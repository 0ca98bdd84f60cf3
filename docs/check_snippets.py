"""Run every Python snippet of the README and of the pages, and compare what it prints.

Usage: ``python docs/check_snippets.py [page ...]``. The snippets of a page run one after the
other, as a reader would paste them, in an empty folder. A snippet that starts processes (it asks
for ``__main__``) runs as a script of its own. Where a ``text`` block follows a snippet it is what
the snippet prints:

- words are the same;
- times, sizes in bytes and speeds may be anything, as they depend on the machine;
- other numbers agree to 2 %, or to 2 units of their last digit, as libraries of linear
  algebra round differently.

Snippets of optional libraries that are not installed are skipped, and named. Blocks of the
language ``py`` are not run: they need a GPU, or names that a reader has.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGES = ("README.md", "docs/*.md", "docs/guide/*.md", "docs/howto/*.md", "docs/theory/*.md")
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$\s*(?:^```text\n(.*?)^```$)?", re.DOTALL | re.MULTILINE)
MARK = "\x1e"
NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[-+]?\d+)?")
#: What follows a number that depends on the machine.
FREE = re.compile(r"\s*(?:s|ms|min|minutes|seconds|kB|MB|GB|GFLOPS?|times)\b")
#: How far numbers may be apart: relative, and in units of the last digit.
RELATIVE, UNITS = 0.02, 2


def snippets(page):
    """Yield the line, the code and the printed text (or None) of every Python snippet."""
    text = page.read_text(encoding="utf-8")
    for found in FENCE.finditer(text):
        if found[1] == "python":
            yield text.count("\n", 0, found.start()) + 2, found[2], found[3]


def printed(codes, folder):
    """Return what snippets print that run one after the other, and the error if one fails."""
    script = Path(folder, "page.py")
    script.write_text(f'\nprint("{MARK}")\n'.join(codes), encoding="utf-8")
    paths = os.pathsep.join(filter(None, [str(ROOT / "src"), os.environ.get("PYTHONPATH")]))
    environment = os.environ | {"PYTHONPATH": paths, "MPLBACKEND": "agg", "COLUMNS": "200"}
    environment |= {"PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, script.name],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return done.stdout.split(f"{MARK}\n"), done.stderr if done.returncode else ""


def numbers_agree(shown, found):
    """Return whether two numbers, as written, agree."""
    one, other = (float(number.replace(",", "")) for number in (shown, found))
    digits = shown.partition("e")[0].partition(".")[2]
    exponent = int(shown.partition("e")[2] or 0)
    unit = 10.0 ** (exponent - len(digits))
    return abs(one - other) <= max(RELATIVE * abs(one), UNITS * unit * (1 + 1e-9))


def agrees(shown, found):
    """Return whether printed text agrees with the text of a page."""
    shown, found = (" ".join(text.split()) for text in (shown, found))
    if [*NUMBER.split(shown)] != [*NUMBER.split(found)]:
        return False
    pairs = zip(NUMBER.finditer(shown), NUMBER.findall(found), strict=True)
    return all(FREE.match(shown, one.end()) or numbers_agree(one[0], two) for one, two in pairs)


def check(page):
    """Return a report for each snippet of a page that fails, or prints something else."""
    every = list(snippets(page))
    alone = [[part] for part in every if "__main__" in part[1]]
    together = [part for part in every if "__main__" not in part[1]]
    return [report for parts in [together, *alone] if parts for report in check_run(page, parts)]


def check_run(page, parts):
    """Return the reports on snippets that run one after the other."""
    with tempfile.TemporaryDirectory() as folder:
        outputs, error = printed([code for _, code, _ in parts], folder)
    name, reports = page.relative_to(ROOT), []
    whole = outputs[:-1] if error else outputs
    for (line, _, shown), output in zip(parts, whole, strict=False):
        if shown is not None and not agrees(shown, output):
            reports.append(f"{name}:{line}: prints\n{output}instead of\n{shown}")
    if error:
        line = parts[len(whole)][0]
        missing = re.search(r"No module named '(\w+)'", error)
        if missing and missing[1] != "mercer":
            sys.stdout.write(f"{name}:{line}: skipped from here on, needs {missing[1]}\n")
        else:
            reports.append(f"{name}:{line}: fails\n{error}")
    return reports


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("pages", nargs="*", type=Path, help="default: all")
    chosen = parser.parse_args().pages
    pages = [path.resolve() for path in chosen] or [
        path for pattern in PAGES for path in sorted(ROOT.glob(pattern))
    ]
    wrong = []
    for page in pages:
        start = time.perf_counter()
        reports = check(page)
        wrong += reports
        seconds = time.perf_counter() - start
        if any(snippets(page)):
            state = f"{len(reports)} wrong" if reports else "right"
            sys.stdout.write(f"{page.relative_to(ROOT)}: {state}, {seconds:.0f} s\n")
            sys.stdout.write("".join(f"\n{report}\n" for report in reports))
            sys.stdout.flush()
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
