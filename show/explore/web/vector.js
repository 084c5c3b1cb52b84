// Canvases as SVG: a drawing context that writes what it is asked to draw.

import { context2d } from "./dom.js";

/** @typedef {{x: number, y: number, w: number, h: number}} Box */

const MOST_RUNS = 40_000; // pieces of a picture that become shapes; of more it stays a picture

/** @param {string | number} text */
export function escaped(text) {
  return String(text).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, "").replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

/** @param {number} n */
const short = (n) => String(Math.round(n * 100) / 100);

/** The part of CanvasRenderingContext2D that the views use. */
export class VectorContext {
  /** @param {string} name of this drawing in its file: what its clips are called after */
  constructor(name) {
    this.name = name;
    /** @type {string[]} */
    this.out = [];
    /** @type {string[]} */
    this.defs = [];
    this.ruler = context2d(document.createElement("canvas"));
    this.state = { fillStyle: /** @type {any} */ ("#000"), strokeStyle: /** @type {any} */ ("#000"), lineWidth: 1, globalAlpha: 1, font: "12px sans-serif", textAlign: "left", textBaseline: "alphabetic",
      dash: "", transform: "", clip: /** @type {Box | null} */ (null), clipName: "" };
    /** @type {typeof this.state[]} */
    this.saved = [];
    this.path = "";
    /** @type {Box | null} the only rectangle of the path */
    this.box = null;
    this.imageSmoothingEnabled = false;
    this.lineJoin = "miter";
    for (const key of ["fillStyle", "strokeStyle", "lineWidth", "globalAlpha", "font", "textAlign", "textBaseline"]) {
      Object.defineProperty(this, key, { get: () => /** @type {any} */ (this.state)[key], set: (v) => { /** @type {any} */ (this.state)[key] = v; } });
    }
  }

  /**
   * Writes an element.
   * @param {string} element without its end
   * @param {string} [content]
   */
  put(element, content) {
    const { transform, clipName, globalAlpha } = this.state;
    const more = `${transform ? ` transform="${transform}"` : ""}${globalAlpha < 1 ? ` opacity="${short(globalAlpha)}"` : ""}`;
    const [tag] = element.split(" ", 1);
    const written = content === undefined ? `<${element}${more}/>` : `<${element}${more}>${content}</${tag}>`;
    this.out.push(clipName ? `<g clip-path="url(#${clipName})">${written}</g>` : written);
  }

  /** @param {any} style */
  ink(style) {
    return typeof style === "string" ? escaped(style) : "url(#hatch)";
  }

  get pen() {
    const { strokeStyle, lineWidth, dash } = this.state;
    return `fill="none" stroke="${this.ink(strokeStyle)}" stroke-width="${short(lineWidth)}"${dash ? ` stroke-dasharray="${dash}"` : ""} stroke-linejoin="${this.lineJoin}"`;
  }

  clearRect() {}
  setTransform() {}

  save() {
    this.saved.push({ ...this.state });
  }

  restore() {
    const before = this.saved.pop();
    if (before) this.state = before;
  }

  /**
   * @param {number} x
   * @param {number} y
   */
  translate(x, y) {
    this.state.transform += `translate(${short(x)} ${short(y)}) `;
  }

  /** @param {number} angle */
  rotate(angle) {
    this.state.transform += `rotate(${short((angle * 180) / Math.PI)}) `;
  }

  beginPath() {
    this.path = "";
    this.box = null;
  }

  /**
   * @param {number} x
   * @param {number} y
   */
  moveTo(x, y) {
    this.path += `M${short(x)} ${short(y)}`;
  }

  /**
   * @param {number} x
   * @param {number} y
   */
  lineTo(x, y) {
    this.path += `${this.path ? "L" : "M"}${short(x)} ${short(y)}`;
  }

  closePath() {
    this.path += "Z";
  }

  /**
   * A whole circle.
   * @param {number} x
   * @param {number} y
   * @param {number} r
   */
  arc(x, y, r) {
    this.path += `M${short(x - r)} ${short(y)}a${short(r)} ${short(r)} 0 1 0 ${short(2 * r)} 0a${short(r)} ${short(r)} 0 1 0 ${short(-2 * r)} 0`;
  }

  /**
   * @param {number} x
   * @param {number} y
   * @param {number} w
   * @param {number} h
   */
  rect(x, y, w, h) {
    this.box = { x, y, w, h };
    this.path += `M${short(x)} ${short(y)}h${short(w)}v${short(h)}h${short(-w)}Z`;
  }

  /** Clips to the rectangle of the path. */
  clip() {
    const b = this.box;
    if (!b) return;
    const old = this.state.clip;
    const x = Math.max(b.x, old?.x ?? b.x);
    const y = Math.max(b.y, old?.y ?? b.y);
    const right = Math.min(b.x + b.w, old ? old.x + old.w : b.x + b.w);
    const bottom = Math.min(b.y + b.h, old ? old.y + old.h : b.y + b.h);
    this.state.clip = { x, y, w: Math.max(0, right - x), h: Math.max(0, bottom - y) };
    this.state.clipName = `${this.name}-${this.defs.length}`;
    this.defs.push(`<clipPath id="${this.state.clipName}"><rect x="${short(x)}" y="${short(y)}" width="${short(this.state.clip.w)}" height="${short(this.state.clip.h)}"/></clipPath>`);
  }

  fill() {
    if (this.path) this.put(`path d="${this.path}" fill="${this.ink(this.state.fillStyle)}"`);
  }

  stroke() {
    if (this.path) this.put(`path d="${this.path}" ${this.pen}`);
  }

  /**
   * @param {number} x
   * @param {number} y
   * @param {number} w
   * @param {number} h
   */
  fillRect(x, y, w, h) {
    if (w > 0 && h > 0) this.put(`rect x="${short(x)}" y="${short(y)}" width="${short(w)}" height="${short(h)}" fill="${this.ink(this.state.fillStyle)}"`);
  }

  /**
   * @param {number} x
   * @param {number} y
   * @param {number} w
   * @param {number} h
   */
  strokeRect(x, y, w, h) {
    this.put(`rect x="${short(x)}" y="${short(y)}" width="${short(Math.max(0, w))}" height="${short(Math.max(0, h))}" ${this.pen}`);
  }

  /** @param {number[]} list */
  setLineDash(list) {
    this.state.dash = list.join(" ");
  }

  /** @param {string} text */
  measureText(text) {
    this.ruler.font = this.state.font;
    return this.ruler.measureText(text);
  }

  createPattern() {
    return null;
  }

  /**
   * @param {string} text
   * @param {number} x
   * @param {number} y
   * @param {number} [most] width
   */
  fillText(text, x, y, most) {
    const { font, textAlign, textBaseline, fillStyle } = this.state;
    const size = Number(/(\d+(?:\.\d+)?)px/.exec(font)?.[1] ?? 12);
    const anchor = textAlign === "center" ? "middle" : textAlign === "right" || textAlign === "end" ? "end" : "start";
    const down = textBaseline === "middle" ? size * 0.35 : textBaseline === "top" ? size * 0.8 : 0;
    const tight = most !== undefined && this.measureText(text).width > most ? ` textLength="${short(most)}" lengthAdjust="spacingAndGlyphs"` : "";
    this.put(`text x="${short(x)}" y="${short(y + down)}" font-size="${size}" text-anchor="${anchor}" fill="${this.ink(fillStyle)}"${tight}`, escaped(text));
  }

  /**
   * A part of a picture, its pixels as shapes.
   * @param {HTMLCanvasElement} source
   * @param {number} sx or with five arguments where it goes, and how large it is there
   * @param {number} sy
   * @param {number} sw
   * @param {number} sh
   * @param {number} [dx]
   * @param {number} [dy]
   * @param {number} [dw]
   * @param {number} [dh]
   */
  drawImage(source, sx, sy, sw, sh, dx, dy, dw, dh) {
    if (dx === undefined || dy === undefined || dw === undefined || dh === undefined) [dx, dy, dw, dh, sx, sy, sw, sh] = [sx, sy, sw, sh, 0, 0, source.width, source.height];
    const pixels = new Uint32Array(partOf(source, sx, sy, sw, sh).getImageData(0, 0, sw, sh).data.buffer);
    /** @type {Map<number, string[]>} shapes by color */
    const shapes = new Map();
    let runs = 0;
    for (let y = 0; y < sh && runs <= MOST_RUNS; y++) {
      for (let x = 0; x < sw;) {
        const color = pixels[y * sw + x];
        const begin = x;
        while (x < sw && pixels[y * sw + x] === color) x++;
        if (color >>> 24 === 0) continue;
        const list = shapes.get(color) ?? [];
        if (list.length === 0) shapes.set(color, list);
        list.push(`M${begin} ${y}h${x - begin}v1h${begin - x}z`);
        runs++;
      }
    }
    if (runs > MOST_RUNS) {
      this.put(`image x="${short(dx)}" y="${short(dy)}" width="${short(dw)}" height="${short(dh)}" preserveAspectRatio="none" image-rendering="pixelated" href="${partOf(source, sx, sy, sw, sh).canvas.toDataURL("image/png")}"`);
      return;
    }
    const hex = (/** @type {number} */ c) => `#${[c & 255, (c >> 8) & 255, (c >> 16) & 255].map((v) => v.toString(16).padStart(2, "0")).join("")}`;
    const list = [...shapes].map(([color, d]) => `<path fill="${hex(color)}" d="${d.join("")}"/>`).join("");
    this.put("g", `<g transform="translate(${dx.toFixed(3)} ${dy.toFixed(3)}) scale(${dw / sw} ${dh / sh})" shape-rendering="crispEdges">${list}</g>`);
  }
}

/**
 * A copy of a part of a picture.
 * @param {HTMLCanvasElement} source
 * @param {number} sx
 * @param {number} sy
 * @param {number} sw
 * @param {number} sh
 */
function partOf(source, sx, sy, sw, sh) {
  const part = document.createElement("canvas");
  part.width = sw;
  part.height = sh;
  const ctx = part.getContext("2d", { willReadFrequently: true });
  if (!ctx) throw new Error("this browser has no 2-D canvas");
  ctx.drawImage(source, sx, sy, sw, sh, 0, 0, sw, sh);
  return ctx;
}
