// Preview of the panel of one item, shown from the click until the page has drawn the panel. The server
// sends its blocks as data; the page draws the same ones.

import { ROOT, request } from "./requests.js";
import { closest, h, shorten } from "./dom.js";
import { panel, watchPanel } from "./panel.js";

/** @import { HetMap } from "./map.js" */

/**
 * @typedef {Record<string, any> & { kind: string }} ItemBlock a piece of the item panel, see hetviz/ui/item/blocks.py
 *
 * @typedef {object} ItemContent
 * @property {string} map_id
 * @property {string} title
 * @property {string} line
 * @property {string[]} pictures
 * @property {boolean} has_picture
 * @property {string} glyph
 * @property {ItemBlock[]} blocks
 */

const MAX_MS = 120000; // ms after which the preview ends, whatever the page does; a busy server takes long
const REST_MS = 300; // ms without a run of the page
const MAX_CHIP_CHARACTERS = 24; // as in hetviz/ui/statements/commands.py
const HOLD_MS = 250; // ms for which the map and the page wait for the preview

// Safari has no idle callback.
const whenIdle = window.requestIdleCallback ?? setTimeout;

const picture = (address, alt = "") => h("img", { alt, src: new URL(address, ROOT).href });
const evidence = (text, key) => (key ? h("span", {
  class: "hv-show", role: "button", tabindex: 0, "data-hv-show": key, title: "Show what this was computed from",
}, text) : text);
const itemButton = (row, ...content) => h("button", { type: "button", "data-hv-row": row }, ...content);

const buttonOf = (key) => `.st-key-${key} button`;
/** The selector of what the panel shows in place of an element of the preview. @param {HTMLElement} element */
const sameAs = ({ dataset: { hvRow, hvShow, hvPress, hvLike } }) => (hvPress ? buttonOf(hvPress)
  : hvLike ? "[data-hv-like]"
  : hvRow ? `[data-hv-row="${hvRow}"]` : `[data-hv-show="${CSS.escape(hvShow ?? "")}"]`);

/** @type {Record<string, (block: ItemBlock) => HTMLElement>} */
const DRAW = {
  section: ({ title, aside, evidence: key }) => h("div", { class: "hv-section-head" },
    h("span", {}, aside ? title : evidence(title, key)), h("small", {}, aside ? evidence(aside, key) : "")),
  note: ({ text, evidence: key }) => h("p", { class: "hv-quiet" }, evidence(text, key)),
  pairs: ({ rows }) => h("div", { class: "hv-key-values" }, ...rows.flatMap(([name, value]) => [h("span", {}, name), h("b", {}, value)])),
  links: ({ ends, more }) => h("ul", { class: "hv-link-list" }, ...ends.map((end) => h("li", { class: end.is_met ? null : "not" },
    end.picture ? picture(end.picture) : h("i", { "aria-hidden": "true" }, end.glyph),
    itemButton(end.row, end.title, end.is_apart ? " " : null, end.is_apart ? h("em", {}, "apart") : null),
    h("u", { "aria-hidden": "true" }, h("i", { style: `width:${end.share}%` })),
    h("b", {}, end.n_closer))), more ? h("li", { class: "more" }, more) : null),
  items: ({ has_pictures, cells }) => h("ul", { class: has_pictures ? "hv-strip" : "hv-names" }, ...cells.map((cell) => h("li",
    { class: cell.kind || null, title: cell.tip },
    itemButton(cell.row, ...(cell.picture ? [picture(cell.picture, cell.title)]
      : cell.glyph ? [h("i", {}, cell.glyph), ` ${cell.name}`] : [h("i", {}, cell.name)]),
    ...cell.asides.flatMap((aside) => [" ", h("small", {}, aside)]),
    ...(cell.mark ? [" ", h("em", {}, cell.mark)] : []))))),
  like: ({ row, title, text }) => h("button", { type: "button", class: "hv-preview-button", "data-hv-like": row, "data-hv-title": title }, text),
  button: ({ key, text, is_quiet: isQuiet }) => h("button", { type: "button", class: isQuiet ? "hv-preview-button quiet" : "hv-preview-button", "data-hv-press": key }, text),
};

export class ItemPreview {
  /** @param {HetMap} map */
  constructor(map) {
    this.map = map;
    this.scene = map.scene;
    this.row = -1;
    this.element = null;
    this.pressed = "";
    this.prepared = "";
    this.stop = watchPanel(() => this.update());
    this.observer = new MutationObserver(() => this.update());
    this.waiting = []; // observers for parts that the panel does not show yet
    this.onResize = () => this.update();
    addEventListener("resize", this.onResize);
  }

  /** Have the server prepare the panel of a new map, so that it answers the first click at once. */
  prepare() {
    const { data, isOnPage, pos } = this.scene;
    const first = pos.findIndex((x) => !Number.isNaN(x));
    if (!data.stage || data.mode !== "work" || data.live || !isOnPage || first < 0 || this.prepared === data.geometry.id) return;
    this.prepared = data.geometry.id;
    whenIdle(() => request(`hv/panel/${data.session}/${first >> 1}?prepare=1`).catch(() => {}));
  }

  /** Show the preview of a selected item; resolves when it is drawn, cannot be, or takes long. */
  show() {
    const { map, scene } = this;
    this.clear();
    if (scene.count !== 1 || !scene.data.stage || scene.data.live || scene.data.linked_group || map.statements.groups.size) return Promise.resolve();
    const [row] = map.selection.rows();
    this.row = row;
    if (!this.isWanted()) return Promise.resolve();
    map.frameLoop.hold(HOLD_MS);
    const draw = (content) => {
      if (content && this.row === row && content.map_id === scene.data.geometry.id) this.draw(content);
    };
    // The card of the pointer has the first blocks.
    draw(map.media.cards.get(row)?.head);
    const drawn = request(`hv/panel/${scene.data.session}/${row}`)
      .then((response) => (response.status === 200 ? response.json() : null)).then(draw).catch(() => {})
      .then(() => map.frameLoop.release());
    return Promise.race([drawn, new Promise((done) => { setTimeout(done, HOLD_MS); })]);
  }

  /** @param {ItemContent} content */
  draw(content) {
    const app = document.querySelector(".stApp");
    const body = document.querySelector(".st-key-panel-body");
    if (!app || !body || !this.isWanted()) return;
    // The sentence names the same item.
    const chip = document.querySelector(".st-key-statement-bar:has(.st-key-clear-selection) .hv-group-chip b");
    if (chip) chip.textContent = shorten(content.title, MAX_CHIP_CHARACTERS);
    const faces = content.pictures.map((address) => picture(address));
    const face = content.has_picture ? faces[0]
      : faces.length ? h("span", { class: "hv-picture-grid", "aria-hidden": "true" }, ...faces) : h("i", { "aria-hidden": "true" }, content.glyph);
    const parts = [
      h("div", { class: "hv-item-head" }, face, h("div", {}, h("h2", {}, content.title), h("p", {}, content.line))),
      ...content.blocks.map((block) => DRAW[block.kind](block)),
    ];
    // Texts of two nodes are a fraction of a pixel narrower than those of one.
    for (const part of parts) part.normalize();
    if (this.element) {
      this.element.replaceChildren(...parts);
      return;
    }
    body.scrollTop = 0;
    this.element = h("div", { class: "hv-item-preview", role: "region", "aria-label": content.title, onclick: (event) => this.press(event) }, ...parts);
    const { left, top } = body.getBoundingClientRect();
    Object.assign(this.element.style, {
      left: `${left}px`, top: `${top}px`, width: `${body.clientWidth}px`, height: `${body.clientHeight}px`,
    });
    this.layoutKey = [panel.stop, innerWidth, innerHeight].join();
    // Not in the panel, whose children belong to Streamlit. What lies below cannot be reached.
    body.inert = true;
    app.append(this.element);
    this.observer.observe(body, { subtree: true, childList: true, attributes: true, attributeFilter: ["data-of"] });
    this.observer.observe(app, { attributes: true, attributeFilter: ["data-test-script-state"] });
    this.end = setTimeout(() => this.clear(), MAX_MS);
  }

  /** Pass a click on to the button of the page, once it is there. @param {MouseEvent} event */
  press(event) {
    const button = closest(event, "[data-hv-press]");
    if (!(button instanceof HTMLElement)) return;
    this.pressed = button.dataset.hvPress ?? "";
    button.setAttribute("aria-busy", "true");
  }

  /** Whether the panel shows cards, but not this one yet. */
  isWanted() {
    const shownRow = document.querySelector(".st-key-tab-item .hv-shown-item")?.dataset.of;
    return panel.open && panel.tab === "Item" && !panel.wide && !this.map.statements.groups.size && shownRow !== String(this.row);
  }

  update() {
    if (!this.element) return;
    if (!this.isWanted() || this.layoutKey !== [panel.stop, innerWidth, innerHeight].join()) {
      this.handOver();
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

  /** Leave focus, scrolling and a click to the panel, which shows the same. */
  handOver() {
    const { element, pressed } = this;
    const body = document.querySelector(".st-key-panel-body");
    const focused = element?.contains(document.activeElement) ? document.activeElement : null;
    const scrolled = element?.scrollTop ?? 0;
    this.clear();
    if (!body) return;
    if (scrolled) body.scrollTop = scrolled;
    const tab = body.querySelector(".st-key-tab-item");
    if (tab && focused instanceof HTMLElement) this.whenThere(tab, sameAs(focused), (same) => {
      if (!document.activeElement || document.activeElement === document.body) same.focus({ preventScroll: true });
    });
    if (tab && pressed) this.whenThere(tab, buttonOf(pressed), (button) => button.click());
  }

  /** Act on a part of the panel as soon as it is drawn. @param {Element} tab @param {string} selector @param {(part: HTMLElement) => void} act */
  whenThere(tab, selector, act) {
    const look = () => {
      const part = /** @type {HTMLElement | null} */ (tab.querySelector(selector));
      if (!part) return;
      observer.disconnect();
      act(part);
    };
    const observer = new MutationObserver(look);
    observer.observe(tab, { subtree: true, childList: true });
    this.waiting.push(observer);
    look();
  }

  clear() {
    for (const observer of this.waiting.splice(0)) observer.disconnect();
    clearTimeout(this.end);
    clearTimeout(this.restTimer);
    this.observer.disconnect();
    if (this.element) document.querySelector(".st-key-panel-body")?.removeAttribute("inert");
    this.element?.remove();
    Object.assign(this, { row: -1, element: null, hasRun: false, restTimer: null, pressed: "" });
  }

  close() {
    removeEventListener("resize", this.onResize);
    this.stop();
    this.clear();
  }
}
