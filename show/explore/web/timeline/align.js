// Two runs above each other, so that what belongs together is above each other: iterations or phases.

import * as api from "../api.js";
import { pathsOf } from "../paths.js";

/** @typedef {import("../types.js").Run} Run */
/** @typedef {{at: number, label: string}} Anchor where something begins that both runs have */

const MOST = 1500; // phases that are compared by name

/** @type {[string, string][]} how the time axes of two runs go together */
export const AXES = [["", "each its own"], ["1", "the same time"], ["iteration", "aligned by iteration"], ["phase", "aligned by phase"]];

/**
 * What begins in both runs: the same number of anchors for each.
 * @param {string} how iteration or phase
 * @param {Run[]} runs two
 * @returns {Promise<Anchor[][]>}
 */
export async function anchorsOf(how, runs) {
  const [a, b] = await Promise.all(runs.map((r) => (how === "iteration" ? iterations(r) : phases(r))));
  if (how === "phase") return common(a, b);
  const n = Math.min(a.length, b.length);
  return [a.slice(0, n), b.slice(0, n)];
}

/** @param {Run} run */
async function iterations(run) {
  const { list } = await api.iterations({ run: run.index });
  return list.map((it, i) => ({ at: it.begin, label: String(i + 1) }));
}

/** @param {Run} run */
async function phases(run) {
  const [{ list }, paths] = await Promise.all([api.phases({ run: run.index }), pathsOf(run.index)]);
  return list.map((p) => ({ at: p.begin, label: paths.leaf(p.path) }));
}

/**
 * The longest sequence of labels that both lists have.
 * @param {Anchor[]} a
 * @param {Anchor[]} b
 * @returns {Anchor[][]}
 */
export function common(a, b) {
  [a, b] = [a.slice(0, MOST), b.slice(0, MOST)];
  const width = b.length + 1;
  const length = new Uint16Array((a.length + 1) * width); // from here to the ends
  for (let i = a.length - 1; i >= 0; i--) {
    for (let k = b.length - 1; k >= 0; k--) {
      length[i * width + k] = a[i].label === b[k].label ? length[(i + 1) * width + k + 1] + 1 : Math.max(length[(i + 1) * width + k], length[i * width + k + 1]);
    }
  }
  /** @type {Anchor[][]} */
  const found = [[], []];
  for (let i = 0, k = 0; i < a.length && k < b.length;) {
    if (a[i].label === b[k].label) {
      found[0].push(a[i++]);
      found[1].push(b[k++]);
    } else if (length[(i + 1) * width + k] >= length[i * width + k + 1]) i++;
    else k++;
  }
  return found;
}

/**
 * The time of one run that belongs to a time of the other one: that of the same anchor, in between in proportion.
 * @param {number} t
 * @param {Anchor[]} from
 * @param {Anchor[]} to
 * @param {number} fromEnd length of the run
 * @param {number} toEnd
 */
export function across(t, from, to, fromEnd, toEnd) {
  const x = [0, ...from.map((a) => a.at), fromEnd];
  const y = [0, ...to.map((a) => a.at), toEnd];
  let i = 1;
  while (i < x.length - 1 && x[i] <= t) i++;
  while (i > 1 && x[i] === x[i - 1]) i--; // a run may begin with its first iteration
  const share = x[i] > x[i - 1] ? (t - x[i - 1]) / (x[i] - x[i - 1]) : 0;
  return y[i - 1] + share * (y[i] - y[i - 1]);
}
