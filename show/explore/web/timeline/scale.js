// From times and rows to places in a canvas, and back.

import { Rows } from "./rows.js";

/** @typedef {import("./window.js").Window} Window */
/** @typedef {{location: number, levels: number}} Open a row that is expanded to its call stack */

export const GUTTER = 74; // width of the names of rows
export const AXIS = 30; // height of the time axis
export const TALLEST = 84; // a row does not become taller
const LEVEL = 18; // height of a level of a call stack, if there is room
const HIDDEN = -1e5; // where rows are that cannot be seen

export class Scale {
  /**
   * @param {Window} w
   * @param {number} width of the canvas
   * @param {number} height of the canvas
   * @param {Rows} rows
   * @param {Open | null} [open]
   */
  constructor(w, width, height, rows, open = null) {
    this.window = w;
    this.rows = rows;
    this.left = GUTTER;
    this.top = AXIS;
    this.right = Math.max(GUTTER + 10, width - 10);
    this.width = this.right - this.left;
    const n = w.last - w.first;
    const at = open ? rows.row(open.location) : -1;
    /** The row that is expanded, -1 if none that is visible is. */
    this.openRow = open && open.levels > 0 && at >= w.first && at < w.last ? at : -1;
    this.levels = this.openRow < 0 || !open ? 0 : open.levels;
    const room = Math.max(0, height - AXIS - 1);
    this.level = this.levels > 0 ? Math.max(4, Math.min(LEVEL, (room * 0.7) / this.levels)) : 0;
    this.extra = this.levels * this.level;
    this.row = Math.min(TALLEST, Math.max(0.001, (room - this.extra) / n));
    this.bottom = this.top + this.row * n + this.extra;
    this.height = this.bottom - this.top;
    this.perTime = this.width / (w.to - w.from);
  }

  /** @param {number} time */
  x(time) {
    return this.left + (time - this.window.from) * this.perTime;
  }

  /** @param {number} row its upper edge */
  rowY(row) {
    return this.top + (row - this.window.first) * this.row + (this.openRow >= 0 && row > this.openRow ? this.extra : 0);
  }

  /** @param {number} location its upper edge */
  y(location) {
    const row = this.rows.row(location);
    return row < 0 ? HIDDEN : this.rowY(row);
  }

  /** @param {number} location its middle */
  middle(location) {
    return this.y(location) + this.row / 2;
  }

  /** Where the call stack of the expanded row begins. */
  get stackTop() {
    return this.rowY(this.openRow) + this.row;
  }

  /**
   * The depth of the call stack at a place; -1: there is none.
   * @param {number} y
   */
  depthAt(y) {
    if (this.openRow < 0 || y < this.stackTop || y >= this.stackTop + this.extra) return -1;
    return Math.min(this.levels - 1, Math.floor((y - this.stackTop) / this.level));
  }

  /** @param {number} x */
  time(x) {
    return this.window.from + (x - this.left) / this.perTime;
  }

  /** @param {number} y the row there */
  rowAt(y) {
    const w = this.window;
    if (this.openRow >= 0 && y >= this.stackTop) y = Math.max(this.stackTop - 0.001, y - this.extra);
    return Math.min(w.last - 1, Math.max(w.first, Math.floor(w.first + (y - this.top) / this.row)));
  }

  /** @param {number} y */
  location(y) {
    return this.rows.location(this.rowAt(y));
  }

  /**
   * @param {number} x
   * @param {number} y
   */
  inside(x, y) {
    return x >= this.left && x < this.right && y >= this.top && y < this.bottom;
  }
}
