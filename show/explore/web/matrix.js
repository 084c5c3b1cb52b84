// Messages between each pair of ranks.

import * as api from "./api.js";
import { drawnBy, el, fitCanvas, notice, refill, segmented } from "./dom.js";
import { bytes, count, plural } from "./format.js";
import { Loading } from "./loading.js";
import { css, heat, packed, token } from "./palette.js";
import { onTheme } from "./theme.js";
import { hideTip, showTip } from "./tip.js";

export const KEYS = ["of", "scale"];

const SIZE = 512; // cells that are asked for at most
const LEFT = 52;
const TOP = 40;

export class MatrixView {
  /**
   * @param {import("./app.js").App} app
   * @param {HTMLElement} root
   */
  constructor(app, root) {
    this.app = app;
    this.root = root;
    this.canvas = el("canvas", { class: "matrix", role: "img" });
    this.box = el("div", { class: "chart-box matrix-box" }, this.canvas);
    this.toolbar = el("div", { class: "toolbar" });
    this.text = el("p", { class: "lead" });
    this.scale = el("div", { class: "heat-scale small muted" });
    this.list = el("div");
    this.body = el("div", { class: "page" });
    this.loading = new Loading(this.body);
    root.replaceChildren(this.toolbar, this.body);
    this.key = "";
    this.cell = 1; // side of a cell in pixels
    /** @type {import("./types.js").Matrix | null} */
    this.matrix = null;
    /** @type {Map<number, number>} place in the columns of the answer, by cell */
    this.cells = new Map();
    drawnBy(this.canvas, () => this.draw());
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(this.body);
    this.offTheme = onTheme(() => this.draw());
    this.canvas.addEventListener("pointermove", (e) => this.showTip(e));
    this.canvas.addEventListener("pointerleave", hideTip);
    this.canvas.addEventListener("click", (e) => this.open(Math.floor((e.offsetY - TOP) / this.cell), Math.floor((e.offsetX - LEFT) / this.cell)));
  }

  close() {
    this.loading.close();
    this.observer.disconnect();
    this.offTheme();
    hideTip();
  }

  update() {
    const { app } = this;
    refill(this.toolbar,
      segmented("Of", [["", "bytes"], ["count", "messages"]], app.params.of ?? "", (of) => app.set({ of })),
      segmented("Scale", [["", "linear"], ["log", "logarithmic"]], app.params.scale ?? "", (scale) => app.set({ scale })));
    const key = `${app.run.index} ${app.run.generation}`;
    if (key === this.key) {
      this.draw();
      return;
    }
    this.key = key;
    void this.loading.wait(api.matrix({ run: app.run.index, size: SIZE }), (m) => {
      this.matrix = m;
      this.cells = new Map(m.from.map((from, i) => [from * m.size + m.to[i], i]));
      if (m.from.length === 0) {
        this.body.replaceChildren(notice("No messages", "No rank of this run sent a message to another one. Collectives are not counted here."));
        return;
      }
      this.body.replaceChildren(el("header", {}, el("h1", { text: "Messages between ranks" }), this.text), el("div", {}, this.box, this.scale), this.list);
      this.draw();
    });
  }

  get values() {
    const m = this.matrix;
    return (this.app.params.of === "count" ? m?.count : m?.bytes) ?? [];
  }

  draw() {
    const m = this.matrix;
    const room = this.box.clientWidth;
    if (!m || m.from.length === 0 || room < 60) return;
    const values = this.values;
    const most = values.reduce((a, b) => Math.max(a, b), 0);
    const total = values.reduce((a, b) => a + b, 0);
    const print = this.app.params.of === "count" ? count : bytes;
    const per = m.group > 1 ? ` Each cell shows ${m.group} × ${m.group} ranks.` : "";
    this.text.textContent = `${plural(m.ranks, "rank")}, ${print(total)}${this.app.params.of === "count" ? " messages" : ""} in all, without collectives.${per}`;
    this.canvas.setAttribute("aria-label", `Communication matrix of ${m.ranks} ranks; the largest cell has ${print(most)}`);
    const share = (/** @type {number} */ v) => (this.app.params.scale === "log" ? Math.log(1 + v) / Math.log(1 + most) : v / most);
    this.paint(m, values.map((v) => (most > 0 ? share(v) : 0)), room);
    const ramp = el("canvas", { class: "ramp", width: 64, height: 1, "aria-hidden": "true" });
    const ctx = ramp.getContext("2d");
    for (let i = 0; i < 64 && ctx; i++) {
      ctx.fillStyle = css(heat(i / 63));
      ctx.fillRect(i, 0, 1, 1);
    }
    this.list.replaceChildren(this.largest());
    this.scale.replaceChildren(el("span", { text: print(0) }), ramp, el("span", { text: `${print(most)}${this.app.params.scale === "log" ? " (logarithmic)" : ""}` }));
  }

  /**
   * @param {import("./types.js").Matrix} m
   * @param {number[]} shares by cell of the answer, 0 to 1
   * @param {number} room
   */
  paint(m, shares, room) {
    const fits = Math.min(room - LEFT - 8, 640, Math.max(320, window.innerHeight - 270)) / m.size;
    const cell = Math.min(40, fits > 1 ? Math.floor(fits) : fits); // less than a pixel where there is no more room
    this.cell = cell;
    const side = cell * m.size;
    const ctx = fitCanvas(this.canvas, LEFT + side + 8, TOP + side + 8);
    ctx.clearRect(0, 0, LEFT + side + 8, TOP + side + 8);
    const image = new ImageData(m.size, m.size);
    const pixels = new Uint32Array(image.data.buffer).fill(packed(heat(0)));
    shares.forEach((s, i) => { pixels[m.from[i] * m.size + m.to[i]] = packed(heat(s)); });
    const small = document.createElement("canvas");
    small.width = small.height = m.size;
    small.getContext("2d")?.putImageData(image, 0, 0);
    ctx.imageSmoothingEnabled = cell < 1; // several cells share a pixel
    ctx.drawImage(small, LEFT, TOP, side, side);
    if (cell >= 8) {
      ctx.strokeStyle = token("--ground");
      ctx.lineWidth = 1;
      ctx.beginPath();
      for (let i = 0; i <= m.size; i++) {
        ctx.moveTo(LEFT + i * cell + 0.5, TOP);
        ctx.lineTo(LEFT + i * cell + 0.5, TOP + side);
        ctx.moveTo(LEFT, TOP + i * cell + 0.5);
        ctx.lineTo(LEFT + side, TOP + i * cell + 0.5);
      }
      ctx.stroke();
    }
    this.labels(ctx, m, cell, side);
  }

  /**
   * @param {CanvasRenderingContext2D} ctx
   * @param {import("./types.js").Matrix} m
   * @param {number} cell
   * @param {number} side
   */
  labels(ctx, m, cell, side) {
    ctx.fillStyle = token("--muted");
    ctx.font = "11px system-ui, 'DejaVu Sans', sans-serif";
    const widest = ctx.measureText(String(m.ranks)).width + 10;
    let step = 1;
    for (const next of [1, 2, 5, 10, 20, 50, 100, 200, 500]) {
      step = next;
      if (next * cell >= widest) break;
    }
    ctx.textBaseline = "middle";
    for (let i = 0; i < m.size; i += step) {
      ctx.textAlign = "right";
      ctx.fillText(String(i * m.group), LEFT - 6, TOP + (i + 0.5) * cell);
      ctx.textAlign = "center";
      ctx.fillText(String(i * m.group), LEFT + (i + 0.5) * cell, TOP - 9);
    }
    ctx.textAlign = "left";
    ctx.fillText("to rank →", LEFT, 8);
    ctx.save();
    ctx.translate(10, TOP + Math.min(side, 90));
    ctx.rotate(-Math.PI / 2);
    ctx.fillText("← from rank", Math.max(0, Math.min(side, 90) - 66), 0);
    ctx.restore();
  }

  /**
   * Goes to the messages of a cell in the timeline.
   * @param {number} from
   * @param {number} to
   */
  open(from, to) {
    const m = this.matrix;
    if (!m || !this.cells.has(from * m.size + to)) return;
    const ranks = (/** @type {number} */ k) => (m.group === 1 ? String(k) : `${k * m.group}-${Math.min(m.ranks, (k + 1) * m.group) - 1}`);
    this.app.go("timeline", { sender: ranks(from), receiver: ranks(to), arrows: "", least: "", rows: "" });
  }

  /** The largest cells as a list: what the picture shows, for keyboards and screen readers. */
  largest() {
    const m = this.matrix;
    if (!m) return el("div");
    const values = this.values;
    const order = values.map((_, i) => i).sort((a, b) => values[b] - values[a]).slice(0, 10);
    const name = (/** @type {number} */ k) => (m.group === 1 ? `${k}` : `${k * m.group}–${Math.min(m.ranks, (k + 1) * m.group) - 1}`);
    return el("section", { class: "largest-cells" }, el("h2", { text: "Largest cells" }), el("ol", {}, ...order.map((i) => el("li", {},
      el("button", { type: "button", class: "link", text: `from ${name(m.from[i])} to ${name(m.to[i])}: ${plural(m.count[i], "message")}, ${bytes(m.bytes[i])}`, onclick: () => this.open(m.from[i], m.to[i]) })))),
      m.from.length > order.length ? el("p", { class: "small muted", text: `and ${count(m.from.length - order.length)} more; click a cell to see its messages in the timeline.` }) : "");
  }

  /** @param {PointerEvent} e */
  showTip(e) {
    const m = this.matrix;
    const { cell } = this;
    if (!m) return;
    const to = Math.floor((e.offsetX - LEFT) / cell);
    const from = Math.floor((e.offsetY - TOP) / cell);
    if (to < 0 || from < 0 || to >= m.size || from >= m.size) {
      hideTip();
      return;
    }
    const i = this.cells.get(from * m.size + to);
    const name = (/** @type {number} */ k) => (m.group === 1 ? `rank ${k}` : `ranks ${k * m.group}–${Math.min(m.ranks, (k + 1) * m.group) - 1}`);
    showTip(e.clientX, e.clientY, [`${name(from)} to ${name(to)}`, i === undefined ? "no messages" : `${plural(m.count[i], "message")}, ${bytes(m.bytes[i])}`]);
  }
}
