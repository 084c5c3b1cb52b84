// A value for each rank as bars, joined where there are more ranks than pixels.

import { drawnBy, el, fitCanvas } from "./dom.js";
import { inUnit } from "./format.js";
import { token } from "./palette.js";
import { onTheme } from "./theme.js";
import { hideTip, showTip } from "./tip.js";

const HEIGHT = 150;
const LEFT = 8;
const BOTTOM = 22;
const TOP = 20;

export class RankChart {
  constructor() {
    this.canvas = el("canvas", { class: "ranks", role: "img" });
    this.element = el("div", { class: "chart-box" }, this.canvas);
    /** @type {import("./types.js").Distribution | null} */
    this.data = null;
    drawnBy(this.canvas, () => this.draw());
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(this.element);
    this.offTheme = onTheme(() => this.draw());
    this.canvas.addEventListener("pointermove", (e) => this.showTip(e));
    this.canvas.addEventListener("pointerleave", hideTip);
    /** @type {(rank: number) => void} what a click on a rank does */
    this.open = () => {};
    this.canvas.addEventListener("click", (e) => {
      const n = this.data?.values.length ?? 0;
      const rank = Math.floor(((e.offsetX - LEFT) / (this.width - LEFT - 4)) * n);
      if (rank >= 0 && rank < n) this.open(rank);
    });
  }

  close() {
    this.observer.disconnect();
    this.offTheme();
  }

  /** @param {import("./types.js").Distribution} d */
  show(d) {
    this.data = d;
    this.canvas.setAttribute("aria-label", `Values of ${d.values.length} ranks: from ${inUnit(d.min, d.unit)} on rank ${d.min_rank} to ${inUnit(d.max, d.unit)} on rank ${d.max_rank}`);
    this.draw();
  }

  get width() {
    return Math.max(40, this.element.clientWidth);
  }

  draw() {
    const d = this.data;
    if (!d || this.element.clientWidth < 40) return;
    const width = this.width;
    const ctx = fitCanvas(this.canvas, width, HEIGHT);
    ctx.clearRect(0, 0, width, HEIGHT);
    const plot = width - LEFT - 4;
    const n = d.values.length;
    const bars = Math.min(n, Math.floor(plot));
    const top = Math.max(d.max, 1);
    const y = (/** @type {number} */ v) => HEIGHT - BOTTOM - (v / top) * (HEIGHT - BOTTOM - TOP);
    ctx.fillStyle = token("--accent");
    const gap = plot / bars > 4 ? 1 : 0;
    for (let i = 0; i < bars; i++) {
      const from = Math.floor((i * n) / bars);
      const to = Math.max(from + 1, Math.floor(((i + 1) * n) / bars));
      let v = 0;
      for (let r = from; r < to; r++) v = Math.max(v, d.values[r]);
      ctx.fillRect(LEFT + (i * plot) / bars, y(v), plot / bars - gap, HEIGHT - BOTTOM - y(v));
    }
    ctx.strokeStyle = token("--ink");
    ctx.setLineDash([4, 3]);
    ctx.beginPath();
    ctx.moveTo(LEFT, y(d.mean));
    ctx.lineTo(LEFT + plot, y(d.mean));
    ctx.stroke();
    ctx.setLineDash([]);
    ctx.font = "11px system-ui, 'DejaVu Sans', sans-serif";
    ctx.fillStyle = token("--muted");
    ctx.textBaseline = "alphabetic";
    ctx.textAlign = "left";
    ctx.fillText(inUnit(d.max, d.unit), LEFT, 13);
    ctx.fillText("rank 0", LEFT, HEIGHT - 7);
    ctx.textAlign = "right";
    ctx.fillText("dashed: mean", LEFT + plot, 13);
    if (n > 1) ctx.fillText(`rank ${n - 1}`, LEFT + plot, HEIGHT - 7);
  }

  /** @param {PointerEvent} e */
  showTip(e) {
    const d = this.data;
    if (!d) return;
    const n = d.values.length;
    const rank = Math.floor(((e.offsetX - LEFT) / (this.width - LEFT - 4)) * n);
    if (rank < 0 || rank >= n) hideTip();
    else showTip(e.clientX, e.clientY, [`rank ${rank}: ${inUnit(d.values[rank], d.unit)}`]);
  }
}
