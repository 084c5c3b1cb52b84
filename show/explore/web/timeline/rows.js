// The rows of a timeline: all locations, or those of some ranks.

import * as api from "../api.js";

/** @typedef {import("../types.js").Run} Run */

export class Rows {
  /**
   * @param {Run} run
   * @param {number[] | null} list locations, in order; null: all
   * @param {string} [ranks] whose they are, as the server reads it; empty: all
   */
  constructor(run, list, ranks = "") {
    this.list = list ?? run.order ?? null; // streams lie below the threads of their rank
    this.ranks = ranks;
    this.count = this.list ? this.list.length : run.locations;
    /** @type {Map<number, number> | null} */
    this.places = this.list && new Map(this.list.map((location, row) => [location, row]));
  }

  /** @param {number} row */
  location(row) {
    return this.list ? this.list[row] ?? -1 : row;
  }

  /** @param {number} location its row; -1: it is hidden */
  row(location) {
    return this.places ? this.places.get(location) ?? -1 : location;
  }
}

/**
 * The ranks of a list as "0-3,8" that a run has.
 * @param {string} text
 * @param {Run} run
 */
function ranksOf(text, run) {
  /** @type {Set<number>} */
  const set = new Set();
  for (const part of text.split(",")) {
    const m = /^\s*(\d+)(?:-(\d+))?\s*$/.exec(part);
    if (!m) continue;
    for (let r = Number(m[1]); r <= Math.min(Number(m[2] ?? m[1]), run.ranks - 1); r++) set.add(r);
  }
  return [...set].sort((a, b) => a - b);
}

/**
 * The rows of some ranks; all of them if the list names none that the run has.
 * @param {Run} run
 * @param {string} text
 * @returns {Promise<Rows>}
 */
export async function rowsOf(run, text) {
  const ranks = text ? ranksOf(text, run) : [];
  if (ranks.length === 0 || ranks.length === run.ranks) return new Rows(run, null);
  const brief = briefly(ranks);
  if (run.locations === run.ranks) return new Rows(run, ranks, brief);
  const answer = await api.locations({ run: run.index, ranks: brief });
  return new Rows(run, answer.locations.map((l) => l.location), brief);
}

/** @param {number[]} ranks in order, as "0-3,8" */
function briefly(ranks) {
  /** @type {string[]} */
  const parts = [];
  for (let i = 0; i < ranks.length;) {
    let k = i;
    while (ranks[k + 1] === ranks[k] + 1) k++;
    parts.push(k > i ? `${ranks[i]}-${ranks[k]}` : `${ranks[i]}`);
    i = k + 1;
  }
  return parts.join();
}
