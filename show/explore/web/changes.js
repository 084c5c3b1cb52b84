// What changed from one run to another, or from repetitions of one to repetitions of another, with the significance of slackline compare.

import { breakable, el } from "./dom.js";
import { duration, percent, plural, significant } from "./format.js";

/** @typedef {import("./types.js").Run} Run */
/** @typedef {import("./types.js").Comparison} Comparison */

const FEW = 15; // changes that are shown

/**
 * How a value differs from another one.
 * @param {number} x
 * @param {number} y
 * @param {(n: number) => string} say
 */
export function change(x, y, say) {
  const sign = y > x ? "+" : "−";
  if (x === y) return "0";
  if (say === percent) return `${sign}${(100 * Math.abs(y - x)).toFixed(1)} points`;
  return `${sign}${say(Math.abs(y - x))}${x > 0 ? ` (${sign}${(100 * Math.abs(y / x - 1)).toFixed(1)} %)` : ""}`;
}

/**
 * The runs on both sides: those of the address, or the two that are shown.
 * @param {import("./app.js").App} app
 * @param {Run} other
 * @returns {number[][]}
 */
export function sidesOf(app, other) {
  const known = new Set(app.runs.filter((r) => r.kind !== "dataset").map((r) => r.index));
  const read = (/** @type {string | undefined} */ text, /** @type {Run} */ run) => {
    const list = (text ?? "").split(",").filter((t) => t !== "").map(Number).filter((k) => known.has(k));
    return [...new Set([run.index, ...list])].sort((a, b) => a - b);
  };
  return [read(app.params.before, app.run), read(app.params.after, other)];
}

/**
 * @param {import("./app.js").App} app
 * @param {Run} other
 * @param {Comparison} c
 */
export function changesOf(app, other, c) {
  const repeated = c.before > 1 && c.after > 1;
  const rows = c.changes.filter((x) => x.before !== x.after).slice(0, FEW);
  const more = c.more + c.changes.filter((x) => x.before !== x.after).length - rows.length;
  const head = ["", "call path", "before", "after", "difference", ...(repeated ? ["p", ""] : [])];
  return el("section", { class: "changes stack tight" }, el("h2", { text: "Largest changes" }),
    rows.length === 0 ? el("p", { class: "muted", text: "Nothing changed." }) : el("div", { class: "scroller" }, el("table", { class: "plain" },
      el("thead", {}, el("tr", {}, ...head.map((text, i) => el("th", { scope: "col", class: i > 1 ? "number" : "", text })))),
      el("tbody", {}, ...rows.map((x) => el("tr", { class: repeated && !x.significant ? "muted" : "" }, el("th", { scope: "row", text: x.title }),
        el("td", {}, x.callpath ? el("span", { class: "mono long", title: x.callpath }, breakable(x.callpath)) : el("span", { class: "muted", text: "the whole run" })),
        ...[duration(x.before), duration(x.after), change(x.before, x.after, duration), ...(repeated ? [significant(x.p ?? 1, 2), x.significant ? "significant" : "~"] : [])]
          .map((text) => el("td", { class: "number", text }))))))),
    el("p", { class: "small muted", text: verdict(c, more) }), sides(app, other));
}

/**
 * @param {Comparison} c
 * @param {number} more
 */
function verdict(c, more) {
  const rest = `${more > 0 ? ` ${plural(more, "smaller change")} not shown.` : ""}${c.left > 0 ? ` ${plural(c.left, "number")} that only one side has.` : ""}`;
  const runs = `${plural(c.before, "run")} before, ${plural(c.after, "run")} after`;
  if (c.conclusive) return `${runs}: medians; significant are changes with a probability of chance p below ${c.alpha} (Mann-Whitney), ~ are not.${rest}`;
  return `${runs}: whether a difference is more than chance needs at least ${c.least} of each. Open more repetitions and choose them here, or see slackline compare a1,a2,a3,a4 b1,b2,b3,b4.${rest}`;
}

/**
 * Which runs are repetitions of the two.
 * @param {import("./app.js").App} app
 * @param {Run} other
 */
function sides(app, other) {
  const runs = app.runs.filter((r) => r.kind !== "dataset");
  if (runs.length < 3) return "";
  const chosen = sidesOf(app, other);
  const box = (/** @type {0 | 1} */ side, /** @type {Run} */ r) => {
    const name = side === 0 ? "before" : "after";
    const fixed = r.index === (side === 0 ? app.run.index : other.index);
    const input = el("input", { type: "checkbox", name: `${name}-${r.index}`, checked: chosen[side].includes(r.index), disabled: fixed || r.index === (side === 0 ? other.index : app.run.index), "aria-label": `${r.name} is ${name}` });
    input.addEventListener("change", () => {
      const set = new Set(chosen[side]);
      if (input.checked) set.add(r.index);
      else set.delete(r.index);
      const rest = chosen[1 - side].filter((k) => !input.checked || k !== r.index); // a run is on one side
      app.set({ [name]: [...set].join(), [side === 0 ? "after" : "before"]: rest.join() });
    });
    return el("td", { class: "number" }, input);
  };
  return el("details", { class: "sides", open: runs.length <= 12 }, el("summary", { text: "Repetitions" }), el("table", { class: "plain" },
    el("thead", {}, el("tr", {}, ...["before", "after", "run"].map((text) => el("th", { scope: "col", class: text === "run" ? "" : "number", text })))),
    el("tbody", {}, ...runs.map((r) => el("tr", {}, box(0, r), box(1, r), el("td", { class: "long", text: r.name }))))));
}
