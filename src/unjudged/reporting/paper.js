"use strict";
(function () {
  const own = {};
  document.documentElement.classList.add("js");

  // Columns as the page carries them: plain lists, values with a code per row, or the bits of numbers.
  function column(packed) {
    if (Array.isArray(packed)) return packed;
    if (packed.codes) return packed.codes.map((code) => packed.names[code]);
    const bytes = Uint8Array.from(atob(packed.doubles), (c) => c.charCodeAt(0));
    return Array.from(new Float64Array(bytes.buffer), (x) => (Number.isNaN(x) ? null : x));
  }

  function rowsOf(columns) {
    const names = Object.keys(columns);
    const lists = names.map((name) => column(columns[name]));
    const rows = [];
    for (let i = 0; i < (lists[0] || []).length; i++) {
      const row = {};
      names.forEach((name, c) => { row[name] = lists[c][i]; });
      rows.push(row);
    }
    return rows;
  }

  own.draw = async function (box, section) {
    const spec = structuredClone(section.chart);
    spec.datasets = { ...spec.datasets, table: rowsOf(section.columns) };
    if (box.clientWidth < 480) {
      if (spec.facet) spec.columns = 1;
      spec.config.axis.labelLimit = 90;
      spec.config.legend = { ...spec.config.legend, direction: "vertical" };
    }
    box.replaceChildren();
    await window.vegaEmbed(box, spec, {
      ast: true, renderer: "svg", actions: false, defaultStyle: false, tooltip: { disableDefaultStyle: true },
    });
    box.dataset.drawn = "yes";
  };

  function key(cell) {
    const text = cell.textContent.trim();
    const number = Number(text.replaceAll(",", ""));
    return text === "" || text === "-" ? null : Number.isNaN(number) ? text : number;
  }

  function sort(table, place, header) {
    const down = header.getAttribute("aria-sort") === "ascending";
    table.querySelectorAll("th").forEach((th) => th.removeAttribute("aria-sort"));
    header.setAttribute("aria-sort", down ? "descending" : "ascending");
    const body = table.tBodies[0];
    const rows = Array.from(body.rows).map((row) => [key(row.cells[place]), row]);
    rows.sort(([a], [b]) => {
      if (a === null || b === null) return (a === null) - (b === null);
      const order = typeof a === typeof b ? (typeof a === "number" ? a - b : a.localeCompare(b)) : typeof a === "number" ? -1 : 1;
      return down ? -order : order;
    });
    body.append(...rows.map(([, row]) => row));
  }

  // Make the tables below a node sortable.
  own.enliven = function (node) {
    node.querySelectorAll("table.sortable").forEach((table) => {
      Array.from(table.tHead.rows[0].cells).forEach((header, place) => {
        const button = document.createElement("button");
        button.type = "button";
        button.append(...header.childNodes);
        header.append(button);
        button.addEventListener("click", () => sort(table, place, header));
      });
    });
  };

  window.unjudged = own;
  const data = document.getElementById("report-data");
  if (data) {
    const sections = JSON.parse(data.textContent);
    own.enliven(document);
    own.done = (async () => {
      for (const box of document.querySelectorAll(".chart")) await own.draw(box, sections[box.dataset.section]);
      document.documentElement.dataset.ready = "yes";
    })();
  }
})();
