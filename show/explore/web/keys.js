// Keys, and the page that lists them.

import { el, byId } from "./dom.js";

/** @typedef {Record<string, (event: KeyboardEvent) => void>} KeyMap keys by name, "Shift+ArrowLeft" with modifiers */

/** @type {KeyMap} */
let current = {};

/**
 * Sets what the keys do in the view that is shown.
 * @param {KeyMap} map
 */
export function setKeys(map) {
  current = map;
}

/** @param {KeyboardEvent} event */
function nameOf(event) {
  const shift = event.shiftKey && event.key.length > 1 ? "Shift+" : "";
  return `${event.altKey ? "Alt+" : ""}${shift}${event.key}`;
}

/**
 * Whether a key belongs to the element that has the focus.
 * @param {EventTarget | null} target
 * @param {string} key
 */
function taken(target, key) {
  if (!(target instanceof HTMLElement)) return false;
  if (target.closest("dialog")?.open) return true; // one that was just closed may have the focus for a moment
  if (target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return true;
  if (target instanceof HTMLInputElement) return target.type !== "checkbox" || key === " ";
  if (target.closest("[data-own-keys]")) return key.startsWith("Arrow") || key === "Home" || key === "End";
  return (key === "Enter" || key === " ") && target.matches("button, a, summary, [tabindex]");
}

document.addEventListener("keydown", (event) => {
  const { target } = event;
  if (event.key === "Escape" && target instanceof HTMLInputElement && target.type !== "checkbox" && !target.closest("dialog")) {
    target.blur(); // the keys belong to the view again
    return;
  }
  if (event.ctrlKey || event.metaKey || taken(event.target, event.key)) return;
  const act = current[nameOf(event)];
  if (act) {
    event.preventDefault();
    act(event);
  } else if (event.key === "?") {
    event.preventDefault();
    showHelp();
  }
});

/** @type {[string, [string[], string][]][]} */
const HELP = [
  ["Timeline", [
    [["wheel"], "zoom in time at the mouse (trackpads: pinch)"],
    [["Shift", "wheel"], "move in time"],
    [["Alt", "wheel"], "zoom the rows"],
    [["two fingers"], "zoom in time, above each other the rows"],
    [["drag"], "move in time and rows"],
    [["Shift", "drag"], "zoom to the box"],
    [["click"], "what happened here; on a wait, why"],
    [["double click"], "zoom in"],
    [["←", "→"], "move in time"],
    [["↑", "↓"], "move the rows"],
    [["+", "−"], "zoom in time"],
    [["Shift", "↑"], "fewer rows, taller"],
    [["Shift", "↓"], "more rows, flatter"],
    [["Home"], "the whole run"],
    [["]", "["], "next, previous wait"],
    [[".", ","], "along the chain of causes of the wait, and back"],
    [["n", "N"], "next, previous call of the function that was searched"],
    [["e"], "expand the row of what is selected to its call stack, or close it; a click on its name, too"],
    [["c"], "next way to color"],
    [["p"], "critical path on and off"],
    [["m"], "messages on and off"],
  ]],
  ["Everywhere", [
    [["1"], "… the views in the order of the tabs"],
    [["/"], "search functions, ranks, hosts, communicators"],
    [["s"], "statistics of the time and the ranks that are shown"],
    [["b"], "notes and bookmarks"],
    [["x"], "take the view away: SVG, PNG, print"],
    [["t"], "light or dark"],
    [["y"], "copy the address of the view"],
    [["Esc"], "leave a field; close the panel, end the selection"],
    [["?"], "this page"],
  ]],
];

export function showHelp() {
  const dialog = byId("keys", HTMLDialogElement);
  dialog.replaceChildren(
    el("h2", { id: "keys-title", text: "Keys and mouse" }),
    ...HELP.flatMap(([title, list]) => [
      el("h3", { class: "keys-part", text: title }),
      el("dl", { class: "keys" }, ...list.flatMap(([keys, text]) => [
        el("dt", {}, ...keys.map((k) => el("kbd", { text: k }))), el("dd", { text })])),
    ]),
    el("form", { method: "dialog", class: "dialog-end" }, el("button", { text: "Close" })));
  dialog.showModal();
}
