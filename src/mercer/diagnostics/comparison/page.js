"use strict";
(() => {
  const root = document.documentElement;
  const theme = document.getElementById("theme");
  const remembered = (value) => {
    // A page that is opened from a file may not be allowed to remember anything.
    try {
      if (value === undefined) return localStorage.getItem("mercer-theme");
      localStorage.setItem("mercer-theme", value);
    } catch (error) {
      return null;
    }
    return value;
  };
  const show = (value) => {
    if (value === "auto") root.removeAttribute("data-theme");
    else root.dataset.theme = value;
  };
  const before = remembered();
  if (["auto", "light", "dark"].includes(before)) {
    theme.value = before;
    show(before);
  }
  theme.addEventListener("change", () => {
    show(theme.value);
    remembered(theme.value);
  });

  for (const choice of document.querySelectorAll("fieldset[data-group]")) {
    const figures = document.querySelectorAll(`figure[data-group="${choice.dataset.group}"]`);
    const choose = () => {
      const chosen = choice.querySelector("input:checked").value;
      for (const figure of figures) figure.hidden = chosen !== "all" && figure.id !== chosen;
    };
    choice.hidden = false;
    choice.addEventListener("change", choose);
    choose();
  }

  for (const button of document.querySelectorAll(".legend button")) {
    button.addEventListener("click", () => {
      const shown = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(shown));
      for (const part of document.querySelectorAll(`.${button.dataset.method}`)) {
        part.classList.toggle("off", !shown);
      }
    });
  }

  const table = document.getElementById("trials");
  const body = table.tBodies[0];
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    heading.firstElementChild.addEventListener("click", () => {
      const up = heading.getAttribute("aria-sort") !== "ascending";
      for (const other of headings) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", up ? "ascending" : "descending");
      const value = (row) => row.cells[column].dataset.value;
      const compare = (first, second) => {
        const [a, b] = [value(first), value(second)];
        // What is not there comes last, whichever way.
        if (a === "" || b === "") return (a === "") - (b === "");
        const order = isNaN(a) || isNaN(b) ? a.localeCompare(b) : a - b;
        return up ? order : -order;
      };
      body.append(...[...body.rows].sort(compare));
    });
  });
})();
