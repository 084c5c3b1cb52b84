// The names of call paths of a run, by number.

import * as api from "./api.js";

/** @typedef {{name: string, leaf: string, parent: number, kind: string}} PathName */

export class Paths {
  /** @param {import("./types.js").Legend} legend of color=path */
  constructor(legend) {
    /** @type {Map<number, PathName>} */
    this.list = new Map();
    for (const c of legend.categories) {
      this.list.set(c.id, { name: c.name, leaf: leafOf(c.title || c.name), parent: c.parent ?? 0, kind: c.kind ?? "" });
    }
  }

  /**
   * The whole path, joined by slashes.
   * @param {number} path
   */
  name(path) {
    return path === 0 ? "in no call" : this.list.get(path)?.name ?? `path ${path}`;
  }

  /**
   * The last function of the path.
   * @param {number} path
   */
  leaf(path) {
    return path === 0 ? "in no call" : this.list.get(path)?.leaf ?? `path ${path}`;
  }
}

/** @param {string} name */
function leafOf(name) {
  return name.slice(name.lastIndexOf("/") + 1) || name;
}

/**
 * @param {number} run
 * @returns {Promise<Paths>}
 */
export async function pathsOf(run) {
  return new Paths(await api.legend({ run, color: "path" }));
}
