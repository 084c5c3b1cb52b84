// Numbers in words. Times are picoseconds, as everywhere in slackline.

const UNITS = /** @type {const} */ ([
  [1e12, "s"], [1e9, "ms"], [1e6, "µs"], [1e3, "ns"], [1, "ps"],
]);

/**
 * A number with a fixed count of significant digits, without an exponent and without trailing zeros.
 * @param {number} x
 * @param {number} digits
 */
export function significant(x, digits) {
  if (x === 0 || !isFinite(x)) return String(x);
  const places = Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(x))));
  const text = x.toFixed(Math.min(places, 20));
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/**
 * A duration with its unit.
 * @param {number} ps
 * @param {number} [digits]
 */
export function duration(ps, digits = 4) {
  if (ps === 0) return "0 s";
  const [size, name] = UNITS.find(([s]) => Math.abs(ps) >= s) ?? UNITS[UNITS.length - 1];
  return `${significant(ps / size, digits)} ${name}`;
}

/**
 * A duration to the last picosecond.
 * @param {number} ps
 */
export function exact(ps) {
  if (ps === 0) return "0 s";
  const [size, name] = UNITS.find(([s]) => Math.abs(ps) >= s) ?? UNITS[UNITS.length - 1];
  return `${(ps / size).toFixed(Math.log10(size)).replace(/\.?0+$/, "")} ${name}`;
}

/**
 * Picoseconds of a text such as "12.5 ms"; a number alone is in seconds. NaN: it is none.
 * @param {string} text
 */
export function parseDuration(text) {
  const m = /^([\d.]+(?:e[+-]?\d+)?)\s*(s|ms|µs|us|ns|ps)?$/i.exec(text.trim());
  if (!m) return NaN;
  const unit = (m[2] ?? "s").toLowerCase().replace("us", "µs");
  return Number(m[1]) * (UNITS.find(([, name]) => name === unit)?.[0] ?? NaN);
}

/**
 * A share, as internal/phrase prints it.
 * @param {number} share
 */
export function percent(share) {
  const x = 100 * share;
  if (x > -0.05 && x <= 0) return "0 %";
  if (x > 0 && x < 0.05) return "< 0.1 %";
  if (x >= 99.95 && x < 100) return "> 99.9 %";
  return `${x.toFixed(1)} %`;
}

/** @param {number} n */
export function count(n) {
  return Number.isInteger(n) ? n.toLocaleString("en-US") : significant(n, 4);
}

/**
 * A number of things.
 * @param {number} n
 * @param {string} thing
 */
export function plural(n, thing) {
  return `${count(n)} ${thing}${n === 1 ? "" : "s"}`;
}

/** @param {number} n */
export function bytes(n) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let i = 0;
  while (Math.abs(n) >= 1024 && i < units.length - 1) {
    n /= 1024;
    i++;
  }
  return `${significant(n, 4)} ${units[i]}`;
}

/**
 * A value in a unit that the server names.
 * @param {number} value
 * @param {string} unit
 */
export function inUnit(value, unit) {
  switch (unit) {
    case "ps": return duration(value);
    case "bytes": return bytes(value);
    case "share": return percent(value);
    case "": case "count": return count(value);
    default: return `${count(value)} ${unit}`;
  }
}

/**
 * Steps of 1, 2 or 5 times a power of ten, at most so many of them in a range.
 * @param {number} range
 * @param {number} most
 */
export function niceStep(range, most) {
  const raw = Math.max(range, Number.MIN_VALUE) / Math.max(1, most);
  const power = Math.pow(10, Math.floor(Math.log10(raw)));
  for (const m of [1, 2, 5, 10]) {
    if (m * power >= raw * 0.999999) return m * power;
  }
  return 10 * power;
}

/**
 * Ticks of a time axis with labels in one unit, and that unit.
 * @param {number} from
 * @param {number} to
 * @param {number} most
 * @returns {{step: number, unit: string, ticks: {at: number, label: string}[]}}
 */
export function timeTicks(from, to, most) {
  const step = Math.max(1, niceStep(to - from, most));
  // Labels need at most six digits before the decimal point, and the unit fits the larger end.
  const top = Math.max(Math.abs(from), Math.abs(to), 1);
  const [size, unit] = UNITS.find(([s]) => top >= s) ?? UNITS[UNITS.length - 1];
  const places = Math.max(0, Math.min(15, Math.ceil(Math.log10(size / step) - 1e-9)));
  const ticks = [];
  for (let k = Math.ceil(from / step); k * step <= to; k++) {
    ticks.push({ at: k * step, label: ((k * step) / size).toFixed(places) });
  }
  return { step, unit, ticks };
}
