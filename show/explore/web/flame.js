// The call tree as a flame graph: the width of a call path is its time with all that it calls.

import { el } from "./dom.js";
import { inUnit, percent } from "./format.js";
import { css } from "./palette.js";

const LEAST = 0.0015; // of the width: what is narrower is put together

/**
 * @param {import("./types.js").Tree} tree
 * @param {number} k metric
 * @param {Map<number, import("./types.js").TreeNode[]>} children
 * @param {number} selected path
 * @param {(n: import("./types.js").TreeNode) => import("./palette.js").Rgb} color
 * @param {(path: number) => void} select
 */
export function flameGraph(tree, k, children, selected, color, select) {
  const metric = tree.metrics[k];
  const total = Math.max(1, (children.get(-1) ?? [tree.nodes[0]]).reduce((sum, n) => sum + Math.max(0, n.inclusive[k]), 0));
  /** @type {HTMLElement[]} */
  const boxes = [];
  let deepest = 0;
  const place = (/** @type {import("./types.js").TreeNode} */ n, /** @type {number} */ left, /** @type {number} */ depth) => {
    deepest = Math.max(deepest, depth);
    const width = n.inclusive[k] / total;
    const share = percent(n.inclusive[k] / Math.max(1, metric.unit === "ps" ? tree.total : metric.total));
    const text = `${n.path === 0 ? "all" : n.name}: ${inUnit(n.inclusive[k], metric.unit)}, ${share}`;
    const box = el("button", { type: "button", class: "flame", title: text, "aria-label": text, "aria-pressed": String(n.path === selected), "data-path": n.path, onclick: () => select(n.path) },
      el("span", { text: n.path === 0 ? "all" : n.name }));
    box.style.left = `${100 * left}%`;
    box.style.width = `${100 * width}%`;
    box.style.top = `${depth * 22}px`;
    box.style.backgroundColor = css(color(n));
    boxes.push(box);
    let at = left;
    for (const child of (children.get(n.path) ?? []).filter((c) => c.inclusive[k] > 0).sort((a, b) => b.inclusive[k] - a.inclusive[k])) {
      if (child.inclusive[k] / total < LEAST) break;
      place(child, at, depth + 1);
      at += child.inclusive[k] / total;
    }
  };
  let left = 0;
  for (const root of children.get(-1) ?? [tree.nodes[0]]) {
    if (root.inclusive[k] <= 0) continue;
    place(root, left, 0);
    left += root.inclusive[k] / total;
  }
  const graph = el("div", { class: "flames", role: "group", "aria-label": `Flame graph of ${metric.title}` }, ...boxes);
  graph.style.height = `${(deepest + 1) * 22}px`;
  return el("div", { class: "scroller flame-scroller" }, graph,
    el("p", { class: "small muted", text: "The width of a function is its value with all that it calls; those narrower than a pixel are left out." }));
}
