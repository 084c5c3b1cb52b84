// The picture of a timeline as the server sends it: one category for each cell. doc.go describes the bytes.

/**
 * @typedef {{
 *   from: number, step: number, columns: number, rows: number,
 *   first: number, group: number, looked: number, generation: number, color: string,
 *   cells: Uint16Array,
 * }} Raster cells row by row
 */

const HEADER = 64;
const COLORS = ["kind", "path", "wait", "cause"];

/**
 * @param {ArrayBuffer} buffer
 * @returns {Raster}
 */
export function decode(buffer) {
  const view = new DataView(buffer);
  if (buffer.byteLength < HEADER || view.getUint32(0, false) !== 0x534c544c) throw new Error("the server sent no timeline");
  const version = view.getUint16(4, true);
  if (version !== 1) throw new Error(`the server sent a timeline of version ${version}; load the page again`);
  const columns = view.getUint32(24, true);
  const rows = view.getUint32(28, true);
  const words = view.getUint32(52, true);
  if (buffer.byteLength !== HEADER + 2 * words) throw new Error("the server sent a part of a timeline only");
  const data = new Uint16Array(buffer, HEADER, words);
  return {
    from: Number(view.getBigInt64(8, true)),
    step: Number(view.getBigInt64(16, true)),
    columns, rows,
    first: view.getUint32(32, true),
    group: view.getUint32(36, true),
    looked: view.getUint32(40, true),
    generation: view.getUint32(44, true),
    color: COLORS[view.getUint32(48, true)] ?? "kind",
    cells: view.getUint16(6, true) === 1 ? unpack(data, columns * rows) : data,
  };
}

/**
 * @param {Uint16Array} pairs length minus one, category
 * @param {number} size
 */
function unpack(pairs, size) {
  const cells = new Uint16Array(size);
  let at = 0;
  for (let i = 0; i + 1 < pairs.length; i += 2) {
    const end = at + pairs[i] + 1;
    cells.fill(pairs[i + 1], at, end);
    at = end;
  }
  if (at !== size) throw new Error("the server sent a timeline with missing cells");
  return cells;
}

/**
 * The category of a cell, -1 outside.
 * @param {Raster} r
 * @param {number} time
 * @param {number} location
 */
export function categoryAt(r, time, location) {
  const column = Math.floor((time - r.from) / r.step);
  const row = Math.floor((location - r.first) / r.group);
  if (column < 0 || column >= r.columns || row < 0 || row >= r.rows) return -1;
  return r.cells[row * r.columns + column];
}

/**
 * A canvas with one pixel for each cell. It is painted once and drawn in many places.
 */
export class Picture {
  constructor() {
    this.canvas = document.createElement("canvas");
    /** @type {ImageData | null} */
    this.image = null;
    /** @type {Raster | null} */
    this.raster = null;
  }

  /**
   * Paints the cells with the colors of their categories.
   * @param {Raster} r
   * @param {Uint32Array} colors of all 65536 categories
   */
  paint(r, colors) {
    const { columns, rows, cells } = r;
    if (this.canvas.width !== columns || this.canvas.height !== rows || !this.image) {
      this.canvas.width = columns;
      this.canvas.height = rows;
      this.image = new ImageData(columns, rows);
    }
    const pixels = new Uint32Array(this.image.data.buffer);
    for (let i = 0; i < cells.length; i++) pixels[i] = colors[cells[i]];
    this.canvas.getContext("2d")?.putImageData(this.image, 0, 0);
    this.raster = r;
  }
}
