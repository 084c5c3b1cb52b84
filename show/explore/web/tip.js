// The tip under the mouse: one for the whole page.

import { el } from "./dom.js";

/** @type {HTMLElement | null} */
let box = null;

/**
 * Shows lines of text beside a point of the window. The first line is the heading; empty ones are left out.
 * @param {number} x
 * @param {number} y
 * @param {(string | null | undefined)[]} lines
 */
export function showTip(x, y, lines) {
  if (!box) {
    box = el("div", { class: "tip", role: "tooltip" });
    document.body.append(box);
  }
  const texts = lines.filter((l) => l);
  box.replaceChildren(...texts.map((text, i) => (i === 0 ? el("b", { text }) : el("span", { class: "muted", text }))));
  box.hidden = texts.length === 0;
  const margin = 8;
  const { width, height } = box.getBoundingClientRect();
  let left = x + 14;
  if (left + width > window.innerWidth - margin) left = x - width - 14;
  let top = y + 16;
  if (top + height > window.innerHeight - margin) top = y - height - 12;
  box.style.translate = `${Math.max(margin, left)}px ${Math.max(margin, top)}px`;
}

export function hideTip() {
  if (box) box.hidden = true;
}
