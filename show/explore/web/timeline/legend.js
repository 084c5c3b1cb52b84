// What the colors of a timeline mean.

import { el } from "../dom.js";
import { duration } from "../format.js";
import { css, mix, packed, rgb, series } from "../palette.js";
import { theme } from "../theme.js";

/** @typedef {import("../types.js").Category} Category */
/** @typedef {import("../palette.js").Rgb} Rgb */

// Work is gray, so that waits stand out; communication is blue; what the runtime does is violet.
const LIGHT = {
  computation: ["#D3D7DC", "#BFC6CE", "#AEB7C1", "#DCDAD2", "#C7C4BA"].map(rgb),
  communication: ["#8FBBDD", "#5F9CCB", "#B4D0E6", "#3F83B8", "#9CC9D6", "#79AFC0"].map(rgb),
  runtime: ["#C3B1D9", "#A58CC4", "#DCCFEA", "#8B6FB0"].map(rgb),
  device: ["#B9D3BE", "#5F9CCB", "#E2CF9A"].map(rgb), // kernels, communication, copies
  outside: rgb("#F5F6F8"),
  rest: rgb("#8A8F98"),
};
const DARK = {
  computation: ["#4A515C", "#5A626E", "#3F4650", "#55534C", "#66645C"].map(rgb),
  communication: ["#2E6A96", "#3F87B8", "#24506F", "#5CA5D3", "#2F7686", "#4793A5"].map(rgb),
  runtime: ["#6E5A8C", "#8A72AD", "#574672", "#A48FC4"].map(rgb),
  device: ["#4C6B55", "#3F87B8", "#77683C"].map(rgb),
  outside: rgb("#1C2027"),
  rest: rgb("#8A929D"),
};

/** The colors of causes; they differ from those of work and communication. */
const CAUSES = [5, 1, 2, 3, 7, 6, 9, 10, 11];

/**
 * The color of a category.
 * @param {Category} c
 * @param {string} mode
 * @returns {Rgb}
 */
export function colorOf(c, mode) {
  const set = theme() === "dark" ? DARK : LIGHT;
  switch (c.class) {
    case "computation":
      if (mode === "path") return series(CAUSES[c.slot % CAUSES.length]);
      return set.computation[c.slot % set.computation.length];
    case "communication": return set.communication[c.slot % set.communication.length];
    case "runtime": return set.runtime[c.slot % set.runtime.length];
    case "device": return set.device[c.slot % set.device.length];
    case "wait": return rgb((theme() === "dark" ? c.dark : c.light) ?? "#D55E00");
    case "cause": return isSmall(c) ? set.rest : series(CAUSES[c.slot]);
    default: return set.outside;
  }
}

/**
 * Whether a cause has no color of its own.
 * @param {Category} c
 */
function isSmall(c) {
  return c.class === "cause" && (c.rank < 0 || c.slot >= CAUSES.length);
}

/**
 * The colors of all categories, by id, as Picture.paint wants them. If some are marked the others fade.
 * @param {import("../types.js").Legend} legend
 * @param {Set<number>} [marked] categories
 * @returns {Uint32Array}
 */
export function table(legend, marked = new Set()) {
  const colors = new Uint32Array(1 << 16); // every number that a cell can have
  for (const c of legend.categories) colors[c.id] = packed(shown(c, legend.color, marked));
  return colors;
}

/**
 * The color that a category is shown in: faded if others are marked.
 * @param {Category} c
 * @param {string} mode
 * @param {Set<number>} marked
 */
export function shown(c, mode, marked) {
  const color = colorOf(c, mode);
  return marked.size > 0 && !marked.has(c.id) ? mix(color, (theme() === "dark" ? DARK : LIGHT).outside, 0.8) : color;
}

/** @param {Category} c by what categories of two runs are the same */
function nameOf(c) {
  return c.class === "cause" ? c.name : `${c.class} ${c.name.slice(c.name.lastIndexOf("/") + 1)}`;
}

/**
 * Gives categories of the same name the same color in several runs: their slots are those of the first run that has them.
 * @param {import("../types.js").Legend[]} legends
 * @returns {import("../types.js").Legend[]}
 */
export function joined(legends) {
  /** @type {Map<string, number>} */
  const slots = new Map();
  /** @type {Map<string, number>} */
  const used = new Map();
  return legends.map((legend) => ({ ...legend, categories: legend.categories.map((c) => {
    if (c.class === "wait" || (c.class === "cause" && c.rank < 0) || (legend.color !== "path" && c.class !== "cause")) return c;
    const name = nameOf(c);
    let slot = slots.get(name);
    if (slot === undefined) {
      slot = used.get(c.class) ?? 0;
      used.set(c.class, slot + 1);
      slots.set(name, slot);
    }
    return { ...c, slot };
  }) }));
}

/**
 * The categories of the address: those that are marked.
 * @param {string | undefined} text numbers with points between
 */
export function markedOf(text) {
  return new Set((text ?? "").split(".").filter((t) => t !== "").map(Number));
}

/**
 * Whether a category is a wait, which has a pattern beside its color.
 * @param {Category} c
 */
function isWait(c) {
  return c.class === "wait" || c.class === "cause";
}

const SHOWN = 14;

/**
 * The legend below a timeline: the categories that are visible, the most frequent first.
 * @param {import("../types.js").Legend} legend
 * @param {Map<number, number>} cells how many cells each category has
 * @param {import("../paths.js").Paths | null} paths
 * @param {Set<number>} marked
 * @param {(ids: number[]) => void} mark
 * @returns {HTMLElement[]}
 */
export function entries(legend, cells, paths, marked, mark) {
  const seen = new Map(cells);
  let all = legend.color === "path" ? functions(legend, seen) : legend.categories.filter((c) => (seen.get(c.id) ?? 0) > 0);
  const small = all.filter(isSmall);
  if (small.length > 1) {
    all = all.filter((c) => !isSmall(c));
    all.push({ ...small[0], name: "causes that cost less", title: `${small.length} smaller causes`, cost: 0 });
  }
  all.sort((a, b) => order(a) - order(b) || (legend.color === "cause" && isWait(a) && isWait(b)
    ? (b.cost ?? 0) - (a.cost ?? 0) : (seen.get(b.id) ?? 0) - (seen.get(a.id) ?? 0)));
  const items = all.slice(0, SHOWN).map((c) => {
    const swatch = el("span", { class: isWait(c) ? "swatch hatched" : "swatch" });
    swatch.style.backgroundColor = css(colorOf(c, legend.color));
    const same = legend.color === "path" ? legend.categories.filter((x) => x.class === c.class && x.slot === c.slot).map((x) => x.id) : [c.id];
    const on = marked.has(c.id);
    return el("li", { title: c.cost ? `${c.name}: ${duration(c.cost)} of waiting` : c.name }, el("button", { type: "button", class: "legend-entry", "aria-pressed": String(on),
      title: on ? "Show all alike" : "Mark it, fade the others", onclick: () => mark(on ? [] : same) }, swatch, el("span", { text: legend.color === "path" && paths ? paths.leaf(c.id) : c.title || c.name })));
  });
  if (all.length > SHOWN) items.push(el("li", { class: "muted", text: `and ${all.length - SHOWN} more` }));
  return items;
}

/**
 * What the lines over a timeline mean, of those that are drawn.
 * @param {import("./data.js").Data} data
 * @param {import("./pane.js").Show} show
 * @returns {HTMLElement[]}
 */
export function lines(data, show) {
  const all = /** @type {[boolean, string, string, string][]} */ ([
    [show.critical && (data.critical?.pieces ?? []).length > 0, "━", "critical path", "critical-key"],
    [show.messages && (data.messages?.messages ?? []).length > 0, "→", "message", ""],
    [Boolean(show.launches) && (data.launches?.launches ?? []).length > 0, "⇢", "launch", ""],
  ]);
  return all.filter(([drawn]) => drawn).map(([, mark, name, kind]) => el("li", {}, el("span", { class: kind, text: mark }), el("span", { text: name })));
}

/**
 * Call paths of the same function have one color and one entry: that of the first one, with the cells of all.
 * @param {import("../types.js").Legend} legend
 * @param {Map<number, number>} seen changed
 */
function functions(legend, seen) {
  /** @type {Map<string, Category>} */
  const first = new Map();
  for (const c of legend.categories) {
    const n = seen.get(c.id) ?? 0;
    if (n === 0) continue;
    const key = `${c.class} ${c.slot}`;
    const one = first.get(key);
    if (one) seen.set(one.id, (seen.get(one.id) ?? 0) + n);
    else first.set(key, c);
  }
  return [...first.values()];
}

/**
 * Waits first, then work, then the rest.
 * @param {Category} c
 */
function order(c) {
  const place = ["wait", "computation", "device", "communication", "runtime"].indexOf(c.class === "cause" ? "wait" : c.class);
  return place < 0 ? 5 : place;
}
