// Figures to take away.

import * as api from "./api.js";
import { context2d, el } from "./dom.js";
import { token } from "./palette.js";

const SAVED = 60_000; // milliseconds, in which a browser has begun to save a file

/** @param {string} name */
function fileOf(name) {
  return name.replace(/[^\p{L}\p{N}.]+/gu, "-").replace(/^[-.]+|-+$/g, "").slice(0, 80);
}

/**
 * A button for what is drawn as a picture: canvases below each other, on the ground of the page.
 * @param {() => HTMLCanvasElement[]} canvases
 * @param {string} name of the file, without its suffix
 */
export function pngButton(canvases, name) {
  const save = () => {
    const list = canvases();
    const all = document.createElement("canvas");
    all.width = Math.max(1, ...list.map((c) => c.width));
    all.height = list.reduce((sum, c) => sum + c.height, 0);
    const ctx = context2d(all);
    ctx.fillStyle = token("--ground");
    ctx.fillRect(0, 0, all.width, all.height);
    let top = 0;
    for (const c of list) {
      ctx.drawImage(c, 0, top);
      top += c.height;
    }
    all.toBlob((blob) => {
      if (!blob) return;
      const href = URL.createObjectURL(blob);
      el("a", { href, download: `${fileOf(name) || "picture"}.png` }).click();
      window.setTimeout(() => URL.revokeObjectURL(href), SAVED);
    });
  };
  return el("button", { type: "button", class: "link small download", text: "as PNG", onclick: save });
}

/**
 * A button for a figure as a file, for a document or a colleague.
 * @param {Omit<Parameters<typeof api.figure>[0], "dark">} query
 * @param {string} name of the file, without its suffix
 */
export function asSVG(query, name) {
  const file = fileOf(name);
  const save = async () => {
    const href = await api.figure({ ...query, dark: 0 });
    el("a", { href, download: `${file || "figure"}.svg` }).click();
    window.setTimeout(() => URL.revokeObjectURL(href), SAVED);
  };
  return el("button", { type: "button", class: "link small download", text: "as SVG", onclick: () => void save() });
}
