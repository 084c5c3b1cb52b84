// Statistics of what is selected, in every view: a range of time and a set of ranks.

import * as api from "./api.js";
import { breakable, el, refill } from "./dom.js";
import { bytes, count, duration, parseDuration, percent, plural } from "./format.js";
import { css } from "./palette.js";
import { pathsOf } from "./paths.js";
import { colorOf } from "./timeline/legend.js";
import { onTheme } from "./theme.js";

/** @typedef {import("./types.js").Selection} Selection */
/** @typedef {import("./types.js").Run} Run */

/** What of the selection the address of every view keeps. */
export const KEYS = ["stat", "from", "to", "ranks"];

const STILL = 60; // milliseconds that the selection stays as it is before the server is asked
const FEW = 8; // lines of a list before "more"

export class Statistics {
  /**
   * @param {import("./app.js").App} app
   * @param {HTMLElement} element
   */
  constructor(app, element) {
    this.app = app;
    this.element = element;
    this.key = "";
    this.timer = 0;
    this.abort = new AbortController();
    /** @type {Set<string>} lists that are shown as a whole */
    this.open = new Set();
    this.redraw = () => {}; // what was answered last
    onTheme(() => this.redraw());
  }

  /** The ranks that are chosen: those of the filter, or those whose rows are visible. */
  ranks() {
    const { params, run, viewName } = this.app;
    const rows = /^(\d+)-(\d+)$/.exec(params.rows ?? "");
    if (params.ranks || viewName !== "timeline" || !rows || run.locations !== run.ranks) return params.ranks ?? "";
    return `${rows[1]}-${Number(rows[2]) - 1}`;
  }

  /** Follows what the address says. */
  update() {
    const { params, run } = this.app;
    const shown = params.stat === "1" && run.kind !== "dataset";
    this.element.hidden = !shown;
    document.getElementById("statistics-button")?.setAttribute("aria-pressed", String(shown));
    if (!shown) {
      this.key = "";
      this.redraw = () => {};
      return;
    }
    const query = { run: run.index, from: Number(params.from || 0), to: Math.min(Number(params.to || run.length), run.length), ranks: this.ranks() };
    const key = JSON.stringify([query, run.generation, run.analysis]);
    if (key === this.key) return;
    this.key = key;
    window.clearTimeout(this.timer);
    this.abort.abort();
    this.element.dataset.settled = "false";
    this.timer = window.setTimeout(() => void this.ask(query, key), STILL);
  }

  /**
   * @param {{run: number, from: number, to: number, ranks: string}} query
   * @param {string} key
   */
  async ask(query, key) {
    this.abort = new AbortController();
    try {
      const [answer, legend, causes, paths] = await Promise.all([
        api.selection({ ...query, ranks: query.ranks || undefined }, this.abort.signal), api.legend({ run: query.run, color: "wait" }),
        api.legend({ run: query.run, color: "cause" }), pathsOf(query.run)]);
      if (key !== this.key) return;
      const categories = [...legend.categories, ...causes.categories.filter((c) => c.class === "cause")];
      this.redraw = () => this.draw(answer, categories, paths, query.ranks);
      this.redraw();
    } catch (error) {
      if (api.isAbort(error) || key !== this.key) return;
      refill(this.element, this.head(), el("p", { class: "note", text: error instanceof Error ? error.message : String(error) }));
    }
    this.element.dataset.settled = "true";
  }

  head() {
    return el("header", {}, el("h2", { text: "Statistics" }),
      el("button", { type: "button", class: "icon close", title: "Close (s)", "aria-label": "Close the statistics", text: "×", onclick: () => this.app.set({ stat: "" }) }));
  }

  /**
   * @param {Selection} a
   * @param {import("./types.js").Category[]} legend
   * @param {import("./paths.js").Paths} paths
   * @param {string} ranks
   */
  draw(a, legend, paths, ranks) {
    const { run } = this.app;
    const total = Math.max(1, a.total);
    refill(this.element, this.head(), this.form(a, ranks),
      el("p", { class: "small muted", text: `${plural(a.ranks, "rank")}${a.locations > a.ranks ? `, ${plural(a.locations, "thread")}` : ""}${a.streams ? `, ${plural(a.streams, "stream")}` : ""}, ${duration(a.to - a.from)} of ${duration(run.length)}` }),
      part("What the time consists of", this.list("parts", a.parts.filter((p) => p.time > 0).sort((x, y) => y.time - x.time).map((p) =>
        share(swatch(legend, p), p.title, p.time / total, duration(p.time))), 0)),
      part("Functions, without what they call", this.list("functions", a.functions.filter((f) => f.time > 0).map((f) =>
        share(null, paths.brief(f.path), f.time / (f.stream ? Math.max(1, a.on_streams ?? 0) : total), `${duration(f.time)}${f.stream ? " on streams" : ""}${seen(f)}`, () => this.app.go("tree", { path: String(f.path) }))), a.more_functions)),
      a.waits.length > 0 ? part("Wait states", this.list("waits", a.waits.map((w) =>
        share(swatch(legend, { kind: "waiting", name: w.metric }), w.title, w.amount / total, `${duration(w.amount)} in ${count(w.states)}`, () => this.app.go("timeline", { color: "wait" }))), 0)) : "",
      a.causes.length > 0 ? part("Where waiting began", this.list("causes", a.causes.map((c) =>
        share(square(legend.find((l) => l.class === "cause" && l.id === c.category)), c.rank < 0 ? "unknown" : `rank ${c.rank} in ${paths.brief(c.path)}`, c.amount / Math.max(1, a.waiting),
          `${duration(c.amount)} of waiting`, () => this.app.go("timeline", { color: "cause", ranks: "" }))), a.more_causes)) : "",
      part(`Messages: ${count(a.messages)}, ${bytes(a.bytes)}`,
        a.messages > 0 ? el("div", { class: "histograms" }, histogram("size", a.sizes, bytes), histogram("from sending to receiving", a.durations, duration))
          : el("p", { class: "small muted", text: "None is received by these ranks in this time." })),
      a.iterations ? part(`Iterations: ${count(a.iterations.count)}`, el("p", { class: "small",
        text: `Shortest ${duration(a.iterations.shortest)}, median ${duration(a.iterations.median)}, longest ${duration(a.iterations.longest)} (number ${a.iterations.slowest + 1}).` })) : "");
  }

  /**
   * Range and ranks, to be changed without a mouse.
   * @param {Selection} a
   * @param {string} ranks
   */
  form(a, ranks) {
    const { app } = this;
    const field = (/** @type {string} */ label, /** @type {string} */ name, /** @type {string} */ value, /** @type {(text: string) => void} */ change, placeholder = "") => {
      const input = el("input", { type: "text", name, value, placeholder, size: 9, autocomplete: "off" });
      input.addEventListener("change", () => change(input.value.trim()));
      return el("label", {}, el("span", { text: label }), input);
    };
    const time = (/** @type {"from" | "to"} */ name) => (/** @type {string} */ text) => {
      const at = text === "" ? NaN : parseDuration(text);
      if (text !== "" && !isFinite(at)) app.note(`${text} is not a time such as 12.5 ms`);
      else app.set({ from: String(a.from), to: String(a.to), [name]: text === "" ? "" : String(Math.round(at)) });
    };
    const all = a.from === 0 && a.to === app.run.length && !ranks;
    return el("div", { class: "selection-form" },
      field("from", "stat-from", duration(a.from, 6), time("from")), field("to", "stat-to", duration(a.to, 6), time("to")),
      field("ranks", "stat-ranks", ranks, (text) => app.set({ ranks: text.replace(/\.\./g, "-").replace(/\s/g, ""), rows: "" }), "all, or 0-3,8"),
      el("button", { type: "button", text: "Everything", disabled: all, onclick: () => app.set({ from: "", to: "", ranks: "", rows: "" }) }));
  }

  /**
   * A list that starts short.
   * @param {string} name
   * @param {HTMLElement[]} lines
   * @param {number} more that the server has not listed
   */
  list(name, lines, more) {
    const whole = this.open.has(name);
    const shown = whole ? lines : lines.slice(0, FEW);
    const rest = lines.length - shown.length + (whole ? more : 0);
    if (!whole && lines.length > FEW) {
      shown.push(el("li", {}, el("button", { type: "button", class: "link", text: `${count(lines.length - FEW + more)} more`, onclick: () => {
        this.open.add(name);
        this.redraw();
      } })));
    } else if (rest > 0) shown.push(el("li", { class: "muted small", text: `and ${count(rest)} more` }));
    return el("ul", { class: "shares statistics-list", "data-list": name }, ...shown);
  }
}

/**
 * @param {string} title
 * @param {...import("./dom.js").Child} content
 */
function part(title, ...content) {
  return el("section", {}, el("h3", { text: title }), ...content);
}

/** @param {import("./types.js").Category | undefined} c */
function square(c) {
  if (!c) return null;
  const s = el("span", { class: c.class === "wait" || c.class === "cause" ? "swatch hatched" : "swatch" });
  s.style.backgroundColor = css(colorOf(c, c.class === "cause" ? "cause" : "wait"));
  return s;
}

/**
 * How often a function was called, or seen by samples, as far as that was counted.
 * @param {import("./types.js").SelectedPath} f
 */
function seen(f) {
  if (f.samples) return `, ${plural(f.samples, "sample")}`;
  return f.visits > 0 ? `, ${plural(f.visits, "call")}` : "";
}

/**
 * The color of a part, as in all views.
 * @param {import("./types.js").Category[]} legend
 * @param {{kind: string, name: string}} p
 */
function swatch(legend, p) {
  return square(legend.find((c) => (p.kind === "waiting" ? c.metric === p.name : c.kind === p.kind && !c.metric)));
}

/**
 * @param {HTMLElement | null} color
 * @param {string} name
 * @param {number} portion
 * @param {string} text
 * @param {() => void} [go]
 */
function share(color, name, portion, text, go) {
  const bar = el("span", { class: "bar" });
  bar.style.width = `${Math.min(100, 100 * portion)}%`;
  const title = go ? el("button", { type: "button", class: "link long", title: name, onclick: go }, breakable(name)) : el("span", { class: "long", title: name }, breakable(name));
  return el("li", {}, el("span", { class: "bar-ground" }, bar), el("span", { class: "number", text: percent(portion) }),
    el("span", { class: "what" }, color, " ", title, " ", el("span", { class: "small muted", text })));
}

/**
 * @param {string} title
 * @param {import("./types.js").HistogramBin[]} list
 * @param {(n: number) => string} say
 */
function histogram(title, list, say) {
  const most = Math.max(1, ...list.map((b) => b.count));
  return el("table", { class: "histogram" }, el("caption", { class: "small muted", text: title }), el("tbody", {}, ...list.map((b) => {
    const bar = el("span", { class: "bar" });
    bar.style.width = `${(100 * b.count) / most}%`;
    return el("tr", {}, el("th", { scope: "row", class: "number", text: b.to === b.from ? say(b.from) : `${say(b.from)} …` }),
      el("td", {}, el("span", { class: "bar-ground" }, bar)), el("td", { class: "number", text: count(b.count) }));
  })));
}
