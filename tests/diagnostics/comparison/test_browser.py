"""The page in a real browser: it renders, its controls work, and nothing complains."""

import json
import re
import shutil
import subprocess

import pytest

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)

#: Uses every control as a person would, and writes what happened into the page.
EXERCISE = """
const found = {};
const shown = (selector) => [...document.querySelectorAll(selector)]
  .filter((element) => getComputedStyle(element).display !== "none").length;
const paper = () => getComputedStyle(document.body).backgroundColor;
const theme = document.getElementById("theme");
const choose = (value) => {
  theme.value = value;
  theme.dispatchEvent(new Event("change"));
  return paper();
};
found.light = choose("light");
found.dark = choose("dark");
const numbers = (column) => [...document.querySelectorAll("#trials tbody tr")]
  .map((row) => row.cells[column].dataset.value).filter((value) => value !== "").map(Number);
const heading = document.querySelectorAll("#trials thead button")[2];
heading.click();
found.ascending = numbers(2);
heading.click();
found.descending = numbers(2);
found.sorted = heading.parentElement.getAttribute("aria-sort");
found.figures = shown("figure[data-group=error]");
document.querySelector("fieldset[data-group=error] input").click();
found.chosen = shown("figure[data-group=error]");
found.first = document.querySelector("figure[data-group=error]:not([hidden])").id;
found.lines = shown(".method-0");
const button = document.querySelector(".legend button");
button.click();
found.hidden = shown(".method-0");
found.pressed = button.getAttribute("aria-pressed");
const controls = [...document.querySelectorAll("a, button, select, input, summary, [tabindex]")];
found.unreachable = controls.filter((control) => {
  if (control.type === "radio" && !control.checked) return false;
  control.focus();
  return document.activeElement !== control;
}).map((control) => control.outerHTML);
found.wide = document.documentElement.scrollWidth - innerWidth;
found.drawn = [...document.querySelectorAll("figure:not([hidden]) svg")]
  .every((svg) => svg.getBoundingClientRect().height > 100);
const result = document.createElement("pre");
result.id = "found";
result.textContent = JSON.stringify(found);
document.body.append(result);
"""


@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed (apt install chromium)")
def test_the_page_works_in_a_browser_at_phone_width(regression, pages, tmp_path):
    text = pages["regression"]
    path = tmp_path / "report.html"
    path.write_text(text.replace("</body>", f"<script>{EXERCISE}</script></body>"), "utf-8")
    command = [
        *(BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"),
        *(f"--user-data-dir={tmp_path / 'profile'}", "--window-size=500,900"),
        *("--virtual-time-budget=2000", "--dump-dom", path.as_uri()),
    ]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert "CONSOLE" not in run.stderr
    found = json.loads(re.search(r'<pre id="found">(.*?)</pre>', run.stdout, re.S)[1])
    assert found["light"] == "rgb(255, 255, 255)"
    assert found["dark"] == "rgb(21, 23, 26)"
    errors = sorted(trial.error for trial in regression.trials)
    assert found["ascending"] == errors
    assert found["descending"] == errors[::-1]
    assert found["sorted"] == "descending"
    assert (found["figures"], found["chosen"]) == (4, 1)
    assert found["first"] == "figure-error_by_dimension"
    assert found["lines"] > 0
    assert (found["hidden"], found["pressed"]) == (0, "false")
    assert found["unreachable"] == []
    assert found["wide"] <= 0
    assert found["drawn"]
