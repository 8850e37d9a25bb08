// Buttons that move the window over a chart of dates: earlier, play, later.

import { h, icon, set } from "./dom.js";

/** @import { BinsChart } from "./charts_of_columns.js" */

const STEP_MS = 700;
const WINDOW_SHARE = 1 / 6; // of the chart, for the first window

export class TimePlayer {
  /** @param {BinsChart} card */
  constructor(card) {
    this.card = card;
    this.timer = 0;
    const button = (/** @type {string} */ name, /** @type {string} */ label, /** @type {() => void} */ onclick) =>
      h("button", { type: "button", class: `hv-tool hv-player-${name}`, "aria-label": label, title: label, onclick }, icon(name));
    this.playButton = button("play", "Play", () => (this.timer ? this.stop() : this.play()));
    this.element = h("span", { class: "hv-player", role: "group", "aria-label": `Move through ${card.spec.title}` },
      button("earlier", "Earlier", () => this.press(-1)), this.playButton, button("later", "Later", () => this.press(1)));
    // Whoever takes the window stops it.
    for (const name of ["pointerdown", "input"]) {
      card.element.addEventListener(name, ({ target }) => this.element.contains(/** @type {Node} */ (target)) || this.stop());
    }
  }

  /** @param {number} by */
  press(by) {
    this.stop();
    this.move(by, true);
  }

  /**
   * Move the window to the next bars with items, or begin with one. Returns whether there was room for it.
   * @param {number} by @param {boolean} ends
   */
  move(by, ends) {
    const { axis, column: { n } } = this.card;
    const length = axis.range ? axis.range[1] - axis.range[0] : Math.max(Math.round(WINDOW_SHARE * n), 1) - 1;
    let first = axis.range ? axis.range[0] + by : by > 0 ? 0 : n - 1 - length;
    const isEmpty = () => !axis.present.some((code) => code >= first && code <= first + length);
    while (first >= 0 && first + length < n && isEmpty()) first += by;
    if (first < 0 || first + length >= n) return false;
    this.card.setRanges([[axis, [first, first + length]]], ends);
    this.card.dock.placeNames?.();
    return true;
  }

  play() {
    const { axis, column: { n } } = this.card;
    // From the end it begins again.
    if (axis.range && axis.range[1] === n - 1) axis.setRange([-1, axis.range[1] - axis.range[0] - 1]);
    if (!this.move(1, false)) return;
    this.timer = setInterval(() => {
      if (document.hidden || !this.card.element.checkVisibility() || !this.move(1, false)) this.stop();
    }, STEP_MS);
    this.draw();
  }

  stop() {
    if (!this.timer) return;
    clearInterval(this.timer);
    this.timer = 0;
    this.draw();
    this.card.dock.end(this.card);
  }

  draw() {
    const label = this.timer ? "Pause" : "Play";
    set(this.playButton, { "aria-label": label, title: label });
    this.playButton.replaceChildren(icon(this.timer ? "pause" : "play"));
  }
}
