// Names of rows. They are fetched in chunks when they are needed.

import * as api from "../api.js";
import { Rows } from "./rows.js";

const CHUNK = 512;

export class Names {
  /**
   * @param {import("../types.js").Run} run
   * @param {() => void} changed
   */
  constructor(run, changed) {
    this.run = run;
    this.changed = changed;
    /** @type {Map<number, import("../types.js").Location[] | null>} chunks of rows; null: on its way */
    this.chunks = new Map();
    this.rows = new Rows(run, null);
  }

  /**
   * @param {number} location
   * @returns {import("../types.js").Location | null}
   */
  location(location) {
    const row = this.rows.row(location);
    const chunk = Math.floor(row / CHUNK);
    const list = this.chunks.get(chunk);
    if (list === undefined) void this.fetch(chunk);
    return list?.[row - chunk * CHUNK] ?? null;
  }

  /** @param {number} chunk */
  async fetch(chunk) {
    this.chunks.set(chunk, null);
    const first = chunk * CHUNK;
    try {
      const answer = await api.locations({ run: this.run.index, first, last: Math.min(first + CHUNK, this.run.locations) });
      this.chunks.set(chunk, answer.locations);
      this.changed();
    } catch {
      this.chunks.delete(chunk); // the next frame asks again; the error is shown elsewhere
    }
  }

  /**
   * The name beside a row.
   * @param {number} location
   */
  short(location) {
    if (this.run.locations === this.run.ranks) return `rank ${location}`;
    const l = this.location(location);
    if (!l) return "…";
    if (l.stream) return `stream ${l.name}`;
    return l.thread === 0 ? `rank ${l.rank}` : `thread ${l.thread}`;
  }

  /**
   * The name where there is room.
   * @param {number} location
   */
  long(location) {
    if (this.run.locations === this.run.ranks) return `rank ${location}`;
    const l = this.location(location);
    if (!l) return `row ${location}`;
    if (l.stream) return `rank ${l.rank}, stream ${l.name}`;
    return l.thread === 0 ? `rank ${l.rank}` : `rank ${l.rank}, thread ${l.thread}`;
  }
}
