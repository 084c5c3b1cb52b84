// Small helpers to build pages. Text from traces goes through textContent only.

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * Makes an element. Props that start with "on" are listeners, "class" and "text" are shorthands,
 * everything else is an attribute; true is an empty attribute, false and undefined are left out.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, any>} [props]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function el(tag, props = {}, ...children) {
  const e = document.createElement(tag);
  setProps(e, props);
  e.append(...nodes(children));
  return e;
}

/**
 * Makes an SVG element.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, any>} [props]
 * @param {...Child} children
 * @returns {SVGElementTagNameMap[K]}
 */
export function svg(tag, props = {}, ...children) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  setProps(e, props);
  e.append(...nodes(children));
  return e;
}

/**
 * @param {Element} e
 * @param {Record<string, any>} props
 */
function setProps(e, props) {
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === false || value === null) continue;
    if (name === "text") e.textContent = String(value);
    else if (name === "class") e.setAttribute("class", value);
    else if (name.startsWith("on") && typeof value === "function") e.addEventListener(name.slice(2), value);
    else e.setAttribute(name, value === true ? "" : String(value));
  }
}

/**
 * @param {Child[]} children
 * @returns {(Node | string)[]}
 */
function nodes(children) {
  /** @type {(Node | string)[]} */
  const list = [];
  for (const c of children) {
    if (c === null || c === undefined || c === false) continue;
    list.push(typeof c === "number" ? String(c) : c);
  }
  return list;
}

/**
 * The element with an id, which must be in the page.
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} type
 * @returns {T}
 */
export function byId(id, type) {
  const e = document.getElementById(id);
  if (!(e instanceof type)) throw new Error(`the page has no ${id}`);
  return e;
}

/**
 * The drawing context of a canvas.
 * @param {HTMLCanvasElement} canvas
 * @returns {CanvasRenderingContext2D}
 */
export function context2d(canvas) {
  const ctx = canvas.getContext("2d");
  if (!ctx) throw new Error("this browser has no 2-D canvas");
  return ctx;
}

/** @type {WeakMap<HTMLCanvasElement, () => void>} how canvases are drawn */
const drawings = new WeakMap();
/** @type {{canvas: HTMLCanvasElement, ctx: CanvasRenderingContext2D} | null} a canvas that is being drawn elsewhere */
let elsewhere = null;

/**
 * Says how a canvas is drawn, so that it can be drawn elsewhere, too. What draws it must get its context from fitCanvas.
 * @param {HTMLCanvasElement} canvas
 * @param {() => void} draw
 */
export function drawnBy(canvas, draw) {
  drawings.set(canvas, draw);
}

/**
 * Draws what a canvas shows in another context, if it is known how.
 * @param {HTMLCanvasElement} canvas
 * @param {CanvasRenderingContext2D} ctx
 */
export function redrawn(canvas, ctx) {
  const draw = drawings.get(canvas);
  if (!draw) return false;
  elsewhere = { canvas, ctx };
  try {
    draw();
  } finally {
    elsewhere = null;
  }
  return true;
}

let sharpness = 0; // pixels of a canvas for one of the page; 0: those of the screen

/**
 * Draws all canvases again, at once.
 * @param {number} ratio pixels of a canvas for one of the page; 0: those of the screen
 */
export function redrawAll(ratio) {
  sharpness = ratio;
  document.querySelectorAll("canvas").forEach((c) => drawings.get(c)?.());
}

/**
 * Gives a canvas the size of its box, in device pixels, and a context that draws in CSS pixels.
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {number} height
 * @returns {CanvasRenderingContext2D}
 */
export function fitCanvas(canvas, width, height) {
  if (elsewhere?.canvas === canvas) return elsewhere.ctx;
  const ratio = sharpness || window.devicePixelRatio || 1;
  const w = Math.max(1, Math.round(width * ratio));
  const h = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const ctx = context2d(canvas);
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  return ctx;
}

/**
 * A row of buttons of which one is pressed.
 * @param {string} label
 * @param {[string, string][]} options value and text
 * @param {string} value
 * @param {(value: string) => void} change
 * @returns {HTMLElement}
 */
export function segmented(label, options, value, change) {
  return el("div", { class: "segmented", role: "group", "aria-label": label },
    ...options.map(([v, text]) => el("button", {
      type: "button", text, "data-value": v, "aria-pressed": String(v === value),
      onclick: () => change(v),
    })));
}

/**
 * A labelled choice.
 * @param {string} label
 * @param {[string, string][]} options value and text
 * @param {string} value
 * @param {(value: string) => void} change
 * @param {string} [name]
 * @returns {HTMLElement}
 */
export function choice(label, options, value, change, name) {
  const select = el("select", { name }, ...options.map(([v, text]) =>
    el("option", { value: v, text, selected: v === value })));
  select.addEventListener("change", () => change(select.value));
  return el("label", { class: "choice" }, el("span", { text: label }), select);
}

/**
 * Fills an element again. A control that had the focus keeps it if there is one like it again: keyboard users go on
 * where they were.
 * @param {Element} root
 * @param {...(Node | string)} children
 */
export function refill(root, ...children) {
  const focused = root.contains(document.activeElement) ? document.activeElement : null;
  const key = focused && keyOf(focused);
  const at = focused ? alike(root, focused.tagName, key).indexOf(focused) : -1;
  root.replaceChildren(...children);
  if (!focused || focused === root || focused.isConnected) return;
  const again = alike(root, focused.tagName, key);
  /** @type {HTMLElement | undefined} */ (again[at] ?? again[0])?.focus({ preventScroll: true });
}

/**
 * @param {Element} root
 * @param {string} tag
 * @param {string | null} key
 */
function alike(root, tag, key) {
  return [...root.querySelectorAll(tag)].filter((e) => keyOf(e) === key && !e.hasAttribute("disabled"));
}

/** @param {Element} e by what a control is known */
function keyOf(e) {
  for (const name of ["data-path", "data-value", "name", "aria-label"]) {
    if (e.hasAttribute(name)) return `${name} ${e.getAttribute(name)}`;
  }
  return e.textContent;
}

/**
 * A message in place of a view: nothing there, or something went wrong.
 * @param {string} title
 * @param {string} text
 * @param {...Child} more
 */
export function notice(title, text, ...more) {
  return el("div", { class: "notice" }, el("h2", { text: title }), el("p", { text }), ...more);
}

/**
 * A call path that may be broken into lines after its slashes.
 * @param {string} text
 * @returns {DocumentFragment}
 */
export function breakable(text) {
  const fragment = document.createDocumentFragment();
  text.split("/").forEach((part, i, all) => {
    fragment.append(i < all.length - 1 ? `${part}/` : part);
    if (i < all.length - 1) fragment.append(document.createElement("wbr"));
  });
  return fragment;
}
