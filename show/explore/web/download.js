// Figures to take away.

import * as api from "./api.js";
import { el } from "./dom.js";

/**
 * A link to a figure as a file, for a document or a colleague.
 * @param {Omit<Parameters<typeof api.figureAddress>[0], "dark">} query
 * @param {string} name of the file, without its suffix
 */
export function asSVG(query, name) {
  const file = name.replace(/[^\p{L}\p{N}.]+/gu, "-").replace(/^[-.]+|-+$/g, "").slice(0, 80);
  return el("a", { class: "small download", href: api.figureAddress({ ...query, dark: 0 }), download: `${file || "figure"}.svg`, text: "as SVG" });
}
