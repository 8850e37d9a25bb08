// Presentation of saved views, one after the other: the sentence over the map, steps and keys. The app and the
// exported page show it over their maps, which show the views themselves.

import { h, icon, set } from "./dom.js";

/** @typedef {{ at: number, n: number, text: string, facts: string, notes: string[] }} Step view from 0, number of views, sentence, filters */

/** @type {Record<string, (at: number, n: number) => number>} */
const KEYS = {
  ArrowRight: (at) => at + 1, ArrowDown: (at) => at + 1, PageDown: (at) => at + 1,
  ArrowLeft: (at) => at - 1, ArrowUp: (at) => at - 1, PageUp: (at) => at - 1,
  Home: () => 0, End: (_, n) => n - 1,
};

export class Presenter {
  /** @param {(at: number) => void} go @param {() => void} leave */
  constructor(go, leave) {
    this.go = go;
    this.leave = leave;
    /** @type {Step | null} */
    this.step = null;
    this.target = 0; // view that was asked for last
    /** @type {Element | null} */
    this.opener = null;
    const button = (label, name, turn, act) => {
      const sign = icon(name);
      sign.style.rotate = `${turn}deg`;
      return h("button", { type: "button", "aria-label": label, title: label, onclick: act }, sign);
    };
    this.back = button("Previous view (←)", "down", 90, () => this.ask(this.target - 1));
    this.next = button("Next view (→)", "down", -90, () => this.ask(this.target + 1));
    this.count = h("span", { class: "hv-present-count" });
    this.sentence = h("p", { class: "hv-present-text" });
    this.notes = h("div", { class: "hv-present-notes" });
    this.element = h("section", { class: "hv-present", "aria-label": "Presentation", tabindex: -1, hidden: true },
      h("div", { role: "status" }, this.sentence, this.notes),
      h("div", { class: "hv-present-steps" }, this.back, this.count, this.next, button("End the presentation (Escape)", "close", 0, () => this.end())));
    this.press = (event) => this.onKey(event);
  }

  get isOpen() { return this.step !== null; }

  /** @param {Step} step */
  show(step) {
    const isNew = !this.step;
    if (isNew) {
      this.opener = document.activeElement;
      this.target = step.at;
      // Before the keys of the map.
      window.addEventListener("keydown", this.press, true);
    }
    this.step = step;
    this.element.hidden = false;
    this.sentence.textContent = step.text;
    this.notes.replaceChildren(...[step.facts, ...step.notes].filter(Boolean).map((note) => h("p", {}, note)));
    this.mark();
    if (isNew) this.element.focus({ preventScroll: true });
  }

  hide() {
    if (!this.step) return;
    this.step = null;
    this.element.hidden = true;
    window.removeEventListener("keydown", this.press, true);
    if (this.opener instanceof HTMLElement) this.opener.focus({ preventScroll: true });
  }

  /** Show which view was asked for. */
  mark() {
    const n = this.step?.n ?? 0;
    this.count.textContent = `${this.target + 1} of ${n}`;
    // A disabled button would lose the focus.
    set(this.back, { "aria-disabled": String(this.target <= 0) });
    set(this.next, { "aria-disabled": String(this.target >= n - 1) });
  }

  /** @param {number} at */
  ask(at) {
    if (!this.step || at < 0 || at >= this.step.n || at === this.target) return;
    this.target = at;
    this.mark();
    this.go(at);
  }

  end() {
    this.hide();
    this.leave();
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (!this.step) return;
    // Keys of the page and the map would change what is below the sentence.
    event.stopPropagation();
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = KEYS[event.key]?.(this.target, this.step.n);
    if (event.key === "Escape") this.end();
    else if (target !== undefined) this.ask(target);
    else return;
    event.preventDefault();
  }
}
