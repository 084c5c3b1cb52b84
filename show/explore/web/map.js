// A metric of a call path by rank, on the process grid.

import * as api from "./api.js";
import { choice, el, refill, segmented } from "./dom.js";
import { inUnit } from "./format.js";
import { GridMap } from "./grid.js";
import { RankChart } from "./ranks.js";
import { Loading } from "./loading.js";
import { nameOf } from "./tree.js";

export const KEYS = ["metric", "path", "sum", "slice", "turn"];

const MOST_PATHS = 300;

export class MapView {
  /**
   * @param {import("./app.js").App} app
   * @param {HTMLElement} root
   */
  constructor(app, root) {
    this.app = app;
    this.root = root;
    this.map = new GridMap();
    this.map.open = (rank) => app.goToRank(rank);
    this.links = el("p", { class: "row" });
    this.chart = new RankChart();
    this.chart.open = (rank) => app.goToRank(rank);
    this.toolbar = el("div", { class: "toolbar" });
    this.title = el("p", { class: "lead" });
    this.body = el("div", { class: "page" });
    this.loading = new Loading(this.body);
    root.replaceChildren(this.toolbar, this.body);
    this.key = "";
    this.toolbarFor = "";
    /** @type {import("./types.js").Tree | null} */
    this.tree = null;
    /** @type {import("./types.js").Distribution | null} */
    this.distribution = null;
  }

  close() {
    this.loading.close();
    this.map.close();
    this.chart.close();
  }

  update() {
    const { app } = this;
    const p = app.params;
    const key = JSON.stringify([app.run.index, app.run.generation, app.run.analysis, p.metric, p.path, p.sum]);
    if (key === this.key) {
      this.draw();
      return;
    }
    this.key = key;
    void this.loading.wait(this.fetch(), ({ tree, distribution }) => {
      this.tree = tree;
      this.distribution = distribution;
      this.draw();
    }, "Adding up by rank …");
  }

  async fetch() {
    const { app } = this;
    const run = app.run.index;
    const tree = await api.tree({ run });
    const metric = tree.metrics.find((m) => m.metric === app.params.metric) ?? tree.metrics.find((m) => m.metric === "waiting" && m.total > 0) ?? tree.metrics[0];
    const wanted = Number(app.params.path ?? 0);
    const path = tree.nodes.some((n) => n.path === wanted) ? wanted : 0;
    const inclusive = app.params.sum === "self" ? 0 : 1;
    return { tree, distribution: await api.distribution({ run, path, metric: metric.metric, inclusive }) };
  }

  draw() {
    const { tree, distribution: d, app } = this;
    if (!tree || !d) return;
    this.drawToolbar(tree, d);
    const metric = tree.metrics.find((m) => m.metric === d.metric);
    const dims = d.grid?.dims ?? [];
    const shape = dims.length === 2 || dims.length === 3 ? `on the process grid of ${dims.join(" × ")}`
      : dims.length > 0 ? `by rank; a grid of ${dims.join(" × ")} cannot be drawn as such` : "by rank; the run has no process grid";
    this.title.textContent = `${metric?.title ?? d.metric} of ${d.path === 0 ? "the whole program" : nameOf(tree, d.path)}, ${shape}. From ${inUnit(d.min, d.unit)} on rank ${d.min_rank} to ${inUnit(d.max, d.unit)} on rank ${d.max_rank}, ${inUnit(d.mean, d.unit)} on average.`;
    if (!this.map.element.isConnected) {
      this.body.replaceChildren(el("header", {}, el("h1", { text: "Map of the ranks" }), this.title),
        el("div", { class: "map-split" }, this.map.element, el("div", {}, el("h2", { text: "By rank" }), this.chart.element, this.links)));
    }
    refill(this.links, ...[...new Set([d.max_rank, d.min_rank])].map((rank, i) => el("button", { type: "button", class: "link small", "data-value": rank,
      text: `rank ${rank}, ${i === 0 ? "most" : "least"}, in the timeline`, onclick: () => app.goToRank(rank) })));
    this.chart.show(d);
    this.map.show(d, { slice: app.params.slice ?? "", turn: app.params.turn ?? "" }, (turn) => app.set({ turn }, "turn"));
  }

  /**
   * @param {import("./types.js").Tree} tree
   * @param {import("./types.js").Distribution} d
   */
  drawToolbar(tree, d) {
    const { app } = this;
    const key = JSON.stringify([this.key, app.params.slice?.slice(0, 1)]); // the slider moves by itself
    if (key === this.toolbarFor) return;
    this.toolbarFor = key;
    const k = tree.metrics.findIndex((m) => m.metric === d.metric);
    const paths = tree.nodes.filter((n) => n.path !== 0).sort((a, b) => b.inclusive[k] - a.inclusive[k]).slice(0, MOST_PATHS);
    const own = tree.nodes.find((n) => n.path === d.path);
    if (own && own.path !== 0 && !paths.includes(own)) paths.push(own);
    refill(this.toolbar,
      choice("metric", tree.metrics.map((m) => /** @type {[string, string]} */ ([m.metric, m.title])), d.metric, (metric) => app.set({ metric }), "metric"),
      choice("in", [["0", "the whole program"], ...paths.map((n) => /** @type {[string, string]} */ ([String(n.path), nameOf(tree, n.path)]))],
        String(d.path), (path) => app.set({ path }), "path"),
      segmented("Sum", [["", "with children"], ["self", "itself alone"]], app.params.sum ?? "", (sum) => app.set({ sum })),
      ...this.slicer(d));
  }

  /**
   * Which slice of a block is shown.
   * @param {import("./types.js").Distribution} d
   */
  slicer(d) {
    const dims = d.grid?.dims ?? [];
    if (dims.length !== 3) return [];
    const { app } = this;
    const [axis = "", index = "0"] = (app.params.slice ?? "").split(":");
    const most = dims["xyz".indexOf(axis)] - 1;
    const range = el("input", { type: "range", min: 0, max: most, value: Math.min(Number(index), most), "aria-label": `Slice at ${axis}` });
    const shown = el("output", { class: "number", text: `${axis} = ${range.value}` });
    range.addEventListener("input", () => {
      shown.textContent = `${axis} = ${range.value}`;
      app.set({ slice: `${axis}:${range.value}` }, "slice");
    });
    return [segmented("Slice", [["", "all"], ["x", "x"], ["y", "y"], ["z", "z"]], axis, (a) => app.set({ slice: a ? `${a}:0` : "" })),
      ...(axis && "xyz".includes(axis) ? [el("label", { class: "choice" }, range, shown)] : [])];
  }
}
