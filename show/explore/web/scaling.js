// What a dataset holds: measurements over process counts as box plots, and models of them with their bands.

import * as api from "./api.js";
import { el, notice, refill, segmented } from "./dom.js";
import { asSVG } from "./download.js";
import { percent, significant } from "./format.js";
import { Loading } from "./loading.js";
import { onTheme, theme } from "./theme.js";

export const KEYS = ["series", "figure", "other"];

const NAMES = /** @type {Record<string, string>} */ ({ boxes: "measurements", box: "measurements", model: "model", models: "model", scaling: "model" });

export class ScalingView {
  /**
   * @param {import("./app.js").App} app
   * @param {HTMLElement} root
   */
  constructor(app, root) {
    this.app = app;
    this.root = root;
    this.loading = new Loading(root);
    this.key = "";
    /** @type {import("./types.js").SeriesList | null} */
    this.data = null;
    /** @type {import("./types.js").SeriesList | null} of the dataset to compare with */
    this.other = null;
    this.offTheme = onTheme(() => this.draw());
  }

  close() {
    this.loading.close();
    this.offTheme();
  }

  /** The dataset to compare with. */
  get after() {
    return this.app.runs.find((r) => String(r.index) === this.app.params.other && r.kind === "dataset" && r.index !== this.app.run.index);
  }

  update() {
    const { run } = this.app;
    const { after } = this;
    const key = `${run.index} ${run.generation} ${after?.index} ${after?.generation}`;
    if (key === this.key) {
      this.draw();
      return;
    }
    this.key = key;
    void this.loading.wait(Promise.all([api.series({ run: run.index }), after ? api.series({ run: after.index }) : null]), ([data, other]) => {
      this.data = data;
      this.other = other;
      this.draw();
    }, "Fitting models …");
  }

  draw() {
    const { data, app } = this;
    if (!data) return;
    if (data.series.length === 0) {
      this.root.replaceChildren(notice("Nothing measured", "This dataset has no series of measurements."));
      return;
    }
    const chosen = data.series.find((s) => String(s.series) === app.params.series) ?? data.series[0];
    const kinds = app.run.figures;
    const kind = kinds.includes(app.params.figure ?? "") ? app.params.figure : kinds[0];
    const scrolled = this.root.querySelector(".series-list")?.scrollTop ?? 0;
    refill(this.root,
      el("div", { class: "toolbar" }, kinds.length > 1 ? segmented("Figure", kinds.map((k) => [k, NAMES[k] ?? k]), kind, (figure) => app.set({ figure })) : null,
        el("span", { class: "muted small", text: `parameters: ${data.parameters.join(", ")}` })),
      el("div", { class: "split series" }, this.list(data, chosen), el("div", { class: "side" }, this.detail(data, chosen, kind))));
    const list = this.root.querySelector(".series-list");
    if (list) list.scrollTop = scrolled;
  }

  /**
   * @param {import("./types.js").SeriesList} data
   * @param {import("./types.js").Series} chosen
   */
  list(data, chosen) {
    return el("div", { class: "scroller series-list" }, el("table", { class: "list" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col", text: "call path" }), el("th", { scope: "col", text: "metric" }), ...(this.other ? [el("th", { scope: "col", text: "before" }), el("th", { scope: "col", text: "after" }), el("th", { scope: "col", class: "number", text: "change", title: "of the median at the largest place that both have; ~: less than the spread of the repetitions" })] : [el("th", { scope: "col", text: "grows like" })]))),
      el("tbody", {}, ...data.series.map((s) => el("tr", { class: "clickable", "aria-selected": String(s === chosen), onclick: () => this.app.set({ series: String(s.series) }) },
        el("td", {}, el("button", { type: "button", class: "link mono long", text: s.callpath || "the whole program" })), el("td", { text: s.metric }),
        el("td", { class: "mono nowrap", text: s.growth ?? "" }), ...(this.other ? this.change(s) : []))))),
    data.cut ? el("p", { class: "muted small", text: "There are more; cut the dataset to see them." }) : null);
  }

  /**
   * The same series of the dataset to compare with.
   * @param {import("./types.js").Series} s
   */
  twin(s) {
    return this.other?.series.find((o) => o.callpath === s.callpath && o.metric === s.metric);
  }

  /**
   * A figure that the server draws, as wide as there is room.
   * @param {import("./types.js").Series} s
   * @param {string} kind
   */
  figure(s, kind) {
    const query = { run: this.app.run.index, kind, series: s.series, other: this.after && this.twin(s) ? this.after.index : undefined, dark: theme() === "dark" ? 1 : 0 };
    const img = el("img", { class: "server-figure", alt: `${NAMES[kind] ?? kind} of ${s.metric} of ${s.callpath || "the whole program"}` });
    const figure = el("figure", { class: "figure" }, img, asSVG(query, `${s.callpath || "program"}-${kind}`));
    const narrow = window.matchMedia("(max-width: 600px)");
    const draw = () => {
      if (!figure.isConnected && img.src) {
        narrow.removeEventListener("change", draw);
        return;
      }
      api.figure(narrow.matches ? { ...query, width: 360 } : query).then((address) => {
        img.onload = () => URL.revokeObjectURL(address);
        img.src = address;
      }, () => figure.replaceWith(notice("No figure", "This series cannot be drawn in this way.")));
    };
    narrow.addEventListener("change", draw);
    draw();
    return figure;
  }

  /**
   * How a series grows in the other dataset, and how much larger or smaller it is at the largest place that both have.
   * @param {import("./types.js").Series} s
   */
  change(s) {
    const twin = this.twin(s);
    if (!twin) return [el("td", { class: "muted", text: "not measured" }), el("td")];
    const place = (/** @type {import("./types.js").SeriesPoint} */ p) => p.at.join();
    const both = s.points.filter((p) => twin.points.some((o) => place(o) === place(p))).sort((a, b) => a.at[0] - b.at[0]).pop();
    const then = twin.points.find((o) => both && place(o) === place(both));
    const by = both && then && both.median > 0 ? then.median / both.median - 1 : NaN;
    // Quartiles apart: more than the spread of the repetitions.
    const clear = both && then && (then.q1 > both.q3 || then.q3 < both.q1);
    return [el("td", { class: "mono nowrap", text: twin.growth ?? "" }),
      el("td", { class: "number nowrap", title: both ? `medians at ${place(both)}` : "", text: isFinite(by) ? `${clear ? "" : "~ "}${by > 9 ? `× ${significant(1 + by, 3)}` : `${by < 0 ? "−" : "+"}${percent(Math.abs(by))}`}` : "" })];
  }

  /**
   * @param {import("./types.js").SeriesList} data
   * @param {import("./types.js").Series} s
   * @param {string | undefined} kind
   */
  detail(data, s, kind) {
    const figure = kind ? this.figure(s, kind) : null;
    const number = (/** @type {number} */ v) => significant(v, 4);
    return el("div", { class: "stack" },
      el("header", {}, el("h2", { class: "mono long", text: s.callpath || "the whole program" }), el("p", { class: "muted", text: s.metric })),
      s.model ? el("p", {}, "Model: ", el("code", { class: "break", text: s.model }), s.confidence ? ` (confidence in its growth: ${percent(s.confidence)})` : "") : null,
      s.doubt ? el("p", { class: "note", text: s.doubt }) : null,
      this.other ? el("p", { class: "twin" }, `In ${this.after?.name}: `, this.twin(s) ? el("code", { class: "break", text: this.twin(s)?.model ?? this.twin(s)?.doubt ?? "no model" }) : "not measured") : null,
      figure,
      el("div", { class: "scroller" }, el("table", { class: "plain" }, el("thead", {}, el("tr", {}, ...data.parameters.map((p) => el("th", { class: "number", text: p })),
        ...["n", "min", "1st quartile", "median", "3rd quartile", "max"].map((text) => el("th", { class: "number", text })))),
      el("tbody", {}, ...s.points.map((p) => el("tr", {}, ...p.at.map((v) => el("th", { scope: "row", class: "number", text: number(v) })),
        ...[p.count, p.min, p.q1, p.median, p.q3, p.max].map((v) => el("td", { class: "number", text: number(v) }))))))));
  }
}
