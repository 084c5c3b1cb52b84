// What lies over the picture of a timeline: waits, names of calls, messages, the critical path, marks.

import { duration } from "../format.js";
import { inkOn } from "../palette.js";
import { theme } from "../theme.js";
import { shown } from "./legend.js";
import { categoryAt } from "./raster.js";

/** @typedef {import("./draw.js").Frame} Frame */
/** @typedef {import("./scale.js").Scale} Scale */

/** @type {Map<string, CanvasPattern>} */
const hatches = new Map();

/**
 * Diagonal lines: waits are recognized by their pattern, not by their color alone.
 * @param {CanvasRenderingContext2D} ctx
 * @param {string} color
 */
function hatch(ctx, color) {
  let pattern = hatches.get(color);
  if (pattern) return pattern;
  const tile = document.createElement("canvas");
  tile.width = tile.height = 8;
  const t = tile.getContext("2d");
  if (!t) return color;
  t.strokeStyle = color;
  t.globalAlpha = 0.5;
  t.lineWidth = 1.4;
  t.beginPath();
  for (const d of [-8, 0, 8]) {
    t.moveTo(d - 1, 9);
    t.lineTo(d + 9, -1);
  }
  t.stroke();
  pattern = ctx.createPattern(tile, "repeat") ?? undefined;
  if (!pattern) return color;
  hatches.set(color, pattern);
  return pattern;
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {Frame} f
 */
export function drawWaits(ctx, { data, scale, inks }) {
  if (scale.row < 4) return;
  ctx.fillStyle = hatch(ctx, inks.ink);
  for (const s of data.states) {
    for (const [from, to] of spansOf(s)) {
      const x0 = scale.x(from);
      const x1 = scale.x(to);
      if (x1 - x0 < 4 || x1 < scale.left || x0 > scale.right) continue;
      ctx.fillRect(x0, scale.y(s.location), x1 - x0, scale.row);
    }
  }
}

/**
 * The parts of the time of a wait state that count.
 * @param {import("../types.js").State} s
 */
export function spansOf(s) {
  return s.spans ?? [[s.at, s.end]];
}

/** @type {WeakMap<import("../types.js").Legend, {key: string, inks: Map<number, string>}>} */
const knownInks = new WeakMap();

/**
 * The colors in which names can be read on the colors of categories.
 * @param {import("../types.js").Legend} legend
 * @param {Set<number>} marked
 */
function labelInks(legend, marked) {
  let known = knownInks.get(legend);
  const key = `${theme()} ${[...marked].join()}`;
  if (!known || known.key !== key) {
    known = { key, inks: new Map(legend.categories.map((c) => [c.id, inkOn(shown(c, legend.color, marked))])) };
    knownInks.set(legend, known);
  }
  return known.inks;
}

/**
 * Names of calls, where they fit.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Frame} f
 */
export function drawLabels(ctx, { data, scale, paths }) {
  const raster = data.picture.raster;
  if (scale.row < 15 || !paths || !raster || !data.legend) return;
  const colors = labelInks(data.legend, data.marked);
  const tall = scale.row >= 34;
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  for (const [location, pieces] of data.pieces) {
    const y = scale.middle(location);
    for (const p of pieces) {
      const x0 = Math.max(scale.left, scale.x(p.from));
      const x1 = Math.min(scale.right, scale.x(p.to));
      if (x1 - x0 < 22) continue;
      const name = fit(ctx, paths.leaf(p.path), x1 - x0 - 10);
      if (!name) continue;
      const middle = scale.time((x0 + x1) / 2);
      ctx.fillStyle = colors.get(categoryAt(raster, middle, scale.rows.row(location))) ?? "#111418";
      ctx.fillText(name, x0 + 5, tall ? y - 8 : y);
      const time = duration(p.to - p.from);
      if (tall && ctx.measureText(time).width < x1 - x0 - 10) {
        ctx.globalAlpha = 0.75;
        ctx.fillText(time, x0 + 5, y + 9);
        ctx.globalAlpha = 1;
      }
    }
  }
}

/** @type {Map<string, number>} widths of names */
const widths = new Map();

/**
 * A name cut to a width, or nothing if too little would be left.
 * @param {CanvasRenderingContext2D} ctx
 * @param {string} text
 * @param {number} room
 */
export function fit(ctx, text, room) {
  let width = widths.get(text);
  if (width === undefined) {
    if (widths.size > 5000) widths.clear();
    width = ctx.measureText(text).width;
    widths.set(text, width);
  }
  if (width <= room) return text;
  const letters = Math.floor((text.length * (room - 8)) / width);
  return letters < 3 ? "" : `${text.slice(0, letters)}…`;
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {Frame} f
 */
export function drawMessages(ctx, { data, scale, inks }) {
  const list = data.messages?.messages ?? [];
  if (list.length === 0) return;
  // Many arrows beside each other would hide what lies below: they become faint, and lose their heads.
  const crowd = Math.min(1, scale.width / (list.length * 22));
  const strokes = /** @type {[string, number, number][]} */ ([[inks.ground, 3, 0.6 * crowd], [inks.ink, crowd < 0.5 ? 1 : 1.2, 0.25 + 0.65 * crowd]]);
  for (const [color, width, alpha] of strokes) {
    ctx.strokeStyle = ctx.fillStyle = color;
    ctx.lineWidth = width;
    ctx.globalAlpha = alpha;
    for (const m of list) arrow(ctx, scale.x(m.sent), scale.middle(m.from), scale.x(m.received), scale.middle(m.to), color === inks.ink && crowd > 0.5);
  }
  ctx.globalAlpha = 1;
}

/**
 * From host calls to what they launched on streams.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Frame} f
 */
export function drawLaunches(ctx, { data, scale, inks }) {
  const list = data.launches?.launches ?? [];
  if (list.length === 0) return;
  const crowd = Math.min(1, scale.width / (list.length * 22));
  ctx.setLineDash([4, 3]);
  ctx.strokeStyle = ctx.fillStyle = inks.ink;
  ctx.lineWidth = 1;
  ctx.globalAlpha = 0.2 + 0.6 * crowd;
  for (const l of list) arrow(ctx, scale.x(l.launched), scale.middle(l.from), scale.x(l.begin), scale.middle(l.to), crowd > 0.5);
  ctx.setLineDash([]);
  ctx.globalAlpha = 1;
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {number} x0
 * @param {number} y0
 * @param {number} x1
 * @param {number} y1
 * @param {boolean} head
 */
function arrow(ctx, x0, y0, x1, y1, head) {
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  ctx.stroke();
  const length = Math.hypot(x1 - x0, y1 - y0);
  if (!head || length < 10) return;
  const [ux, uy] = [(x1 - x0) / length, (y1 - y0) / length];
  ctx.beginPath();
  ctx.moveTo(x1, y1);
  ctx.lineTo(x1 - 7 * ux - 3.2 * uy, y1 - 7 * uy + 3.2 * ux);
  ctx.lineTo(x1 - 7 * ux + 3.2 * uy, y1 - 7 * uy - 3.2 * ux);
  ctx.fill();
  ctx.beginPath();
  ctx.arc(x0, y0, 2, 0, 7);
  ctx.fill();
}

/**
 * The critical path: along rows where it stays, across where it changes.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Frame} f
 */
export function drawCritical(ctx, { data, scale, inks }) {
  const pieces = data.critical?.pieces ?? [];
  if (pieces.length === 0) return;
  const y = (/** @type {number} */ l) => scale.y(l) + scale.row * 0.82;
  ctx.lineJoin = "round";
  for (const [color, width] of /** @type {[string, number][]} */ ([[inks.ground, 5], [inks.path, 3]])) {
    ctx.strokeStyle = color;
    ctx.lineWidth = width;
    ctx.beginPath();
    pieces.forEach((p, i) => {
      const x0 = Math.max(-10, scale.x(p.from));
      if (i === 0) ctx.moveTo(x0, y(p.location));
      else ctx.lineTo(x0, y(p.location));
      ctx.lineTo(Math.min(scale.right + 10, scale.x(p.to)), y(p.location));
    });
    ctx.stroke();
  }
}

/**
 * What is selected, and where a jump led to.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Frame} f
 */
export function drawMarks(ctx, { scale, marks, inks }) {
  for (const m of marks) {
    const x0 = scale.x(m.from);
    const width = Math.max(3, (m.to - m.from) * scale.perTime);
    const y0 = scale.y(m.location);
    const height = Math.max(4, scale.row);
    if (x0 + width < scale.left - 4 || x0 > scale.right + 4) continue;
    ctx.setLineDash(m.kind === "step" ? [5, 3] : []);
    for (const [color, line] of /** @type {[string, number][]} */ ([[inks.ground, 5], [m.kind === "step" ? inks.accent : inks.ink, 2.2]])) {
      ctx.strokeStyle = color;
      ctx.lineWidth = line;
      ctx.strokeRect(x0, y0 + 1, width, height - 2);
    }
  }
  ctx.setLineDash([]);
}

/**
 * The message whose arrow is nearest to a place, if it is near.
 * @param {Frame} f
 * @param {number} x
 * @param {number} y
 * @returns {import("../types.js").Message | null}
 */
export function messageAt({ data, scale }, x, y) {
  let best = null;
  let least = 5;
  for (const m of data.messages?.messages ?? []) {
    const d = distance(x, y, scale.x(m.sent), scale.middle(m.from), scale.x(m.received), scale.middle(m.to));
    if (d < least) [best, least] = [m, d];
  }
  return best;
}

/**
 * The launch whose arrow is nearest to a place, if it is near.
 * @param {Frame} f
 * @param {number} x
 * @param {number} y
 * @returns {import("../types.js").Launch | null}
 */
export function launchAt({ data, scale }, x, y) {
  let best = null;
  let least = 4;
  for (const l of data.launches?.launches ?? []) {
    const d = distance(x, y, scale.x(l.launched), scale.middle(l.from), scale.x(l.begin), scale.middle(l.to));
    if (d < least) [best, least] = [l, d];
  }
  return best;
}

/**
 * Distance of a point from a line between two others.
 * @param {number} x
 * @param {number} y
 * @param {number} x0
 * @param {number} y0
 * @param {number} x1
 * @param {number} y1
 */
function distance(x, y, x0, y0, x1, y1) {
  const length = (x1 - x0) ** 2 + (y1 - y0) ** 2;
  const t = length === 0 ? 0 : Math.min(1, Math.max(0, ((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / length));
  return Math.hypot(x - x0 - t * (x1 - x0), y - y0 - t * (y1 - y0));
}
