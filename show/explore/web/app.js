// The frame of the explorer: which run and which view are shown, and what of it the address holds.

import * as api from "./api.js";
import { Address, print } from "./address.js";
import { byId, el, notice, refill } from "./dom.js";
import { duration, exact } from "./format.js";
import { setKeys, showHelp } from "./keys.js";
import { KEYS as notesKeys, openNotes } from "./notes.js";
import "./paper.js";
import { Panel } from "./panel.js";
import { openSearch } from "./search.js";
import { KEYS as statisticsKeys, Statistics } from "./statistics.js";
import { takeAway } from "./takeaway.js";
import { toggleTheme } from "./theme.js";
import { hideTip } from "./tip.js";
import { VIEWS } from "./views.js";

/** @typedef {import("./types.js").Run} Run */
/** @typedef {import("./address.js").Params} Params */

/**
 * @typedef {{update: () => void, close: () => void, keys?: import("./keys.js").KeyMap}} View
 * A view draws the state of app.params, whenever update is called.
 */

/** What the address of every view keeps. */
const selectionKeys = [...statisticsKeys, ...notesKeys];
const WATCH_FAST = 400; // milliseconds between looks at the runs while an analysis is under way
const WATCH_SLOW = 5000;

export class App {
  constructor() {
    /** @type {Run[]} */
    this.runs = [];
    /** @type {Params} everything that was chosen, also in views that are not shown */
    this.params = {};
    this.viewName = "";
    /** @type {View | null} */
    this.view = null;
    this.viewFor = "";
    this.main = byId("main", HTMLElement);
    this.panel = new Panel(byId("panel", HTMLElement), () => this.set({ sel: "", at: "", in: "" }));
    this.statistics = new Statistics(this, byId("statistics", HTMLElement));
    this.address = new Address((place) => this.arrive(place));
    this.toastTimer = 0;
    this.look = () => {}; // ends the pause between looks at the runs
    this.gone = false; // the server does not answer
    this.seen = ""; // problem that the user has closed
  }

  /** @returns {Run} */
  get run() {
    return this.runs.find((r) => String(r.index) === (this.params.run ?? "")) ?? this.runs[0];
  }

  async start() {
    byId("copy", HTMLButtonElement).addEventListener("click", () => void this.copy());
    byId("theme", HTMLButtonElement).addEventListener("click", toggleTheme);
    byId("help", HTMLButtonElement).addEventListener("click", showHelp);
    byId("take-button", HTMLButtonElement).addEventListener("click", () => takeAway(this));
    byId("notes-button", HTMLButtonElement).addEventListener("click", () => openNotes(this));
    byId("search-button", HTMLButtonElement).addEventListener("click", () => openSearch(this));
    byId("statistics-button", HTMLButtonElement).addEventListener("click", () => this.set({ stat: this.params.stat === "1" ? "" : "1" }));
    window.addEventListener("resize", () => this.foldTabs());
    document.querySelector(".skip")?.addEventListener("click", (e) => {
      e.preventDefault();
      this.main.focus();
    });
    try {
      this.setRuns((await api.runs()).runs);
    } catch (error) {
      this.broken(error);
      return;
    }
    if (this.runs.length === 0) {
      this.main.replaceChildren(notice("Nothing is open", "Start slackline explore with a trace, a schedule or a dataset."));
      return;
    }
    this.arrive(this.address.place);
    void this.watch();
  }

  /** @param {Run[]} runs */
  setRuns(runs) {
    this.runs = runs;
    api.setRuns(runs);
  }

  /**
   * Shows the state of an address; keys that it does not name have their default.
   * @param {import("./address.js").Place} place
   */
  arrive(place) {
    if (this.runs.length === 0) return;
    this.viewName = VIEWS.some((v) => v.name === place.view) ? place.view : "";
    const kept = { ...this.params };
    const keys = VIEWS.find((v) => v.name === this.viewName)?.keys ?? [];
    for (const key of ["run", ...selectionKeys, ...keys]) delete kept[key];
    this.params = { ...kept, ...place.params };
    if (!this.viewName) {
      this.viewName = this.run.kind === "dataset" ? "scaling" : "overview";
      this.address.go(this.place(), "replace");
    }
    this.show();
  }

  /** What the address of the view is. */
  place() {
    const keys = VIEWS.find((v) => v.name === this.viewName)?.keys ?? [];
    /** @type {Params} */
    const params = {};
    for (const key of [...keys, ...selectionKeys, ...(this.runs.length > 1 ? ["run"] : [])]) {
      if (this.params[key]) params[key] = this.params[key];
    }
    return { view: this.viewName, params };
  }

  /**
   * Goes to an address, as if it had been typed.
   * @param {import("./address.js").Place} place
   */
  visit(place) {
    this.address.go(place, "");
    this.arrive(place);
  }

  /**
   * Changes what is shown. See Address.go for gestures.
   * @param {Params} patch
   * @param {string} [gesture]
   */
  set(patch, gesture = "") {
    this.params = { ...this.params, ...patch };
    this.address.go(this.place(), gesture);
    this.show();
  }

  /**
   * Goes to another view.
   * @param {string} view
   * @param {Params} [patch]
   */
  go(view, patch = {}) {
    this.viewName = view;
    this.set(patch);
  }

  /**
   * Shows a rank's row in the timeline.
   * @param {number} rank
   */
  goToRank(rank) {
    const { run } = this;
    const rows = run.locations === run.ranks ? `${Math.max(0, rank - 3)}-${Math.min(run.ranks, rank + 4)}` : "";
    this.go("timeline", { rows, ranks: String(rank), others: run.order ? "" : "1", stat: "1" });
  }

  show() {
    hideTip();
    const spec = VIEWS.find((v) => v.name === this.viewName) ?? VIEWS[0];
    const fits = this.runs.find((r) => r.index === this.run.index && spec.fits(r)) ?? this.runs.find(spec.fits);
    if (fits && fits.index !== this.run.index) this.params.run = String(fits.index);
    const key = `${spec.name} ${this.run.index} ${this.run.generation}`;
    if (key !== this.viewFor) {
      this.view?.close();
      this.panel.hide();
      this.main.scrollTop = 0;
      this.viewFor = key;
      this.view = spec.create(this, this.main);
      this.main.dataset.view = spec.name;
    }
    this.drawFrame();
    this.view?.update();
    this.statistics.update();
    setKeys({ ...this.commonKeys(), ...this.view?.keys });
  }

  /** @returns {import("./keys.js").KeyMap} */
  commonKeys() {
    /** @type {import("./keys.js").KeyMap} */
    const map = {
      t: () => toggleTheme(),
      y: () => void this.copy(),
      "/": () => openSearch(this),
      x: () => takeAway(this),
      b: () => openNotes(this),
      s: () => this.set({ stat: this.params.stat === "1" ? "" : "1" }),
      Escape: () => this.panel.closed(),
    };
    this.tabs().forEach((v, i) => {
      map[String(i + 1)] = () => this.go(v.name);
    });
    return map;
  }

  tabs() {
    return VIEWS.filter((v) => this.runs.some(v.fits));
  }

  /** The tabs and the choice of the run. */
  drawFrame() {
    const spec = VIEWS.find((v) => v.name === this.viewName);
    document.title = `${spec?.title ?? "slackline"} · ${this.run.name} · slackline`;
    byId("paper", HTMLElement).textContent = [document.title, ...this.selection()].join(" · ");
    this.drawTabs();
    this.drawRuns(spec);
    this.foldTabs();
    this.drawProblem();
  }

  /** What of the run is shown, for paper: there are no controls that say it. */
  selection() {
    const { run } = this;
    const { params } = this.place();
    const other = this.runs.find((r) => String(r.index) === params.other);
    return [
      other ? `compared with ${other.name}` : "", params.from ? `${exact(Number(params.from))} to ${exact(Number(params.to || run.length))}` : "",
      params.ranks ? `ranks ${params.ranks}` : "",
    ].filter((text) => text);
  }

  /** Why the run could not be read again, until it is, or until the user has seen it. */
  drawProblem() {
    const { run } = this;
    const bar = byId("problem", HTMLElement);
    const text = run.problem ? `${run.name}: ${run.problem}` : "";
    bar.hidden = !text || text === this.seen;
    if (bar.hidden || bar.dataset.text === text) return;
    bar.dataset.text = text;
    refill(bar, el("p", { text }), el("button", { type: "button", text: "Try again", onclick: () => void this.reload() }),
      el("button", { type: "button", class: "close", "aria-label": "Close", text: "✕", onclick: () => {
        this.seen = text;
        this.drawProblem();
      } }));
  }

  /**
   * The end of a run's name that no other run has: runs of one directory differ there.
   * @param {Run} run
   */
  shortName(run) {
    for (let at = run.name.lastIndexOf("/"); at > 0; at = run.name.lastIndexOf("/", at - 1)) {
      const end = run.name.slice(at);
      if (this.runs.every((r) => r === run || !r.name.endsWith(end) && r.name !== end.slice(1))) return end.slice(1);
    }
    return run.name;
  }

  /** @param {import("./views.js").Spec | undefined} spec */
  drawRuns(spec) {
    const runs = byId("runs", HTMLElement);
    const key = JSON.stringify([this.viewName, this.run.index, this.params.other, this.runs.map((r) => [r.index, r.name, r.changed, r.whole, r.can_whole, r.reloading])]);
    if (runs.dataset.key === key) return;
    runs.dataset.key = key;
    const select = el("select", { "aria-label": "Run", title: this.run.name }, ...this.runs.map((r) =>
      el("option", { value: r.index, text: this.shortName(r), selected: r.index === this.run.index })));
    select.addEventListener("change", () => {
      const next = this.runs[select.selectedIndex];
      if (!spec?.fits(next)) this.viewName = next.kind === "dataset" ? "scaling" : "overview";
      this.set({ run: select.value, sel: "", at: "", from: "", to: "", rows: "", ranks: "", path: "", other: "", before: "", after: "" });
    });
    const changed = this.run.reloading ? el("span", { class: "note reading", role: "status", text: "reading again …" }) : this.run.changed
      ? el("button", { type: "button", text: "Read again", title: "The files of this run have changed", onclick: () => void this.reload() }) : "";
    refill(runs, this.runs.length > 1 ? select : el("span", { class: "run-name", title: this.run.name, text: this.run.name }),
      changed, this.wholeSwitch());
    refill(byId("beside", HTMLElement), this.beside(spec));
  }

  /** Whether the start and the end of MPI count; the same choice as --whole of the command line. */
  wholeSwitch() {
    const { run } = this;
    if (!run.can_whole) return "";
    const box = el("input", { type: "checkbox", name: "whole", checked: run.whole, disabled: run.reloading });
    box.addEventListener("change", () => void this.reload(box.checked));
    const left = `MPI start (${duration(run.left_out_before)}) and end (${duration(run.left_out_after)}) are left out, as everywhere without --whole`;
    return el("label", { class: "whole", title: run.whole ? "MPI start and end count, as with --whole" : left }, box, el("span", { text: "MPI start and end" }));
  }

  /**
   * The choice of a run to compare with. Where a view shows one run only, its place stays empty.
   * @param {import("./views.js").Spec | undefined} spec
   */
  beside(spec) {
    const others = this.runs.filter((r) => (r.kind === "dataset") === (this.run.kind === "dataset") && r.index !== this.run.index);
    if (others.length === 0) return "";
    const select = el("select", { "aria-label": "Compare with", name: "other" }, el("option", { value: "", text: "compare …" }),
      ...others.map((r) => el("option", { value: r.index, text: this.shortName(r), selected: String(r.index) === this.params.other })));
    select.addEventListener("change", () => this.set({ other: select.value, before: "", after: "", in: "", sel: "", at: "" }));
    select.classList.toggle("absent", !spec?.keys.includes("other"));
    return select;
  }

  drawTabs() {
    const tabs = byId("tabs", HTMLElement);
    const key = `${this.viewName} ${this.run.index} ${this.tabs().length}`;
    if (tabs.dataset.key === key) return;
    tabs.dataset.key = key;
    const had = document.activeElement?.getAttribute("data-view");
    tabs.replaceChildren(...this.tabs().map((v) => el("a", {
      href: print({ view: v.name, params: this.runs.length > 1 ? { run: String(this.run.index) } : {} }), text: v.title,
      "data-view": v.name, "aria-current": v.name === this.viewName ? "page" : undefined,
      onclick: (/** @type {MouseEvent} */ e) => {
        if (e.ctrlKey || e.metaKey || e.shiftKey) return;
        e.preventDefault();
        this.go(v.name);
      },
    })));
    if (had) /** @type {HTMLElement | null} */ (tabs.querySelector(`[data-view="${had}"]`))?.focus();
  }

  /** Gives the tabs rows of their own if they do not all fit beside the rest of the bar. */
  foldTabs() {
    const tabs = byId("tabs", HTMLElement);
    const bar = byId("top", HTMLElement);
    bar.classList.remove("rows");
    bar.classList.toggle("rows", tabs.scrollWidth > tabs.clientWidth);
  }

  /** @param {boolean} [whole] with the start and the end of MPI */
  async reload(whole = this.run.whole) {
    try {
      this.seen = "";
      this.renew((await api.reload(this.run.index, whole)).runs);
    } catch (error) {
      this.failed(error);
    }
  }

  /** Watches for analyses that end and for runs that change on disk. */
  async watch() {
    for (;;) {
      const busy = this.runs.some((r) => r.analysis === "running" || r.reloading);
      await new Promise((done) => {
        setTimeout(done, busy ? WATCH_FAST : WATCH_SLOW);
        this.look = () => done(undefined);
        window.onfocus = this.look; // the user comes back: is there anything new?
      });
      if (document.hidden) continue;
      try {
        this.renew((await api.runs()).runs);
      } catch (error) {
        if (!this.gone) this.failed(error);
        this.gone = true;
        continue;
      }
      this.gone = false;
    }
  }

  /**
   * Shows runs as they are now. Answers may come in another order than they were given: one from before a run was read again is void.
   * @param {Run[]} runs
   */
  renew(runs) {
    const shown = (/** @type {Run} */ r) => this.runs.find((o) => o.index === r.index);
    if (runs.length === 0 || runs.some((r) => r.generation < (shown(r)?.generation ?? 0)) || JSON.stringify(runs) === JSON.stringify(this.runs)) return;
    const news = (/** @type {Run[]} */ list) => list.map((r) => r.generation).join();
    if (news(runs) !== news(this.runs)) api.forget();
    this.shift(runs);
    const failed = runs.find((r) => r.problem && r.index !== this.run.index && r.problem !== shown(r)?.problem);
    if (failed) this.note(`${failed.name}: ${failed.problem}`);
    this.setRuns(runs);
    this.show();
    this.look(); // sooner, if something is under way
  }

  /**
   * Keeps what is looked at in its place if the shown run starts at another time than before.
   * @param {Run[]} runs as they are now
   */
  shift(runs) {
    const now = runs.find((r) => r.index === this.run.index);
    const by = now ? this.run.start - now.start : 0;
    if (!now || by === 0 || !this.params.from) return;
    const moved = (/** @type {string} */ at) => String(Math.min(Math.max(0, Number(at) + by), now.length));
    this.params = { ...this.params, from: moved(this.params.from), to: moved(this.params.to ?? "0"), sel: "", at: "" };
    this.address.go(this.place(), "replace");
  }

  /**
   * Says something for a moment.
   * @param {string} text
   */
  note(text) {
    const toast = byId("toast", HTMLElement);
    toast.textContent = text;
    toast.classList.add("shown");
    window.clearTimeout(this.toastTimer);
    this.toastTimer = window.setTimeout(() => toast.classList.remove("shown"), 2600);
  }

  /** @param {unknown} error something that was asked for did not come; what is shown stays */
  failed(error) {
    if (api.isAbort(error)) return;
    this.note(error instanceof Error ? error.message : String(error));
  }

  /** @param {unknown} error without which nothing can be shown */
  broken(error) {
    const text = error instanceof Error ? error.message : String(error);
    const forbidden = error instanceof api.Refusal && error.code === "forbidden";
    this.main.replaceChildren(notice(forbidden ? "The token is missing" : "The explorer cannot show anything", text,
      el("button", { type: "button", text: "Try again", onclick: () => location.reload() })));
  }

  async copy() {
    this.address.flush();
    try {
      await navigator.clipboard.writeText(location.href);
      this.note("The address of this view is copied.");
    } catch {
      this.note("The browser does not let pages copy; take the address from its address bar.");
    }
  }
}

const app = new App();
void app.start();
