// Mouse, pen and finger on a timeline.

import { move, zoomRows, zoomTime } from "./window.js";

/** @typedef {import("./pane.js").Pane} Pane */

const CLICK = 4; // pixels that a click may move

/**
 * @param {Pane} pane
 */
export function listen(pane) {
  const canvas = pane.canvas;
  canvas.addEventListener("wheel", (e) => wheel(pane, e), { passive: false });
  canvas.addEventListener("pointerdown", (e) => press(pane, e));
  canvas.addEventListener("pointermove", (e) => {
    if (e.buttons === 0) pane.hoverAt(e.offsetX, e.offsetY, e.clientX, e.clientY);
  });
  canvas.addEventListener("pointerleave", () => pane.leave());
  canvas.addEventListener("dblclick", (e) => {
    pane.look(zoomTime(pane.window, pane.scale.time(e.offsetX), 0.4), "");
  });
}

/**
 * @param {Pane} pane
 * @param {WheelEvent} e
 */
function wheel(pane, e) {
  e.preventDefault();
  const unit = e.deltaMode === WheelEvent.DOM_DELTA_LINE ? 20 : e.deltaMode === WheelEvent.DOM_DELTA_PAGE ? 400 : 1;
  const dx = e.deltaX * unit;
  const dy = e.deltaY * unit;
  const { scale, window: w } = pane;
  if (e.shiftKey || Math.abs(dx) > Math.abs(dy)) {
    const by = Math.abs(dx) > Math.abs(dy) ? dx : dy;
    pane.look(move(w, by / scale.perTime, 0), "pan");
  } else if (e.ctrlKey || e.altKey) {
    const at = w.first + (e.offsetY - scale.top) / scale.row;
    pane.look(zoomRows(w, at, Math.exp(dy * 0.004)), "rows");
  } else {
    const at = Math.min(w.to, Math.max(w.from, scale.time(e.offsetX)));
    pane.look(zoomTime(w, at, Math.exp(dy * 0.0022)), "zoom");
  }
}

/**
 * @param {Pane} pane
 * @param {PointerEvent} e
 */
function press(pane, e) {
  if (e.button !== 0) return;
  const canvas = pane.canvas;
  const start = { x: e.offsetX, y: e.offsetY, window: pane.window, scale: pane.scale };
  const boxing = e.shiftKey;
  let moved = false;
  canvas.setPointerCapture(e.pointerId);

  const follow = (/** @type {PointerEvent} */ p) => {
    const dx = p.offsetX - start.x;
    const dy = p.offsetY - start.y;
    if (!moved && Math.hypot(dx, dy) < CLICK) return;
    moved = true;
    pane.leave();
    if (boxing) pane.setBox({ x0: start.x, y0: start.y, x1: p.offsetX, y1: p.offsetY });
    else pane.look(move(start.window, -dx / start.scale.perTime, -dy / start.scale.row), "drag");
  };
  const stop = () => {
    canvas.removeEventListener("pointermove", follow);
    canvas.removeEventListener("pointerup", release);
    canvas.removeEventListener("pointercancel", cancel);
  };
  const cancel = () => {
    stop();
    pane.setBox(null);
  };
  const release = (/** @type {PointerEvent} */ p) => {
    stop();
    if (!moved) pane.pick(p.offsetX, p.offsetY);
    else if (boxing) zoomToBox(pane);
    pane.setBox(null);
  };
  canvas.addEventListener("pointermove", follow);
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", cancel);
}

/** @param {Pane} pane */
function zoomToBox(pane) {
  const { box, scale } = pane;
  if (!box || Math.abs(box.x1 - box.x0) < CLICK) return;
  const clampX = (/** @type {number} */ x) => Math.min(scale.right, Math.max(scale.left, x));
  pane.look({
    from: scale.time(clampX(Math.min(box.x0, box.x1))),
    to: scale.time(clampX(Math.max(box.x0, box.x1))),
    first: scale.location(Math.min(box.y0, box.y1)),
    last: scale.location(Math.max(box.y0, box.y1)) + 1,
  }, "");
}
