// The names of call paths of a run, by number.

import * as api from "./api.js";

const BRIEF = 160; // letters

/** @typedef {{name: string, leaf: string, parent: number, kind: string}} PathName */

export class Paths {
  /** @param {import("./types.js").Legend} legend of color=path */
  constructor(legend) {
    /** @type {Map<number, PathName>} */
    this.list = new Map();
    for (const c of legend.categories) {
      const parent = c.parent ?? 0;
      this.list.set(c.id, { name: c.name, leaf: leafOf(c.name, this.list.get(parent)?.name ?? ""), parent, kind: c.kind ?? "" });
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

  /**
   * The end of the path, with as many of the functions around it as there is room for.
   * @param {number} path
   */
  brief(path) {
    let text = this.leaf(path);
    let at = this.list.get(path)?.parent ?? 0;
    while (at !== 0 && text.length + this.leaf(at).length < BRIEF) {
      text = `${this.leaf(at)}/${text}`;
      at = this.list.get(at)?.parent ?? 0;
    }
    return at === 0 ? text : `…/${text}`;
  }
}

/**
 * What a path has more than the one around it. Names of functions may contain slashes.
 * @param {string} name
 * @param {string} parent
 */
function leafOf(name, parent) {
  return parent && name.startsWith(`${parent}/`) ? name.slice(parent.length + 1) : name;
}

/**
 * @param {number} run
 * @returns {Promise<Paths>}
 */
export async function pathsOf(run) {
  return new Paths(await api.legend({ run, color: "path" }));
}
