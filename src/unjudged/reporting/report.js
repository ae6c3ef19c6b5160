"use strict";
(function () {
  const own = {};
  document.documentElement.classList.add("js");

  // -- the data of a chart: CSV, compressed

  async function unpacked(node) {
    const bytes = Uint8Array.from(atob(node.textContent.trim()), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  }
  const csvOf = (figure) => unpacked(figure.querySelector("script.csv"));

  function cellsOf(csv) {
    const rows = [[""]];
    let quoted = false;
    for (let i = 0; i < csv.length; i++) {
      const c = csv[i], row = rows[rows.length - 1];
      if (quoted && c === '"' && csv[i + 1] === '"') { row[row.length - 1] += c; i++; }
      else if (c === '"') quoted = !quoted;
      else if (!quoted && c === ",") row.push("");
      else if (!quoted && c === "\n") rows.push([""]);
      else row[row.length - 1] += c;
    }
    rows.pop();
    return rows;
  }

  function download(blob, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  // -- a chart as SVG: what stands on the screen, letter by letter

  const LOOKS = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-weight", "text-anchor"];
  const SVG = "http://www.w3.org/2000/svg";

  function looked(from, to) {
    const style = getComputedStyle(from);
    for (const name of LOOKS) to.setAttribute(name, style.getPropertyValue(name));
    Array.from(from.children).forEach((child, i) => looked(child, to.children[i]));
  }

  function whole(svg) {
    const copy = svg.cloneNode(true);
    looked(svg, copy);
    copy.querySelectorAll("use").forEach((use) => {
      const from = document.querySelector(use.getAttribute("href")), made = from.cloneNode(true);
      looked(from, made);
      made.removeAttribute("id");
      use.replaceWith(made);
    });
    copy.querySelectorAll("defs").forEach((node) => node.remove());
    return copy;
  }

  function svgOf(figure) {
    const drawing = figure.querySelector(".drawing"), box = drawing.querySelector("table.rows") || drawing;
    const at = drawing.getBoundingClientRect(), full = box.getBoundingClientRect(), paper = getComputedStyle(document.body);
    const width = Math.ceil(Math.max(at.width, full.width)) + 24, out = document.createElementNS(SVG, "svg");
    const put = (name, attributes, text) => {
      const made = document.createElementNS(SVG, name);
      for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
      if (text !== undefined) made.textContent = text;
      out.append(made);
      return made;
    };
    let below = 44;
    const title = figure.querySelector("figcaption");
    const ink = { x: 12, "font-family": "sans-serif", fill: paper.color };
    put("rect", { width: "100%", height: "100%", fill: paper.backgroundColor });
    put("text", { ...ink, y: 18, "font-size": 14, "font-weight": 600 }, title.firstChild.textContent);
    put("text", { ...ink, y: 35, "font-size": 12 }, title.querySelector("small").textContent);
    const left = at.left - 12, top = Math.min(at.top, full.top) - below;
    let bottom = below;
    const visible = (node) => node.getClientRects().length > 0;
    drawing.querySelectorAll("td, th").forEach((cell) => {
      const style = getComputedStyle(cell), r = cell.getBoundingClientRect();
      if (!visible(cell) || style.backgroundColor === "rgba(0, 0, 0, 0)") return;
      put("rect", { x: r.left - left, y: r.top - top, width: r.width, height: r.height, fill: style.backgroundColor });
    });
    drawing.querySelectorAll("svg").forEach((svg) => {
      if (!visible(svg) || svg.parentElement.closest("svg")) return;
      const r = svg.getBoundingClientRect(), copy = whole(svg);
      for (const [key, value] of Object.entries({ x: r.left - left, y: r.top - top, width: r.width, height: r.height, overflow: "visible" })) copy.setAttribute(key, value);
      out.append(copy);
      bottom = Math.max(bottom, r.bottom - top);
    });
    const texts = document.createTreeWalker(drawing, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const node = texts.currentNode, holder = node.parentElement;
      if (!node.textContent.trim() || holder.closest("svg") || !visible(holder)) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      const r = range.getBoundingClientRect(), style = getComputedStyle(holder);
      put("text", { x: r.left - left, y: r.bottom - top - 5, "font-size": style.fontSize, "font-weight": style.fontWeight, "font-family": "sans-serif", fill: style.color }, node.textContent.trim());
      bottom = Math.max(bottom, r.bottom - top);
    }
    const height = Math.ceil(bottom) + 12;
    for (const [key, value] of Object.entries({ xmlns: SVG, width, height, viewBox: "0 0 " + width + " " + height, "font-family": "sans-serif" })) out.setAttribute(key, value);
    return { text: new XMLSerializer().serializeToString(out), width, height };
  }

  async function save(figure, as) {
    const name = figure.dataset.section + "." + as;
    if (as === "csv") return download(new Blob([await csvOf(figure)], { type: "text/csv" }), name);
    const made = svgOf(figure);
    if (as === "svg") return download(new Blob([made.text], { type: "image/svg+xml" }), name);
    const image = new Image();
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(made.text);
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = 2 * made.width;
    canvas.height = 2 * made.height;
    const pen = canvas.getContext("2d");
    pen.scale(2, 2);
    pen.drawImage(image, 0, 0, made.width, made.height);
    canvas.toBlob((blob) => download(blob, name), "image/png");
  }

  // -- rows: search, show all

  function rowsOf(figure) {
    const table = figure.querySelector("table.rows"), find = figure.querySelector("input.find"), all = figure.querySelector("button.all");
    if (!find) return;
    const count = figure.querySelector(".count");
    let rows = null, hidden = [];
    const read = async () => {
      table.tBodies[0].innerHTML = await unpacked(figure.querySelector("script.rest"));
      rows = Array.from(table.tBodies[0].rows);
      hidden = rows.filter((row) => row.classList.contains("more"));
    };
    let reading = null;
    const update = async () => {
      await (reading ||= read());
      const wanted = find.value.trim().toLowerCase(), open = all.getAttribute("aria-pressed") === "true";
      let shown = 0;
      for (const row of rows) {
        const on = wanted ? row.cells[0].textContent.toLowerCase().includes(wanted) : open || !hidden.includes(row);
        row.classList.toggle("more", !on);
        shown += on;
      }
      count.textContent = shown + " of " + rows.length + " shown";
    };
    all.dataset.text = all.textContent;
    find.addEventListener("input", update);
    all.addEventListener("click", () => {
      const open = all.getAttribute("aria-pressed") !== "true";
      all.setAttribute("aria-pressed", String(open));
      all.textContent = open ? "Show fewer" : all.dataset.text;
      update();
    });
  }

  // -- tables: all rows once somebody looks, sorted on demand

  const MOST = 2000;
  async function fill(details, figure) {
    const table = details.querySelector("table"), note = details.querySelector(":scope > p.count");
    if (!note || !figure || !figure.querySelector("script.csv")) return;
    const [, ...rows] = cellsOf(await csvOf(figure));
    const numbers = Array.from(table.tHead.rows[0].cells, (cell) => cell.classList.contains("number"));
    const body = document.createElement("tbody");
    for (const cells of rows.slice(0, MOST)) {
      const row = body.insertRow();
      cells.forEach((text, i) => {
        const cell = row.insertCell();
        cell.textContent = text === "" ? "-" : /^-?\d+\.\d+(e-?\d+)?$/.test(text) ? Number(text).toFixed(4) : text;
        if (numbers[i]) cell.className = "number";
      });
    }
    table.tBodies[0].replaceWith(body);
    note.textContent = rows.length > MOST ? "The first " + MOST + " of " + rows.length + " rows; the CSV file has all." : "All " + rows.length + " rows.";
  }

  // Make the controls below a node work.
  own.enliven = function (node) {
    node.querySelectorAll("table.sortable").forEach(sortable);
    node.querySelectorAll("figure.chart").forEach((figure) => {
      rowsOf(figure);
      figure.querySelectorAll("button.save").forEach((button) => button.addEventListener("click", () => save(figure, button.dataset.as)));
      const data = figure.parentElement.querySelector("details.data");
      if (data) data.addEventListener("toggle", () => fill(data, figure), { once: true });
    });
    node.querySelectorAll("button.copy").forEach((button) => {
      button.addEventListener("click", async () => {
        const code = button.parentElement.querySelector("code");
        try {
          await navigator.clipboard.writeText(code.textContent);
          button.textContent = "Copied";
        } catch {
          getSelection().selectAllChildren(code);
          button.textContent = "Selected";
        }
        setTimeout(() => { button.textContent = "Copy"; }, 2000);
      });
    });
    node.querySelectorAll(".strip a").forEach((link) => {
      link.addEventListener("click", () => {
        const fold = document.getElementById(link.hash.slice(1).replace(/-answer$/, ""))?.querySelector("details.fold");
        if (fold) fold.open = true;
      });
    });
  };

  window.unjudged = own;
  const folds = () => Array.from(document.querySelectorAll("details.fold"));
  const unfold = document.getElementById("unfold");
  if (unfold) {
    own.enliven(document);
    unfold.addEventListener("click", () => {
      const open = unfold.getAttribute("aria-pressed") !== "true";
      unfold.setAttribute("aria-pressed", String(open));
      unfold.textContent = open ? "Fold all" : "Unfold all";
      folds().forEach((fold) => { fold.open = open; });
    });
    let closed = [];
    window.addEventListener("beforeprint", () => { closed = folds().filter((fold) => !fold.open); closed.forEach((fold) => { fold.open = true; }); });
    window.addEventListener("afterprint", () => closed.forEach((fold) => { fold.open = false; }));
    document.documentElement.dataset.ready = "yes";
  }
})();
