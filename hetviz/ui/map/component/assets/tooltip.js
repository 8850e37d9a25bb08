// Tooltip with the card of the hovered item. Picture and facts are fetched on demand.

import { h, thousands } from "./dom.js";
import { ROOT } from "./requests.js";

/** @import { HetMap } from "./map.js" */

const CARD_DELAY_MS = 70;

export class Tooltip {
  /** @param {HetMap} map */
  constructor(map) {
    this.map = map;
    this.scene = map.scene;
    this.row = -1;
    this.isSaying = false;
    this.element = h("div", { class: "hv-tooltip", hidden: true, "aria-hidden": "true" });
    map.stage.append(this.element);
  }

  /** Show the card of a row; -1 hides it. @param {number} row */
  show(row) {
    if (row === this.row && !this.isSaying) return;
    this.row = row;
    this.isSaying = false;
    clearTimeout(this.timer);
    if (row < 0) {
      this.element.hidden = true;
      return;
    }
    const { media } = this.map;
    if (media.cards.has(row)) this.draw(media.cards.get(row));
    else this.timer = setTimeout(() => this.fetch(row), CARD_DELAY_MS);
  }

  /** Show a sentence beside a place. @param {string} text @param {number} x @param {number} y */
  say(text, x, y) {
    this.row = -1;
    clearTimeout(this.timer);
    this.element.replaceChildren(h("div", { class: "hv-tooltip-text" }, h("p", {}, text)));
    this.element.hidden = false;
    this.moveTo(x, y);
    this.isSaying = true;
  }

  /** @param {number} row */
  async fetch(row) {
    const begun = performance.now();
    try {
      const card = await this.map.media.card(row);
      this.map.stats.cardMs = performance.now() - begun;
      if (this.row === row) this.draw(card);
    } catch {
      if (this.row !== row) return;
      this.element.hidden = true;
      // Pointing at it once more asks again.
      this.row = -1;
    }
  }

  draw(card) {
    const { map, element, scene } = this;
    const dataset = scene.datasetOf(card.row);
    const mark = h("span", { class: "hv-glyph" }, dataset ? dataset.glyph : "");
    mark.style.color = scene.palette[scene.slot[card.row]];
    const facts = h("dl", {});
    for (const [name, value] of (card.facts || []).slice(0, 5)) {
      facts.append(h("dt", {}, String(name)), h("dd", {}, String(value)));
    }
    const links = card.links ? `${thousands(card.links)} ${card.links === 1 ? "link" : "links"}` : null;
    const image = card.picture ? h("img", { alt: "", src: new URL(card.picture, ROOT).href }) : null;
    if (image) {
      const begun = performance.now();
      image.addEventListener("load", () => {
        map.stats.pictureMs = performance.now() - begun;
        this.position();
      });
      image.addEventListener("error", () => image.remove());
    }
    element.replaceChildren(
      ...(image ? [image] : []), h("div", { class: "hv-tooltip-text" },
        h("strong", {}, card.title),
        h("span", { class: "hv-tooltip-dataset" }, mark, [card.dataset, links].filter(Boolean).join(", ")),
        card.facts?.length ? facts : null,
        card.text ? h("p", {}, card.text) : null),
    );
    element.hidden = false;
    this.position();
  }

  /** Place the card beside the point, on the side with room. */
  position() {
    if (this.row < 0 || this.element.hidden) return;
    const { view, pos } = this.scene;
    this.moveTo(view.x(pos[2 * this.row]), view.y(pos[2 * this.row + 1]));
  }

  /** @param {number} x @param {number} y */
  moveTo(x, y) {
    const { view } = this.scene;
    const { offsetWidth: w, offsetHeight: height } = this.element;
    const left = x + 18 + w < view.W - 4 ? x + 18 : x - 18 - w;
    const top = Math.min(Math.max(y - height / 2, 4), Math.max(view.H - height - 4, 4));
    this.element.style.transform = `translate(${Math.max(left, 4)}px, ${top}px)`;
  }

  close() {
    clearTimeout(this.timer);
    this.row = -1;
  }
}
