// Questions to the server. Answers are kept while the run they are about is not read again.

/** @typedef {import("./types.js").Run} Run */

/** An error of the server: its message and its code. */
export class Refusal extends Error {
  /**
   * @param {string} message
   * @param {string} code
   */
  constructor(message, code) {
    super(message);
    this.code = code;
  }
}

/** @typedef {Record<string, string | number | undefined>} Query */

const TOKEN_HEADER = "X-Slackline-Token";
const TOKEN_KEY = "slackline-token";

/**
 * The token of the printed address, which then no longer shows it. It is kept for other tabs and for later: what a page
 * stores belongs to its port, so servers on other ports of this machine do not get it, as they would a cookie.
 */
function takeToken() {
  const here = new URL(location.href);
  const given = here.searchParams.get("token");
  if (given !== null) {
    here.searchParams.delete("token");
    history.replaceState(null, "", here.pathname.replace(/^\/+/, "/") + here.search + here.hash);
  }
  try {
    if (given !== null) localStorage.setItem(TOKEN_KEY, given);
    return given ?? localStorage.getItem(TOKEN_KEY) ?? "";
  } catch {
    return given ?? ""; // storage may be forbidden
  }
}

const token = takeToken();

const KEPT = 200;
const NOT_READY_PAUSE = 300; // milliseconds

/** @type {Map<string, Promise<any>>} */
const kept = new Map();

/** Forgets all answers: a run was read again. */
export function forget() {
  kept.clear();
}

/**
 * @param {string} name
 * @param {Query} query
 */
function address(name, query) {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined) search.set(key, typeof value === "number" ? value.toFixed(0) : value);
  }
  return `api/${name}?${search}`;
}

/**
 * @param {number} ms
 * @param {AbortSignal} [signal]
 * @returns {Promise<void>}
 */
function pause(ms, signal) {
  return new Promise((done, fail) => {
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      fail(new DOMException("aborted", "AbortError"));
    });
  });
}

/**
 * Asks until the analysis that the answer needs is ready.
 * @param {string} url
 * @param {AbortSignal} [signal]
 * @returns {Promise<Response>}
 */
async function ask(url, signal) {
  for (;;) {
    let response;
    try {
      response = await fetch(url, { signal, credentials: "omit", headers: { [TOKEN_HEADER]: token } });
    } catch (error) {
      if (isAbort(error)) throw error;
      throw new Refusal("The server does not answer. Is slackline explore still running?", "gone");
    }
    if (response.ok) return response;
    const refusal = await response.json().catch(() => ({}));
    if (refusal.code !== "not_ready") {
      throw new Refusal(refusal.error ?? `the server answered with status ${response.status}`, refusal.code ?? "failed");
    }
    await pause(NOT_READY_PAUSE, signal);
  }
}

/** Questions that need the analysis of a run. Asking too early would only be answered with "not yet". */
const ANALYZED = new Set(["states", "critical", "waits", "wait", "tree", "distribution", "iterations", "composition", "selection", "clusters"]);

/** @type {Set<number>} runs whose analysis is under way */
const running = new Set();
/** @type {Set<() => void>} */
const patient = new Set();

/**
 * Reports which analyses are under way.
 * @param {Run[]} list
 */
export function setRuns(list) {
  running.clear();
  for (const r of list) if (r.analysis === "running") running.add(r.index);
  for (const go of patient) go();
  patient.clear();
}

/**
 * Waits for the analysis that a question needs.
 * @param {string} name
 * @param {Query} query
 */
async function ready(name, query) {
  const needed = ANALYZED.has(name) || query.color === "wait" || query.color === "cause";
  while (needed && running.has(Number(query.run ?? 0))) {
    await new Promise((go) => patient.add(() => go(undefined)));
  }
}

/** @param {unknown} error */
export function isAbort(error) {
  return error instanceof DOMException && error.name === "AbortError";
}

/**
 * A JSON answer; the same question is asked once.
 * @template T
 * @param {string} name
 * @param {Query} query
 * @returns {Promise<T>}
 */
function once(name, query) {
  const url = address(name, query);
  let promise = kept.get(url);
  if (!promise) {
    promise = ready(name, query).then(() => ask(url)).then((r) => r.json());
    promise.catch(() => kept.delete(url));
    kept.set(url, promise);
    for (const old of kept.keys()) {
      if (kept.size <= KEPT) break;
      kept.delete(old);
    }
  }
  return promise;
}

/**
 * A JSON answer about a window, which is void as soon as the window has moved on.
 * @template T
 * @param {string} name
 * @param {Query} query
 * @param {AbortSignal} signal
 * @returns {Promise<T>}
 */
async function passing(name, query, signal) {
  await ready(name, query);
  return (await ask(address(name, query), signal)).json();
}

/** @returns {Promise<import("./types.js").Runs>} */
export async function runs() {
  return (await ask("api/runs")).json();
}

/**
 * What takes long and is under way.
 * @returns {Promise<import("./types.js").Progress>}
 */
export async function progress() {
  return (await ask("api/progress")).json();
}

/**
 * @param {number} run
 * @param {boolean} whole with the start and the end of MPI
 * @returns {Promise<import("./types.js").Runs>}
 */
export async function reload(run, whole) {
  return (await ask(address("runs", { reload: run, whole: whole ? 1 : 0 }))).json();
}

/** @typedef {{run: number, from: number, to: number, first: number, last: number, ranks?: string}} Window */

/**
 * The picture of a window; see timeline/raster.js.
 * @param {Window & {width: number, rows: number, color: string}} query
 * @param {AbortSignal} signal
 */
export async function timeline(query, signal) {
  await ready("timeline", query);
  return (await ask(address("timeline", query), signal)).arrayBuffer();
}

/** @type {(query: (Window | {run: number, from: number, to: number, location: number}) & {limit: number}, signal: AbortSignal) => Promise<import("./types.js").Calls>} */
export const calls = (query, signal) => passing("calls", query, signal);

/** @type {(query: {run: number, location: number, from: number, to: number, width: number}, signal: AbortSignal) => Promise<import("./types.js").Stack>} */
export const stack = (query, signal) => passing("stack", query, signal);

/** @type {(query: Window & {limit: number}, signal: AbortSignal) => Promise<import("./types.js").States>} */
export const states = (query, signal) => passing("states", query, signal);

/** @type {(query: Window & {limit: number, least?: number, sender?: string, receiver?: string}, signal: AbortSignal) => Promise<import("./types.js").Messages>} */
export const messages = (query, signal) => passing("messages", query, signal);

/** @type {(query: Window & {limit: number}, signal: AbortSignal) => Promise<import("./types.js").Launches>} */
export const launches = (query, signal) => passing("launches", query, signal);

/** @type {(query: {run: number, from: number, to: number, width: number}, signal: AbortSignal) => Promise<import("./types.js").Critical>} */
export const critical = (query, signal) => passing("critical", query, signal);

/** @type {(query: {run: number, first?: number, last?: number, ranks?: string}) => Promise<import("./types.js").Locations>} */
export const locations = (query) => once("locations", query);

/** @type {(query: {run: number, color: string}) => Promise<import("./types.js").Legend>} */
export const legend = (query) => once("legend", query);

/** @type {(query: {run: number, largest: number}) => Promise<import("./types.js").States>} */
export const largest = (query) => once("states", query);

/** @type {(query: {run: number, limit: number}) => Promise<import("./types.js").Waits>} */
export const waits = (query) => once("waits", query);

/** @type {(query: {run: number, state?: number, location?: number, time?: number}) => Promise<import("./types.js").WaitAnswer>} */
export const wait = (query) => once("wait", query);

/** @type {(query: {run: number}) => Promise<import("./types.js").Tree>} */
export const tree = (query) => once("tree", query);

/** @type {(query: {run: number, path: number, metric: string, inclusive: number}) => Promise<import("./types.js").Distribution>} */
export const distribution = (query) => once("distribution", query);

/** @type {(query: {run: number, size: number}) => Promise<import("./types.js").Matrix>} */
export const matrix = (query) => once("matrix", query);

/** @type {(query: {run: number}) => Promise<import("./types.js").Iterations>} */
export const iterations = (query) => once("iterations", query);

/** @type {(query: {run: number}) => Promise<import("./types.js").Phases>} */
export const phases = (query) => once("phases", query);

/** @type {(query: {before: string, after: string}) => Promise<import("./types.js").Comparison>} */
export const compare = (query) => once("compare", query);

/** @type {(query: {run: number}) => Promise<import("./types.js").Composition>} */
export const composition = (query) => once("composition", query);

/** @type {(query: {run: number, from: number, to: number, ranks?: string}, signal: AbortSignal) => Promise<import("./types.js").Selection>} */
export const selection = (query, signal) => passing("selection", query, signal);

/** @type {(query: {run: number, text: string}) => Promise<import("./types.js").Matches>} */
export const search = (query) => once("search", query);

/** @type {(query: {run: number, paths: string, ranks?: string, time: number, location: number, back: number}) => Promise<import("./types.js").Occurrence>} */
export const occurrence = (query) => once("occurrence", query);

/** @type {(query: {run: number}) => Promise<import("./types.js").Clusters>} */
export const clusters = (query) => once("clusters", query);

/** @type {(query: {run: number, machine: string, latency?: number}) => Promise<import("./types.js").Tolerance>} */
export const tolerance = (query) => once("tolerance", query);

/** @type {(query: {run: number}) => Promise<import("./types.js").Advice>} */
export const advice = (query) => once("advice", query);

/** @type {(query: {run: number}) => Promise<import("./types.js").SeriesList>} */
export const series = (query) => once("series", query);

/**
 * A figure as an address that pictures and links can use, until it is revoked.
 * @param {{run: number, kind: string, dark: number, width?: number, series?: number, other?: number, machine?: string, latency?: number}} query
 */
export async function figure(query) {
  return URL.createObjectURL(await (await ask(address("figure", query))).blob());
}
