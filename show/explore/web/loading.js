// What a view shows while it waits for the server, and when nothing comes.

import * as api from "./api.js";
import { el, notice } from "./dom.js";

const LOOK = 500; // milliseconds between looks at how far something is

let questions = 0; // that are not answered

/** @param {1 | -1} change */
function busy(change) {
  questions += change;
  document.body.dataset.busy = String(questions);
}

/** Shows the answers to the last question only, whatever order they come in. */
export class Loading {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.last = 0;
    this.timer = 0;
  }

  /**
   * @template T
   * @param {Promise<T>} promise
   * @param {(answer: T) => void} show
   * @param {string} [text] what takes so long
   * @param {string} [work] its name in the answer of progress
   */
  async wait(promise, show, text = "One moment …", work = "analysis") {
    const mine = ++this.last;
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => {
      if (mine === this.last) this.showProgress(text, work, () => mine === this.last);
    }, 250); // what is fast does not flicker
    busy(1);
    try {
      const answer = await promise;
      if (mine !== this.last) return;
      window.clearTimeout(this.timer);
      show(answer);
    } catch (error) {
      if (mine !== this.last || api.isAbort(error)) return;
      window.clearTimeout(this.timer);
      this.root.replaceChildren(notice("This cannot be shown", error instanceof Error ? error.message : String(error)));
    } finally {
      busy(-1);
    }
  }

  /**
   * Shows how far the work is, for as long as it takes.
   * @param {string} text
   * @param {string} work
   * @param {() => boolean} goesOn
   */
  showProgress(text, work, goesOn) {
    const bar = el("progress", { max: 1, value: 0, hidden: true, "aria-label": text });
    const step = el("p", { class: "small" });
    const shown = el("div", { class: "loading", role: "status" }, el("p", { text }), bar, step);
    this.root.replaceChildren(shown);
    const start = performance.now();
    const look = async () => {
      if (!goesOn() || !shown.isConnected) return;
      const under = await api.progress().then((p) => p.work.filter((w) => w.name === work), () => []);
      const seconds = Math.round((performance.now() - start) / 1000);
      bar.hidden = under.length === 0;
      bar.value = Math.min(...under.map((w) => w.done), 1);
      step.textContent = [...under.map((w) => `${w.of}: ${w.step}, ${Math.round(100 * w.done)} %`), ...(seconds > 0 ? [`${seconds} s so far`] : [])].join("; ");
      window.setTimeout(() => void look(), LOOK);
    };
    void look();
  }

  /** Nothing that is still on its way is shown any more. */
  close() {
    this.last++;
    window.clearTimeout(this.timer);
  }
}
