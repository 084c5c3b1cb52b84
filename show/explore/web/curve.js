// The run time as a function of the network's latency, with a latency that can be moved.

import * as api from "./api.js";
import { choice, el, notice, refill, svg } from "./dom.js";
import { asSVG } from "./download.js";
import { count, duration, niceStep, percent } from "./format.js";
import { Loading } from "./loading.js";

export const KEYS = ["machine", "latency"];

/** @typedef {import("./types.js").Tolerance} Tolerance */

const WIDEST = 900;
const HEIGHT = 380;
const LEFT = 84;
const RIGHT = 20;
const TOP = 16;
const BOTTOM = 46;
const STEPS = 1000; // of the slider

export class CurveView {
  /**
   * @param {import("./app.js").App} app
   * @param {HTMLElement} root
   */
  constructor(app, root) {
    this.app = app;
    this.root = root;
    this.toolbar = el("div", { class: "toolbar" });
    this.body = el("div", { class: "page" });
    this.loading = new Loading(this.body);
    root.replaceChildren(this.toolbar, this.body);
    this.observer = new ResizeObserver(() => {
      if (this.data && this.room() !== this.width) this.draw(this.data);
    });
    this.observer.observe(this.body);
    this.key = "";
    this.width = 0; // of the chart
    /** @type {Tolerance | null} */
    this.data = null;
    /** @type {HTMLInputElement | null} */
    this.slider = null;
    /** @type {HTMLElement | null} */
    this.readout = null;
    /** @type {SVGGElement | null} */
    this.handle = null;
    this.x = (/** @type {number} */ l) => l;
    this.y = (/** @type {number} */ t) => t;
  }

  close() {
    this.loading.close();
    this.observer.disconnect();
  }

  /** The width that there is for the chart. */
  room() {
    return Math.max(300, Math.min(WIDEST, this.body.clientWidth - 28));
  }

  get machine() {
    const { run, params } = this.app;
    return run.machines.includes(params.machine ?? "") ? params.machine : run.own_machine;
  }

  update() {
    const { app } = this;
    const key = `${app.run.index} ${app.run.generation} ${this.machine}`;
    if (key === this.key) {
      this.move();
      return;
    }
    this.key = key;
    this.data = null;
    if (app.run.machines.length === 0) {
      this.toolbar.replaceChildren();
      this.body.replaceChildren(notice("No tolerance of this run", "This run cannot be replayed as a schedule on a machine."));
      return;
    }
    /** @type {[string, string][]} */
    const machines = app.run.machines.map((m) => [m, m]);
    refill(this.toolbar, choice("replayed on", this.machine ? machines : [["", "choose a machine …"], ...machines], this.machine ?? "", (machine) => app.set({ machine, latency: "" }), "machine"));
    if (!this.machine) {
      this.loading.close();
      this.body.replaceChildren(notice("On which machine?", "The run does not say what its network is like. Choose a machine to replay it on, or give one with --machine."));
      return;
    }
    void this.loading.wait(api.tolerance({ run: app.run.index, machine: this.machine }), (data) => {
      this.data = data;
      this.draw(data);
    }, "Replaying the run on the machine …", "latency");
  }

  /** @param {Tolerance} data */
  draw(data) {
    const range = this.range(data);
    this.width = this.room();
    const slider = el("input", { type: "range", min: 0, max: STEPS, class: "latency", "aria-label": "Latency", name: "latency" });
    this.slider = slider;
    slider.addEventListener("input", () => this.set(range.low + (Number(slider.value) / STEPS) * (range.high - range.low)));
    slider.style.marginInlineStart = `${LEFT - 8}px`;
    slider.style.width = `${this.width - LEFT - RIGHT + 16}px`;
    this.readout = el("dl", { class: "cards", "aria-live": "polite" });
    const handle = svg("g", { class: "handle" },
      svg("line", { y1: TOP, y2: HEIGHT - BOTTOM, x1: 0, x2: 0 }), svg("circle", { r: 6, cx: 0, cy: 0 }));
    this.handle = handle;
    const chart = this.drawChart(data, range, handle);
    refill(this.body,
      el("header", {}, el("h1", { text: "How much latency it tolerates" }), el("p", { class: "lead",
        text: `The run as a schedule, replayed on ${data.machine}: its run time as a function of the latency of all links. Drag the line, or use the slider.` })),
      this.readout, el("figure", { class: "figure curve-figure" }, chart, slider,
        asSVG({ run: this.app.run.index, kind: "tolerance", machine: data.machine }, `${this.app.run.name}-tolerance`)),
      data.sampled ? el("p", { class: "note", text: `The run is long: T was computed exactly at ${data.curve.length} latencies; between them the curve is drawn straight, at most a little too high.` }) : "",
      this.limits(data));
    this.move();
  }

  /** @param {Tolerance} data */
  range(data) {
    const low = data.curve[0]?.latency ?? 0;
    const high = data.curve[data.curve.length - 1]?.latency ?? Math.max(1, 2 * data.given);
    return { low, high: Math.max(high, low + 1) };
  }

  /**
   * @param {Tolerance} data
   * @param {{low: number, high: number}} range
   * @param {SVGGElement} handle
   */
  drawChart(data, range, handle) {
    const ts = data.curve.map((p) => p.t);
    const bottom = Math.min(...ts);
    const top = Math.max(...ts, bottom + 1);
    const pad = (top - bottom) * 0.06;
    this.x = (/** @type {number} */ l) => LEFT + ((l - range.low) / (range.high - range.low)) * (this.width - LEFT - RIGHT);
    this.y = (/** @type {number} */ t) => HEIGHT - BOTTOM - ((t - bottom + pad) / (top - bottom + 2 * pad)) * (HEIGHT - TOP - BOTTOM);
    const { x, y } = this;
    const chart = svg("svg", { class: "curve", viewBox: `0 0 ${this.width} ${HEIGHT}`, role: "img", "aria-label": `Run time from ${duration(bottom)} to ${duration(top)} over latencies from ${duration(range.low)} to ${duration(range.high)}` });
    axis(chart, range.low, range.high, this.width / 110, (v, text) => [
      svg("line", { class: "grid", x1: x(v), x2: x(v), y1: TOP, y2: HEIGHT - BOTTOM }),
      svg("text", { x: x(v), y: HEIGHT - BOTTOM + 18, "text-anchor": "middle", text })]);
    axis(chart, bottom - pad, top + pad, 6, (v, text) => [
      svg("line", { class: "grid", x1: LEFT, x2: this.width - RIGHT, y1: y(v), y2: y(v) }),
      svg("text", { x: LEFT - 8, y: y(v) + 4, "text-anchor": "end", text })]);
    chart.append(
      svg("text", { class: "axis-name", x: (LEFT + this.width - RIGHT) / 2, y: HEIGHT - 6, "text-anchor": "middle", text: "latency L" }),
      svg("text", { class: "axis-name", x: 0, y: 0, "text-anchor": "middle", transform: `translate(14 ${(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)`, text: "run time T" }),
      svg("line", { class: "given", x1: x(data.given), x2: x(data.given), y1: TOP, y2: HEIGHT - BOTTOM }),
      svg("polyline", { class: "line", points: data.curve.map((p) => `${x(p.latency).toFixed(1)},${y(p.t).toFixed(1)}`).join(" ") }),
      ...(data.curve.length <= 40 ? data.curve.slice(1, -1).map((p) => svg("circle", { class: "break", cx: x(p.latency), cy: y(p.t), r: 2.5 })) : []),
      handle);
    const follow = (/** @type {PointerEvent} */ e) => {
      const box = chart.getBoundingClientRect();
      const at = ((e.clientX - box.left) / box.width) * this.width;
      this.set(range.low + ((at - LEFT) / (this.width - LEFT - RIGHT)) * (range.high - range.low));
    };
    chart.addEventListener("pointerdown", (e) => {
      chart.setPointerCapture(e.pointerId);
      follow(e);
    });
    chart.addEventListener("pointermove", (e) => { if (e.buttons === 1) follow(e); });
    return chart;
  }

  /** @param {number} latency */
  set(latency) {
    const { data } = this;
    if (!data) return;
    const { low, high } = this.range(data);
    this.app.set({ latency: Math.round(Math.min(high, Math.max(low, latency))).toString() }, "latency");
  }

  /** Moves the handle to the latency of the address, and shows the values there. */
  move() {
    const { data, x, y, handle, slider, readout } = this;
    if (!data || !handle || !slider || !readout) return;
    const { low, high } = this.range(data);
    const text = this.app.params.latency;
    const wanted = text ? Number(text) : data.given;
    const latency = Math.min(high, Math.max(low, isFinite(wanted) ? wanted : data.given));
    const at = valueAt(data, latency);
    handle.setAttribute("transform", `translate(${x(latency)} 0)`);
    handle.querySelector("circle")?.setAttribute("cy", String(y(at.t)));
    slider.value = String(Math.round(((latency - low) / (high - low)) * STEPS));
    slider.setAttribute("aria-valuetext", `${duration(latency)}: run time ${duration(at.t)}`);
    const card = (/** @type {string} */ name, /** @type {string} */ value, /** @type {string} */ note) =>
      el("div", { class: "figure-card" }, el("dt", { text: name }), el("dd", {}, value, el("small", { text: note })));
    readout.replaceChildren(
      card("Latency L", duration(latency), latency === data.given ? `as ${data.machine} has it` : `${data.machine} has ${duration(data.given)}`),
      card("Run time T", duration(at.t, 5), latency === data.given ? "predicted by the static model" : `${at.t >= data.t ? "+" : "−"}${percent(Math.abs(at.t - data.t) / Math.max(1, data.t))} of ${duration(data.t)}`),
      card("Slope λ", count(at.slope), "latencies on the critical path"),
      card("Latency's share", percent(at.t > 0 ? (at.slope * latency) / at.t : 0), "of the run time"));
  }

  /** @param {Tolerance} data */
  limits(data) {
    return el("section", { class: "stack tight" }, el("h2", { text: "Tolerance" }),
      el("table", { class: "plain" }, el("thead", {}, el("tr", {}, el("th", { text: "run time longer by" }), el("th", { class: "number", text: "at a latency of" }), el("th", { class: "number", text: "more than now" }))),
        el("tbody", {}, ...data.tolerances.map((t) => el("tr", {},
          el("th", { scope: "row", text: /%/.test(t.percent) ? t.percent : `${t.percent} %` }),
          el("td", { class: "number" }, t.unbounded ? "any" : el("button", { type: "button", class: "link", text: duration(t.latency), onclick: () => this.app.set({ latency: String(t.latency) }) })),
          el("td", { class: "number", text: t.unbounded ? "" : duration(t.latency - data.given) }))))));
  }
}

/**
 * @param {SVGSVGElement} chart
 * @param {number} low
 * @param {number} high
 * @param {number} most
 * @param {(value: number, label: string) => SVGElement[]} draw
 */
function axis(chart, low, high, most, draw) {
  const step = niceStep(high - low, most);
  for (let k = Math.ceil(low / step); k * step <= high + step * 1e-9; k++) {
    chart.append(...draw(k * step, k === 0 ? "0" : duration(k * step, 6)));
  }
}

/**
 * T and its slope at a latency: linear between the points of the curve.
 * @param {Tolerance} data
 * @param {number} latency
 */
export function valueAt(data, latency) {
  const { curve } = data;
  let i = 0;
  while (i < curve.length - 2 && curve[i + 1].latency <= latency) i++;
  const [a, b] = [curve[i], curve[i + 1] ?? curve[i]];
  if (!a) return { t: data.t, slope: data.lambda_l };
  const share = b.latency > a.latency ? (latency - a.latency) / (b.latency - a.latency) : 0;
  const slope = data.sampled && share > 0 && b.latency > a.latency ? Math.round((b.t - a.t) / (b.latency - a.latency)) : a.after;
  return { t: a.t + share * (b.t - a.t), slope };
}
