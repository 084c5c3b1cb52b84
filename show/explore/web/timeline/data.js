// What a pane shows of a run. The picture follows the window at once (the old one is drawn, stretched,
// until the new one is there); exact things follow when the window is still.

import * as api from "../api.js";
import { Picture, decode } from "./raster.js";
import { table } from "./legend.js";
import { Rows } from "./rows.js";

/** @typedef {import("./window.js").Window} Window */
/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Call} Call */
/** @typedef {{path: number, from: number, to: number, call: Call}} Piece time that a location spent in a call itself */

/**
 * @typedef {{
 *   width: number, height: number,
 *   color: string, messages: boolean, launches: boolean, critical: boolean, exact: boolean,
 *   filter?: {least?: number, sender?: string, receiver?: string},
 *   rows: Rows, stack: number,
 * }} Wish size of the plot in device pixels, and what is to be shown; stack is the location whose call stack is, -1: none
 */

const MARGIN = 0.25; // of the window that is asked for beside it
const STILL = 110; // milliseconds after which a window is still
const MOST_ROWS = 256; // for which the server gives exact answers
const MOST_STATES = 3000;
const MOST_CALLS = 4000;
const MOST_MESSAGES = 400; // that are drawn

export class Data {
  /**
   * @param {import("../types.js").Run} run
   * @param {() => void} changed something new is there: draw
   * @param {(error: unknown) => void} failed
   */
  constructor(run, changed, failed) {
    this.run = run;
    this.changed = changed;
    this.failed = failed;
    this.picture = new Picture();
    /** @type {Set<number>} categories that are marked */
    this.marked = new Set();
    /** @type {(legend: import("../types.js").Legend) => Promise<import("../types.js").Legend>} */
    this.join = async (legend) => legend;
    /** @type {import("../types.js").Legend | null} */
    this.legend = null;
    /** @type {State[]} */
    this.states = [];
    /** @type {import("../types.js").Messages | null} */
    this.messages = null;
    /** @type {import("../types.js").Launches | null} */
    this.launches = null;
    /** @type {import("../types.js").Critical | null} */
    this.critical = null;
    /** @type {import("../types.js").Stack | null} */
    this.stack = null;
    /** @type {import("../types.js").Legend | null} the colors of functions, for the call stack */
    this.functions = null;
    /** @type {Map<number, Piece[]>} by location */
    this.pieces = new Map();
    /** @type {Window | null} */
    this.window = null;
    /** @type {Wish | null} */
    this.wish = null;
    this.fetching = false;
    this.pictureFor = ""; // the window and wish that the picture answers
    this.pictureRanks = ""; // the ranks that it shows; empty: all
    this.timer = 0;
    this.exactFor = ""; // what exact things were asked for last, and what came
    this.exactDone = "";
    this.abort = new AbortController();
    this.exactAbort = new AbortController();
    this.closed = false;
  }

  close() {
    this.closed = true;
    window.clearTimeout(this.timer);
    this.abort.abort();
    this.exactAbort.abort();
  }

  /** Paints the same picture with other colors. */
  recolor() {
    const raster = this.picture.raster;
    if (raster && this.legend && this.legend.color === raster.color) this.picture.paint(raster, table(this.legend, this.marked));
    this.changed();
  }

  /**
   * Says what is to be shown.
   * @param {Window} w
   * @param {Wish} wish
   */
  want(w, wish) {
    this.window = w;
    this.wish = wish;
    if (!this.covered()) void this.fetchPicture();
    const key = JSON.stringify([w, wish.messages, wish.launches, wish.filter, wish.critical, wish.exact, wish.width, wish.rows.ranks, wish.stack]);
    if (key === this.exactFor) return;
    this.exactFor = key;
    window.clearTimeout(this.timer);
    this.exactAbort.abort();
    this.timer = window.setTimeout(() => void this.fetchExact(), STILL);
  }

  /** Whether everything that was asked for is there. */
  get settled() {
    return this.covered() && !this.fetching && this.exactFor === this.exactDone;
  }

  /** Whether the picture shows the window as finely as the screen can. */
  covered() {
    const r = this.picture.raster;
    const w = this.window;
    const wish = this.wish;
    if (!r || !w || !wish || r.color !== wish.color) return false;
    if (this.pictureFor === keyOf(w, wish)) return true; // the server has nothing better
    if (this.pictureRanks !== wish.rows.ranks) return false;
    const length = this.run.length;
    if (r.from > Math.min(w.from, Math.max(0, length - 1)) || Math.min(w.to, length) > r.from + r.columns * r.step) return false;
    if (r.first > w.first || w.last > r.first + r.rows * r.group) return false;
    const finest = (w.to - w.from) / wish.width;
    const rows = (w.last - w.first) / wish.height;
    const timely = r.step <= Math.max(1, finest * 1.25) && (r.step >= finest * 0.4 || r.step === 1);
    return timely && (r.group === 1 || r.group <= Math.ceil(rows) * 1.5);
  }

  async fetchPicture() {
    if (this.fetching || this.closed) return;
    this.fetching = true;
    try {
      while (!this.covered() && !this.closed) await this.fetchOnce();
    } catch (error) {
      if (!api.isAbort(error)) this.failed(error);
    } finally {
      this.fetching = false;
      this.changed();
    }
  }

  async fetchOnce() {
    const w = this.window;
    const wish = this.wish;
    if (!w || !wish) return;
    const query = this.pictureQuery(w, wish);
    const [legend, buffer] = await Promise.all([
      api.legend({ run: this.run.index, color: wish.color }),
      api.timeline(query, this.abort.signal),
    ]);
    const raster = decode(buffer);
    this.legend = await this.join(legend);
    this.picture.paint(raster, table(this.legend, this.marked));
    this.pictureFor = keyOf(w, wish);
    this.pictureRanks = wish.rows.ranks;
    this.changed();
  }

  /**
   * @param {Window} w
   * @param {Wish} wish
   */
  pictureQuery(w, wish) {
    const { length } = this.run;
    const locations = wish.rows.count;
    const pad = Math.round((w.to - w.from) * MARGIN);
    const from = Math.min(Math.max(0, w.from - pad), Math.max(0, length - 1)); // a shorter run on the axis of a longer one ends before
    const to = Math.max(from + 1, Math.min(length, w.to + pad));
    const rowPad = Math.ceil((w.last - w.first) * MARGIN);
    const first = Math.max(0, w.first - rowPad);
    const last = Math.min(locations, w.last + rowPad);
    const width = Math.min(8192, Math.max(1, Math.ceil((wish.width * (to - from)) / (w.to - w.from))));
    const rows = Math.max(1, Math.min(last - first, Math.ceil((wish.height * (last - first)) / (w.last - w.first)), 4096));
    return { run: this.run.index, from, to, first, last, ranks: wish.rows.ranks || undefined, width, rows, color: wish.color };
  }

  async fetchExact() {
    const key = this.exactFor;
    const w = this.window;
    const wish = this.wish;
    if (!w || !wish) return;
    this.exactAbort = new AbortController();
    const signal = this.exactAbort.signal;
    const run = this.run.index;
    const range = { run, from: w.from, to: Math.min(w.to, Math.max(1, this.run.length)), first: w.first, last: w.last, ranks: wish.rows.ranks || undefined };
    const few = w.last - w.first <= MOST_ROWS && range.from < range.to;
    const ready = this.run.analysis === "ready";
    try {
      const [states, calls, messages, launches, critical, stack, functions] = await Promise.all([
        few && ready ? api.states({ ...range, limit: MOST_STATES }, signal) : null,
        few && wish.exact ? api.calls({ ...range, limit: MOST_CALLS }, signal) : null,
        wish.messages && range.from < range.to ? api.messages({ ...range, limit: MOST_MESSAGES, ...wish.filter }, signal) : null,
        wish.launches && range.from < range.to ? api.launches({ ...range, limit: MOST_MESSAGES }, signal) : null,
        wish.critical && ready && range.from < range.to ? api.critical({ run, from: range.from, to: range.to, width: wish.width }, signal) : null,
        wish.stack >= 0 && range.from < range.to ? api.stack({ run, location: wish.stack, from: range.from, to: range.to, width: Math.min(8192, wish.width) }, signal) : null,
        wish.stack >= 0 ? api.legend({ run, color: "path" }) : null,
      ]);
      this.states = states && !states.cut ? states.states : [];
      this.pieces = new Map();
      if (calls && !calls.cut) for (const l of calls.locations) this.pieces.set(l.location, innermost(l.calls));
      this.messages = messages;
      this.launches = launches;
      this.critical = critical;
      this.stack = stack;
      this.functions = functions && (await this.join(functions));
      this.exactDone = key;
    } catch (error) {
      if (!api.isAbort(error)) this.failed(error);
    }
    this.changed();
  }
}

/**
 * What a picture depends on.
 * @param {Window} w
 * @param {Wish} wish
 */
function keyOf(w, wish) {
  return JSON.stringify([w, wish.width, wish.height, wish.color, wish.rows.ranks]);
}

/**
 * Cuts nested calls into pieces during which one of them was the innermost.
 * @param {Call[]} calls by start
 * @returns {Piece[]}
 */
export function innermost(calls) {
  /** @type {Piece[]} */
  const pieces = [];
  /** @type {Call[]} */
  const open = [];
  let at = 0;
  const spend = (/** @type {Call} */ call, /** @type {number} */ until) => {
    if (until > at) pieces.push({ path: call.path, from: at, to: until, call });
    at = Math.max(at, until);
  };
  for (const call of calls) {
    while (open.length > 0 && open[open.length - 1].leave <= call.enter) {
      const ended = /** @type {Call} */ (open.pop());
      spend(ended, ended.leave);
    }
    if (open.length > 0) spend(open[open.length - 1], call.enter);
    at = call.enter;
    open.push(call);
  }
  while (open.length > 0) {
    const ended = /** @type {Call} */ (open.pop());
    spend(ended, ended.leave);
  }
  return pieces;
}
