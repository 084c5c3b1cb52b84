// The call stack of an expanded row: what called what, one level below the other.

import { css, inkOn } from "../palette.js";
import { shown } from "./legend.js";
import { fit } from "./overlay.js";

const NONE = new Set();

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {import("./draw.js").Frame} f
 */
export function drawStack(ctx, { data, scale, paths, inks }) {
  const { stack, functions } = data;
  if (scale.openRow < 0) return;
  ctx.fillStyle = inks.surface;
  ctx.fillRect(scale.left, scale.stackTop, scale.width, scale.extra);
  if (!stack || !functions || stack.location !== scale.rows.location(scale.openRow)) return;
  const categories = new Map(functions.categories.map((c) => [c.id, c]));
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  for (const p of stack.pieces) {
    const x0 = Math.max(scale.left, scale.x(p.from));
    const x1 = Math.min(scale.right, Math.max(scale.x(p.to), x0 + 1));
    const y = scale.stackTop + p.depth * scale.level;
    const c = categories.get(p.path);
    const color = c ? shown(c, "path", NONE) : null;
    ctx.fillStyle = color ? css(color) : inks.muted;
    ctx.globalAlpha = p.calls > 1 ? 0.6 : 1; // several short calls
    ctx.fillRect(x0, y, x1 - x0, scale.level - 1);
    ctx.globalAlpha = 1;
    if (!paths || p.calls > 1 || scale.level < 12 || x1 - x0 < 24) continue;
    const name = fit(ctx, paths.leaf(p.path), x1 - x0 - 8);
    ctx.fillStyle = color ? inkOn(color) : inks.ground;
    if (name) ctx.fillText(name, x0 + 4, y + (scale.level - 1) / 2);
  }
}

/**
 * What is at a place of the call stack.
 * @param {import("./draw.js").Frame} f
 * @param {number} x
 * @param {number} y
 * @returns {import("../types.js").StackPiece | null}
 */
export function pieceAt({ data, scale }, x, y) {
  const depth = scale.depthAt(y);
  const time = scale.time(x);
  return data.stack?.pieces.find((p) => p.depth === depth && p.from <= time && time < p.to) ?? null;
}
