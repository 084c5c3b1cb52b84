// What is shown, to take away: as SVG, as PNG, or on paper.

import { byId, context2d, el, redrawn } from "./dom.js";
import { token } from "./palette.js";
import { VectorContext, escaped } from "./vector.js";

/** @typedef {{left: number, top: number, right: number, bottom: number}} Frame */

const SAVED = 60_000; // milliseconds, in which a browser has begun to save a file
const SHARP = 2; // pixels of a PNG for one of the page
const SKIPPED = ".toolbar, .download, .skip, .loading, .visually-hidden, dialog, script, .close, .neighbors, .jump, .selection-form, .sides, input, select, option";

/** @param {string} name */
export function fileOf(name) {
  return name.replace(/[^\p{L}\p{N}.]+/gu, "-").replace(/^[-.]+|-+$/g, "").slice(0, 80);
}

/**
 * Lets the browser save a file.
 * @param {Blob | string} content or its address
 * @param {string} name
 */
export function save(content, name) {
  const href = typeof content === "string" ? content : URL.createObjectURL(content);
  el("a", { href, download: name }).click();
  window.setTimeout(() => URL.revokeObjectURL(href), SAVED);
}

/**
 * The view as an SVG: its texts as texts, its canvases as shapes.
 * @param {string} title
 */
export function viewAsSVG(title) {
  const main = byId("main", HTMLElement);
  const parts = [main, byId("statistics", HTMLElement), byId("panel", HTMLElement)].filter((e) => !e.hidden);
  const origin = main.getBoundingClientRect();
  const width = Math.ceil(parts.reduce((sum, e) => Math.max(sum, e.getBoundingClientRect().right - origin.left), 0));
  const bar = main.querySelector(":scope > .toolbar")?.getBoundingClientRect().height ?? 0; // is not drawn
  const height = Math.ceil(Math.max(...parts.map((e) => e.scrollHeight - (e === main ? bar : 0))));
  const w = new Writer(origin.left, origin.top);
  for (const part of parts) {
    w.top = origin.top + (part === main ? bar : 0);
    w.draw(part);
  }
  const { defs, out } = w;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, 'DejaVu Sans', sans-serif">`
    + `<title>${escaped(title)}</title><defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M3 0V6" stroke="${token("--ink")}" stroke-opacity="0.5" stroke-width="1.4"/></pattern>${defs.join("")}</defs>`
    + `<rect width="${width}" height="${height}" fill="${token("--ground")}"/>${out.join("")}</svg>\n`;
}

/** @param {string} color whether it can be seen */
function visible(color) {
  return color !== "transparent" && !/^rgba\(.*, 0\)$|\/ 0\)$/.test(color);
}

/** Writes elements of the page where they are. */
class Writer {
  /**
   * @param {number} left
   * @param {number} top
   */
  constructor(left, top) {
    this.left = left;
    this.top = top;
    /** @type {string[]} */
    this.out = [];
    /** @type {string[]} */
    this.defs = [];
    this.down = 0; // how far the part is scrolled
    /** @type {Map<HTMLCanvasElement, string>} */
    this.canvases = new Map();
  }

  /** @param {HTMLElement} part */
  draw(part) {
    // Drawing may fill what is beside a canvas again: all of them come first.
    part.querySelectorAll("canvas").forEach((c, i) => {
      const ctx = new VectorContext(`c${this.defs.length}-${i}`);
      if (!redrawn(c, /** @type {any} */ (ctx))) return;
      this.defs.push(...ctx.defs);
      this.canvases.set(c, ctx.out.join(""));
    });
    this.down = part.scrollTop;
    this.element(part, { left: -1e6, top: -1e6, right: 1e6, bottom: 1e6 }, true);
  }

  /**
   * @param {DOMRect} r
   * @returns {Frame}
   */
  place(r) {
    return { left: r.left - this.left, top: r.top - this.top + this.down, right: r.right - this.left, bottom: r.bottom - this.top + this.down };
  }

  /**
   * @param {Element} e
   * @param {Frame} clip what is outside cannot be seen
   * @param {boolean} [whole] all of it is drawn, also what is scrolled away
   */
  element(e, clip, whole = false) {
    const style = getComputedStyle(e);
    if (style.display === "none" || style.visibility === "hidden" || e.matches(SKIPPED)) return;
    const b = this.place(e.getBoundingClientRect());
    if (b.right < clip.left || b.left > clip.right || b.bottom < clip.top || b.top > clip.bottom) return;
    if (!whole) this.box(b, style, clip);
    if (e instanceof HTMLCanvasElement || e instanceof HTMLImageElement) {
      this.picture(e, b);
      return;
    }
    if (e instanceof SVGSVGElement) {
      this.svg(e, b);
      return;
    }
    const inner = !whole && style.overflow !== "visible" ? { left: Math.max(b.left, clip.left), top: Math.max(b.top, clip.top), right: Math.min(b.right, clip.right), bottom: Math.min(b.bottom, clip.bottom) } : clip;
    for (const child of e.childNodes) {
      if (child instanceof Element) this.element(child, inner);
      else if (child instanceof Text) this.text(child, style, inner);
    }
  }

  /**
   * Ground and borders.
   * @param {Frame} b
   * @param {CSSStyleDeclaration} style
   * @param {Frame} clip
   */
  box(b, style, clip) {
    const rect = (/** @type {number} */ x0, /** @type {number} */ y0, /** @type {number} */ x1, /** @type {number} */ y1, /** @type {string} */ fill) => {
      [x0, y0, x1, y1] = [Math.max(x0, clip.left), Math.max(y0, clip.top), Math.min(x1, clip.right), Math.min(y1, clip.bottom)];
      if (x1 > x0 && y1 > y0) this.out.push(`<rect x="${x0.toFixed(1)}" y="${y0.toFixed(1)}" width="${(x1 - x0).toFixed(1)}" height="${(y1 - y0).toFixed(1)}" fill="${escaped(fill)}"/>`);
    };
    if (visible(style.backgroundColor)) rect(b.left, b.top, b.right, b.bottom, style.backgroundColor);
    if (style.backgroundImage.includes("repeating-linear-gradient")) rect(b.left, b.top, b.right, b.bottom, "url(#hatch)");
    const side = (/** @type {string} */ name) => (style.getPropertyValue(`border-${name}-style`) === "none" || !visible(style.getPropertyValue(`border-${name}-color`)) ? 0 : parseFloat(style.getPropertyValue(`border-${name}-width`)));
    const [top, bottom, left, right] = ["top", "bottom", "left", "right"].map(side);
    if (top) rect(b.left, b.top, b.right, b.top + top, style.borderTopColor);
    if (bottom) rect(b.left, b.bottom - bottom, b.right, b.bottom, style.borderBottomColor);
    if (left) rect(b.left, b.top, b.left + left, b.bottom, style.borderLeftColor);
    if (right) rect(b.right - right, b.top, b.right, b.bottom, style.borderRightColor);
  }

  /**
   * @param {HTMLCanvasElement | HTMLImageElement} e
   * @param {Frame} b
   */
  picture(e, b) {
    const drawn = e instanceof HTMLCanvasElement ? this.canvases.get(e) : undefined;
    if (drawn !== undefined) {
      this.out.push(`<g transform="translate(${b.left.toFixed(1)} ${b.top.toFixed(1)})">${drawn}</g>`);
      return;
    }
    const copy = document.createElement("canvas");
    copy.width = Math.max(1, Math.round((b.right - b.left) * SHARP));
    copy.height = Math.max(1, Math.round((b.bottom - b.top) * SHARP));
    context2d(copy).drawImage(e, 0, 0, copy.width, copy.height);
    this.out.push(`<image x="${b.left.toFixed(1)}" y="${b.top.toFixed(1)}" width="${(b.right - b.left).toFixed(1)}" height="${(b.bottom - b.top).toFixed(1)}" preserveAspectRatio="none" href="${copy.toDataURL("image/png")}"/>`);
  }

  /**
   * A drawing of the page, with the styles that it has there.
   * @param {SVGSVGElement} e
   * @param {Frame} b
   */
  svg(e, b) {
    const copy = /** @type {SVGSVGElement} */ (e.cloneNode(true));
    const [from, to] = [[e, ...e.querySelectorAll("*")], [copy, ...copy.querySelectorAll("*")]];
    from.forEach((x, i) => {
      const style = getComputedStyle(x);
      for (const name of ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "font-size", "opacity"]) to[i].setAttribute(name, style.getPropertyValue(name));
      to[i].removeAttribute("class");
      to[i].removeAttribute("tabindex");
    });
    for (const [name, value] of Object.entries({ x: b.left, y: b.top, width: b.right - b.left, height: b.bottom - b.top })) copy.setAttribute(name, value.toFixed(1));
    this.out.push(new XMLSerializer().serializeToString(copy));
  }

  /**
   * A text, line by line.
   * @param {Text} node
   * @param {CSSStyleDeclaration} style
   * @param {Frame} clip
   */
  text(node, style, clip) {
    const range = document.createRange();
    const words = [...node.data.matchAll(/\S+/g)];
    const size = parseFloat(style.fontSize);
    let line = "";
    /** @type {Frame | null} */
    let at = null;
    const end = () => {
      if (at && line) {
        const weight = Number(style.fontWeight) >= 550 ? ' font-weight="600"' : "";
        const family = style.fontFamily.includes("monospace") ? ' font-family="ui-monospace, \'DejaVu Sans Mono\', monospace"' : "";
        const underlined = style.textDecorationLine.includes("underline") ? ' text-decoration="underline"' : "";
        const baseline = (at.top + at.bottom) / 2 + size * 0.36;
        this.out.push(`<text x="${at.left.toFixed(1)}" y="${baseline.toFixed(1)}" font-size="${size}" fill="${escaped(style.color)}"${weight}${family}${underlined} textLength="${Math.max(1, at.right - at.left).toFixed(1)}" lengthAdjust="spacingAndGlyphs">${escaped(line)}</text>`);
      }
      [line, at] = ["", null];
    };
    for (const word of words) {
      const begin = word.index ?? 0;
      range.setStart(node, begin);
      range.setEnd(node, begin + word[0].length);
      const r = this.place(range.getBoundingClientRect());
      const middle = { x: (r.left + r.right) / 2, y: (r.top + r.bottom) / 2 };
      if (r.right <= r.left || middle.x < clip.left || middle.x > clip.right || middle.y < clip.top || middle.y > clip.bottom) continue;
      if (at && Math.abs(at.top - r.top) < 2) {
        line += ` ${word[0]}`;
        at.right = r.right;
      } else {
        end();
        [line, at] = [word[0], r];
      }
    }
    end();
  }
}

/**
 * An SVG as a PNG.
 * @param {string} text
 * @returns {Promise<Blob>}
 */
export async function asPNG(text) {
  const href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  try {
    const img = new Image();
    img.src = href;
    await img.decode();
    const canvas = document.createElement("canvas");
    canvas.width = img.naturalWidth * SHARP;
    canvas.height = img.naturalHeight * SHARP;
    context2d(canvas).drawImage(img, 0, 0, canvas.width, canvas.height);
    return await new Promise((done, fail) => canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("this browser makes no PNG of this size")))));
  } finally {
    URL.revokeObjectURL(href);
  }
}

/**
 * Asks how the view is to be taken away.
 * @param {import("./app.js").App} app
 */
export function takeAway(app) {
  const dialog = byId("take", HTMLDialogElement);
  const name = fileOf(`${app.run.name}-${app.viewName}`) || "view";
  const title = document.title;
  const button = (/** @type {string} */ text, /** @type {string} */ kind, /** @type {() => unknown} */ act) => el("button", { type: "button", text, "data-value": kind, onclick: async () => {
    dialog.close();
    try {
      await act();
    } catch (error) {
      app.failed(error);
    }
  } });
  dialog.replaceChildren(el("h2", { id: "take-title", text: "Take this view away" }),
    el("p", { class: "muted", text: "As it is shown, in these colors. The address of the view (y) leads back to it while the explorer runs." }),
    el("div", { class: "row" },
      button("SVG", "svg", () => save(new Blob([viewAsSVG(title)], { type: "image/svg+xml" }), `${name}.svg`)),
      button("PNG", "png", async () => save(await asPNG(viewAsSVG(title)), `${name}.png`)),
      button("Print, or PDF", "print", () => window.print())),
    el("form", { method: "dialog", class: "dialog-end" }, el("button", { text: "Close" })));
  dialog.showModal();
}
