// One timeline: the strip of the whole run, the canvas, and what is known about the place under the mouse.

import * as api from "../api.js";
import { drawnBy, el, fitCanvas } from "../dom.js";
import { bytes, duration, exact } from "../format.js";
import { onTheme } from "../theme.js";
import { hideTip, showTip } from "../tip.js";
import { Data } from "./data.js";
import { drawFrame, inks } from "./draw.js";
import { listen } from "./mouse.js";
import { Names } from "./names.js";
import { launchAt, messageAt, spansOf } from "./overlay.js";
import { Rows } from "./rows.js";
import { pieceAt } from "./stack.js";
import { categoryAt } from "./raster.js";
import { AXIS, Scale, TALLEST } from "./scale.js";
import { Strip } from "./strip.js";
import { clamp, whole } from "./window.js";

/** @typedef {import("./window.js").Window} Window */
/** @typedef {import("./draw.js").Mark} Mark */

/**
 * @typedef {{
 *   look: (window: Window, gesture: string) => void,
 *   pick: (location: number, time: number, depth: number) => void,
 *   expand: (location: number) => void,
 *   drawn: () => void,
 *   failed: (error: unknown) => void,
 * }} Hooks what the view does about it
 */

/**
 * @typedef {{
 *   color: string, messages: boolean, launches?: boolean, critical: boolean, marks: Mark[],
 *   marked?: Set<number>, filter?: {least?: number, sender?: string, receiver?: string},
 *   anchors?: import("./align.js").Anchor[], stack?: number,
 * }} Show marked categories fade the others; messages may be filtered; stack is the row that is expanded
 */

const TIP_PAUSE = 60; // milliseconds before the server is asked what is under the mouse

export class Pane {
  /**
   * @param {import("../types.js").Run} run
   * @param {Promise<import("../paths.js").Paths>} paths
   * @param {Hooks} hooks
   */
  constructor(run, paths, hooks) {
    this.run = run;
    this.hooks = hooks;
    this.window = whole(run);
    /** @type {import("./window.js").Bounds} that can be looked at: those of the longest run if several share a time axis */
    this.bounds = run;
    this.rows = new Rows(run, null);
    /** @type {Show} */
    this.show = { color: "kind", messages: true, critical: false, marks: [] };
    this.data = new Data(run, () => this.draw(), hooks.failed);
    this.names = new Names(run, () => this.draw());
    this.strip = new Strip(run, (from, to) => this.look({ ...this.window, from, to }, "strip"));
    this.canvas = el("canvas", {
      class: "timeline", tabindex: "0", role: "img", "data-run": String(run.index),
      "aria-label": `Timeline of ${run.name}: ${run.locations} rows. Arrow keys move, plus and minus zoom, brackets go from wait to wait.`,
    });
    this.holder = el("div", { class: "holder" }, this.canvas);
    this.element = el("section", { class: "pane", "aria-label": `Timeline of ${run.name}` }, this.strip.canvas, this.holder);
    this.element.style.flexBasis = `${Math.min(4000, 38 + AXIS + run.locations * TALLEST)}px`;
    this.size = { width: 0, height: 0 };
    this.scale = new Scale(this.window, 100, 100, this.rows);
    /** @type {{x: number, y: number} | null} */
    this.hover = null;
    /** @type {{x0: number, y0: number, x1: number, y1: number} | null} */
    this.box = null;
    /** @type {import("../paths.js").Paths | null} */
    this.paths = null;
    this.pending = 0;
    this.tipTimer = 0;
    this.tipAbort = new AbortController();
    this.frameTime = 0; // milliseconds that the last frame took
    this.inks = inks();
    paths.then((p) => {
      this.paths = p;
      this.draw();
    }, hooks.failed);
    drawnBy(this.canvas, () => this.frame());
    listen(this);
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.holder);
    this.offTheme = onTheme(() => {
      this.inks = inks();
      this.data.recolor();
      this.strip.recolor();
    });
  }

  close() {
    this.observer.disconnect();
    this.offTheme();
    this.data.close();
    this.strip.close();
    window.clearTimeout(this.tipTimer);
    this.tipAbort.abort();
    hideTip();
  }

  resize() {
    this.size = { width: this.holder.clientWidth, height: this.holder.clientHeight };
    this.update(this.window, this.show);
  }

  /**
   * @param {Window} w
   * @param {Show} show
   */
  update(w, show) {
    this.window = clamp(w, this.bounds);
    this.show = show;
    if (show.marked && [...show.marked].join() !== [...this.data.marked].join()) {
      this.data.marked = show.marked;
      this.data.recolor();
    }
    const { width, height } = this.size;
    if (width < 50 || height < 50) return;
    const stack = show.stack ?? -1;
    this.scale = this.scaleOf(stack);
    const ratio = window.devicePixelRatio || 1;
    this.data.want(this.window, {
      width: Math.max(1, Math.round(this.scale.width * ratio)),
      height: Math.max(1, Math.floor((this.scale.height - this.scale.extra) * ratio)), rows: this.rows, stack,
      color: show.color, messages: show.messages, launches: show.launches ?? false, critical: show.critical, exact: this.scale.row >= 15, filter: show.filter,
    });
    this.strip.show(this.window, show.color, width);
    this.draw();
  }

  /** @param {number} stack the location whose row is expanded */
  scaleOf(stack) {
    const { width, height } = this.size;
    const known = this.data.stack?.location === stack ? Math.max(1, this.data.stack.levels) : 1;
    return new Scale(this.window, width, height, this.rows, stack < 0 ? null : { location: stack, levels: known });
  }

  /**
   * Asks the view to look elsewhere.
   * @param {Window} w
   * @param {string} gesture
   */
  look(w, gesture) {
    this.hooks.look(clamp(w, this.bounds), gesture);
  }

  draw() {
    if (this.pending === 0) this.pending = requestAnimationFrame(() => this.frame());
  }

  frame() {
    this.pending = 0;
    const { width, height } = this.size;
    if (width < 50 || height < 50) return;
    const start = performance.now();
    this.scale = this.scaleOf(this.show.stack ?? -1);
    const ctx = fitCanvas(this.canvas, width, height);
    drawFrame(ctx, this.frameData(), width, height);
    this.frameTime = performance.now() - start;
    const w = this.window;
    Object.assign(this.canvas.dataset, {
      from: String(w.from), to: String(w.to), first: String(w.first), last: String(w.last),
      settled: String(this.data.settled), rows: String(this.rows.count), levels: String(this.scale.levels), frame: this.frameTime.toFixed(2), color: this.data.picture.raster?.color ?? "",
    });
    this.hooks.drawn();
  }

  /** @returns {import("./draw.js").Frame} */
  frameData() {
    return {
      data: this.data, scale: this.scale, inks: this.inks, marks: this.show.marks,
      names: (l) => this.names.short(l), paths: this.paths,
      showMessages: this.show.messages, showLaunches: this.show.launches ?? false, showCritical: this.show.critical, anchors: this.show.anchors ?? [], hover: this.hover, box: this.box,
    };
  }

  /** @param {Pane["box"]} box */
  setBox(box) {
    this.box = box;
    this.draw();
  }

  leave() {
    this.hover = null;
    window.clearTimeout(this.tipTimer);
    this.tipAbort.abort();
    hideTip();
    this.draw();
  }

  /**
   * @param {number} x
   * @param {number} y
   */
  pick(x, y) {
    if (this.scale.inside(x, y)) this.hooks.pick(this.scale.location(y), Math.floor(this.scale.time(x)), this.scale.depthAt(y));
    else if (x < this.scale.left && y >= this.scale.top && y < this.scale.bottom) this.hooks.expand(this.scale.location(y));
  }

  /**
   * Says what is under the mouse.
   * @param {number} x
   * @param {number} y
   * @param {number} pageX
   * @param {number} pageY
   */
  hoverAt(x, y, pageX, pageY) {
    this.hover = { x, y };
    this.draw();
    window.clearTimeout(this.tipTimer);
    this.tipAbort.abort();
    if (!this.scale.inside(x, y)) {
      const row = x < this.scale.left && y >= this.scale.top && y < this.scale.bottom;
      this.canvas.style.cursor = row ? "pointer" : "";
      if (row) showTip(pageX, pageY, [`${this.names.long(this.scale.location(y))}: click for its call stack`]);
      else hideTip();
      return;
    }
    this.canvas.style.cursor = "";
    if (this.scale.depthAt(y) >= 0) {
      const p = pieceAt(this.frameData(), x, y);
      if (p) showTip(pageX, pageY, [this.paths?.leaf(p.path) ?? "", this.paths?.name(p.path) ?? null, p.calls > 1 ? `${p.calls} short calls, ${duration(p.to - p.from)}` : `call of ${duration(p.to - p.from)}`]);
      else hideTip();
      return;
    }
    const message = this.show.messages ? messageAt(this.frameData(), x, y) : null;
    if (message) {
      showTip(pageX, pageY, this.messageTip(message));
      return;
    }
    const launch = this.show.launches ? launchAt(this.frameData(), x, y) : null;
    if (launch) {
      showTip(pageX, pageY, this.launchTip(launch));
      return;
    }
    const location = this.scale.location(y);
    const time = Math.min(Math.max(0, Math.floor(this.scale.time(x))), Math.max(0, this.run.length - 1));
    const piece = this.data.pieces.get(location)?.find((p) => p.from <= time && time < p.to);
    showTip(pageX, pageY, this.tipOf(location, time, piece?.call ?? null));
    if (!piece) this.tipTimer = window.setTimeout(() => void this.askTip(location, time, pageX, pageY), TIP_PAUSE);
  }

  /**
   * @param {number} location
   * @param {number} time
   * @param {number} pageX
   * @param {number} pageY
   */
  async askTip(location, time, pageX, pageY) {
    this.tipAbort = new AbortController();
    try {
      const call = await callAt(this.run.index, location, time, this.tipAbort.signal);
      if (this.hover) showTip(pageX, pageY, this.tipOf(location, time, call));
    } catch (error) {
      if (!api.isAbort(error)) this.hooks.failed(error);
    }
  }

  /**
   * @param {number} location
   * @param {number} time
   * @param {import("../types.js").Call | null} call
   */
  tipOf(location, time, call) {
    const raster = this.data.picture.raster;
    const category = raster ? categoryAt(raster, time, this.rows.row(location)) : -1;
    const meaning = this.data.legend?.categories.find((c) => c.id === category);
    const wait = this.data.states.find((s) => s.location === location && spansOf(s).some(([from, to]) => from <= time && time < to));
    const place = `${this.names.long(location)} at ${exact(time)}`;
    return [
      call && this.paths ? this.paths.leaf(call.path) : meaning?.title ?? place,
      call && this.paths ? this.paths.name(call.path) : null,
      call ? `${this.names.location(location)?.stream ? "runs for" : "call of"} ${duration(call.leave - call.enter)}: ${exact(call.enter)} to ${exact(call.leave)}` : null,
      call && call.polls ? `${call.polls} polls without a result` : null,
      place,
      wait ? `waits ${duration(wait.amount)}: ${wait.title}. Click to see why.` : null,
      !wait && (meaning?.class === "cause" || meaning?.class === "wait") ? `${meaning.title}. Click to see why.` : null,
    ];
  }

  /** @param {import("../types.js").Launch} l */
  launchTip(l) {
    return [
      `launch of ${this.paths?.leaf(l.path) ?? "an activity"}`,
      `${this.names.long(l.from)} in ${this.paths?.leaf(l.call_path) ?? ""}, on ${this.names.short(l.to)}`,
      `launched at ${exact(l.launched)}, starts ${duration(Math.max(0, l.begin - l.launched))} later`,
      `runs for ${duration(l.end - l.begin)}`,
    ];
  }

  /** @param {import("../types.js").Message} m */
  messageTip(m) {
    return [
      `message of ${bytes(m.size)}`,
      `${this.names.long(m.from)} to ${this.names.long(m.to)}, tag ${m.tag}${m.comm ? `, ${m.comm}` : ""}`,
      `sent at ${exact(m.sent)}, received at ${exact(m.received)}`,
      m.wait > 0 ? `a wait of ${duration(m.wait)} ended with it` : null,
      this.paths ? `${this.paths.leaf(m.send_path)} → ${this.paths.leaf(m.recv_path)}` : null,
    ];
  }
}

/**
 * The innermost call of a location at a time.
 * @param {number} run
 * @param {number} location
 * @param {number} time
 * @param {AbortSignal} signal
 * @param {number} [depth] of the one that is wanted, instead of the innermost
 * @returns {Promise<import("../types.js").Call | null>}
 */
export async function callAt(run, location, time, signal, depth = -1) {
  const answer = await api.calls({ run, from: time, to: time + 1, location, limit: 1000 }, signal);
  const calls = (answer.locations[0]?.calls ?? []).filter((c) => depth < 0 || c.depth <= depth);
  return calls.reduce((/** @type {import("../types.js").Call | null} */ best, c) => (!best || c.depth >= best.depth ? c : best), null);
}
