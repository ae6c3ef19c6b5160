"use strict";
(function () {
  const $ = (id) => document.getElementById(id);
  const about = JSON.parse($("about").textContent);
  const token = document.querySelector("meta[name=token]").content;
  const client = Array.from(crypto.getRandomValues(new Uint8Array(12)), (n) => n.toString(16).padStart(2, "0")).join("");
  const top = about.scale.length - 1, SETTLE = 150, LEFT = 50;
  const asked = Object.fromEntries(Array.from(new URLSearchParams(location.search)).filter(([, value]) => value !== ""));
  let state = null, busy = false, shownAt = 0, on = false, skipped = false, outcome = false;

  // -- asking

  async function act(what, words) {
    if (busy) return;
    busy = true;
    document.documentElement.dataset.state = "busy";
    $("work").setAttribute("aria-busy", "true");
    const later = setTimeout(() => say("Choosing the next documents ..."), 400);
    const body = Object.assign({ do: what, question: asked, judge: $("judge").value.trim() || about.judge, client, skipped, outcome }, words);
    try {
      const answer = await fetch("/api/judging", { method: "POST", body: JSON.stringify(body), headers: { "X-Unjudged-Token": token } });
      if (!answer.ok) throw new Error((await answer.text()) || answer.statusText);
      const before = state;
      state = await answer.json();
      $("problem").textContent = "";
      show(before, what);
    } catch (problem) {
      const lost = what === "look" ? "" : "Not saved. ";
      const silent = problem instanceof TypeError;
      $("problem").textContent = lost + (silent ? "The program behind this page does not answer; start it again, then press the key again." : begun(problem.message));
      say("");
    } finally {
      clearTimeout(later);
      busy = false;
      $("work").removeAttribute("aria-busy");
      document.documentElement.dataset.state = "ready";
    }
  }

  const begun = (text) => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
  const say = (text) => { $("last").textContent = text; };
  const idle = () => busy || Date.now() - shownAt < SETTLE || $("work").hidden || !state || !state.document;

  function grade(number) {
    if (idle()) return;
    act("label", { topic: state.document.topic, document: state.document.document, grade: number });
  }

  function skip() {
    if (idle()) return;
    act("skip", { topic: state.document.topic, document: state.document.document });
  }

  function note() {
    if (busy || !state || !state.document || $("work").hidden) return;
    $("noted").value = state.document.note;
    $("noting").returnValue = "";
    $("noting").showModal();
  }

  function undo() {
    if (busy || !state || !state.last) return;
    on = true;
    act("undo", { number: state.last.number });
  }

  // -- showing

  function show(before, what) {
    $("asked").textContent = "judging for " + state.question;
    count();
    nearness();
    const stop = !state.document || (state.phase === "done" && !on);
    $("work").hidden = stop;
    $("stop").hidden = !stop;
    $("undo").disabled = !state.last;
    if (stop) return halt();
    const same = before && before.document && before.document.topic === state.document.topic && before.document.document === state.document.document;
    if (!same) {
      paint(state.document);
      shownAt = Date.now();
      if (before) scrollTo(0, 0);
    }
    const last = state.last, name = last && last.kind === "label" ? "grade " + last.grade : "skipped";
    $("note").classList.toggle("noted", Boolean(state.document.note));
    if (what === "note") return say(state.document.note ? "Note saved." : "Note taken away.");
    say(what === "undo" ? "Taken back. Judge it again." : last ? "Last: " + name + ", document " + last.document : "");
  }

  function count() {
    const whole = state.left === null ? state.judged : state.judged + state.left;
    $("judged").max = Math.max(whole, 1);
    $("judged").value = state.judged;
    $("judged").hidden = state.left === null && state.phase === "open"; // the end is not in sight
    const bold = document.createElement("b");
    bold.textContent = state.judged.toLocaleString("en");
    $("count").replaceChildren(bold, state.left === null ? "" : " of about " + whole.toLocaleString("en"));
  }

  function halt() {
    const left = state.document !== null;
    const some = !left && state.phase !== "done" && !skipped;
    $("stop-head").textContent = state.phase === "done" ? state.headline : some ? "Only documents you skipped are left" : "Nothing is left to judge";
    $("stop-why").textContent = state.phase === "done" ? state.sentence : state.headline + ". " + state.sentence;
    $("more").textContent = some ? "Judge those you skipped" : "Judge on";
    $("more").hidden = !left && !some;
    $("stop-head").focus();
  }

  function paint(doc) {
    const words = wanted(doc.query || "");
    $("query").textContent = doc.query || "Topic " + doc.topic;
    $("need").textContent = doc.need;
    $("need").hidden = !doc.need;
    document.title = "Judge: " + (doc.query || "topic " + doc.topic);
    const parts = [];
    if (doc.title) parts.push(filled("h2", doc.title, words));
    for (const part of doc.text.split(/\n\s*\n|\n/)) if (part.trim()) parts.push(filled("p", part, words));
    if (doc.more) parts.push(plain("p", doc.more.toLocaleString("en") + " more characters are not shown.", "id"));
    if (!doc.known) parts.push(plain("p", doc.document, ""), plain("p", "Its text is not known here: read it where you keep your documents.", "id"));
    else if (!parts.length) parts.push(plain("p", "This document is empty.", "id"));
    if (doc.known) parts.push(plain("p", "Document " + doc.document + (doc.query ? ", topic " + doc.topic : ""), "id"));
    $("doc").replaceChildren(...parts);
  }

  function plain(tag, text, kind) {
    const made = document.createElement(tag);
    made.textContent = text;
    if (kind) made.className = kind;
    return made;
  }

  const COMMON = new Set("the and for are was were what who how why when where which with from that this does did can not has have its into about your you".split(" "));
  const stem = (word) => word.toLowerCase().replace(/(ing|ed|s)$/, "");

  function wanted(query) {
    const words = query.match(/[\p{L}\p{N}]+/gu) || [];
    return new Set(words.filter((word) => word.length > 2 && !COMMON.has(word.toLowerCase())).map(stem));
  }

  function filled(tag, text, words) {
    const made = document.createElement(tag);
    for (const piece of text.split(/([\p{L}\p{N}]+)/u)) {
      made.append(piece && words.size && words.has(stem(piece)) && piece.length > 2 ? plain("mark", piece, "") : piece);
    }
    return made;
  }

  // -- how near the decision is, and which way it goes for those who ask

  function nearness() {
    const found = state.outcome, settled = state.phase !== "open";
    $("near-head").textContent = found ? "Outcome so far" : "How near is the decision?";
    $("word").textContent = found ? found.word : state.headline;
    $("sentence").textContent = found ? found.sentence + " " + state.sentence : state.sentence;
    const kind = found && (found.word === "better" || found.word === "worse") ? found.word : settled && !found ? "done" : "open";
    $("mark").setAttribute("href", "#m-" + kind);
    document.querySelector(".big").className = "big " + kind;
    $("outcome").setAttribute("aria-pressed", String(outcome));
    $("outcome").textContent = outcome ? "Hide it while I judge" : "Show which way it goes";
    const pair = state.points.some((p) => typeof p.margin === "number");
    if (found && pair) differences(); else shares();
  }

  function drawn(tag, attributes, text) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if (text !== undefined) made.textContent = text;
    return made;
  }

  const most = () => Math.max(state.judged + (state.left || 0), 10);
  const across = (labels) => LEFT + (280 - LEFT) * labels / most();

  function frame(rows) {
    const parts = [drawn("line", { class: "edge", x1: LEFT, x2: 280, y1: 130, y2: 130 })];
    for (const [y, text, dashed] of rows) {
      if (dashed) parts.push(drawn("line", { class: "limit", x1: LEFT, x2: 280, y1: y, y2: y }));
      parts.push(drawn("text", { x: LEFT - 5, y: y + 4, "text-anchor": "end" }, text));
    }
    parts.push(drawn("text", { x: LEFT, y: 146 }, "0"), drawn("text", { x: 280, y: 146, "text-anchor": "end" }, most() + " labels"));
    return parts;
  }

  function shares() {
    const up = (near) => 130 - 110 * near, points = state.points, end = points[points.length - 1];
    const parts = frame([[20, state.pair ? "decided" : "all pairs", true], [130, "0", false]]);
    parts.push(drawn("polyline", { class: "line", points: points.map((p) => across(p.labels) + "," + up(p.near)).join(" ") }));
    parts.push(drawn("circle", { class: "now", cx: across(end.labels), cy: up(end.near), r: 5 }));
    $("trend").replaceChildren(...parts);
    $("trend").setAttribute("aria-label", "After " + end.labels + " labels, " + Math.round(100 * end.near) + " % of the way to a decision");
  }

  function differences() {
    const points = state.points.filter((p) => typeof p.margin === "number"), end = points[points.length - 1];
    const reach = Math.max(...points.map((p) => Math.abs(p.difference) + p.margin), 0.001);
    const up = (value) => 75 - 55 * value / reach, fixed = (value) => value.toFixed(reach < 0.1 ? 3 : 2);
    const parts = frame([[20, "+" + fixed(reach), false], [75, "0", true], [130, "\u2212" + fixed(reach), false]]);
    const upper = points.map((p) => across(p.labels) + "," + up(p.difference + p.margin));
    const lower = points.map((p) => across(p.labels) + "," + up(p.difference - p.margin)).reverse();
    parts.push(drawn("polygon", { class: "band", points: upper.concat(lower).join(" ") }));
    parts.push(drawn("polyline", { class: "line", points: points.map((p) => across(p.labels) + "," + up(p.difference)).join(" ") }));
    parts.push(drawn("circle", { class: "now", cx: across(end.labels), cy: up(end.difference), r: 5 }));
    $("trend").replaceChildren(...parts);
    $("trend").setAttribute("aria-label", "After " + end.labels + " labels the difference is " + fixed(end.difference) + ", give or take " + fixed(end.margin));
  }

  function turn() {
    outcome = !outcome;
    act("look");
  }

  // -- controls

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || $("keys").open || $("noting").open) return;
    if (event.target.closest("input, select, textarea, dialog")) return;
    const key = event.key;
    if (/^[0-9]$/.test(key) && Number(key) <= top) grade(Number(key));
    else if (key === "s") skip();
    else if (key === "u") undo();
    else if (key === "n") { event.preventDefault(); note(); }
    else if (key === "o") turn();
    else if (key === "?") $("keys").showModal();
  });
  document.querySelectorAll("[data-grade]").forEach((button) => button.addEventListener("click", () => grade(Number(button.dataset.grade))));
  $("skip").addEventListener("click", skip);
  $("undo").addEventListener("click", undo);
  $("note").addEventListener("click", note);
  $("noting").addEventListener("close", () => {
    if ($("noting").returnValue !== "save") return;
    act("note", { topic: state.document.topic, document: state.document.document, text: $("noted").value });
  });
  $("noted").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) $("noting").close("save");
  });
  $("outcome").addEventListener("click", turn);
  $("help").addEventListener("click", () => $("keys").showModal());
  $("more").addEventListener("click", () => { on = true; skipped = !state.document; act("look"); });
  $("judge").addEventListener("change", () => act("look"));

  function kinds() {
    document.querySelectorAll("[data-for]").forEach((part) => { part.hidden = part.dataset.for !== $("kind").value; });
  }
  $("kind").addEventListener("change", kinds);
  $("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    const kind = $("kind").value, said = new URLSearchParams({ measure: $("measure").value });
    if (kind === "pair") { said.set("new", $("new").value); said.set("baseline", $("baseline").value); }
    else said.set(kind, kind === "top" ? $("top").value : "yes");
    location.search = said;
  });
  for (const id of ["new", "baseline"]) $(id).replaceChildren(...about.runs.map((run) => new Option(run, run)));
  const usual = about.question, given = Object.keys(asked).length ? asked : { new: usual.new, baseline: usual.baseline, top: usual.top, all: usual.all_pairs };
  $("kind").value = given.top ? "top" : given.new ? "pair" : "all";
  if (given.new) $("new").value = given.new;
  if (given.baseline) $("baseline").value = given.baseline; else if (about.runs.length > 1) $("baseline").selectedIndex = 1;
  if (given.top) $("top").value = given.top;
  if (asked.measure) $("measure").value = asked.measure;
  kinds();
  act("look");
})();
