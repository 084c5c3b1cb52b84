// Figures of the server to take away.

import * as api from "./api.js";
import { el } from "./dom.js";
import { fileOf, save } from "./takeaway.js";

/**
 * A button for a figure as a file, for a document or a colleague.
 * @param {Omit<Parameters<typeof api.figure>[0], "dark">} query
 * @param {string} name of the file, without its suffix
 */
export function asSVG(query, name) {
  const load = async () => save(await api.figure({ ...query, dark: 0 }), `${fileOf(name) || "figure"}.svg`);
  return el("button", { type: "button", class: "link small download", text: "as SVG", onclick: () => void load() });
}
