// What is visible of a run: a range of time (picoseconds) and a range of rows (locations).

/** @typedef {{from: number, to: number, first: number, last: number}} Window */
/** @typedef {{length: number, locations: number}} Bounds */

/** The shortest time that can be looked at. */
export const SHORTEST = 1000;

/**
 * @param {Bounds} b
 * @returns {Window}
 */
export function whole(b) {
  return { from: 0, to: Math.max(1, b.length), first: 0, last: Math.max(1, b.locations) };
}

/**
 * Moves a window into the run, whole picoseconds and rows, without changing its size if that fits.
 * @param {Window} w
 * @param {Bounds} b
 * @returns {Window}
 */
export function clamp(w, b) {
  const all = whole(b);
  const [from, to] = clampRange(w.from, w.to, all.to, Math.min(SHORTEST, all.to));
  const [first, last] = clampRange(w.first, w.last, all.last, 1);
  return { from, to, first, last };
}

/**
 * @param {number} a
 * @param {number} b
 * @param {number} end
 * @param {number} least
 */
function clampRange(a, b, end, least) {
  const size = Math.round(Math.min(end, Math.max(least, b - a)));
  if (!(b - a >= least)) a = (a + b) / 2 - size / 2;
  const from = Math.round(Math.min(Math.max(a, 0), end - size));
  return [from, from + size];
}

/**
 * Zooms in time around a place that stays where it is.
 * @param {Window} w
 * @param {number} at
 * @param {number} factor below 1: closer
 * @returns {Window}
 */
export function zoomTime(w, at, factor) {
  return { ...w, from: at - (at - w.from) * factor, to: at + (w.to - at) * factor };
}

/**
 * Zooms the rows around one that stays where it is.
 * @param {Window} w
 * @param {number} at
 * @param {number} factor
 * @returns {Window}
 */
export function zoomRows(w, at, factor) {
  const size = w.last - w.first;
  let next = size * factor;
  if (factor > 1) next = Math.max(next, size + 1);
  else next = Math.min(next, size - 1);
  next = Math.max(1, Math.round(next));
  const first = Math.round(at - ((at - w.first) / size) * next);
  return { ...w, first, last: first + next };
}

/**
 * Moves by a number of picoseconds and rows.
 * @param {Window} w
 * @param {number} time
 * @param {number} rows
 * @returns {Window}
 */
export function move(w, time, rows) {
  const r = Math.round(rows);
  return { from: w.from + time, to: w.to + time, first: w.first + r, last: w.last + r };
}

/**
 * The window after two fingers have moved: what was between them stays between them. Fingers beside each other stretch
 * the time, fingers above each other the rows.
 * @param {import("./scale.js").Scale} scale when they were put down
 * @param {{x: number, y: number}[]} before
 * @param {{x: number, y: number}[]} now
 * @returns {Window}
 */
export function pinch(scale, [a0, b0], [a1, b1]) {
  const middle = { x: (a0.x + b0.x) / 2, y: (a0.y + b0.y) / 2 };
  const moved = move(scale.window, (middle.x - (a1.x + b1.x) / 2) / scale.perTime, (middle.y - (a1.y + b1.y) / 2) / scale.row);
  const [dx, dy] = [Math.abs(a0.x - b0.x), Math.abs(a0.y - b0.y)];
  const factor = Math.max(1, Math.hypot(dx, dy)) / Math.max(1, Math.hypot(a1.x - b1.x, a1.y - b1.y));
  const share = { x: (middle.x - scale.left) / scale.width, y: (middle.y - scale.top) / scale.row };
  if (dx >= dy) {
    const at = scale.window.from + share.x * (scale.window.to - scale.window.from);
    // First stretched around what was in the middle, then moved to where the middle is now.
    const w = zoomTime(scale.window, at, factor);
    const by = ((middle.x - (a1.x + b1.x) / 2) / scale.perTime) * factor;
    return { ...w, from: w.from + by, to: w.to + by, first: moved.first, last: moved.last };
  }
  const w = factor === 1 ? scale.window : zoomRows(scale.window, scale.window.first + share.y, factor);
  const by = Math.round(((middle.y - (a1.y + b1.y) / 2) / scale.row) * factor);
  return { from: moved.from, to: moved.to, first: w.first + by, last: w.last + by };
}

/**
 * A window that shows a range of time with some room beside it, and a row; the rows move only if they must.
 * @param {Window} w
 * @param {number} from
 * @param {number} to
 * @param {number[]} rows
 * @param {number} [share] of the width that the range takes
 * @returns {Window}
 */
export function focus(w, from, to, rows, share = 0.4) {
  const size = Math.max(SHORTEST, (to - from) / share);
  const middle = (from + to) / 2;
  let { first, last } = w;
  const low = Math.min(...rows);
  const high = Math.max(...rows) + 1;
  if (rows.length === 0) [first, last] = [w.first, w.last];
  else if (high - low > last - first) [first, last] = [low, high];
  else if (low < first) [first, last] = [low, low + (last - first)];
  else if (high > last) [first, last] = [high - (last - first), high];
  return { from: middle - size / 2, to: middle + size / 2, first, last };
}

/**
 * Reads a window from the parameters of an address.
 * @param {import("../address.js").Params} params
 * @param {string} suffix
 * @param {Bounds} b
 * @returns {Window}
 */
export function fromParams(params, suffix, b) {
  const w = whole(b);
  const number = (/** @type {string | undefined} */ text, /** @type {number} */ otherwise) => {
    const n = text === undefined || text === "" ? NaN : Number(text);
    return isFinite(n) ? n : otherwise;
  };
  const rows = /^(-?\d+)-(-?\d+)$/.exec(params[`rows${suffix}`] ?? "");
  return clamp({
    from: number(params[`from${suffix}`], w.from),
    to: number(params[`to${suffix}`], w.to),
    first: rows ? Number(rows[1]) : w.first,
    last: rows ? Number(rows[2]) : w.last,
  }, b);
}

/**
 * Writes a window as parameters; what is the whole run is left out.
 * @param {Window} w
 * @param {string} suffix
 * @param {Bounds} b
 * @returns {import("../address.js").Params}
 */
export function toParams(w, suffix, b) {
  const all = whole(b);
  const time = w.from !== all.from || w.to !== all.to;
  const rows = w.first !== all.first || w.last !== all.last;
  return {
    [`from${suffix}`]: time ? String(w.from) : "",
    [`to${suffix}`]: time ? String(w.to) : "",
    [`rows${suffix}`]: rows ? `${w.first}-${w.last}` : "",
  };
}
