"use strict";
(function () {
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

  async function draw(box, section) {
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
  }

  const data = document.getElementById("report-data");
  if (data) {
    const sections = JSON.parse(data.textContent);
    document.querySelectorAll("table.sortable").forEach(sortable);
    (async () => {
      for (const box of document.querySelectorAll(".chart")) await draw(box, sections[box.dataset.section]);
      document.documentElement.dataset.ready = "yes";
    })();
  }
})();
