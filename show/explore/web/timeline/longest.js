// The longest waits of a run: where to start.

import * as api from "../api.js";
import { el } from "../dom.js";
import { duration } from "../format.js";
import { pathsOf } from "../paths.js";

const SHOWN = 6;

export class LongestWaits {
  /** @param {(state: import("../types.js").State, pane: number) => void} open */
  constructor(open) {
    this.open = open;
    this.element = el("section", { class: "longest", "aria-label": "The longest waits" });
  }

  /** @param {import("../types.js").Run | null} run */
  show(run) {
    this.element.replaceChildren();
    this.element.hidden = !run || run.analysis !== "ready";
    if (run && run.analysis === "ready") void this.fill(run);
  }

  /** @param {import("../types.js").Run} run */
  async fill(run) {
    try {
      const [{ states }, paths] = await Promise.all([api.largest({ run: run.index, largest: SHOWN }), pathsOf(run.index)]);
      if (states.length === 0) {
        this.element.replaceChildren(el("p", { class: "muted", text: "No rank waits in this run." }));
        return;
      }
      this.element.replaceChildren(
        el("h2", { text: "The longest waits" }),
        el("ol", { class: "wait-list" }, ...states.map((s) => el("li", {}, el("button", { type: "button", onclick: () => this.open(s, 0) },
          el("b", { class: "number", text: duration(s.amount) }),
          el("span", { class: "who", text: `rank ${s.rank}${s.location >= run.threads ? ", device" : s.thread ? `, thread ${s.thread}` : ""}` }),
          el("span", { class: "where mono", text: paths.leaf(s.path) }),
          el("span", { class: "why muted", text: `${lateOne(run, s)} came late` }))))));
    } catch {
      this.element.replaceChildren(); // the timeline shows the error
    }
  }
}

/**
 * Who came late.
 * @param {import("../types.js").Run} run
 * @param {import("../types.js").State} s
 */
function lateOne(run, s) {
  if (s.cause_rank !== s.rank || run.threads === run.locations) return `rank ${s.cause_rank}`;
  return s.cause_location >= run.threads ? "its device" : "its host";
}
