// What is selected in a timeline: a wait or a call, and the step of its chain of causes that was jumped to.

import * as api from "../api.js";
import { notice } from "../dom.js";
import { showCall, showWait } from "../panel.js";
import { pathsOf } from "../paths.js";
import { callAt } from "./pane.js";
import { focus } from "./window.js";

/** @typedef {import("./draw.js").Mark} Mark */

export class Selection {
  /** @param {import("./view.js").TimelineView} view */
  constructor(view) {
    this.view = view;
    this.app = view.app;
    /** @type {Mark[][]} by pane */
    this.marks = [[], []];
    this.shown = ""; // what the panel was filled for
  }

  /**
   * A click: a wait there, or the call.
   * @param {number} i
   * @param {number} location
   * @param {number} time
   * @param {number} depth of a call in the call stack; -1: in the row itself
   */
  async pick(i, location, time, depth) {
    const pane = this.view.list[i];
    const run = pane.run;
    if (depth < 0 && run.analysis === "ready") {
      try {
        const answer = await api.wait({ run: run.index, location, time });
        this.select(`wait:${answer.state.state}`, i);
        return;
      } catch (error) {
        if (!(error instanceof api.Refusal && error.code === "not_found")) {
          this.app.failed(error);
          return;
        }
      }
    }
    this.select(`call:${location}:${time}${depth < 0 ? "" : `:${depth}`}`, i);
  }

  /**
   * @param {string} sel
   * @param {number} i
   * @param {{location: number, at: number, amount: number}} [place] where the view is to move to
   */
  select(sel, i, place) {
    const move = place ? this.view.lookParams(i, focus(this.view.list[i].window, place.at, place.at + place.amount, this.view.rowsAt(i, place.location))) : {};
    this.app.set({ ...move, sel, in: i === 1 ? "2" : "", at: "" });
  }

  /** Closes the panel; an answer that is still on its way does not open it again. */
  close() {
    this.shown = "";
    this.app.panel.hide();
  }

  /** Shows in the panel what is selected. */
  async show() {
    const { sel = "", in: where = "", at = "" } = this.app.params;
    const i = where === "2" && this.view.list.length > 1 ? 1 : 0;
    const pane = this.view.list[i];
    const key = `${sel} ${where} ${at} ${pane.run.analysis}`;
    if (key === this.shown) return;
    this.shown = key;
    const parts = sel.split(":");
    if (parts[0] !== "wait" && parts[0] !== "call") {
      this.setMarks(i, []);
      this.app.panel.hide();
      return;
    }
    try {
      const paths = await pathsOf(pane.run.index);
      if (parts[0] === "wait") await this.showWait(i, Number(parts[1]), paths, at, key);
      else await this.showCall(i, Number(parts[1]), Number(parts[2]), Number(parts[3] ?? -1), paths, key);
    } catch (error) {
      if (this.shown !== key || api.isAbort(error)) return;
      this.setMarks(i, []);
      const text = error instanceof Error ? error.message : String(error);
      this.app.panel.show("Nothing here", notice("This cannot be shown", text));
    }
  }

  /**
   * @param {number} i
   * @param {number} state
   * @param {import("../paths.js").Paths} paths
   * @param {string} at
   * @param {string} key
   */
  async showWait(i, state, paths, at, key) {
    const pane = this.view.list[i];
    const answer = await api.wait({ run: pane.run.index, state });
    if (this.shown !== key) return;
    const s = answer.state;
    const step = at === "" ? -1 : Number(at);
    /** @type {Mark[]} */
    const marks = [{ location: s.location, from: s.at, to: s.end, kind: "selected" }];
    const there = answer.chain[step];
    if (there) marks.push({ location: there.location, from: there.from, to: there.to, kind: "step" });
    this.setMarks(i, marks);
    showWait(this.app.panel, answer, paths, pane.names, step, {
      jump: (n) => this.jump(i, answer, n),
      open: (ref) => this.select(`wait:${ref.state}`, i, ref),
      color: () => this.app.set({ color: "cause" }),
    });
  }

  /**
   * Goes to a step of the chain of causes.
   * @param {number} i
   * @param {import("../types.js").WaitAnswer} answer
   * @param {number} n
   */
  jump(i, answer, n) {
    const c = answer.chain[n];
    this.app.set({ ...this.view.lookParams(i, focus(this.view.list[i].window, c.from, c.to, this.view.rowsAt(i, c.location))), at: String(n) });
  }

  /**
   * Goes one step along the chain of causes of the selected wait.
   * @param {1 | -1} direction
   */
  async follow(direction) {
    const { sel = "", in: where = "", at = "" } = this.app.params;
    const i = where === "2" && this.view.list.length > 1 ? 1 : 0;
    const [kind, state] = sel.split(":");
    if (kind !== "wait") {
      this.app.note("Select a wait first: click on one, or press ].");
      return;
    }
    try {
      const answer = await api.wait({ run: this.view.list[i].run.index, state: Number(state) });
      const next = (at === "" ? 0 : Number(at)) + direction;
      if (answer.chain[next]) this.jump(i, answer, next);
      else this.app.note(direction > 0 ? "Here the chain of causes ends." : "Here the chain of causes starts.");
    } catch (error) {
      this.app.failed(error);
    }
  }

  /**
   * @param {number} i
   * @param {number} location
   * @param {number} time
   * @param {number} depth
   * @param {import("../paths.js").Paths} paths
   * @param {string} key
   */
  async showCall(i, location, time, depth, paths, key) {
    const pane = this.view.list[i];
    const { run } = pane;
    if (!(location < run.locations) || !(time >= 0)) throw new Error("This run has no such row or time.");
    const call = await callAt(run.index, location, Math.min(time, Math.max(0, run.length - 1)), new AbortController().signal, depth);
    if (this.shown !== key) return;
    this.setMarks(i, call ? [{ location, from: call.enter, to: call.leave, kind: "selected" }] : []);
    showCall(this.app.panel, call, location, time, paths, pane.names, {
      zoom: () => {
        if (call) this.view.look(i, focus(pane.window, call.enter, call.leave, this.view.rowsAt(i, location), 0.8), "");
      },
      stack: () => this.view.expand(location),
      launch: () => {
        const l = call?.launch;
        if (!l) return;
        const [at, from, to] = call.launched ? [l.to, l.begin, l.end] : [l.from, l.launched, l.begin];
        this.select(`call:${at}:${from}`, i, { location: at, at: from, amount: to - from });
      },
      tree: () => this.app.go("tree", { path: String(call?.path ?? 0) }),
    });
  }

  /**
   * @param {number} i
   * @param {Mark[]} marks
   */
  setMarks(i, marks) {
    this.marks = [[], []];
    this.marks[i] = marks;
    this.view.list.forEach((p, k) => p.update(p.window, { ...p.show, marks: this.marks[k] }));
  }

  /**
   * Goes to the next or previous wait of the selected one, or to the longest one.
   * @param {1 | -1} direction
   */
  async step(direction) {
    const i = this.view.active();
    const run = this.view.list[i].run.index;
    const parts = (this.app.params.sel ?? "").split(":");
    try {
      if (parts[0] === "wait") {
        const answer = await api.wait({ run, state: Number(parts[1]) });
        const ref = direction > 0 ? answer.next : answer.previous;
        if (ref) this.select(`wait:${ref.state}`, i, ref);
        else this.app.note(direction > 0 ? "No later wait of this kind in this row." : "No earlier wait of this kind in this row.");
        return;
      }
      const [longest] = (await api.largest({ run, largest: 1 })).states;
      if (longest) this.select(`wait:${longest.state}`, i, longest);
      else this.app.note("No rank waits in this run.");
    } catch (error) {
      this.app.failed(error);
    }
  }
}
