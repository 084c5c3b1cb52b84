// The view of timelines: one run, or two above each other.

import { choice, el, refill } from "../dom.js";
import { count, duration, plural } from "../format.js";
import { pathsOf } from "../paths.js";
import * as api from "../api.js";
import { flags, notesOf } from "../notes.js";
import { step } from "../search.js";
import { AXES, across, anchorsOf } from "./align.js";
import { entries, joined, lines, markedOf } from "./legend.js";
import { LongestWaits } from "./longest.js";
import { Pane } from "./pane.js";
import { rowsOf } from "./rows.js";
import { Selection } from "./selection.js";
import { clamp, fromParams, move, toParams, whole, zoomRows, zoomTime } from "./window.js";

/** @typedef {import("../app.js").App} App */
/** @typedef {import("../address.js").Params} Params */
/** @typedef {import("./window.js").Window} Window */

/** @type {[string, string][]} */
const COLORS = [["kind", "kind of activity"], ["path", "function"], ["wait", "wait state"], ["cause", "root cause of waits"]];

export const KEYS = ["other", "sync", "from", "to", "rows", "from2", "to2", "rows2", "color", "arrows", "launches", "critical", "sel", "in", "at", "mark", "least", "sender", "receiver", "others", "stack"];

export class TimelineView {
  /**
   * @param {App} app
   * @param {HTMLElement} root
   */
  constructor(app, root) {
    this.app = app;
    this.root = root;
    this.toolbar = el("div", { class: "toolbar" });
    this.panes = el("div", { class: "panes" });
    this.legend = el("ul", { class: "legend", "aria-label": "What the colors mean" });
    this.state = el("div", { class: "status small muted", role: "status" });
    this.longest = new LongestWaits((state, pane) => this.selection.select(`wait:${state.state}`, pane, state));
    root.replaceChildren(this.toolbar, this.panes, el("div", { class: "under" }, this.legend, this.state), this.longest.element);
    /** @type {Pane[]} */
    this.list = [];
    this.selection = new Selection(this);
    this.legendFor = ""; // what the legend and the toolbar were drawn for
    this.toolbarFor = "";
    /** @type {import("./align.js").Anchor[][]} what is above each other in two runs */
    this.anchors = [[], []];
    this.anchorsFor = "";
    this.rowsFor = ""; // the ranks whose rows are shown
  }

  close() {
    for (const p of this.list) p.close();
    this.selection.close();
  }

  /** The runs that are shown. */
  runs() {
    const { app } = this;
    const other = app.params.other;
    const second = other ? app.runs.find((r) => r.index === Number(other) && r.kind !== "dataset") : undefined;
    return second ? [app.run, second] : [app.run];
  }

  update() {
    const runs = this.runs();
    const key = (/** @type {import("../types.js").Run} */ r) => `${r.index}.${r.generation}.${r.analysis}`;
    if (runs.map(key).join() !== this.list.map((p) => key(p.run)).join()) this.build(runs);
    void this.filterRows();
    void this.align();
    const { params } = this.app;
    const filter = { least: Number(params.least) || undefined, sender: params.sender || undefined, receiver: params.receiver || undefined };
    this.list.forEach((pane, i) => {
      pane.bounds = this.boundsOf(i);
      pane.update(this.windowOf(i), {
        color: this.color(i), messages: params.arrows !== "0", launches: params.launches !== "0" && pane.run.threads < pane.run.locations, critical: params.critical === "1", marks: this.selection.marks[i],
        marked: i === 0 ? markedOf(params.mark) : new Set(), filter, anchors: [...(this.aligned() ? this.anchors[i] : []), ...flags(notesOf(params.notes), this.list[i].run.index)], stack: this.stackOf(i),
      });
    });
    this.drawToolbar();
    void this.selection.show();
  }

  /** @param {import("../types.js").Run[]} runs */
  build(runs) {
    for (const p of this.list) p.close();
    this.list = runs.map((run, i) => new Pane(run, pathsOf(run.index), {
      look: (w, gesture) => this.look(i, w, gesture),
      pick: (location, time, depth) => void this.selection.pick(i, location, time, depth),
      expand: (location) => this.expand(location),
      drawn: () => this.drawn(),
      failed: (error) => this.app.failed(error),
    }));
    if (runs.length > 1) {
      this.list.forEach((p, i) => {
        // One color for one name in both runs.
        p.data.join = async (legend) => {
          const legends = await Promise.all(runs.map((run, k) => (k === i ? legend : api.legend({ run: run.index, color: legend.color }).catch(() => legend))));
          return joined(legends)[i];
        };
      });
    }
    this.panes.replaceChildren(...this.list.flatMap((p) => [
      runs.length > 1 ? el("h2", { class: "pane-title", text: p.run.name }) : "", p.element]));
    this.panes.classList.toggle("two", runs.length > 1);
    this.selection.shown = "";
    this.longest.show(runs.length === 1 ? this.list[0].run : null);
  }

  /** Hides the rows of ranks that were not chosen. */
  async filterRows() {
    const { ranks = "", others = "" } = this.app.params;
    const wanted = others === "1" ? "" : ranks;
    const key = `${wanted} ${this.list.map((p) => `${p.run.index}.${p.run.generation}.${p.run.analysis}`).join()}`;
    if (key === this.rowsFor) return;
    this.rowsFor = key;
    const found = await Promise.all(this.list.map((p) => rowsOf(p.run, wanted).catch(() => p.rows)));
    if (key !== this.rowsFor || found.every((rows, i) => rows.ranks === this.list[i].rows.ranks)) return;
    found.forEach((rows, i) => { this.list[i].rows = rows; });
    this.update();
  }

  /**
   * The row of a location, to be looked at; none if it is hidden.
   * @param {number} i pane
   * @param {number} location
   */
  rowsAt(i, location) {
    const row = this.list[i].rows.row(location);
    return row < 0 ? [] : [row];
  }

  /** @param {number} i the location whose row is expanded to its call stack; -1: none */
  stackOf(i) {
    const text = this.app.params.stack ?? "";
    return /^\d+$/.test(text) && Number(text) < this.list[i].run.locations ? Number(text) : -1;
  }

  /** @param {number} location whose row is expanded, or closed if it is already */
  expand(location) {
    this.app.set({ stack: this.app.params.stack === String(location) ? "" : String(location) });
  }

  /** Expands the row of what is selected, or the first one. */
  expandOne() {
    const [mark] = this.selection.marks.flat();
    const pane = this.list[this.active()];
    const open = Number(this.app.params.stack || -1);
    if (open >= 0) this.expand(open);
    else this.expand(mark ? mark.location : pane.rows.location(pane.window.first));
  }

  /** Whether the second run is shown where its iterations or phases are those of the first one. */
  aligned() {
    const { sync } = this.app.params;
    return this.list.length > 1 && (sync === "iteration" || sync === "phase") && this.anchors[0].length > 0;
  }

  /** Finds what belongs together in the two runs. */
  async align() {
    const { sync = "" } = this.app.params;
    const key = this.list.length > 1 && (sync === "iteration" || sync === "phase") ? `${sync} ${this.list.map((p) => `${p.run.index}.${p.run.generation}.${p.run.analysis}`).join()}` : "";
    if (key === this.anchorsFor) return;
    this.anchorsFor = key;
    this.anchors = [[], []];
    if (!key) return;
    try {
      const found = await anchorsOf(sync, this.list.map((p) => p.run));
      if (key !== this.anchorsFor) return;
      this.anchors = found;
      if (found[0].length === 0) this.app.note(`The two runs have no ${sync}s in common.`);
      this.update();
    } catch (error) {
      this.app.failed(error);
    }
  }

  /**
   * The window of one run that belongs to a window of the other one.
   * @param {Window} w
   * @param {0 | 1} i of that run
   * @returns {Window}
   */
  across(w, i) {
    const [from, to] = [this.anchors[1 - i], this.anchors[i]];
    const time = (/** @type {number} */ t) => Math.round(across(t, from, to, this.list[1 - i].run.length, this.list[i].run.length));
    return { ...w, from: time(w.from), to: time(w.to) };
  }

  /** @param {number} i what can be looked at: on a common time axis as much as the longest run has */
  boundsOf(i) {
    const { run, rows } = this.list[i];
    const length = this.app.params.sync !== "1" ? run.length : Math.max(...this.list.map((p) => p.run.length));
    return { length, locations: rows.count };
  }

  /** @param {number} i */
  windowOf(i) {
    const { params } = this.app;
    if (i === 1 && this.aligned()) {
      const { length } = this.list[0].run;
      return clamp(this.across(fromParams(params, "", { length, locations: this.list[1].rows.count }), 1), this.boundsOf(1));
    }
    return fromParams(params, i === 1 && params.sync !== "1" ? "2" : "", this.boundsOf(i));
  }

  /** @param {number} i */
  color(i) {
    const available = this.list[i].run.colors;
    const wanted = this.app.params.color;
    if (wanted && available.includes(wanted)) return wanted;
    return !wanted && available.includes("wait") ? "wait" : "kind";
  }

  /**
   * @param {number} i
   * @param {Window} w
   * @param {string} gesture
   */
  look(i, w, gesture) {
    this.app.set(this.lookParams(i, w), gesture);
  }

  /**
   * @param {number} i
   * @param {Window} w
   * @returns {Params}
   */
  lookParams(i, w) {
    const bounds = this.boundsOf(i);
    if (i === 1 && this.aligned()) return toParams(clamp(this.across(w, 0), this.boundsOf(0)), "", this.boundsOf(0));
    return toParams(clamp(w, bounds), i === 1 && this.app.params.sync !== "1" ? "2" : "", bounds);
  }

  /** The pane that keys act on. */
  active() {
    const i = this.list.findIndex((p) => p.canvas === document.activeElement);
    return i >= 0 ? i : Number(this.app.params.in === "2" && this.list.length > 1);
  }

  /** @returns {import("../keys.js").KeyMap} */
  get keys() {
    const act = (/** @type {(w: Window) => Window} */ f, /** @type {string} */ gesture) => () => {
      const i = this.active();
      this.look(i, f(this.list[i].window), gesture);
    };
    const span = (/** @type {Window} */ w) => w.to - w.from;
    const middle = (/** @type {Window} */ w) => (w.from + w.to) / 2;
    const rows = (/** @type {Window} */ w) => Math.max(1, (w.last - w.first) / 4);
    const closer = act((w) => zoomTime(w, middle(w), 0.6), "zoom");
    const farther = act((w) => zoomTime(w, middle(w), 1 / 0.6), "zoom");
    return {
      ArrowLeft: act((w) => move(w, -span(w) / 5, 0), "pan"),
      ArrowRight: act((w) => move(w, span(w) / 5, 0), "pan"),
      ArrowUp: act((w) => move(w, 0, -rows(w)), "pan"),
      ArrowDown: act((w) => move(w, 0, rows(w)), "pan"),
      "Shift+ArrowUp": act((w) => zoomRows(w, (w.first + w.last) / 2, 0.6), "rows"),
      "Shift+ArrowDown": act((w) => zoomRows(w, (w.first + w.last) / 2, 1 / 0.6), "rows"),
      "+": closer, "=": closer, "-": farther,
      Home: () => this.whole(),
      "]": () => void this.selection.step(1),
      "[": () => void this.selection.step(-1),
      ".": () => void this.selection.follow(1),
      ",": () => void this.selection.follow(-1),
      n: () => void step(this.app, 1),
      N: () => void step(this.app, -1),
      c: () => this.nextColor(),
      e: () => this.expandOne(),
      p: () => this.app.set({ critical: this.app.params.critical === "1" ? "" : "1" }),
      m: () => this.app.set({ arrows: this.app.params.arrows === "0" ? "" : "0" }),
      Escape: () => this.app.set({ sel: "", at: "", in: "", mark: "", stack: "" }),
    };
  }

  whole() {
    const i = this.active();
    this.look(i, whole(this.boundsOf(i)), "");
  }

  nextColor() {
    const list = this.list[0].run.colors;
    const next = list[(list.indexOf(this.color(0)) + 1) % list.length];
    this.app.set({ color: next, mark: "" });
    this.app.note(`Colored by ${COLORS.find(([c]) => c === next)?.[1] ?? next}.`);
  }

  drawToolbar() {
    const { app } = this;
    const { params } = app;
    const ready = this.list[0].run.analysis === "ready";
    const key = JSON.stringify([params.ranks, params.others, params.mark, params.least, params.sender, params.receiver, params.color, params.arrows, params.launches, params.critical, params.other, params.sync, ready, this.list.map((p) => p.run.colors), app.run.index]);
    if (key === this.toolbarFor) return;
    this.toolbarFor = key;
    const check = (/** @type {string} */ text, /** @type {string} */ name, /** @type {boolean} */ on, /** @type {(on: boolean) => void} */ change, disabled = false) => {
      const input = el("input", { type: "checkbox", name, checked: on, disabled });
      input.addEventListener("change", () => change(input.checked));
      return el("label", { class: "check" }, input, text);
    };
    const colors = COLORS.filter(([c]) => this.list[0].run.colors.includes(c));
    const button = (/** @type {string} */ text, /** @type {string} */ label, /** @type {string} */ k) =>
      el("button", { type: "button", text, title: label, "aria-label": label, onclick: () => this.keys[k](new KeyboardEvent("keydown")) });
    refill(this.toolbar,
      choice("color", colors, this.color(0), (color) => app.set({ color, mark: "" }), "color"),
      check("messages", "arrows", params.arrows !== "0", (on) => app.set({ arrows: on ? "" : "0" })),
      this.messageFilter(),
      this.list.some((p) => p.run.threads < p.run.locations) ? check("launches", "launches", params.launches !== "0", (on) => app.set({ launches: on ? "" : "0" })) : "",
      ...this.rankFilter(),
      check("critical path", "critical", params.critical === "1", (on) => app.set({ critical: on ? "1" : "" }), !ready),
      el("span", { class: "group" }, button("−", "Zoom out (−)", "-"), button("+", "Zoom in (+)", "+"), button("Whole run", "The whole run (Home)", "Home")),
      el("span", { class: "group" }, button("‹ wait", "Previous wait ([)", "["), button("wait ›", "Next wait (])", "]")),
      ...(params.mark ? [el("span", { class: "group" }, button("‹ call", "Previous call (N)", "N"), button("call ›", "Next call (n)", "n"),
        el("button", { type: "button", text: "All alike", title: "Mark nothing (Esc)", onclick: () => app.set({ mark: "" }) }))] : []),
      ...(this.list.length > 1 ? [choice("time axes", AXES, params.sync ?? "", (sync) => app.set({ sync }), "sync")] : []));
  }

  /** Which ranks are chosen, and whether the rows of the others are shown. */
  rankFilter() {
    const { app } = this;
    const { ranks } = app.params;
    if (!ranks) return [];
    const others = el("input", { type: "checkbox", name: "others", checked: app.params.others === "1" });
    others.addEventListener("change", () => app.set({ others: others.checked ? "1" : "", rows: "" }));
    const short = ranks.length > 18 ? `${ranks.slice(0, 17)}…` : ranks;
    return [el("span", { class: "group" }, el("button", { type: "button", text: `ranks ${short} ×`, title: `Choose all ranks instead of ${ranks}`, onclick: () => app.set({ ranks: "", others: "", rows: "" }) }),
      el("label", { class: "check" }, others, "others, too"))];
  }

  /** Which messages are drawn: those of a size, and those of a cell of the matrix. */
  messageFilter() {
    const { app } = this;
    const { params } = app;
    const least = el("input", { type: "number", name: "least", min: 0, value: params.least ?? "", placeholder: "0", class: "bytes", "aria-label": "Smallest message that is drawn, in bytes" });
    least.addEventListener("change", () => app.set({ least: Number(least.value) > 0 ? least.value : "" }));
    const pair = params.sender || params.receiver
      ? el("button", { type: "button", text: `${params.sender || "all"} → ${params.receiver || "all"} ×`, title: "Show the messages of all ranks", onclick: () => app.set({ sender: "", receiver: "" }) }) : "";
    return el("span", { class: "group" }, el("label", { class: "choice" }, el("span", { text: "of bytes ≥" }), least), pair);
  }

  /** After a frame: the legend and the line below follow what is visible. */
  drawn() {
    const pane = this.list[0];
    if (!pane) return;
    const lines = this.list.map((p) => (this.list.length > 1 ? `${p.run.name}: ${stateOf(p)}` : stateOf(p)));
    const text = lines.join("\n");
    if (this.state.textContent !== text) this.state.textContent = text;
    this.drawLegend(pane);
  }

  /** @param {Pane} pane */
  drawLegend(pane) {
    const raster = pane.data.picture.raster;
    const legend = pane.data.legend;
    if (!raster || !legend || legend.color !== raster.color) return;
    const drawn = lines(pane.data, pane.show);
    const key = `${drawn.map((li) => li.textContent).join()} ${raster.color} ${raster.from} ${raster.step} ${raster.first} ${raster.rows} ${raster.generation} ${document.documentElement.dataset.theme} ${pane.paths !== null} ${this.app.params.mark ?? ""} ${this.list.map((p) => p.data.legend?.color).join()}`;
    if (key === this.legendFor) return;
    this.legendFor = key;
    const counts = new Uint32Array(1 << 16);
    for (const c of raster.cells) counts[c]++;
    /** @type {Map<number, number>} */
    const seen = new Map();
    counts.forEach((n, c) => {
      if (n > 0) seen.set(c, n);
    });
    this.legend.replaceChildren(...drawn, ...entries(legend, seen, pane.paths, markedOf(this.app.params.mark), (ids) => this.app.set({ mark: ids.join("."), color: legend.color })));
  }
}

/**
 * What a pane shows, in words.
 * @param {Pane} pane
 */
function stateOf(pane) {
  const { window: w, data, run } = pane;
  const parts = [`${duration(Math.max(0, Math.min(w.to, run.length) - w.from))} of ${duration(run.length)}`, plural(w.last - w.first, "row")];
  const { group = 1, looked = 1 } = data.picture.raster ?? {};
  if (group > 1) parts.push(`each line shows ${count(group)} of them${looked < group ? `, of which ${count(looked)} are sampled` : ""}`);
  const messages = data.messages;
  if (pane.show.messages && messages?.chosen) {
    const total = messages.estimated ? `about ${count(Number(messages.total.toPrecision(2)))}` : count(messages.total);
    const why = messages.messages.some((m) => m.wait > 0) ? "for which others waited longest" : "longest on their way";
    parts.push(`${total} messages, arrows of the ${count(messages.messages.length)} ${why}`);
  }
  const launches = data.launches;
  if (pane.show.launches && launches?.chosen) parts.push(`${count(launches.total)} launches, arrows to the ${count(launches.launches.length)} longest kernels and copies`);
  if (run.analysis === "running") parts.push("looking for waits …");
  if (run.analysis === "failed") parts.push(`no waits: ${run.analysis_error ?? "the analysis failed"}`);
  return parts.join(" · ");
}
