// A value for each rank on the process grid: flat, in space, or as a strip where there is no grid.

import { drawnBy, el, fitCanvas } from "./dom.js";
import { inUnit } from "./format.js";
import { css, heat, inkOn, token } from "./palette.js";
import { project, shade } from "./space.js";
import { onTheme } from "./theme.js";
import { hideTip, showTip } from "./tip.js";

/** @typedef {import("./types.js").Distribution} Distribution */
/** @typedef {{slice: string, turn: string}} Look slice "z:2" and turn "30:-20" as in the address */
/** @typedef {{rank: number, x: number, y: number, size: number, depth: number}} Cell where a rank is drawn */

const AXES = "xyz";

export class GridMap {
  constructor() {
    this.canvas = el("canvas", { class: "grid-map", role: "img" });
    this.scale = el("div", { class: "heat-scale small muted" });
    this.element = el("div", { class: "chart-box" }, this.canvas, this.scale);
    /** @type {Distribution | null} */
    this.data = null;
    /** @type {Look} */
    this.look = { slice: "", turn: "" };
    /** @type {(turn: string) => void} */
    this.turned = () => {};
    /** @type {Cell[]} */
    this.cells = [];
    drawnBy(this.canvas, () => this.draw());
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(this.element);
    this.offTheme = onTheme(() => this.draw());
    this.canvas.addEventListener("pointermove", (e) => this.showTip(e));
    this.canvas.addEventListener("pointerleave", hideTip);
    this.canvas.addEventListener("pointerdown", (e) => this.press(e));
    /** @type {(rank: number) => void} what a click on a rank does */
    this.open = () => {};
    this.canvas.addEventListener("click", (e) => {
      const cell = this.dragged ? null : this.cellAt(e);
      if (cell) this.open(cell.rank);
    });
    this.dragged = false; // the mouse turned the block since it was pressed
    this.canvas.addEventListener("keydown", (e) => this.key(e));
  }

  close() {
    this.observer.disconnect();
    this.offTheme();
    hideTip();
  }

  /** The dimensions of the grid; none if there is no grid that can be drawn. */
  get dims() {
    const g = this.data?.grid;
    return g && g.dims.length >= 2 && g.dims.length <= 3 ? g.dims : null;
  }

  /**
   * @param {Distribution} d
   * @param {Look} look
   * @param {(turn: string) => void} turned the user turned it
   */
  show(d, look, turned) {
    this.data = d;
    this.look = look;
    this.turned = turned;
    const solid = this.dims?.length === 3;
    if (solid) {
      this.canvas.tabIndex = 0;
      this.canvas.dataset.ownKeys = "";
    } else {
      this.canvas.removeAttribute("tabindex");
    }
    const shape = this.dims ? `a grid of ${this.dims.join(" × ")}` : "a strip";
    this.canvas.setAttribute("aria-label", `Values of ${d.values.length} ranks on ${shape}, from ${inUnit(d.min, d.unit)} on rank ${d.min_rank} to ${inUnit(d.max, d.unit)} on rank ${d.max_rank}.${solid ? " Arrow keys turn it." : ""}`);
    this.draw();
  }

  draw() {
    const d = this.data;
    const width = this.element.clientWidth;
    if (!d || width < 40) return;
    const dims = this.dims;
    if (dims?.length === 3) this.drawSolid(d, dims, width);
    else this.drawFlat(d, dims, width);
    this.drawScale(d);
  }

  /**
   * @param {Distribution} d
   * @param {number} rank
   */
  color(d, rank) {
    return heat(d.max > d.min ? (d.values[rank] - d.min) / (d.max - d.min) : 0.3);
  }

  /**
   * Two dimensions, or a strip that is broken into lines.
   * @param {Distribution} d
   * @param {number[] | null} dims
   * @param {number} width
   */
  drawFlat(d, dims, width) {
    const n = d.values.length;
    const columns = dims ? dims[0] : Math.min(n, Math.max(1, Math.ceil(Math.sqrt(n * 4))));
    const lines = dims ? dims[1] : Math.ceil(n / columns);
    const left = dims ? 26 : 4;
    const top = dims ? 18 : 4;
    const size = Math.max(0.5, Math.min((width - left - 4) / columns, 64, Math.max(4, 520 / lines)));
    const height = Math.ceil(top + size * lines + 4);
    const ctx = fitCanvas(this.canvas, width, height);
    ctx.clearRect(0, 0, width, height);
    const gap = size > 6 ? 1 : 0;
    this.cells = [];
    for (let rank = 0; rank < n; rank++) {
      const at = dims ? d.grid?.coords[rank] : [rank % columns, Math.floor(rank / columns)];
      if (!at) continue;
      const [x, y] = [left + at[0] * size, top + at[1] * size];
      const c = this.color(d, rank);
      ctx.fillStyle = css(c);
      ctx.fillRect(x, y, size - gap, size - gap);
      if (size >= 26) {
        ctx.fillStyle = inkOn(c);
        ctx.font = "11px system-ui, 'DejaVu Sans', sans-serif";
        ctx.textAlign = "center";
        ctx.textBaseline = "middle";
        ctx.fillText(String(rank), x + size / 2, y + size / 2);
      }
      this.cells.push({ rank, x: x + size / 2, y: y + size / 2, size, depth: 0 });
    }
    if (dims) axisNames(ctx, left, top, size * columns, size * lines);
  }

  /**
   * Three dimensions, as cubes seen from afar.
   * @param {Distribution} d
   * @param {number[]} dims
   * @param {number} width
   */
  drawSolid(d, dims, width) {
    const height = Math.round(Math.min(520, Math.max(240, width * 0.72)));
    const ctx = fitCanvas(this.canvas, width, height);
    ctx.clearRect(0, 0, width, height);
    const [yaw, pitch] = this.angles();
    const view = project(dims, yaw, pitch, width, height);
    const [axis, index] = this.slice(dims);
    this.cells = [];
    for (let rank = 0; rank < d.values.length; rank++) {
      const at = d.grid?.coords[rank];
      if (!at || (axis >= 0 && at[axis] !== index)) continue;
      const p = view.place(at);
      this.cells.push({ rank, x: p.x, y: p.y, size: view.unit, depth: p.depth });
    }
    this.cells.sort((a, b) => a.depth - b.depth);
    view.frame(ctx, token("--strong-line"), token("--muted"));
    for (const cell of this.cells) {
      const c = this.color(d, cell.rank);
      for (const face of view.faces) {
        ctx.fillStyle = css(shade(c, face.light));
        ctx.beginPath();
        for (const [x, y] of face.corners) ctx.lineTo(cell.x + x, cell.y + y);
        ctx.fill();
      }
    }
  }

  angles() {
    const m = /^(-?\d+):(-?\d+)$/.exec(this.look.turn);
    return m ? [Number(m[1]), Math.max(-90, Math.min(90, Number(m[2])))] : [35, 25];
  }

  /**
   * @param {number[]} dims
   * @returns {[number, number]} axis (-1: no slice) and index
   */
  slice(dims) {
    const m = /^([xyz]):(\d+)$/.exec(this.look.slice);
    if (!m) return [-1, 0];
    const axis = AXES.indexOf(m[1]);
    return [axis, Math.min(Number(m[2]), dims[axis] - 1)];
  }

  /** @param {Distribution} d */
  drawScale(d) {
    const ramp = el("canvas", { class: "ramp", width: 64, height: 1, "aria-hidden": "true" });
    const ctx = ramp.getContext("2d");
    for (let i = 0; i < 64 && ctx; i++) {
      ctx.fillStyle = css(heat(i / 63));
      ctx.fillRect(i, 0, 1, 1);
    }
    this.scale.replaceChildren(el("span", { text: inUnit(d.min, d.unit) }), ramp, el("span", { text: inUnit(d.max, d.unit) }));
  }

  /** @param {MouseEvent} e */
  cellAt(e) {
    let best = null;
    for (const c of this.cells) {
      const reach = c.size / 2 + (this.dims?.length === 3 ? 2 : 0);
      if (Math.abs(c.x - e.offsetX) <= reach && Math.abs(c.y - e.offsetY) <= reach) best = c; // the last one is in front
    }
    return best;
  }

  /** @param {PointerEvent} e */
  showTip(e) {
    const d = this.data;
    if (!d || e.buttons !== 0) return;
    const best = this.cellAt(e);
    if (!best) {
      hideTip();
      return;
    }
    const at = this.dims ? d.grid?.coords[best.rank] : null;
    showTip(e.clientX, e.clientY, [`rank ${best.rank}: ${inUnit(d.values[best.rank], d.unit)}`, at ? `at ${at.map((v, i) => `${AXES[i]} ${v}`).join(", ")}` : null]);
  }

  /** @param {PointerEvent} e */
  press(e) {
    this.dragged = false;
    if (this.dims?.length !== 3 || e.button !== 0) return;
    const [yaw, pitch] = this.angles();
    this.canvas.setPointerCapture(e.pointerId);
    hideTip();
    const start = [e.clientX, e.clientY];
    const follow = (/** @type {PointerEvent} */ p) => {
      this.dragged ||= Math.hypot(p.clientX - start[0], p.clientY - start[1]) > 3;
      this.turn(yaw + (p.clientX - start[0]) * 0.5, pitch + (p.clientY - start[1]) * 0.5);
    };
    const stop = () => {
      this.canvas.removeEventListener("pointermove", follow);
      this.canvas.removeEventListener("pointerup", stop);
      this.canvas.removeEventListener("pointercancel", stop);
    };
    this.canvas.addEventListener("pointermove", follow);
    this.canvas.addEventListener("pointerup", stop);
    this.canvas.addEventListener("pointercancel", stop);
  }

  /** @param {KeyboardEvent} e */
  key(e) {
    const by = { ArrowLeft: [-10, 0], ArrowRight: [10, 0], ArrowUp: [0, -10], ArrowDown: [0, 10] }[e.key];
    if (!by || this.dims?.length !== 3) return;
    e.preventDefault();
    const [yaw, pitch] = this.angles();
    this.turn(yaw + by[0], pitch + by[1]);
  }

  /**
   * @param {number} yaw
   * @param {number} pitch
   */
  turn(yaw, pitch) {
    const y = ((Math.round(yaw) % 360) + 360) % 360;
    this.look = { ...this.look, turn: `${y}:${Math.round(Math.max(-90, Math.min(90, pitch)))}` };
    this.draw();
    this.turned(this.look.turn);
  }
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {number} left
 * @param {number} top
 * @param {number} width
 * @param {number} height
 */
function axisNames(ctx, left, top, width, height) {
  ctx.fillStyle = token("--muted");
  ctx.font = "11px system-ui, 'DejaVu Sans', sans-serif";
  ctx.textAlign = "center";
  ctx.textBaseline = "alphabetic";
  ctx.fillText("x →", left + width / 2, top - 6);
  ctx.save();
  ctx.translate(left - 10, top + height / 2);
  ctx.rotate(-Math.PI / 2);
  ctx.fillText("← y", 0, 0);
  ctx.restore();
}
