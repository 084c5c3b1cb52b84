// From times and rows to places in a canvas, and back.

/** @typedef {import("./window.js").Window} Window */

export const GUTTER = 74; // width of the names of rows
export const AXIS = 30; // height of the time axis
export const TALLEST = 84; // a row does not become taller

export class Scale {
  /**
   * @param {Window} w
   * @param {number} width of the canvas
   * @param {number} height of the canvas
   */
  constructor(w, width, height) {
    this.window = w;
    this.left = GUTTER;
    this.top = AXIS;
    this.right = Math.max(GUTTER + 10, width - 10);
    this.width = this.right - this.left;
    this.row = Math.min(TALLEST, Math.max(0.001, (height - AXIS - 1) / (w.last - w.first)));
    this.bottom = this.top + this.row * (w.last - w.first);
    this.height = this.bottom - this.top;
    this.perTime = this.width / (w.to - w.from);
  }

  /** @param {number} time */
  x(time) {
    return this.left + (time - this.window.from) * this.perTime;
  }

  /** @param {number} location its upper edge */
  y(location) {
    return this.top + (location - this.window.first) * this.row;
  }

  /** @param {number} location its middle */
  middle(location) {
    return this.y(location) + this.row / 2;
  }

  /** @param {number} x */
  time(x) {
    return this.window.from + (x - this.left) / this.perTime;
  }

  /** @param {number} y */
  location(y) {
    const w = this.window;
    return Math.min(w.last - 1, Math.max(w.first, Math.floor(w.first + (y - this.top) / this.row)));
  }

  /**
   * @param {number} x
   * @param {number} y
   */
  inside(x, y) {
    return x >= this.left && x < this.right && y >= this.top && y < this.bottom;
  }
}
