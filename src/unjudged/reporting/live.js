"use strict";
(function () {
  const $ = (id) => document.getElementById(id);
  const token = document.querySelector("meta[name=token]").content;
  let about = JSON.parse($("about").textContent);
  let job = null, round = 0, before = {}, shown = null;
  const here = () => new URLSearchParams(location.search);
  const TEXT = ["measures", "unjudged", "rel", "seed", "drop", "depth"], LISTS = ["run", "team"];

  async function ask(path, options) {
    const answer = await fetch(path, options);
    if (!answer.ok) throw new Error((await answer.text()) || answer.statusText);
    return answer.json();
  }
  const change = (path, method, body) => ask(path, { method: method, body: body, headers: { "X-Unjudged-Token": token } });

  function say(text, problem) {
    $("status").textContent = text;
    $("status").classList.toggle("problem", Boolean(problem));
  }

  // -- the state: what the URL says is what the controls show

  function option(value, text) {
    const made = document.createElement("option");
    made.value = value;
    made.textContent = text === undefined ? value : text;
    return made;
  }

  function fill() {
    const teams = Array.from(new Set(Object.values(about.teams))).sort();
    $("drop").replaceChildren(option("", "nobody"), ...teams.map((t) => option(t)));
    $("team").replaceChildren(...teams.map((t) => option(t)));
    for (const id of ["run", "run-a", "run-b"]) $(id).replaceChildren(...about.runs.map((r) => option(r)));
    $("added").replaceChildren(...about.added.map((run) => {
      const item = document.createElement("li"), button = document.createElement("button");
      button.type = "button";
      button.textContent = "Remove";
      button.setAttribute("aria-label", "Remove " + run);
      button.addEventListener("click", () => remove(run));
      item.append(run + " ", button);
      return item;
    }));
  }

  function show() {
    const q = new URLSearchParams(location.search);
    const usual = { measures: about.settings.measures.join(", "), unjudged: about.settings.unjudged, seed: String(about.settings.seed), rel: about.settings.rel === null ? "" : String(about.settings.rel) };
    for (const name of TEXT) $(name).value = q.getAll(name).join(", ") || usual[name] || "";
    for (const name of LISTS) {
      const chosen = new Set(q.getAll(name));
      for (const o of $(name).options) o.selected = chosen.has(o.value);
    }
    if (["unjudged", "rel", "seed", "depth", ...LISTS].some((name) => q.has(name))) $("more").open = true;
    $("run-a").value = q.get("a") || about.added[0] || about.runs[0];
    $("run-b").value = q.get("b") || about.runs.find((r) => r !== $("run-a").value);
    $("by").value = q.get("by") || "";
    const many = LISTS.flatMap((name) => q.getAll(name)).length;
    $("chosen").textContent = many ? "(" + many + " chosen)" : "(all runs are shown)";
  }

  // Commas inside parentheses belong to a measure.
  const split = (text) => text.split(/,(?![^(]*\))/).map((part) => part.trim()).filter(Boolean);

  function query() {
    const q = new URLSearchParams(), usual = about.settings;
    const measures = split($("measures").value);
    if (measures.join() !== usual.measures.join()) measures.forEach((m) => q.append("measures", m));
    if ($("unjudged").value !== usual.unjudged) q.set("unjudged", $("unjudged").value);
    if ($("rel").value && Number($("rel").value) !== usual.rel) q.set("rel", $("rel").value);
    if ($("seed").value && Number($("seed").value) !== usual.seed) q.set("seed", $("seed").value);
    for (const name of ["drop", "depth"]) if ($(name).value) q.set(name, $(name).value);
    for (const name of LISTS) for (const o of $(name).selectedOptions) q.append(name, o.value);
    return q;
  }

  const go = (q) => run(q);

  function state(q) {
    const made = {};
    for (const name of ["unjudged", "rel", "seed", "drop", "depth"]) if (q.has(name)) made[name] = q.get(name);
    for (const name of ["measures", ...LISTS]) if (q.has(name)) made[name] = q.getAll(name);
    return made;
  }

  // -- sections as they are ready

  function made(html) {
    const box = document.createElement("template");
    box.innerHTML = html;
    return box.content.firstElementChild;
  }

  // A new answer takes the place of the old one; its verdict stands beside the one before.
  function put(section, first) {
    const node = made(section.html), main = $("sections"), old = document.getElementById(node.id);
    const word = node.querySelector("summary .w");
    if (word && before[node.id]) word.after(was(before[node.id], word.textContent));
    for (const link of node.querySelectorAll(".strip a")) {
      const key = link.hash.slice(1).replace(/-answer$/, ""), now = link.querySelector(".w");
      if (before[key] && before[key] !== now.textContent) now.after(was(before[key], now.textContent));
    }
    const fold = node.querySelector("details.fold"), folded = old && old.querySelector("details.fold");
    if (fold) fold.open = folded ? folded.open : $("unfold").getAttribute("aria-pressed") === "true";
    if (old) old.replaceWith(node);
    else if (first) main.prepend(node);
    else {
      const last = Array.from(main.querySelectorAll(":scope > section:not(.old)")).pop();
      if (last && last.id !== "in-short") last.after(node);
      else if ($("in-short")) $("in-short").after(node);
      else main.prepend(node);
    }
    window.unjudged.enliven(node);
  }

  function was(word, now) {
    const mark = document.createElement("span");
    mark.className = "was" + (word === now ? "" : " changed");
    mark.textContent = "before: " + word;
    return mark;
  }

  const answers = () => Array.from(document.querySelectorAll("#sections > section"));
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));

  async function run(q) {
    const mine = ++round, old = job;
    document.documentElement.dataset.state = "running";
    $("save").disabled = true;
    $("cancel").disabled = true;
    $("progress").value = 0;
    say("Computing ...");
    let end = "failed", text = "", seen = 0, accepted = false;
    try {
      const started = await change("/api/jobs", "POST", JSON.stringify(state(q)));
      if (mine !== round) { change("/api/jobs/" + started.job, "DELETE").catch(() => {}); return; }
      if (old && !old.over && old.number !== started.job) change("/api/jobs/" + old.number, "DELETE").catch(() => {});
      job = { number: started.job, over: false };
      accepted = true;
      const said = q.toString();
      shown = JSON.stringify(state(q));
      if (said !== here().toString()) history.pushState(null, "", said ? "?" + said : location.pathname);
      show();
      before = {};
      for (const node of answers()) {
        node.classList.add("old");
        const word = node.querySelector("summary .w");
        if (word) before[node.id] = word.textContent;
      }
      $("cancel").disabled = false;
      for (;;) {
        const found = await ask("/api/jobs/" + started.job + "?after=" + seen);
        if (mine !== round) return;
        for (const section of found.sections) put(section);
        seen += found.sections.length;
        $("progress").value = found.share;
        if (["done", "failed", "cancelled"].includes(found.state)) {
          job.over = true;
          end = found.state;
          text = found.message;
          if (found.head) put(found.head, true);
          if (found.what) $("what").textContent = found.what;
          break;
        }
        say(found.now || "Computing ...");
        await pause(250);
      }
    } catch (problem) {
      text = problem.message;
    }
    if (mine !== round) return;
    $("cancel").disabled = true;
    if (end === "done") {
      answers().filter((node) => node.classList.contains("old")).forEach((node) => node.remove());
      $("progress").value = 1;
    }
    const left = answers().some((node) => node.classList.contains("old")) ? " Grey answers are those from before." : "";
    $("save").disabled = !(job && job.over && !left && (end === "done" || !accepted) && answers().length);
    say({ done: "Done.", cancelled: "Cancelled." + left, failed: text + (accepted ? left && "." + left : answers().length ? ". Nothing was changed." : "") }[end], end === "failed");
    document.documentElement.dataset.state = end;
  }

  // The computation under way is about other runs: it ends, and what is shown stays.
  function leave() {
    round += 1;
    if (job && !job.over) change("/api/jobs/" + job.number, "DELETE").catch(() => {});
  }

  // -- two runs

  function table(id, head, rows, caption) {
    const made = document.createElement("table"), words = document.createElement("caption");
    words.textContent = caption;
    made.className = id;
    made.append(words);
    const top = made.createTHead().insertRow();
    for (const name of head) {
      const th = document.createElement("th");
      th.scope = "col";
      th.textContent = name;
      top.append(th);
    }
    const body = made.createTBody();
    for (const row of rows) {
      const tr = body.insertRow();
      if (row.kind) tr.className = row.kind;
      for (const cell of row.cells) {
        const td = tr.insertCell();
        if (cell instanceof Node) td.append(cell); else td.textContent = cell;
      }
    }
    return made;
  }

  function pair(more) {
    const q = new URLSearchParams(location.search);
    for (const name of ["tab", "a", "b", "by", "topic", "drop", "depth", "run", "team"]) q.delete(name);
    for (const [name, value] of Object.entries(more)) if (value) q.set(name, value);
    return q.toString();
  }

  async function compare(push, topic) {
    const chosen = { a: $("run-a").value, b: $("run-b").value, by: $("by").value.trim() };
    const said = $("topic-status");
    said.classList.remove("problem");
    said.textContent = "Reading ...";
    if (push) {
      const q = new URLSearchParams(location.search);
      for (const [name, value] of Object.entries(chosen)) if (value) q.set(name, value); else q.delete(name);
      q.delete("topic");
      q.delete("tab");
      history.pushState(null, "", "?" + q);
    }
    try {
      const found = await ask("/api/topics?" + pair(chosen));
      const rows = found.topics.map((t) => {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = t.topic;
        button.addEventListener("click", () => lists(t.topic, true));
        const cell = document.createElement("span");
        cell.append(button);
        if (t.text) cell.append(part("small", t.text));
        return { topic: t.topic, cells: [cell, t.a.toFixed(4), t.b.toFixed(4), (t.difference > 0 ? "+" : "") + t.difference.toFixed(4)] };
      });
      $("topics").replaceChildren(table("topics", ["topic", found.a, found.b, "difference"], rows, found.measure + " by topic, the most different first"));
      $("topics").hidden = false;
      $("side-by-side").replaceChildren();
      said.textContent = found.topics.length + " topics.";
      if (topic) await lists(topic, false);
    } catch (problem) {
      said.textContent = problem.message;
      said.classList.add("problem");
    }
  }

  function named(d) {
    if (!d.text) return d.doc;
    const made = document.createElement("details"), head = part("summary", d.doc + (d.title ? ": " + d.title : ""));
    made.append(head, part("p", d.text));
    return made;
  }

  async function lists(topic, push) {
    if (push) {
      const q = new URLSearchParams(location.search);
      q.set("a", $("run-a").value);
      q.set("b", $("run-b").value);
      q.set("topic", topic);
      history.pushState(null, "", "?" + q);
    }
    const found = await ask("/api/topic?" + pair({ a: $("run-a").value, b: $("run-b").value, topic: topic }));
    const signs = { relevant: "✔ relevant", nonrelevant: "– nonrelevant", unjudged: "? unjudged" };
    $("side-by-side").replaceChildren(...found.lists.map((list) => {
      const rows = list.documents.map((d) => ({ kind: d.state, cells: [d.rank, named(d), signs[d.state] + (d.grade ? " (" + d.grade + ")" : "")] }));
      const made = table("documents", ["rank", "document", "judged"], rows, list.run + ", topic " + topic + ": the first " + list.documents.length + " of " + list.length);
      made.querySelectorAll("tbody tr").forEach((tr) => tr.lastElementChild.classList.add("state"));
      return made;
    }));
    $("topics").querySelectorAll("tbody tr").forEach((tr) => tr.classList.toggle("chosen", tr.cells[0].querySelector("button").textContent === topic));
    $("topic-text").textContent = found.text || "";
  }

  // -- added runs

  async function add(file) {
    if (file.size > about.most) { say(file.name + " is larger than the " + about.most / 1e6 + " MB that may be added.", true); return; }
    say("Reading " + file.name + " ...");
    try {
      about = await change("/api/runs?name=" + encodeURIComponent(file.name), "POST", file);
      fill();
      show();
      leave();
      await mine(about.run);  // before the report, which would take half of the processor
      run(here());
    } catch (problem) {
      say(problem.message, true);
    }
  }

  const part = (tag, text, kind) => {
    const made = document.createElement(tag);
    made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };

  async function mine(name) {
    const box = $("mine"), q = here();
    box.dataset.run = name;
    box.hidden = false;
    $("mine-facts").replaceChildren(part("p", "Comparing " + name + " with the others ..."));
    q.set("name", name);
    for (const other of ["a", "b", "by", "topic", "tab", "drop", "depth", "run", "team"]) q.delete(other);
    try {
      const alone = await ask("/api/score?" + q);
      if (box.dataset.run !== name) return;
      $("mine-head").textContent = name + ": " + alone.measure + " " + alone.score.toFixed(4);
      const found = await ask("/api/run?" + q);
      if (box.dataset.run !== name) return;
      $("mine-head").textContent = name + ": rank " + found.rank + " of " + found.runs + ", " + found.measure + " " + found.score.toFixed(4);
      const list = document.createElement("ul");
      const judging = (said, pair) => {
        const link = part("a", said);
        link.href = "/judge?" + new URLSearchParams({ measure: found.judge, new: name, baseline: pair.other });
        return link;
      };
      for (const pair of found.pairs) {
        const item = document.createElement("li");
        item.append(part("b", pair.word), " against " + pair.other + " (" + pair.as + "): " + pair.sentence + " ");
        if (pair.open) item.append(judging("Judge what would settle it", pair));
        list.append(item);
      }
      const holes = part("p", found.sentence + " ");
      if (found.holes && found.pairs.length) holes.append(judging("Judge these", found.pairs[0]));
      $("mine-facts").replaceChildren(holes, list);
    } catch (problem) {
      $("mine-facts").replaceChildren(part("p", problem.message, "problem"));
    }
  }

  async function remove(name) {
    try {
      about = await change("/api/runs?name=" + encodeURIComponent(name), "DELETE");
      fill();
      show();
      if ($("mine").dataset.run === name) $("mine").hidden = true;
      run(here());
    } catch (problem) {
      say(problem.message, true);
    }
  }

  $("controls").addEventListener("submit", (event) => { event.preventDefault(); go(query()); });
  $("reset").addEventListener("click", () => { history.pushState(null, "", location.pathname); show(); go(new URLSearchParams()); });
  $("cancel").addEventListener("click", () => { if (job) change("/api/jobs/" + job.number, "DELETE").catch((p) => say(p.message, true)); });
  $("save").addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = "/api/jobs/" + job.number + "/report.html";
    link.download = "trust.html";
    link.click();
  });
  $("compare").addEventListener("click", () => compare(true));
  $("file").addEventListener("change", () => { if ($("file").files.length) add($("file").files[0]); $("file").value = ""; });
  const zone = $("drop-zone");
  for (const name of ["dragenter", "dragover"]) zone.addEventListener(name, (e) => { e.preventDefault(); zone.classList.add("over"); });
  for (const name of ["dragleave", "drop"]) zone.addEventListener(name, () => zone.classList.remove("over"));
  zone.addEventListener("drop", (e) => { e.preventDefault(); if (e.dataTransfer.files.length) add(e.dataTransfer.files[0]); });

  // -- tabs: the report, or two runs

  function tab(name) {
    for (const button of document.querySelectorAll("[role=tab]")) {
      const on = button.dataset.tab === name;
      button.setAttribute("aria-selected", String(on));
      button.tabIndex = on ? 0 : -1;
      $(button.getAttribute("aria-controls")).hidden = !on;
    }
  }
  for (const button of document.querySelectorAll("[role=tab]")) {
    button.addEventListener("click", () => {
      const q = here();
      if (button.dataset.tab === "runs") q.set("tab", "runs"); else for (const name of ["tab", "a", "b", "by", "topic"]) q.delete(name);
      history.pushState(null, "", q.toString() ? "?" + q : location.pathname);
      tab(button.dataset.tab);
    });
    button.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
      const other = document.querySelector("[role=tab]:not([data-tab=" + button.dataset.tab + "])");
      other.click();
      other.focus();
    });
  }

  $("find-measure").addEventListener("change", () => {
    const wanted = $("find-measure").value.trim(), chosen = split($("measures").value);
    if (!about.known.includes(wanted)) return;
    if (!chosen.includes(wanted)) $("measures").value = [...chosen, wanted].join(", ");
    $("find-measure").value = "";
  });

  function restore() {
    const q = here(), wanted = JSON.stringify(state(q));
    show();
    tab(q.has("a") || q.get("tab") === "runs" ? "runs" : "report");
    if (wanted !== shown) run(q);
    if (q.has("a")) compare(false, q.get("topic"));
  }
  window.addEventListener("popstate", restore);
  fill();
  restore();
})();
