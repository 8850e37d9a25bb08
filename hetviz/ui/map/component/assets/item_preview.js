// Preview of the head of an item card, shown from the click until the panel has loaded: picture, name and
// links, from the data of the hover card.

import { ROOT } from "./requests.js";
import { h, thousands } from "./dom.js";
import { panel, watchPanel } from "./panel.js";

/** @import { HetMap } from "./map.js" */

const MAX_MS = 10000; // ms after which the preview ends
const REST_MS = 300; // ms without a run of the page
const HOLD_MS = 120; // ms for which the map waits for the card

export class ItemPreview {
  /** @param {HetMap} map */
  constructor(map) {
    this.map = map;
    this.scene = map.scene;
    this.row = -1;
    this.element = null;
    this.stop = watchPanel(() => this.update());
    this.observer = new MutationObserver(() => this.update());
    this.onResize = () => this.update();
    addEventListener("resize", this.onResize);
  }

  /** Show the preview of a selected item. */
  async show() {
    const { map, scene } = this;
    this.clear();
    if (scene.count !== 1 || !scene.data.stage || scene.data.live || scene.data.linked_group || map.statements.groups.size) return;
    const [row] = map.selection.rows();
    this.row = row;
    if (this.isWanted()) map.frameLoop.hold(HOLD_MS);
    const card = await map.media.card(row).catch(() => null);
    if (this.row === row && card?.head?.map_id === scene.data.geometry.id) this.draw(card);
    map.frameLoop.release();
  }

  draw({ title, head }) {
    const app = document.querySelector(".stApp");
    const body = document.querySelector(".st-key-panel-body");
    if (!app || !body || !this.isWanted()) return;
    body.scrollTop = 0;
    const picture = (address) => h("img", { alt: "", src: new URL(address, ROOT).href });
    const faces = head.pictures.map(picture);
    const face = head.has_picture ? faces[0] : faces.length ? h("span", { class: "hv-picture-grid" }, ...faces) : h("i", {}, head.glyph);
    this.element = h("div", { class: "hv-item-preview", "aria-hidden": "true" },
      h("div", { class: "hv-item-head" }, face, h("div", {}, h("h2", {}, title), h("p", {}, head.line))),
      ...head.linked.flatMap((set) => [
        h("div", { class: "hv-section-head" }, h("span", {}, set.title), h("small", {}, set.n_close)),
        h("p", { class: "hv-quiet" }, set.legend),
        h("ul", { class: "hv-link-list" }, ...set.ends.map((end) => h("li", { class: end.is_met ? null : "not" },
          end.picture ? picture(end.picture) : h("i", {}, end.glyph),
          h("span", {}, end.title, end.is_apart ? " " : null, end.is_apart ? h("em", {}, "apart") : null),
          h("u", {}, h("i", { style: `width:${end.share}%` })),
          h("b", {}, end.n_closer))), set.n_more ? h("li", { class: "more" }, `… and ${thousands(set.n_more)} more farther away`) : null),
      ]));
    const { left, top } = body.getBoundingClientRect();
    Object.assign(this.element.style, {
      left: `${left}px`, top: `${top}px`, width: `${body.clientWidth}px`, height: `${body.clientHeight}px`,
    });
    this.layoutKey = [panel.stop, innerWidth, innerHeight].join();
    // Not in the panel, whose children belong to Streamlit.
    app.append(this.element);
    this.observer.observe(body, { subtree: true, childList: true, attributes: true, attributeFilter: ["data-of"] });
    this.observer.observe(app, { attributes: true, attributeFilter: ["data-test-script-state"] });
    this.end = setTimeout(() => this.clear(), MAX_MS);
  }

  /** Whether the panel shows cards, but not this one yet. */
  isWanted() {
    const shownRow = document.querySelector(".st-key-tab-item .hv-shown-item")?.dataset.of;
    return panel.open && panel.tab === "Item" && !panel.wide && !this.map.statements.groups.size && shownRow !== String(this.row);
  }

  update() {
    if (!this.element) return;
    if (!this.isWanted() || this.layoutKey !== [panel.stop, innerWidth, innerHeight].join()) {
      this.clear();
      return;
    }
    const state = () => document.querySelector(".stApp")?.dataset.testScriptState;
    if (state() !== "notRunning") this.hasRun = true;
    else if (this.hasRun) this.restTimer ??= setTimeout(() => {
      this.restTimer = null;
      // The panel shows something else first, such as the effect of a statement.
      if (state() === "notRunning") this.clear();
    }, REST_MS);
  }

  clear() {
    clearTimeout(this.end);
    clearTimeout(this.restTimer);
    this.observer.disconnect();
    this.element?.remove();
    Object.assign(this, { row: -1, element: null, hasRun: false, restTimer: null });
  }

  close() {
    removeEventListener("resize", this.onResize);
    this.stop();
    this.clear();
  }
}
