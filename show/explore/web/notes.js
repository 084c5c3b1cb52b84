// Notes and bookmarks: a text and the view that it is about. The address of every view keeps all of them.

import { parse, print } from "./address.js";
import { byId, el } from "./dom.js";

/** @typedef {{text: string, place: string}} Note place is the address of a view, without notes */

/** What of the notes the address of every view keeps. */
export const KEYS = ["notes"];

const LONGEST = 300; // letters of a note

/**
 * Reads notes from the address; what cannot be read is left out.
 * @param {string | undefined} text
 * @returns {Note[]}
 */
export function notesOf(text) {
  try {
    const list = JSON.parse(text || "[]");
    return Array.isArray(list) ? list.filter((n) => Array.isArray(n) && typeof n[0] === "string" && typeof n[1] === "string").map(([text, place]) => ({ text, place })) : [];
  } catch {
    return [];
  }
}

/** @param {Note[]} list */
export function printed(list) {
  return list.length === 0 ? "" : JSON.stringify(list.map((n) => [n.text, n.place]));
}

/**
 * Where a note is in the timeline of a run: the range of time that it is about.
 * @param {Note[]} list
 * @param {number} run
 * @returns {{at: number, label: string}[]}
 */
export function flags(list, run) {
  return list.flatMap((n) => {
    const { view, params } = parse(n.place);
    if (view !== "timeline" || Number(params.run ?? 0) !== run || !params.from || !params.to) return [];
    const call = /^call:\d+:(\d+)/.exec(params.sel ?? "");
    return [{ at: call ? Number(call[1]) : (Number(params.from) + Number(params.to)) / 2, label: `⚑ ${n.text}` }];
  });
}

/**
 * Shows the notes, and takes new ones.
 * @param {import("./app.js").App} app
 */
export function openNotes(app) {
  const dialog = byId("notes", HTMLDialogElement);
  const list = notesOf(app.params.notes);
  const set = (/** @type {Note[]} */ next) => {
    app.set({ notes: printed(next) });
    openNotes(app);
  };
  const here = app.place();
  delete here.params.notes;
  const text = el("input", { type: "text", name: "note", maxlength: LONGEST, "aria-label": "Note about this view", placeholder: "about this view", autocomplete: "off" });
  const add = () => set([...list, { text: text.value.trim() || document.title.split(" · ")[0], place: print(here) }]);
  text.addEventListener("keydown", (e) => {
    if (e.key !== "Enter") return;
    e.preventDefault();
    add();
  });
  const items = list.map((n, i) => el("li", {},
    el("button", { type: "button", class: "link long", text: n.text, title: "Go to the view that it is about", onclick: () => {
      dialog.close();
      const { view, params } = parse(n.place);
      app.visit({ view, params: { ...params, notes: printed(list) } });
    } }),
    el("button", { type: "button", class: "icon", text: "×", "aria-label": `Delete the note ${n.text}`, onclick: () => set(list.filter((_, k) => k !== i)) })));
  dialog.replaceChildren(el("h2", { id: "notes-title", text: "Notes and bookmarks" }),
    el("p", { class: "muted small", text: "The address of every view keeps them: copy it (y), or bookmark it in the browser. In the timeline they are flags." }),
    el("ul", { class: "notes" }, ...items),
    el("div", { class: "row" }, text, el("button", { type: "button", text: "Add", onclick: add })),
    el("form", { method: "dialog", class: "dialog-end" }, el("button", { text: "Close" })));
  if (!dialog.open) dialog.showModal();
  text.focus();
}
