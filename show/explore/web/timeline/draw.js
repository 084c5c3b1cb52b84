// Draws one frame of a timeline.

import { timeTicks } from "../format.js";
import { token } from "../palette.js";
import { drawStack } from "./stack.js";
import { fit, drawCritical, drawLabels, drawLaunches, drawMarks, drawMessages, drawWaits } from "./overlay.js";

/** @typedef {import("./scale.js").Scale} Scale */
/** @typedef {import("./data.js").Data} Data */
/** @typedef {{location: number, from: number, to: number, kind: "selected" | "step"}} Mark */

/**
 * @typedef {{
 *   ink: string, muted: string, line: string, ground: string, surface: string, accent: string, wait: string, path: string,
 * }} Inks
 */

/** @returns {Inks} the colors of the page, read once per frame at most */
export function inks() {
  return {
    ink: token("--ink"), muted: token("--muted"), line: token("--line"), ground: token("--ground"),
    surface: token("--surface"), accent: token("--accent"), wait: token("--wait"), path: token("--critical"),
  };
}

/**
 * @typedef {{
 *   data: Data, scale: Scale, inks: Inks, marks: Mark[],
 *   names: (location: number) => string,
 *   paths: import("../paths.js").Paths | null,
 *   showMessages: boolean, showLaunches: boolean, showCritical: boolean,
 *   anchors: import("./align.js").Anchor[],
 *   hover: {x: number, y: number} | null,
 *   box: {x0: number, y0: number, x1: number, y1: number} | null,
 * }} Frame
 */

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {Frame} f
 * @param {number} width
 * @param {number} height
 */
export function drawFrame(ctx, f, width, height) {
  const { scale } = f;
  ctx.clearRect(0, 0, width, height);
  ctx.font = "12px system-ui, 'DejaVu Sans', sans-serif";
  drawAxis(ctx, f);
  drawNames(ctx, f);
  ctx.save();
  ctx.beginPath();
  ctx.rect(scale.left, scale.top, scale.width, scale.height);
  ctx.clip();
  drawPicture(ctx, f);
  drawWaits(ctx, f);
  drawLabels(ctx, f);
  drawGaps(ctx, f);
  drawStack(ctx, f);
  if (f.showCritical) drawCritical(ctx, f);
  if (f.showLaunches) drawLaunches(ctx, f);
  if (f.showMessages) drawMessages(ctx, f);
  drawMarks(ctx, f);
  drawAnchors(ctx, f);
  ctx.restore();
  drawHover(ctx, f);
  ctx.strokeStyle = f.inks.line;
  ctx.lineWidth = 1;
  ctx.strokeRect(Math.round(scale.left) - 0.5, scale.top - 0.5, Math.round(scale.width) + 1, Math.round(scale.height) + 1);
  if (f.box) drawBox(ctx, f);
}

/**
 * The picture stretched to where its time and its rows are now.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Frame} f
 */
function drawPicture(ctx, { data, scale, inks: colors }) {
  ctx.fillStyle = colors.surface;
  ctx.fillRect(scale.left, scale.top, scale.width, scale.height);
  const r = data.picture.raster;
  if (!r || r.columns === 0 || r.rows === 0) return;
  // Only the part that is visible: browsers are slow with pictures that are mostly outside.
  const w = scale.window;
  const c0 = Math.max(0, Math.floor((w.from - r.from) / r.step));
  const c1 = Math.min(r.columns, Math.ceil((w.to - r.from) / r.step));
  const r0 = Math.max(0, Math.floor((w.first - r.first) / r.group));
  const r1 = Math.min(r.rows, Math.ceil((w.last - r.first) / r.group));
  if (c1 <= c0 || r1 <= r0) return;
  ctx.imageSmoothingEnabled = false;
  // An expanded row has its call stack below it: what is below that is drawn further down.
  const parts = scale.openRow < 0 ? [[scale.top, scale.bottom, 0]] : [[scale.top, scale.stackTop, 0], [scale.stackTop + scale.extra, scale.bottom, scale.extra]];
  for (const [top, bottom, down] of parts) {
    ctx.save();
    ctx.beginPath();
    ctx.rect(scale.left, top, scale.width, bottom - top);
    ctx.clip();
    ctx.drawImage(data.picture.canvas, c0, r0, c1 - c0, r1 - r0,
      scale.x(r.from + c0 * r.step), scale.top + (r.first + r0 * r.group - w.first) * scale.row + down,
      (c1 - c0) * r.step * scale.perTime, (r1 - r0) * r.group * scale.row);
    ctx.restore();
  }
}

/**
 * Room between rows, if there is any.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Frame} f
 */
function drawGaps(ctx, { scale, inks: colors }) {
  const gap = scale.row >= 24 ? 4 : scale.row >= 12 ? 2 : scale.row >= 5 ? 1 : 0;
  if (gap === 0) return;
  ctx.fillStyle = colors.ground;
  for (let l = scale.window.first; l <= scale.window.last; l++) {
    ctx.fillRect(scale.left, Math.round(scale.rowY(l)) - gap / 2, scale.width, gap);
  }
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {Frame} f
 */
function drawAxis(ctx, { scale, inks: colors }) {
  const w = scale.window;
  let ticks = timeTicks(w.from, w.to, Math.max(2, scale.width / 70));
  for (let most = scale.width / 70; most > 1; most *= 0.7) {
    ticks = timeTicks(w.from, w.to, most);
    const widest = Math.max(...ticks.ticks.map((t) => ctx.measureText(t.label).width), 10);
    if (ticks.step * scale.perTime > widest + 14) break;
  }
  ctx.fillStyle = colors.muted;
  ctx.strokeStyle = colors.line;
  ctx.lineWidth = 1;
  ctx.textBaseline = "alphabetic";
  ctx.textAlign = "left";
  ctx.fillText(`time, ${ticks.unit}`, 10, 19);
  ctx.textAlign = "center";
  ctx.beginPath();
  for (const { at, label } of ticks.ticks) {
    const x = scale.x(at);
    const half = ctx.measureText(label).width / 2;
    const place = Math.min(Math.max(x, scale.left + half), scale.right - half);
    ctx.fillText(label, place, 19);
    const sharp = Math.round(x) + 0.5;
    ctx.moveTo(sharp, 24);
    ctx.lineTo(sharp, scale.top);
  }
  ctx.stroke();
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {Frame} f
 */
function drawNames(ctx, { scale, names, inks: colors }) {
  const { first, last } = scale.window;
  const step = rowStep(scale.row);
  ctx.fillStyle = colors.muted;
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  // Of streams that are too low for names the ranks alone are named.
  const ranksOnly = step > 1 && scale.rows.list !== null;
  let free = -1;
  for (let l = ranksOnly ? first : Math.ceil(first / step) * step; l < last; l += ranksOnly ? 1 : step) {
    if (ranksOnly && (l < free || !names(scale.rows.location(l)).startsWith("rank"))) continue;
    free = l + step;
    const middle = scale.rowY(l) + scale.row / 2;
    const y = scale.row >= 14 ? middle : Math.max(scale.top + 6, Math.min(middle, scale.bottom - 6));
    if (l !== scale.openRow) ctx.fillText(names(scale.rows.location(l)), scale.left - 8, y, scale.left - 14);
  }
  if (scale.openRow >= 0) {
    ctx.fillStyle = colors.ink;
    ctx.fillText(`▾ ${names(scale.rows.location(scale.openRow))}`, scale.left - 8, scale.rowY(scale.openRow) + scale.row / 2, scale.left - 14);
  }
}

/** @param {number} row height */
function rowStep(row) {
  for (const power of [1, 10, 100, 1000, 10000, 100000]) {
    for (const m of [1, 2, 5]) if (m * power * row >= 20) return m * power;
  }
  return 1000000;
}

const ANCHOR = 46; // pixels between the beginnings that are marked

/**
 * Where iterations or phases begin that are above each other in two runs.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Frame} f
 */
function drawAnchors(ctx, { anchors, scale, inks: colors }) {
  const { from, to } = scale.window;
  const visible = anchors.filter((a) => a.at >= from && a.at <= to);
  const every = Math.max(1, Math.ceil((visible.length * ANCHOR) / scale.width));
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  ctx.font = "11px system-ui, 'DejaVu Sans', sans-serif";
  visible.forEach((a, i) => {
    if (i % every !== 0) return;
    const x = Math.round(scale.x(a.at)) + 0.5;
    ctx.strokeStyle = colors.accent;
    ctx.lineWidth = 1;
    ctx.beginPath();
    ctx.moveTo(x, scale.top);
    ctx.lineTo(x, scale.bottom);
    ctx.stroke();
    const text = fit(ctx, a.label, 120);
    ctx.fillStyle = colors.ground;
    ctx.globalAlpha = 0.85;
    ctx.fillRect(x, scale.top, ctx.measureText(text).width + 8, 15);
    ctx.globalAlpha = 1;
    ctx.fillStyle = colors.accent;
    ctx.fillText(text, x + 4, scale.top + 8);
  });
}

/**
 * A line through the mouse, with its time on the axis.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Frame} f
 */
function drawHover(ctx, { scale, hover, inks: colors }) {
  if (!hover || !scale.inside(hover.x, hover.y)) return;
  ctx.strokeStyle = colors.muted;
  ctx.globalAlpha = 0.55;
  ctx.lineWidth = 1;
  ctx.beginPath();
  ctx.moveTo(Math.round(hover.x) + 0.5, scale.top);
  ctx.lineTo(Math.round(hover.x) + 0.5, scale.bottom);
  ctx.stroke();
  ctx.globalAlpha = 1;
}

/**
 * The box that is being drawn to zoom into it.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Frame} f
 */
function drawBox(ctx, { box, inks: colors }) {
  if (!box) return;
  const x = Math.min(box.x0, box.x1);
  const y = Math.min(box.y0, box.y1);
  const w = Math.abs(box.x1 - box.x0);
  const h = Math.abs(box.y1 - box.y0);
  ctx.fillStyle = colors.accent;
  ctx.globalAlpha = 0.15;
  ctx.fillRect(x, y, w, h);
  ctx.globalAlpha = 1;
  ctx.strokeStyle = colors.accent;
  ctx.lineWidth = 1.5;
  ctx.strokeRect(x, y, w, h);
}
