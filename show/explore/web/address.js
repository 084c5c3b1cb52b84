// The address of what is shown: "#timeline?run=0&from=...&to=...". Everything that a view shows
// follows from its address, so that it can be copied, sent, and gone back to.

/** @typedef {Record<string, string>} Params */
/** @typedef {{view: string, params: Params}} Place */

/** What lasts of one gesture (turning the wheel, dragging) becomes one entry of the history. */
const GESTURE_PAUSE = 900; // milliseconds
/** Browsers refuse addresses that change more often than they can write them down. */
const WRITE_PAUSE = 120;

/**
 * @param {string} hash
 * @returns {Place}
 */
export function parse(hash) {
  const text = hash.replace(/^#\/?/, "");
  const at = text.indexOf("?");
  /** @type {Params} */
  const params = {};
  if (at >= 0) for (const [k, v] of new URLSearchParams(text.slice(at + 1))) params[k] = v;
  return { view: decode(at < 0 ? text : text.slice(0, at)), params };
}

/** @param {string} text */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * @param {Place} place
 * @returns {string}
 */
export function print({ view, params }) {
  const search = new URLSearchParams();
  for (const key of Object.keys(params).sort()) {
    if (params[key] !== "") search.set(key, params[key]);
  }
  const text = search.toString();
  return `#${encodeURIComponent(view)}${text ? `?${text}` : ""}`;
}

export class Address {
  /** @param {(place: Place) => void} arrive called when the user goes back, forward or edits the address */
  constructor(arrive) {
    /** @type {Place} */
    this.place = parse(location.hash);
    this.timer = 0;
    this.dirty = false; // the place is newer than the address
    this.pushNext = false;
    this.gesture = "";
    this.gestureAt = 0;
    this.written = location.hash;
    const read = () => {
      if (location.hash === this.written) return;
      window.clearTimeout(this.timer);
      this.timer = 0;
      delete document.body.dataset.writing;
      this.dirty = this.pushNext = false;
      this.gesture = "";
      this.place = parse(location.hash);
      this.written = location.hash;
      arrive(this.place);
    };
    window.addEventListener("popstate", read);
    window.addEventListener("hashchange", read);
  }

  /**
   * Goes to a place. Changes of one gesture in quick succession share an entry of the history; an
   * empty gesture always makes a new one, "replace" never does.
   * @param {Place} place
   * @param {string} [gesture]
   */
  go(place, gesture = "") {
    const now = performance.now();
    const goesOn = gesture !== "" && gesture === this.gesture && now - this.gestureAt < GESTURE_PAUSE;
    if (gesture !== "replace") {
      if (!goesOn) {
        this.flush(); // what went before keeps its own entry
        this.pushNext = true;
      }
      this.gesture = gesture;
      this.gestureAt = now;
    }
    this.place = place;
    this.dirty = true;
    if (gesture === "") this.flush();
    else if (!this.timer) {
      this.timer = window.setTimeout(() => this.flush(), WRITE_PAUSE);
      document.body.dataset.writing = "true"; // the address shows the state in a moment
    }
  }

  /** Writes down the place, if it has changed. */
  flush() {
    window.clearTimeout(this.timer);
    this.timer = 0;
    delete document.body.dataset.writing;
    if (!this.dirty) return;
    this.dirty = false;
    const text = print(this.place);
    if (text !== this.written) {
      this.written = text;
      if (this.pushNext) history.pushState(null, "", text);
      else history.replaceState(null, "", text);
    }
    this.pushNext = false;
  }
}
