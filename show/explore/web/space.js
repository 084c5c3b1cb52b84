// Three dimensions on a flat screen: a parallel projection of a block of cubes.

/** @typedef {[number, number]} Flat */

/**
 * A face of a cube that can be seen: its corners around the center, and how much light falls on it.
 * @typedef {{corners: Flat[], light: number}} Face
 */

const FILL = 0.84; // of a cube: the rest is room between them
const DEGREE = Math.PI / 180;

/**
 * Prepares the projection of a grid into a picture of the given size.
 * @param {number[]} dims
 * @param {number} yaw degrees around the upright axis
 * @param {number} pitch degrees up and down
 * @param {number} width
 * @param {number} height
 */
export function project(dims, yaw, pitch, width, height) {
  const [cy, sy, cp, sp] = [Math.cos(yaw * DEGREE), Math.sin(yaw * DEGREE), Math.cos(pitch * DEGREE), Math.sin(pitch * DEGREE)];
  const turn = (/** @type {number[]} */ v) => {
    const x = v[0] * cy - v[1] * sy;
    const deep = v[0] * sy + v[1] * cy;
    return { x, y: -(v[2] * cp) + deep * sp, depth: deep * cp + v[2] * sp };
  };
  // The block fits into the picture however it is turned.
  const reach = Math.hypot(...dims);
  const unit = (Math.min(width, height * 1.15) * 0.94) / reach;
  const middle = dims.map((n) => n / 2);
  const flat = (/** @type {number[]} */ v) => {
    const p = turn(v.map((c, i) => c - middle[i]));
    return { x: width / 2 + p.x * unit, y: height / 2 + p.y * unit, depth: p.depth };
  };
  return {
    unit,
    place: (/** @type {number[]} */ at) => flat(at.map((c) => c + 0.5)),
    faces: visibleFaces(turn, unit),
    frame: (/** @type {CanvasRenderingContext2D} */ ctx, /** @type {string} */ line, /** @type {string} */ ink) => drawAxes(ctx, flat, dims, line, ink),
  };
}

/**
 * @param {(v: number[]) => {x: number, y: number, depth: number}} turn
 * @param {number} unit
 * @returns {Face[]}
 */
function visibleFaces(turn, unit) {
  const half = FILL / 2;
  const lights = [0.9, 0.76, 1];
  /** @type {Face[]} */
  const faces = [];
  for (let axis = 0; axis < 3; axis++) {
    const normal = [0, 0, 0];
    normal[axis] = 1;
    const side = turn(normal).depth >= 0 ? 1 : -1;
    const [u, v] = [(axis + 1) % 3, (axis + 2) % 3];
    const corners = [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([a, b]) => {
      const at = [0, 0, 0];
      at[axis] = side * half;
      at[u] = a * half;
      at[v] = b * half;
      const p = turn(at);
      return /** @type {Flat} */ ([p.x * unit, p.y * unit]);
    });
    faces.push({ corners, light: lights[axis] });
  }
  return faces;
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {(v: number[]) => {x: number, y: number}} flat
 * @param {number[]} dims
 * @param {string} line
 * @param {string} ink
 */
function drawAxes(ctx, flat, dims, line, ink) {
  const origin = flat([0, 0, 0]);
  ctx.font = "12px system-ui, 'DejaVu Sans', sans-serif";
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  for (let axis = 0; axis < 3; axis++) {
    const at = [0, 0, 0];
    at[axis] = dims[axis];
    const end = flat(at);
    ctx.strokeStyle = line;
    ctx.lineWidth = 1;
    ctx.beginPath();
    ctx.moveTo(origin.x, origin.y);
    ctx.lineTo(end.x, end.y);
    ctx.stroke();
    const length = Math.max(1, Math.hypot(end.x - origin.x, end.y - origin.y));
    ctx.fillStyle = ink;
    ctx.fillText("xyz"[axis], end.x + (12 * (end.x - origin.x)) / length, end.y + (12 * (end.y - origin.y)) / length);
  }
}

/**
 * @param {import("./palette.js").Rgb} c
 * @param {number} light
 * @returns {import("./palette.js").Rgb}
 */
export function shade(c, light) {
  return [Math.round(c[0] * light), Math.round(c[1] * light), Math.round(c[2] * light)];
}
