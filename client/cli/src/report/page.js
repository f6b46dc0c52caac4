"use strict";
// Search and sorting. Without this script the page shows every row, sorted by name.
(() => {
  const form = document.querySelector("form");
  const search = document.getElementById("search");
  const status = document.getElementById("status");
  const tables = [...document.querySelectorAll("main table")];
  const rows = tables.flatMap((table) => [...table.tBodies[0].rows]);
  const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
  const compare = new Intl.Collator("en", { numeric: true }).compare;

  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) {
      row.hidden = !words.every((word) => texts.get(row).includes(word));
    }
    for (const table of tables) {
      const is_empty = [...table.tBodies[0].rows].every((row) => row.hidden);
      table.parentElement.nextElementSibling.hidden = !is_empty;
    }
    const shown = rows.filter((row) => !row.hidden).length;
    status.textContent = words.length === 0 ? "" : `${shown} of ${rows.length} rows match`;
  };

  const key = (row, column) => row.cells[column].dataset.key ?? row.cells[column].textContent.trim();

  const sort = (table, head) => {
    const descending = head.ariaSort === "ascending";
    const column = head.cellIndex;
    for (const other of table.tHead.rows[0].cells) {
      other.removeAttribute("aria-sort");
    }
    head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    const sign = descending ? -1 : 1;
    const body = table.tBodies[0];
    const sorted = [...body.rows].sort((a, b) => sign * compare(key(a, column), key(b, column)));
    body.append(...sorted);
    status.textContent = `sorted by ${head.textContent}, ${descending ? "descending" : "ascending"}`;
  };

  for (const table of tables) {
    for (const head of table.tHead.rows[0].cells) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      button.addEventListener("click", () => sort(table, head));
      head.append(button);
    }
  }
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  search.addEventListener("input", filter);
  filter();
})();
