// The whole run in a narrow strip, with a box around what the timeline below shows of it.

import * as api from "../api.js";
import { drawnBy, el, fitCanvas } from "../dom.js";
import { token } from "../palette.js";
import { table } from "./legend.js";
import { Picture, decode } from "./raster.js";
import { GUTTER } from "./scale.js";

const HEIGHT = 30;
const ROWS = 30;

export class Strip {
  /**
   * @param {import("../types.js").Run} run
   * @param {(from: number, to: number) => void} look
   */
  constructor(run, look) {
    this.run = run;
    this.look = look;
    this.canvas = el("canvas", { class: "strip", "aria-hidden": "true", title: "The whole run; drag the box" });
    this.picture = new Picture();
    this.key = "";
    this.width = 0;
    /** @type {import("../types.js").Legend | null} */
    this.legend = null;
    /** @type {import("./window.js").Window | null} */
    this.window = null;
    drawnBy(this.canvas, () => this.draw());
    this.abort = new AbortController();
    this.canvas.addEventListener("pointerdown", (e) => this.press(e));
  }

  close() {
    this.abort.abort();
  }

  /**
   * @param {import("./window.js").Window} w
   * @param {string} color
   * @param {number} width
   */
  show(w, color, width) {
    this.window = w;
    this.width = width;
    const key = `${color} ${width}`;
    if (key !== this.key && width > GUTTER + 20) {
      this.key = key;
      void this.fetch(color, width - GUTTER - 10);
    }
    this.draw();
  }

  /**
   * @param {string} color
   * @param {number} width
   */
  async fetch(color, width) {
    const key = this.key;
    try {
      const [legend, buffer] = await Promise.all([
        api.legend({ run: this.run.index, color }),
        api.timeline({
          run: this.run.index, from: 0, to: Math.max(1, this.run.length), first: 0, last: this.run.locations,
          width: Math.min(8192, Math.round(width)), rows: Math.min(ROWS, this.run.locations), color,
        }, this.abort.signal),
      ]);
      if (key !== this.key) return;
      this.legend = legend;
      this.picture.paint(decode(buffer), table(legend));
      this.draw();
    } catch {
      this.key = ""; // the timeline below shows the error
    }
  }

  recolor() {
    if (this.legend && this.picture.raster) this.picture.paint(this.picture.raster, table(this.legend));
    this.draw();
  }

  /** @param {number} time */
  x(time) {
    return GUTTER + (time / Math.max(1, this.run.length)) * (this.width - GUTTER - 10);
  }

  draw() {
    if (!this.window || this.width <= GUTTER) return;
    const ctx = fitCanvas(this.canvas, this.width, HEIGHT);
    ctx.clearRect(0, 0, this.width, HEIGHT);
    const r = this.picture.raster;
    ctx.imageSmoothingEnabled = false;
    if (r) ctx.drawImage(this.picture.canvas, this.x(r.from), 3, this.x(r.from + r.columns * r.step) - this.x(r.from), HEIGHT - 6);
    const within = (/** @type {number} */ t) => this.x(Math.min(t, this.run.length)); // a shorter run on the axis of a longer one
    const [x0, x1] = [within(this.window.from), Math.max(within(this.window.to), within(this.window.from) + 3)];
    ctx.fillStyle = token("--ground");
    ctx.globalAlpha = 0.68;
    ctx.fillRect(GUTTER, 3, x0 - GUTTER, HEIGHT - 6);
    ctx.fillRect(x1, 3, this.x(this.run.length) - x1, HEIGHT - 6);
    ctx.globalAlpha = 1;
    ctx.strokeStyle = token("--accent");
    ctx.lineWidth = 2;
    ctx.strokeRect(x0, 2, x1 - x0, HEIGHT - 4);
    ctx.fillStyle = token("--muted");
    ctx.font = "12px system-ui, 'DejaVu Sans', sans-serif";
    ctx.textBaseline = "middle";
    ctx.textAlign = "right";
    ctx.fillText("whole run", GUTTER - 8, HEIGHT / 2);
  }

  /** @param {PointerEvent} e */
  press(e) {
    const w = this.window;
    if (!w || e.button !== 0) return;
    const size = w.to - w.from;
    const timeAt = (/** @type {PointerEvent} */ p) =>
      ((p.offsetX - GUTTER) / (this.width - GUTTER - 10)) * this.run.length;
    const start = timeAt(e);
    const grip = start >= w.from && start <= w.to ? start - w.from : size / 2;
    const follow = (/** @type {PointerEvent} */ p) => this.look(timeAt(p) - grip, timeAt(p) - grip + size);
    this.canvas.setPointerCapture(e.pointerId);
    follow(e);
    this.canvas.onpointermove = follow;
    this.canvas.onpointerup = this.canvas.onpointercancel = () => {
      this.canvas.onpointermove = null;
    };
  }
}

