// Light and dark: what the system prefers, unless the user chose.

const KEY = "slackline-theme";

/** @typedef {"light" | "dark"} Theme */

/** What the system prefers. Chromium forgets the event of a change if the list that listens was read before it: this one only answers. */
const preferred = window.matchMedia("(prefers-color-scheme: dark)");

let paper = false; // the page is being printed

/** @type {Set<() => void>} */
const listeners = new Set();

/** @returns {string | null} */
function chosen() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null; // storage may be forbidden
  }
}

/** @returns {Theme} */
export function theme() {
  if (paper) return "light";
  const c = chosen();
  if (c === "light" || c === "dark") return c;
  return preferred.matches ? "dark" : "light";
}

function apply() {
  document.documentElement.dataset.theme = theme();
  for (const f of listeners) f();
}

/** Turns light into dark and back. What the system prefers anyway is not kept as a choice. */
export function toggleTheme() {
  const next = theme() === "dark" ? "light" : "dark";
  try {
    if (next === (preferred.matches ? "dark" : "light")) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, next);
  } catch {
    document.documentElement.dataset.theme = next;
  }
  apply();
}

/**
 * Makes the page light for printing, whatever was chosen.
 * @param {boolean} on
 */
export function onPaper(on) {
  paper = on;
  apply();
}

/**
 * Calls f whenever the theme changes, until the returned function is called.
 * @param {() => void} f
 * @returns {() => void}
 */
export function onTheme(f) {
  listeners.add(f);
  return () => listeners.delete(f);
}

window.matchMedia(preferred.media).addEventListener("change", apply);
apply();
