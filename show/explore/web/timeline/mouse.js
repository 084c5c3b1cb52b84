// Mouse, pen and fingers on a timeline.

import { move, pinch, zoomRows, zoomTime } from "./window.js";

/** @typedef {import("./pane.js").Pane} Pane */
/** @typedef {{x: number, y: number}} Point */

const CLICK = 4; // pixels that a click may move
const WHEEL = 0.0022; // how much a pixel of the wheel zooms
const PINCH = 0.01; // and one of two fingers on a trackpad, for which browsers turn the wheel with Ctrl

/**
 * @param {Pane} pane
 */
export function listen(pane) {
  const canvas = pane.canvas;
  const hand = new Hand(pane);
  canvas.addEventListener("wheel", (e) => wheel(pane, e), { passive: false });
  canvas.addEventListener("pointerdown", (e) => hand.press(e));
  canvas.addEventListener("pointermove", (e) => hand.follow(e));
  canvas.addEventListener("pointerup", (e) => hand.release(e));
  canvas.addEventListener("pointercancel", (e) => hand.cancel(e));
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
  if (e.altKey) {
    const at = w.first + (e.offsetY - scale.top) / scale.row;
    pane.look(zoomRows(w, at, Math.exp(dy * 0.004)), "rows");
  } else if (!e.ctrlKey && (e.shiftKey || Math.abs(dx) > Math.abs(dy))) {
    const by = Math.abs(dx) > Math.abs(dy) ? dx : dy;
    pane.look(move(w, by / scale.perTime, 0), "pan");
  } else {
    const at = Math.min(w.to, Math.max(w.from, scale.time(e.offsetX)));
    // A wheel with Ctrl has steps of a hundred and more; fingers have small ones.
    const speed = e.ctrlKey && Math.abs(dy) < 50 ? PINCH : WHEEL;
    pane.look(zoomTime(w, at, Math.exp(dy * speed)), "zoom");
  }
}

/** What the pointers do: one drags, draws a box or clicks; two move and stretch what is between them. */
class Hand {
  /** @param {Pane} pane */
  constructor(pane) {
    this.pane = pane;
    /** @type {Map<number, Point>} where the pointers are, by their number */
    this.pointers = new Map();
    /** @type {"none" | "press" | "drag" | "box" | "pinch" | "done"} */
    this.doing = "none";
    this.boxing = false;
    this.start = this.now();
  }

  /** Where the pointers are, and what is shown there. */
  now() {
    return { points: [...this.pointers.values()], window: this.pane.window, scale: this.pane.scale };
  }

  /** @param {PointerEvent} e */
  press(e) {
    if (e.button !== 0 || this.doing === "done") return;
    this.pane.canvas.setPointerCapture(e.pointerId);
    this.pointers.set(e.pointerId, { x: e.offsetX, y: e.offsetY });
    if (this.pointers.size > 2) return;
    if (this.pointers.size === 2) {
      this.doing = "pinch";
      this.pane.setBox(null);
      this.pane.leave();
    } else {
      this.doing = "press";
      this.boxing = e.shiftKey;
    }
    this.start = this.now();
  }

  /** @param {PointerEvent} e */
  follow(e) {
    const { pane, start } = this;
    if (!this.pointers.has(e.pointerId)) {
      if (e.buttons === 0) pane.hoverAt(e.offsetX, e.offsetY, e.clientX, e.clientY);
      return;
    }
    const at = { x: e.offsetX, y: e.offsetY };
    this.pointers.set(e.pointerId, at);
    const [from] = start.points;
    if (this.doing === "press" && Math.hypot(at.x - from.x, at.y - from.y) >= CLICK) this.doing = this.boxing ? "box" : "drag";
    if (this.doing === "drag") {
      pane.leave();
      pane.look(move(start.window, (from.x - at.x) / start.scale.perTime, (from.y - at.y) / start.scale.row), "drag");
    } else if (this.doing === "box") {
      pane.leave();
      pane.setBox({ x0: from.x, y0: from.y, x1: at.x, y1: at.y });
    } else if (this.doing === "pinch") {
      pane.look(pinch(start.scale, start.points, [...this.pointers.values()]), "pinch");
    }
  }

  /** @param {PointerEvent} e */
  release(e) {
    if (!this.pointers.has(e.pointerId)) return;
    if (this.doing === "press") this.pane.pick(e.offsetX, e.offsetY);
    else if (this.doing === "box") zoomToBox(this.pane);
    this.cancel(e);
  }

  /** @param {PointerEvent} e */
  cancel(e) {
    if (!this.pointers.delete(e.pointerId)) return;
    this.pane.setBox(null);
    this.doing = this.pointers.size > 0 ? "done" : "none"; // a finger that is left does nothing more
  }
}

/** @param {Pane} pane */
function zoomToBox(pane) {
  const { box, scale } = pane;
  if (!box || Math.abs(box.x1 - box.x0) < CLICK) return;
  const clampX = (/** @type {number} */ x) => Math.min(scale.right, Math.max(scale.left, x));
  pane.look({
    from: scale.time(clampX(Math.min(box.x0, box.x1))),
    to: scale.time(clampX(Math.max(box.x0, box.x1))),
    first: scale.rowAt(Math.min(box.y0, box.y1)),
    last: scale.rowAt(Math.max(box.y0, box.y1)) + 1,
  }, "");
}
