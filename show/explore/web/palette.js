// Colors. Series take the colors of Okabe and Ito, which people with any kind of color vision can
// distinguish; heat maps have one ramp of rising darkness (rising brightness on a dark ground).

import { theme } from "./theme.js";

/** @typedef {[number, number, number]} Rgb */

/**
 * @param {string} hex
 * @returns {Rgb}
 */
export function rgb(hex) {
  const v = parseInt(hex.slice(1), 16);
  return [(v >> 16) & 255, (v >> 8) & 255, v & 255];
}

/**
 * @param {Rgb} c
 * @param {number} [alpha]
 */
export function css(c, alpha = 1) {
  return `rgb(${c[0]} ${c[1]} ${c[2]} / ${alpha})`;
}

/**
 * @param {Rgb} a
 * @param {Rgb} b
 * @param {number} share of b
 * @returns {Rgb}
 */
export function mix(a, b, share) {
  const part = (/** @type {0 | 1 | 2} */ i) => Math.round(a[i] + (b[i] - a[i]) * share);
  return [part(0), part(1), part(2)];
}

const LIGHT_SERIES = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8C6D00", "#7A5AA6", "#5A5A5A", "#3F9C35", "#B04A6A", "#2F8F9D"];
const DARK_SERIES = ["#56B4E9", "#E69F00", "#35B58B", "#CC79A7", "#F0E442", "#E0702D", "#8FA3D9", "#B58EDB", "#A6A6A6", "#8CCB5E", "#E58FA8", "#5CC4CF"];

/**
 * The color of the i-th series; they come round again.
 * @param {number} i
 * @returns {Rgb}
 */
export function series(i) {
  const list = theme() === "dark" ? DARK_SERIES : LIGHT_SERIES;
  return rgb(list[((i % list.length) + list.length) % list.length]);
}

const LIGHT_RAMP = ["#F4F1EA", "#F6C667", "#E0702D", "#A8321C", "#4A0F1E"].map(rgb);
const DARK_RAMP = ["#262C35", "#5B2A3C", "#B5482A", "#EE9A3A", "#FBF0B5"].map(rgb);

/**
 * The color of a value between 0 and 1 in a heat map.
 * @param {number} x
 * @returns {Rgb}
 */
export function heat(x) {
  const stops = theme() === "dark" ? DARK_RAMP : LIGHT_RAMP;
  const at = Math.min(Math.max(x, 0), 1) * (stops.length - 1);
  const i = Math.min(Math.floor(at), stops.length - 2);
  return mix(stops[i], stops[i + 1], at - i);
}

/** A color with the brightness of text on top of it: black or white, whichever can be read. */
export function inkOn(/** @type {Rgb} */ c) {
  return 0.299 * c[0] + 0.587 * c[1] + 0.114 * c[2] > 140 ? "#111418" : "#ffffff";
}

/**
 * A color as ImageData wants it in a Uint32Array on a little-endian machine.
 * @param {Rgb} c
 */
export function packed(c) {
  return ((255 << 24) | (c[2] << 16) | (c[1] << 8) | c[0]) >>> 0;
}

/**
 * The value of a custom property of the page.
 * @param {string} name
 */
export function token(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
