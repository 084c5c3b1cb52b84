// What a view shows while it waits for the server, and when nothing comes.

import * as api from "./api.js";
import { el, notice } from "./dom.js";

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
   */
  async wait(promise, show, text = "One moment …") {
    const mine = ++this.last;
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => {
      if (mine !== this.last) return;
      const shown = el("div", { class: "loading", role: "status", text });
      this.root.replaceChildren(shown);
      const start = performance.now();
      const tick = window.setInterval(() => { // long work shows that it goes on
        if (mine !== this.last || !shown.isConnected) window.clearInterval(tick);
        else shown.textContent = `${text} ${Math.round((performance.now() - start) / 1000)} s so far`;
      }, 1000);
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

  /** Nothing that is still on its way is shown any more. */
  close() {
    this.last++;
    window.clearTimeout(this.timer);
  }
}
