// The call tree with its metrics, and how the selected one spreads over the ranks.

import * as api from "./api.js";
import { choice, el, refill, segmented } from "./dom.js";
import { flameGraph } from "./flame.js";
import { inUnit, percent } from "./format.js";
import { Loading } from "./loading.js";
import { css } from "./palette.js";
import { RankChart } from "./ranks.js";
import { GridMap } from "./grid.js";
import { onTheme } from "./theme.js";
import { colorOf } from "./timeline/legend.js";

export const KEYS = ["metric", "path", "sum", "sort", "open", "as"];

/** @typedef {import("./types.js").Tree} Tree */
/** @typedef {import("./types.js").TreeNode} TreeNode */

const FEW = 40; // paths that are all unfolded at first

export class TreeView {
  /**
   * @param {import("./app.js").App} app
   * @param {HTMLElement} root
   */
  constructor(app, root) {
    this.app = app;
    this.root = root;
    this.loading = new Loading(root);
    this.side = new Loading(el("div"));
    this.key = "";
    /** @type {Tree | null} */
    this.tree = null;
    /** @type {import("./types.js").Legend | null} */
    this.kinds = null;
    /** @type {Map<number, TreeNode[]>} */
    this.children = new Map();
    this.chart = new RankChart();
    this.chart.open = (rank) => app.goToRank(rank);
    this.map = new GridMap();
    this.map.open = (rank) => app.goToRank(rank);
    this.offTheme = onTheme(() => this.draw());
  }

  close() {
    this.offTheme();
    this.loading.close();
    this.side.close();
    this.chart.close();
    this.map.close();
  }

  get metric() {
    const { tree } = this;
    const i = tree ? tree.metrics.findIndex((m) => m.metric === this.app.params.metric) : -1;
    return Math.max(0, i);
  }

  get exclusive() {
    return this.app.params.sum === "self";
  }

  update() {
    const { app } = this;
    const key = `${app.run.index} ${app.run.generation} ${app.run.analysis}`;
    if (key !== this.key) {
      this.key = key;
      this.tree = null;
      const run = app.run.index;
      void this.loading.wait(Promise.all([api.tree({ run }), api.legend({ run, color: "kind" })]), ([tree, kinds]) => {
        this.tree = tree;
        this.kinds = kinds;
        this.children = childrenOf(tree);
        this.draw();
      }, "Adding up the call tree …");
      return;
    }
    this.draw();
  }

  draw() {
    const { tree, app } = this;
    if (!tree) return;
    const kinds = this.kinds;
    const color = (/** @type {TreeNode} */ n) => colorOf(kinds?.categories.find((c) => c.kind === n.kind) ?? { id: 0, name: "", title: "", class: "", slot: 0, rank: -1 }, "kind");
    const table = app.params.as === "flame"
      ? flameGraph(tree, this.metric, this.children, this.selected(tree), color, (path) => app.set({ path: String(path) })) : this.table(tree);
    this.sideBox = el("div", { class: "side" });
    this.side.root = this.sideBox;
    refill(this.root,
      el("div", { class: "toolbar" },
        choice("metric", tree.metrics.map((m) => /** @type {[string, string]} */ ([m.metric, m.title])), tree.metrics[this.metric].metric, (metric) => app.set({ metric }), "metric"),
        segmented("As", [["", "tree"], ["flame", "flame graph"]], app.params.as ?? "", (as) => app.set({ as })),
        segmented("Sum", [["", "with children"], ["self", "itself alone"]], app.params.sum ?? "", (sum) => app.set({ sum })),
        segmented("Order", [["", "by value"], ["name", "by name"], ["calls", "as called"]], app.params.sort ?? "", (sort) => app.set({ sort }))),
      el("div", { class: "split" }, table, this.sideBox));
    void this.drawSide(tree);
  }

  /**
   * The path that is selected: at first the one with the largest exclusive value.
   * @param {Tree} tree
   */
  selected(tree) {
    const wanted = this.app.params.path;
    if (wanted && tree.nodes.some((n) => String(n.path) === wanted)) return Number(wanted);
    const m = this.metric;
    return tree.nodes.reduce((best, n) => (n.path !== 0 && n.exclusive[m] > best.exclusive[m] ? n : best), tree.nodes[0]).path;
  }

  /**
   * Which paths are unfolded.
   * @param {Tree} tree
   */
  unfolded(tree) {
    const open = this.app.params.open;
    if (open !== undefined && open !== "") return new Set(open.split(".").map(Number));
    if (tree.nodes.length <= FEW) return new Set(tree.nodes.map((n) => n.path));
    const set = new Set([0]);
    let at = tree.nodes.find((n) => n.path === this.selected(tree));
    while (at && at.path > 0) {
      const parent = at.parent;
      set.add(parent);
      at = tree.nodes.find((n) => n.path === parent);
    }
    return set;
  }

  /** @param {Tree} tree */
  table(tree) {
    const m = tree.metrics[this.metric];
    const k = this.metric;
    const unfolded = this.unfolded(tree);
    const selected = this.selected(tree);
    const value = (/** @type {TreeNode} */ n) => (this.exclusive ? n.exclusive[k] : n.inclusive[k]);
    const total = Math.max(1, m.unit === "ps" ? tree.total : m.total);
    /** @type {HTMLElement[]} */
    const rows = [];
    const add = (/** @type {TreeNode} */ n, /** @type {number} */ depth) => {
      const below = this.sorted(this.children.get(n.path) ?? [], value);
      const open = unfolded.has(n.path);
      rows.push(this.rowOf(n, depth, value(n), total, m, below.length > 0, open, n.path === selected, tree));
      if (open) for (const c of below) add(c, depth + 1);
    };
    for (const n of this.sorted(this.children.get(-1) ?? [], value)) add(n, 0);
    return el("div", { class: "scroller tree-scroller" }, el("table", { class: "list tree", role: "treegrid", "aria-label": "Call tree" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col", text: "call path" }), el("th", { scope: "col", class: "number", text: m.title }),
        el("th", { scope: "col", text: m.unit === "ps" ? "share of all time" : "share" }))),
      el("tbody", { "data-own-keys": "" }, ...rows)),
    tree.cut ? el("p", { class: "muted small cut", text: "The tree has more call paths than are shown." }) : null);
  }

  /**
   * @param {TreeNode} n
   * @param {number} depth
   * @param {number} value
   * @param {number} total
   * @param {import("./types.js").TreeMetric} m
   * @param {boolean} inner
   * @param {boolean} open
   * @param {boolean} selected
   * @param {Tree} tree
   */
  rowOf(n, depth, value, total, m, inner, open, selected, tree) {
    const bar = el("span", { class: "bar" });
    bar.style.width = `${Math.min(100, (100 * value) / total)}%`;
    const name = n.path !== 0 ? n.name : this.exclusive ? "in no call" : "the whole program";
    const fold = el("button", { type: "button", class: "fold", tabindex: "-1", "data-path": n.path, "aria-label": open ? "Fold" : "Unfold", text: inner ? (open ? "▾" : "▸") : "", disabled: !inner,
      onclick: (/** @type {Event} */ e) => {
        e.stopPropagation();
        this.toggle(tree, n.path);
      } });
    const label = el("td", {}, el("div", { class: "tree-name" }, fold, this.dot(n), el("span", { class: "mono long", text: name, title: n.file ? `${name}\n${n.file}:${n.line}` : name })));
    /** @type {HTMLElement} */ (label.firstElementChild).style.paddingInlineStart = `${depth * 16}px`;
    const row = el("tr", {
      role: "row", "data-path": n.path, tabindex: selected ? "0" : "-1", "aria-level": depth + 1, "aria-selected": String(selected), "aria-expanded": inner ? String(open) : undefined,
      onclick: () => this.app.set({ path: String(n.path) }),
      onkeydown: (/** @type {KeyboardEvent} */ e) => this.press(e, tree, n, inner, open),
    }, label, el("td", { class: "number", text: inUnit(value, m.unit) }),
    el("td", { class: "share-cell" }, el("span", { class: "bar-ground" }, bar), el("span", { class: "number", text: percent(value / total) })));
    return row;
  }

  /**
   * A dot in the color of the kind of activity, as in the timeline.
   * @param {TreeNode} n
   */
  dot(n) {
    const dot = el("span", { class: "kind-dot", title: n.kind });
    const category = this.kinds?.categories.find((c) => c.kind === n.kind);
    if (category) dot.style.backgroundColor = css(colorOf(category, "kind"));
    return dot;
  }

  /**
   * @param {KeyboardEvent} e
   * @param {Tree} tree
   * @param {TreeNode} n
   * @param {boolean} inner
   * @param {boolean} open
   */
  press(e, tree, n, inner, open) {
    const row = /** @type {HTMLElement} */ (e.currentTarget);
    const go = (/** @type {Element | null} */ to) => {
      if (!(to instanceof HTMLElement)) return;
      to.focus();
      this.app.set({ path: to.dataset.path ?? "" }, "walk");
    };
    if (e.key === "ArrowDown") go(row.nextElementSibling);
    else if (e.key === "ArrowUp") go(row.previousElementSibling);
    else if (e.key === "ArrowRight" && inner && !open) this.toggle(tree, n.path);
    else if (e.key === "ArrowLeft" && inner && open) this.toggle(tree, n.path);
    else if (e.key === "ArrowLeft") go(this.root.querySelector(`tr[data-path="${n.parent}"]`));
    else return;
    e.preventDefault();
  }

  /**
   * @param {Tree} tree
   * @param {number} path
   */
  toggle(tree, path) {
    const set = this.unfolded(tree);
    if (!set.delete(path)) set.add(path);
    set.add(-1); // an empty set is not the same as none
    this.app.set({ open: [...set].filter((p) => p === -1 || this.children.has(p)).sort((a, b) => a - b).join(".") }, "fold");
  }

  /**
   * @param {TreeNode[]} list
   * @param {(n: TreeNode) => number} value
   */
  sorted(list, value) {
    const order = this.app.params.sort;
    if (order === "calls") return list;
    if (order === "name") return [...list].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
    return [...list].sort((a, b) => value(b) - value(a));
  }

  /** @param {Tree} tree */
  async drawSide(tree) {
    const path = this.selected(tree);
    const { app } = this;
    const metric = tree.metrics[this.metric];
    await this.side.wait(api.distribution({ run: app.run.index, path, metric: metric.metric, inclusive: this.exclusive ? 0 : 1 }), (d) => {
      const { chart, map } = this;
      const hasGrid = (d.grid?.dims.length ?? 0) >= 2 && (d.grid?.dims.length ?? 0) <= 3;
      this.side.root.replaceChildren(
        el("h2", { class: "mono long", text: nameOf(tree, path), title: nameOf(tree, path) }),
        el("p", { class: "muted small", text: `${metric.title}, ${this.exclusive ? "itself alone" : "with children"}, by rank` }),
        chart.element, stats(d),
        hasGrid ? map.element : "",
        el("div", { class: "row" }, el("button", { type: "button", text: "Open in the map", onclick: () => app.go("map", { path: String(path), metric: metric.metric }) })));
      chart.show(d);
      if (hasGrid) map.show(d, { slice: "", turn: "" }, () => {});
    });
  }
}

/** @param {import("./types.js").Distribution} d */
function stats(d) {
  const of = (/** @type {number} */ v) => inUnit(v, d.unit);
  /** @type {[string, string][]} */
  const rows = [["max", `${of(d.max)} (rank ${d.max_rank})`], ["median", of(d.median)], ["mean", of(d.mean)], ["min", `${of(d.min)} (rank ${d.min_rank})`], ["sum", of(d.sum)]];
  return el("dl", { class: "facts" }, ...rows.flatMap(([name, v]) => [el("dt", { text: name }), el("dd", { text: v })]));
}

/** @type {WeakMap<Tree, Map<number, TreeNode>>} nodes by path */
const indices = new WeakMap();

/**
 * @param {Tree} tree
 * @param {number} path
 */
export function nameOf(tree, path) {
  let nodes = indices.get(tree);
  if (!nodes) {
    nodes = new Map(tree.nodes.map((n) => [n.path, n]));
    indices.set(tree, nodes);
  }
  const names = [];
  for (let at = nodes.get(path); at && at.path !== 0; at = nodes.get(at.parent)) names.unshift(at.name);
  return names.join("/") || "the whole program";
}

/**
 * @param {Tree} tree
 * @returns {Map<number, TreeNode[]>} the root is the child of -1
 */
export function childrenOf(tree) {
  /** @type {Map<number, TreeNode[]>} */
  const map = new Map();
  for (const n of tree.nodes) {
    const { parent } = n;
    const list = map.get(parent);
    if (list) list.push(n);
    else map.set(parent, [n]);
  }
  return map;
}
