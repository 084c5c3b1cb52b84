// The list of changes that pay, as the verb advise gives it.

import * as api from "./api.js";
import { el, refill } from "./dom.js";
import { duration, percent, plural } from "./format.js";
import { Loading } from "./loading.js";

/** @type {string[]} */
export const KEYS = [];

export class AdviceView {
  /**
   * @param {import("./app.js").App} app
   * @param {HTMLElement} root
   */
  constructor(app, root) {
    this.app = app;
    this.root = root;
    this.loading = new Loading(root);
    this.key = "";
  }

  close() {
    this.loading.close();
  }

  update() {
    const { app } = this;
    const key = `${app.run.index} ${app.run.generation}`;
    if (key === this.key) return;
    this.key = key;
    void this.loading.wait(api.advice({ run: app.run.index }), (data) => this.draw(data), "Trying changes …", "advice");
  }

  /** @param {import("./types.js").Advice} data */
  draw(data) {
    const t = data.together;
    refill(this.root, el("div", { class: "page" },
      el("header", {}, el("h1", { text: "What to change first" }), el("p", { class: "lead",
        text: `The simulated run takes ${duration(data.run_time)} on ${data.machine}. Every change was tried by simulating the run again; those that gain ${percent(data.noise)} or more are ranked.` })),
      data.nothing ? el("p", { class: "verdict", text: data.nothing }) : changes(data.changes),
      t ? el("p", { text: `Together, ${t.changes.join(", ")} save ${percent(t.gain)}: ${duration(t.run_time)} instead of ${duration(data.run_time)}. The sum of their gains is ${percent(t.sum)}.` }) : null,
      el("section", { class: "stack tight" }, el("h2", { text: "What no change of a kind can exceed" }),
        table(["ceiling", "run time", "gain"], data.ceilings.map((c) => [c.name, duration(c.run_time), percent(c.gain)]))),
      data.upgrades.length > 0 ? el("section", { class: "stack tight" }, el("h2", { text: "With faster code or a faster network" }), changes(data.upgrades)) : null,
      data.left > 0 ? el("p", { class: "muted small", text: `${plural(data.left, "change")} that promise less were not tried.` }) : null));
  }
}

/** @param {import("./types.js").AdviceEntry[]} list */
function changes(list) {
  return el("ol", { class: "stack advice" }, ...list.map((a) => el("li", {},
    el("p", {}, el("b", { text: `${percent(a.gain)}: ` }), a.sentence),
    el("code", { class: "mono small muted long", text: a.command }))));
}

/**
 * @param {string[]} head
 * @param {string[][]} rows
 */
function table(head, rows) {
  return el("div", { class: "scroller" }, el("table", { class: "plain" },
    el("thead", {}, el("tr", {}, ...head.map((text) => el("th", { scope: "col", text })))),
    el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map((text, i) => el("td", { class: i > 0 ? "number" : "", text })))))));
}
