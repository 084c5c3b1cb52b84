// The ranked list of root causes, and of the kinds of waits.

import * as api from "./api.js";
import { breakable, el, refill, segmented } from "./dom.js";
import { count, duration, percent, plural } from "./format.js";
import { Loading } from "./loading.js";
import { pathsOf } from "./paths.js";

export const KEYS = ["by", "metric", "all"];

const SHOWN = 200; // at first
const MOST = 20_000; // that the server lists
const SEARCHED = 5000; // of the longest waits, for one that a cause is responsible for

export class CausesView {
  /**
   * @param {import("./app.js").App} app
   * @param {HTMLElement} root
   */
  constructor(app, root) {
    this.app = app;
    this.root = root;
    this.loading = new Loading(root);
    this.key = "";
  }

  close() {
    this.loading.close();
  }

  update() {
    const { app } = this;
    const run = app.run.index;
    const key = JSON.stringify([run, app.run.generation, app.run.analysis, app.params.by, app.params.all]);
    if (key === this.key) return;
    this.key = key;
    void this.loading.wait(Promise.all([api.waits({ run, limit: app.params.all === "1" ? MOST : SHOWN }), pathsOf(run), api.clusters({ run })]),
      ([waits, paths, clusters]) => this.draw(waits, paths, clusters), "Looking for causes …");
  }

  /**
   * @param {import("./types.js").Waits} waits
   * @param {import("./paths.js").Paths} paths
   * @param {import("./types.js").Clusters} clusters
   */
  draw(waits, paths, clusters) {
    const { app } = this;
    const by = app.params.by ?? "";
    const list = by === "rank" ? waits.causes : by === "ranks" ? waits.by_rank : by === "function" ? byFunction(waits.by_path, paths) : waits.by_path;
    const all = by === "rank" ? waits.all_causes : by === "ranks" ? waits.all_ranks : by === "function" ? list.length : waits.all_paths;
    if (waits.waiting === 0) {
      this.root.replaceChildren(el("div", { class: "notice" }, el("h2", { text: "No rank waits" }), el("p", { text: "There are no wait states in this run." })));
      return;
    }
    const unattributed = waits.unattributed > 0 ? ` ${percent(waits.unattributed / waits.waiting)} has no known cause.` : "";
    refill(this.root, el("div", { class: "page" },
      el("header", {}, el("h1", { text: "Root causes of waiting" }), el("p", { class: "lead",
        text: `All ranks together wait ${duration(waits.waiting)} in ${plural(waits.states, "wait state")}. Each of them is charged to the work that made a rank late, directly or through a chain of waits.${unattributed}` })),
      el("div", { class: "row" }, segmented("Causes by", [["", "by call path"], ["function", "by function"], ["ranks", "by rank"], ["rank", "by rank and call path"]], by, (next) => app.set({ by: next }))),
      ...clusters.notes.map((text) => el("p", { class: "verdict slow-rank", text })),
      this.table(list, waits, paths),
      list.length < all ? el("p", { class: "cut" }, `The ${count(list.length)} most expensive of ${count(all)} causes. `,
        app.params.all === "1" ? "" : el("button", { type: "button", class: "link", text: "Show all", onclick: () => app.set({ all: "1" }) })) : null,
      el("section", { class: "stack tight" }, el("h2", { text: "Kinds of waits" }), kinds(waits))));
  }

  /**
   * @param {import("./types.js").WaitCause[]} list
   * @param {import("./types.js").Waits} waits
   * @param {import("./paths.js").Paths} paths
   */
  table(list, waits, paths) {
    const by = this.app.params.by ?? "";
    const byRank = by === "rank" || by === "ranks";
    const name = (/** @type {import("./types.js").WaitCause} */ c) => (c.path < 0 ? `rank ${c.rank}` : by === "function" ? paths.leaf(c.path) : paths.brief(c.path));
    const rows = list.map((c, i) => {
      const bar = el("span", { class: "bar wait-bar" });
      bar.style.width = `${Math.min(100, 100 * c.share)}%`;
      const open = () => void this.open(c, waits);
      return el("tr", { class: "clickable", onclick: open },
        el("td", { class: "number muted", text: String(i + 1) }),
        el("td", {}, el("button", { type: "button", class: "link mono cause long", title: c.path < 0 ? name(c) : paths.name(c.path) }, breakable(name(c)))),
        byRank ? el("td", { class: "number", text: String(c.rank) }) : null,
        el("td", { class: "number", text: duration(c.cost) }),
        el("td", { class: "share-cell" }, el("span", { class: "bar-ground" }, bar), el("span", { class: "number", text: percent(c.share) })),
        el("td", { class: "number wide-only", text: duration(c.short) }),
        el("td", { class: "number wide-only", text: duration(c.long) }),
        el("td", { class: "wide-only", text: mainMetric(c, waits) }));
    });
    const head = (/** @type {string} */ text, /** @type {string} */ title, /** @type {string} */ kind = "number") => el("th", { scope: "col", class: kind, text, title });
    return el("div", { class: "scroller" }, el("table", { class: "list causes" },
      el("thead", {}, el("tr", {},
        head("#", "place"), head("caused by", "the work that made a rank late", ""), byRank ? head("rank", "whose work") : null,
        head("cost", "waiting of all ranks that it caused"), head("share of all waiting", "", ""),
        head("direct", "waits for this work itself", "number wide-only"), head("indirect", "waits for ranks that waited for it", "number wide-only"),
        head("mostly as", "kind of the waits", "wide-only"))),
      el("tbody", {}, ...rows)));
  }

  /**
   * Goes to the longest wait that a cause is responsible for.
   * @param {import("./types.js").WaitCause} cause
   * @param {import("./types.js").Waits} waits
   */
  async open(cause, waits) {
    const { app } = this;
    const run = app.run.index;
    if (cause.path < 0) {
      app.goToRank(cause.rank);
      return;
    }
    const one = cause.rank >= 0 ? cause : waits.causes.find((c) => c.path === cause.path) ?? cause;
    try {
      const { states } = await api.largest({ run, largest: SEARCHED });
      const state = states.find((s) => s.category === one.category);
      if (!state) {
        app.go("timeline", { color: "cause", from: "", to: "", rows: "", sel: "", at: "" });
        app.note("No single wait has this as its main cause; the timeline shows all causes.");
        return;
      }
      const pad = state.amount;
      const from = Math.max(0, state.at - pad);
      const to = Math.min(app.run.length, state.at + state.amount + pad);
      app.go("timeline", { color: "cause", from: String(from), to: String(to), rows: "", sel: `wait:${state.state}`, in: "", at: "" });
    } catch (error) {
      app.failed(error);
    }
  }
}

/**
 * The kind of waits that a cause leads to most.
 * @param {import("./types.js").WaitCause} c
 * @param {import("./types.js").Waits} waits
 */
function mainMetric(c, waits) {
  const [name] = Object.entries(c.by_metric).sort((a, b) => b[1] - a[1])[0] ?? [""];
  return waits.metrics.find((m) => m.metric === name)?.title ?? name;
}

/** @param {import("./types.js").Waits} waits */
function kinds(waits) {
  return el("div", { class: "stack tight" }, ...waits.metrics.map((m) => el("details", { class: "metric" },
    el("summary", {}, el("b", { text: m.title }), el("span", { class: "number", text: duration(m.amount) }),
      el("span", { class: "number muted", text: m.part_of ? `part of ${waits.metrics.find((x) => x.metric === m.part_of)?.title ?? m.part_of}` : percent(m.amount / waits.waiting) })),
    el("p", { text: m.meaning }),
    el("p", {}, el("b", { text: "What usually helps: " }), m.advice),
    el("p", { class: "muted small", text: `direct ${duration(m.direct)}, indirect ${duration(m.indirect)}; propagating ${duration(m.propagating)}, terminal ${duration(m.terminal)}` }))));
}

/**
 * Call paths of the same function together, the most expensive first.
 * @param {import("./types.js").WaitCause[]} list by call path
 * @param {import("./paths.js").Paths} paths
 */
function byFunction(list, paths) {
  /** @type {Map<string, import("./types.js").WaitCause>} */
  const found = new Map();
  for (const c of list) {
    const name = paths.leaf(c.path);
    const one = found.get(name);
    if (!one) {
      found.set(name, { ...c, by_metric: { ...c.by_metric } });
      continue;
    }
    one.cost += c.cost;
    one.short += c.short;
    one.long += c.long;
    one.share += c.share;
    for (const [metric, cost] of Object.entries(c.by_metric)) one.by_metric[metric] = (one.by_metric[metric] ?? 0) + cost;
  }
  return [...found.values()].sort((a, b) => b.cost - a.cost);
}
