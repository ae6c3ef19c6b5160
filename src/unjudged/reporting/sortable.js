"use strict";
// A table that is sorted by a click on a head: numbers before texts, empty cells last; a second click turns it round.
const sortable = (function () {
  function key(cell) {
    const text = cell.textContent.trim(), number = Number(text.replaceAll(",", ""));
    return text === "" || text === "-" ? null : Number.isNaN(number) ? text : number;
  }

  function sort(table, place, header) {
    const down = header.getAttribute("aria-sort") === "ascending";
    table.querySelectorAll("th").forEach((th) => th.removeAttribute("aria-sort"));
    header.setAttribute("aria-sort", down ? "descending" : "ascending");
    const body = table.tBodies[0], rows = Array.from(body.rows).map((row) => [key(row.cells[place]), row]);
    rows.sort(([a], [b]) => {
      if (a === null || b === null) return (a === null) - (b === null);
      const order = typeof a === typeof b ? (typeof a === "number" ? a - b : a.localeCompare(b)) : typeof a === "number" ? -1 : 1;
      return down ? -order : order;
    });
    body.append(...rows.map(([, row]) => row));
  }

  return function (table) {
    Array.from(table.tHead.rows[0].cells).forEach((header, place) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...header.childNodes);
      header.append(button);
      button.addEventListener("click", () => sort(table, place, header));
    });
  };
})();
