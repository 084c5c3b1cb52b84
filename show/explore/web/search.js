// Search: functions, call paths, ranks, hosts and communicators by name.

import * as api from "./api.js";
import { byId, el } from "./dom.js";
import { count } from "./format.js";
import { Rows } from "./timeline/rows.js";

/** @typedef {import("./types.js").Match} Match */

/**
 * Opens the search.
 * @param {import("./app.js").App} app
 */
export function openSearch(app) {
  if (app.run.kind === "dataset") return;
  const dialog = byId("search", HTMLDialogElement);
  const input = el("input", { type: "search", name: "search", "aria-label": "Search", placeholder: "function, call path, rank, host or communicator", autocomplete: "off" });
  const list = el("ul", { class: "matches", "aria-label": "Found" });
  let last = 0;
  const find = async () => {
    const mine = ++last;
    try {
      const answer = await api.search({ run: app.run.index, text: input.value });
      if (mine !== last) return;
      const items = answer.matches.map((m) => el("li", {}, el("button", { type: "button", onclick: () => {
        dialog.close();
        choose(app, m);
      } }, el("span", { class: "muted small", text: `${m.kind} ` }), el("span", { class: "mono", text: m.name }))));
      if (answer.more > 0) items.push(el("li", { class: "muted small", text: `and ${count(answer.more)} more; type more letters` }));
      if (items.length === 0 && input.value.trim()) items.push(el("li", { class: "muted", text: "Nothing has this in its name." }));
      list.replaceChildren(...items);
    } catch (error) {
      app.failed(error);
    }
  };
  input.addEventListener("input", () => void find());
  dialog.onkeydown = (e) => {
    const buttons = [...list.querySelectorAll("button")];
    const at = buttons.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement));
    if (e.key === "ArrowDown") buttons[Math.min(at + 1, buttons.length - 1)]?.focus();
    else if (e.key === "ArrowUp") (at > 0 ? buttons[at - 1] : input).focus();
    else if (e.key === "Enter" && document.activeElement === input) buttons[0]?.click();
    else return;
    e.preventDefault();
  };
  dialog.replaceChildren(el("h2", { id: "search-title", text: "Search" }), input, list,
    el("form", { method: "dialog", class: "dialog-end" }, el("button", { text: "Close" })));
  dialog.showModal();
  input.focus();
}

/**
 * Goes to what was found: calls of a function are marked in the timeline, ranks are selected.
 * @param {import("./app.js").App} app
 * @param {Match} m
 */
function choose(app, m) {
  if (m.paths?.length) {
    app.go("timeline", { color: "path", mark: m.paths.join("."), sel: "", at: "" });
    void step(app, 1);
    return;
  }
  const one = /^\d+$/.test(m.ranks ?? "") && app.run.locations === app.run.ranks ? Number(m.ranks) : -1;
  app.go(app.viewName === "timeline" || one >= 0 ? "timeline" : app.viewName,
    { ranks: m.ranks ?? "", others: one >= 0 ? "1" : "", stat: "1", rows: one >= 0 ? `${Math.max(0, one - 3)}-${Math.min(app.run.ranks, one + 4)}` : "" });
}

/**
 * Goes to the next or previous call of what is marked.
 * @param {import("./app.js").App} app
 * @param {1 | -1} direction
 */
export async function step(app, direction) {
  const { params, run } = app;
  if (!params.mark || params.color !== "path") {
    app.note("Search a function first: press /.");
    return;
  }
  const [kind, location, time] = (params.sel ?? "").split(":");
  const here = kind === "call" ? { location: Number(location), time: Number(time) } : { location: -1, time: direction > 0 ? 0 : run.length };
  try {
    const o = await api.occurrence({ run: run.index, paths: params.mark.replaceAll(".", ","), ranks: params.ranks || undefined, ...here, back: direction > 0 ? 0 : 1 });
    if (o.location < 0) {
      app.note(o.count === 0 ? "No call of it in these ranks." : direction > 0 ? "This is the last call." : "This is the first call.");
      return;
    }
    const size = Math.max(1000, (o.leave - o.enter) * 4, Math.min(run.length, Number(params.to || run.length) - Number(params.from || 0)) / 2);
    const from = Math.max(0, Math.round((o.enter + o.leave - size) / 2));
    const rows = /^(\d+)-(\d+)$/.exec(params.rows ?? "");
    const hides = params.ranks && params.others !== "1"; // then rows count among those of the ranks
    const row = new Rows(run, null).row(o.location);
    const inside = !rows || hides || (row >= Number(rows[1]) && row < Number(rows[2]));
    app.set({ sel: `call:${o.location}:${o.enter}`, in: "", at: "", ...(size < run.length ? { from: String(from), to: String(Math.min(run.length, from + Math.round(size))) } : {}), ...(inside ? {} : { rows: "" }) });
    app.note(`Call ${count(o.number)} of ${count(o.count)}`);
  } catch (error) {
    app.failed(error);
  }
}
