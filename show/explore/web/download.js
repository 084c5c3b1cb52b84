// Figures to take away.

import * as api from "./api.js";
import { el } from "./dom.js";

const SAVED = 60_000; // milliseconds, in which a browser has begun to save a file

/**
 * A button for a figure as a file, for a document or a colleague.
 * @param {Omit<Parameters<typeof api.figure>[0], "dark">} query
 * @param {string} name of the file, without its suffix
 */
export function asSVG(query, name) {
  const file = name.replace(/[^\p{L}\p{N}.]+/gu, "-").replace(/^[-.]+|-+$/g, "").slice(0, 80);
  const save = async () => {
    const href = await api.figure({ ...query, dark: 0 });
    el("a", { href, download: `${file || "figure"}.svg` }).click();
    window.setTimeout(() => URL.revokeObjectURL(href), SAVED);
  };
  return el("button", { type: "button", class: "link small download", text: "as SVG", onclick: () => void save() });
}
