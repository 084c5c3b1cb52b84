// The overview: what ran, what its time consists of, how efficient it is, what causes waiting.

import * as api from "./api.js";
import { breakable, el, notice, refill, svg } from "./dom.js";
import { change, changesOf, sidesOf } from "./changes.js";
import { asSVG } from "./download.js";
import { count, duration, percent, plural } from "./format.js";
import { Loading } from "./loading.js";
import { css } from "./palette.js";
import { pathsOf } from "./paths.js";
import { onTheme } from "./theme.js";
import { colorOf } from "./timeline/legend.js";
import { hideTip, showTip } from "./tip.js";

/** @typedef {import("./types.js").Run} Run */

export const KEYS = ["other", "before", "after"];

const DEVICES = 32; // that are listed
const CAUSES = 5;
const MOST_BARS = 300; // more could not be distinguished

/**
 * @typedef {{
 *   run: Run, composition: import("./types.js").Composition, waits: import("./types.js").Waits,
 *   iterations: import("./types.js").Iterations, legend: import("./types.js").Legend, paths: import("./paths.js").Paths,
 *   clusters: import("./types.js").Clusters,
 * }} Facts
 */

/**
 * @param {Run} run
 * @returns {Promise<Facts>}
 */
async function factsOf(run) {
  const k = run.index;
  const [composition, waits, iterations, legend, paths, clusters] = await Promise.all([
    api.composition({ run: k }), api.waits({ run: k, limit: 200 }), api.iterations({ run: k }),
    api.legend({ run: k, color: "wait" }), pathsOf(k), api.clusters({ run: k })]);
  return { run, composition, waits, iterations, legend, paths, clusters };
}

/**
 * What the range leaves out, in the words of the command line.
 * @param {Run} run
 */
function leftOut(run) {
  if (run.left_out_before + run.left_out_after === 0) return "";
  return `, without MPI start (${duration(run.left_out_before)}) and end (${duration(run.left_out_after)})`;
}

export class OverviewView {
  /**
   * @param {import("./app.js").App} app
   * @param {HTMLElement} root
   */
  constructor(app, root) {
    this.app = app;
    this.root = root;
    this.loading = new Loading(root);
    this.key = "";
    this.offTheme = onTheme(() => this.draw());
    /** @type {Facts[]} */
    this.facts = [];
    /** @type {import("./types.js").Comparison | null} of two runs, or of repetitions of them */
    this.comparison = null;
  }

  close() {
    this.loading.close();
    this.offTheme();
  }

  update() {
    const { app } = this;
    const other = app.runs.find((r) => String(r.index) === app.params.other && r.kind !== "dataset" && r.index !== app.run.index);
    const runs = other ? [app.run, other] : [app.run];
    const sides = other ? sidesOf(app, other) : null;
    const key = JSON.stringify([sides, app.runs.map((r) => `${r.generation}.${r.analysis}`), runs.map((r) => r.index)]);
    if (key === this.key) return;
    this.key = key;
    void this.loading.wait(Promise.all([Promise.all(runs.map(factsOf)), sides ? api.compare({ before: sides[0].join(), after: sides[1].join() }) : null]), ([facts, comparison]) => {
      this.facts = facts;
      this.comparison = comparison;
      this.draw();
    }, "Looking at the whole run …");
  }

  draw() {
    const { facts } = this;
    if (facts.length === 0) return;
    refill(this.root, el("div", { class: facts.length > 1 ? "page wide" : "page" }, facts.length > 1 ? difference(facts[0], facts[1], this.comparison) : "",
      this.comparison ? changesOf(this.app, facts[1].run, this.comparison) : "",
      el("div", { class: facts.length > 1 ? "columns" : "" }, ...facts.map((f) => this.runPart(f)))));
  }

  /** @param {Facts} f */
  runPart(f) {
    const { run } = f;
    const threads = (run.threads > run.ranks ? `, ${count(run.threads)} threads` : "") + (run.threads < run.locations ? `, ${plural(run.locations - run.threads, "stream")}` : "");
    const kind = run.simulated ? `simulated${run.machine ? ` on ${run.machine}` : ""}` : "recorded";
    return el("article", { class: "stack" },
      el("header", {}, el("h1", { class: "long", text: run.name, title: run.name }), el("p", { class: "lead long",
        text: `${plural(run.ranks, "rank")}${threads}, ${kind}${run.host ? ` on ${run.host}` : ""}${leftOut(run)}. ${plural(run.calls, "call")}, ${plural(run.messages, "message")}, ${plural(run.collectives, "collective")}${run.activities ? `, ${count(run.activities)} kernels and copies on streams` : ""}.` })),
      run.warnings.length > 0 ? el("ul", { class: "warnings" }, ...run.warnings.map((text) => el("li", { text }))) : null,
      ...(run.calls === 0 ? [notice("Nothing happens in it", "This run has no calls: nothing was recorded, or what was asked for leaves everything out.")] : this.parts(f)));
  }

  /** @param {Facts} f */
  parts(f) {
    return [
      figures(f),
      el("section", {}, el("h2", { text: "What the time consists of" }), compositionBar(f)),
      el("section", {}, el("h2", { text: "How efficient it is" }), efficiencies(f)),
      f.composition.devices?.length ? el("section", {}, el("h2", { text: "What the devices did" }), this.devices(f.composition.devices)) : null,
      el("section", {}, el("h2", { text: "Causes of waiting" }), this.causes(f)),
      f.run.ranks > 1 ? el("section", {}, el("h2", { text: "Ranks that behave alike" }), this.clusters(f)) : null,
      f.iterations.list.length > 1 ? el("section", {}, el("h2", { text: "Iterations over time" }), this.iterations(f)) : null];
  }

  /** @param {Facts} f */
  clusters(f) {
    const rows = f.clusters.clusters.map((c) => el("tr", {}, el("td", { class: "number", text: count(c.count) }),
      el("td", {}, el("button", { type: "button", class: "link", text: `rank ${c.representative}`, onclick: () => this.app.goToRank(c.representative) })),
      ...[c.computation, c.communication, c.waiting].map((x) => el("td", { class: "number", text: percent(x) })), el("td", { class: "mono long", title: c.ranks, text: c.ranks })));
    const head = ["ranks", "for example", "computation", "MPI", "waiting", "which"];
    return el("div", { class: "stack tight" }, ...f.clusters.notes.map((text) => el("p", { class: "verdict slow-rank", text })),
      el("div", { class: "scroller" }, el("table", { class: "plain clusters" }, el("thead", {}, el("tr", {}, ...head.map((text) => el("th", { scope: "col", text })))), el("tbody", {}, ...rows))));
  }

  /** @param {import("./types.js").Device[]} list */
  devices(list) {
    const [all, shown] = [list.length, list.slice(0, DEVICES)];
    const head = ["rank:device", "time", "computing", "exposed", "waiting", "idle", "latency", "overlap", "kernels"];
    const rows = shown.map((d) => el("tr", {}, el("th", { scope: "row" }, el("button", { type: "button", class: "link", text: `${d.rank}:${d.device}`, onclick: () => this.app.goToRank(d.rank) })),
      el("td", { class: "number", text: duration(d.span) }), ...[d.computing, d.exposed, d.waiting, d.idle, d.latency, d.overlap].map((t) => el("td", { class: "number", text: percent(t / Math.max(1, d.span)) })),
      el("td", { class: "number", text: count(d.kernels) })));
    return el("div", { class: "stack tight" }, el("div", { class: "scroller" }, el("table", { class: "plain devices" },
      el("thead", {}, el("tr", {}, ...head.map((text, i) => el("th", { scope: "col", class: i > 0 ? "number" : "", text })))), el("tbody", {}, ...rows))),
    el("p", { class: "small muted", text: `Exposed: copies and communication while nothing computes. Waiting: for other processes. Idle: until the next launch. Overlap: copies and communication while a kernel computes.${all > DEVICES ? ` ${count(all - DEVICES)} more devices.` : ""}` }));
  }

  /** @param {Facts} f */
  causes(f) {
    if (f.waits.waiting === 0) return el("p", { class: "muted", text: "No rank waits in this run." });
    const list = f.waits.by_path.slice(0, CAUSES).map((c) => {
      const bar = el("span", { class: "bar wait-bar" });
      bar.style.width = `${Math.min(100, 100 * c.share)}%`;
      return el("li", {}, el("span", { class: "bar-ground" }, bar), el("span", { class: "number", text: percent(c.share) }),
        el("button", { type: "button", class: "link mono long", title: f.paths.name(c.path), onclick: () => this.app.go("causes", { run: String(f.run.index) }) }, breakable(f.paths.brief(c.path))));
    });
    return el("div", { class: "stack tight" }, el("ul", { class: "shares wide" }, ...list),
      el("p", { class: "small muted", text: `of ${duration(f.waits.waiting)} that all ranks together wait.` }));
  }

  /** @param {Facts} f */
  iterations(f) {
    const list = f.iterations.list;
    const longest = Math.max(...list.map((i) => i.duration), 1);
    const total = list.reduce((n, i) => n + i.duration, 0);
    const chart = svg("svg", { class: "iterations", viewBox: "0 0 1000 120", preserveAspectRatio: "none", role: "img",
      "aria-label": `Duration of ${list.length} iterations; the longest takes ${duration(longest)}` });
    const group = Math.ceil(list.length / MOST_BARS);
    const width = 1000 / Math.ceil(list.length / group);
    for (let first = 0; first < list.length; first += group) {
      chart.append(this.bar(f, first, Math.min(list.length, first + group), (first / group) * width, width * 0.86, longest));
    }
    return el("figure", { class: "figure" },
      el("div", { class: "scale-top small muted", text: duration(longest) }), chart,
      el("figcaption", { class: "small muted" },
        el("span", { class: "swatch work" }), " computation, mean of ranks ", el("span", { class: "swatch whole" }), " the rest",
        `. ${count(list.length)} iterations of `, el("code", { text: f.paths.leaf(f.iterations.path) }), `, ${duration(total / list.length)} on average`,
        group > 1 ? `; each bar is the longest of ${group}. ` : ". ", asSVG({ run: f.run.index, kind: "iterations" }, `${f.run.name}-iterations`)));
  }

  /**
   * The longest of some iterations.
   * @param {Facts} f
   * @param {number} first
   * @param {number} last
   * @param {number} x
   * @param {number} width
   * @param {number} longest of all iterations
   */
  bar(f, first, last, x, width, longest) {
    const list = f.iterations.list;
    let i = first;
    for (let k = first; k < last; k++) if (list[k].duration > list[i].duration) i = k;
    const it = list[i];
    const high = (/** @type {number} */ t) => (118 * t) / longest;
    const bar = svg("g", { class: "iteration", tabindex: list.length <= 60 ? "0" : undefined, role: "link", "aria-label": `Iteration ${i + 1}: ${duration(it.duration)}` },
      svg("rect", { class: "whole", x, y: 120 - high(it.duration), width, height: high(it.duration) }),
      svg("rect", { class: "work", x, y: 120 - high(it.computation), width, height: high(it.computation) }));
    const open = () => this.app.go("timeline", { run: String(f.run.index), from: String(it.begin), to: String(it.begin + it.duration), sel: "", at: "" });
    bar.addEventListener("click", open);
    bar.addEventListener("keydown", (e) => { if (e.key === "Enter") open(); });
    bar.addEventListener("pointermove", (e) => showTip(e.clientX, e.clientY, [
      `iteration ${i + 1}: ${duration(it.duration)}`, last - first > 1 ? `the longest of ${first + 1} to ${last}` : null,
      `computation ${duration(it.computation)} (mean of ranks), at most ${duration(it.max_computation)}`, `MPI ${duration(it.mpi)} (mean of ranks)`, "click to see it in the timeline"]));
    bar.addEventListener("pointerleave", hideTip);
    return bar;
  }
}

/** @param {Facts} f */
function figures(f) {
  const e = f.composition.efficiency;
  const all = (f.composition.devices ?? []).reduce((sum, d) => sum + d.span, f.composition.total);
  const waiting = all > 0 ? f.waits.waiting / all : 0;
  const item = (/** @type {string} */ name, /** @type {string} */ value, /** @type {string} */ note) =>
    el("div", { class: "figure-card" }, el("dt", { text: name }), el("dd", {}, value, el("small", { text: note })));
  return el("dl", { class: "cards" },
    item("Run time", duration(f.composition.total > 0 ? f.run.length : 0), ""),
    item("Parallel efficiency", percent(e.parallel), "of the time is computation"),
    item("Waiting", percent(waiting), `${duration(f.waits.waiting)} in ${plural(f.waits.states, "wait")}`),
    item("Load balance", percent(e.load_balance), "mean over longest computation"));
}

/** @param {Facts} f */
function compositionBar(f) {
  const { composition, legend } = f;
  const total = Math.max(1, composition.total);
  const parts = composition.parts.filter((p) => p.time > 0).sort((a, b) => b.time - a.time);
  /** @param {HTMLElement} e @param {import("./types.js").Part} p */
  const paint = (e, p) => {
    const c = legend.categories.find((x) => x.name === p.name) ?? legend.categories.find((x) => x.kind === p.kind);
    if (c) e.style.backgroundColor = css(colorOf(c, "kind"));
    e.classList.toggle("hatched", c?.class === "wait");
  };
  const bar = el("div", { class: "stacked", role: "img", "aria-label": parts.map((p) => `${p.title} ${percent(p.time / total)}`).join(", ") });
  const rows = parts.map((p) => {
    const piece = el("span", { title: `${p.title}: ${percent(p.time / total)}` });
    piece.style.flexGrow = String(p.time / total);
    paint(piece, p);
    bar.append(piece);
    const swatch = el("span", { class: "swatch" });
    paint(swatch, p);
    return el("tr", {}, el("th", { scope: "row" }, swatch, p.title),
      el("td", { class: "number", text: duration(p.time) }), el("td", { class: "number", text: percent(p.time / total) }));
  });
  return el("div", { class: "stack tight" }, bar,
    el("table", { class: "plain" }, el("thead", {}, el("tr", {}, el("th", { text: "kind of activity" }),
      el("th", { class: "number", text: "time, all threads" }), el("th", { class: "number", text: "share" }))), el("tbody", {}, ...rows)));
}

/** @param {Facts} f */
function efficiencies(f) {
  const e = f.composition.efficiency;
  const estimated = e.estimated ? " (estimate)" : "";
  /** @type {[string, number, number, string][]} */
  const rows = [
    ["Parallel efficiency", e.parallel, 0, "load balance × communication"],
    ["Load balance", e.load_balance, 1, "mean over longest computation of a rank"],
    ["Communication", e.communication, 1, `serialization × transfer${e.not_analyzed < 1 ? " × not analyzed" : ""}`],
    ["Serialization", e.serialisation, 2, `loss by dependencies${estimated}`],
    ["Transfer", e.transfer, 2, `loss by moving data${estimated}`],
  ];
  if (e.not_analyzed < 1) rows.push(["Not analyzed", e.not_analyzed, 2, "loss by MPI time that is neither known to be waiting nor transfer"]);
  return el("ul", { class: "shares wide efficiencies" }, ...rows.map(([name, value, depth, meaning]) => {
    const bar = el("span", { class: "bar" });
    bar.style.width = `${Math.min(100, Math.max(0, 100 * value))}%`;
    return el("li", {}, el("span", { class: "bar-ground" }, bar), el("span", { class: "number", text: percent(value) }),
      el("span", { class: `what depth-${depth}` }, el("b", { text: name }), " ", el("span", { class: "muted", text: meaning })));
  }));
}

/**
 * What the second run has more or less than the first one.
 * @param {Facts} a
 * @param {Facts} b
 * @param {import("./types.js").Comparison | null} comparison
 */
function difference(a, b, comparison) {
  /** @type {[string, number, number, (n: number) => string][]} name, both values, how they are written */
  const rows = [
    ["Run time", a.run.length, b.run.length, duration],
    ["Parallel efficiency", a.composition.efficiency.parallel, b.composition.efficiency.parallel, percent],
    ["Load balance", a.composition.efficiency.load_balance, b.composition.efficiency.load_balance, percent],
    ["Communication efficiency", a.composition.efficiency.communication, b.composition.efficiency.communication, percent],
  ];
  const parts = new Map(a.composition.parts.map((p) => [p.title, [p.time, 0]]));
  for (const p of b.composition.parts) parts.set(p.title, [parts.get(p.title)?.[0] ?? 0, p.time]);
  for (const [title, [x, y]] of [...parts].sort(([, p], [, q]) => Math.abs(q[1] - q[0]) - Math.abs(p[1] - p[0]))) rows.push([`${title}, all threads`, x, y, duration]);
  const repeated = comparison && Math.max(comparison.before, comparison.after) > 1;
  return el("section", { class: "difference" }, el("h2", { text: "What differs" }), el("div", { class: "scroller" }, el("table", { class: "plain" },
    el("thead", {}, el("tr", {}, ...["", a.run.name, b.run.name, "difference"].map((text) => el("th", { scope: "col", class: text ? "number" : "", text })))),
    el("tbody", {}, ...rows.map(([name, x, y, say]) => el("tr", {}, el("th", { scope: "row", text: name }),
      el("td", { class: "number", text: say(x) }), el("td", { class: "number", text: say(y) }), el("td", { class: "number", text: change(x, y, say) })))))),
    repeated ? el("p", { class: "small muted", text: "Of the first run of each side." }) : "");
}
