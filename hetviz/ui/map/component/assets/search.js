// Search for an item by title: in the top bar, where it selects the item, and in the sentence at the foot of
// the map, which the item completes. Both move the camera to it.

import { closest, h, icon, set } from "./dom.js";
import { isNotebook, request } from "./requests.js";
import { openTab } from "./panel.js";

/** @import { HetMap } from "./map.js" */

const FIELD = "input[data-hv-find]";
const TYPING_PAUSE_MS = 140;
const READING_PAUSE_MS = 1000; // between requests while the texts are read for a search by meaning
let serial = 0;

/** @param {string} selector */
const click = (selector) => document.querySelector(selector)?.click();
const goTo = (place) => () => click(`.st-key-place-${place} a`);

/** Open a tab of the panel, from any page. */
function openPanelTab(tab, tries = 50) {
  if (document.querySelector(".hv-at-map") && window.hetviz.tabs) openTab(tab);
  else if (tries) {
    if (tries === 50) goTo("map")();
    setTimeout(() => openPanelTab(tab, tries - 1), 100);
  }
}

/** @type {[name: string, run: () => void][]} */
const COMMANDS = [
  ["Data", goTo("data")], ["Map", goTo("map")], ["Compare", goTo("compare")], ["Export", goTo("export")],
  ["Guidance", () => openPanelTab("Guidance")], ["Clusters", () => openPanelTab("Clusters")],
  ["Predict", () => openPanelTab("Predict")],
  ["New map", () => click(".st-key-new-map button")], ["Undo", () => click(".st-key-undo button")],
  ["Help and keys", () => click(".st-key-help button")],
];

/** A line of the list that cannot be chosen. @param {string} text */
const note = (text) => h("li", { class: "hv-search-note", role: "presentation" }, text);

export class Search {
  /**
   * `field` is the field of the sentence; without one, a field of its own is made.
   * @param {HetMap} map @param {HTMLInputElement | null} field
   */
  constructor(map, field = null) {
    this.map = map;
    this.field = field;
    this.scene = map.scene;
    this.results = [];
    this.at = -1;
    this.nRequests = 0;
    this.query = ""; // whose results are listed
    const id = `hv-found-${++serial}`;
    this.list = h("ul", { class: "hv-search-results", role: "listbox", id, "aria-label": "Items found" });
    this.list.hidden = true;
    // A notebook has no commands.
    const label = isNotebook ? "Find an item" : "Find an item or a command";
    this.input = field ?? h("input", { type: "text", placeholder: label, "aria-label": label });
    set(this.input, {
      role: "combobox", "aria-expanded": "false", "aria-controls": id, "aria-autocomplete": "list",
      autocomplete: "off", spellcheck: "false",
    });
    this.element = field?.parentElement ?? h("div", { class: "hv-search" }, icon("search"), this.input);
    this.element.append(this.list);
    this.input.addEventListener("input", () => this.schedule());
    // The old query is replaced by what is typed next.
    this.input.addEventListener("focus", () => {
      this.input.select();
      if (this.input.value) this.schedule();
    });
    this.input.addEventListener("blur", () => setTimeout(() => this.hide(), 150));
    this.input.addEventListener("keydown", (event) => this.key(event));
  }

  schedule() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.runSearch(), TYPING_PAUSE_MS);
  }

  async runSearch() {
    const text = this.input.value.trim();
    const serial = ++this.nRequests;
    if (!text) {
      this.hide();
      return;
    }
    try {
      const response = await request(
        `hv/search/${this.scene.data.session}?q=${encodeURIComponent(text)}`,
      );
      const found = response.ok ? await response.json() : { items: [], pending: false };
      if (serial !== this.nRequests || this.scene.isClosed) return;
      this.show(found.items, found.pending);
      if (found.pending) this.timer = setTimeout(() => this.list.hidden || this.runSearch(), READING_PAUSE_MS);
    } catch {
      this.hide();
    }
  }

  /** `isReading`: whether texts are still read, so that items found by meaning follow. @param {any[]} items */
  show(items, isReading = false) {
    const query = this.input.value.trim().toLowerCase();
    // A map in a notebook has no pages around it.
    const commands = (!this.field && document.querySelector(".st-key-top") ? COMMANDS : []).filter(([name]) => name.toLowerCase().startsWith(query)).map(([title, run]) => ({ title, run }));
    const similar = items.filter((item) => item.similar);
    const before = query === this.query ? this.results[this.at] : null;
    this.query = query;
    this.results = [...items.filter((item) => !item.similar), ...commands, ...similar];
    const nByWords = this.results.length - similar.length;
    const options = this.results.map((item, k) => this.option(item, k));
    this.list.replaceChildren(...options.slice(0, nByWords), ...similar.length ? [note("By meaning")] : [], ...options.slice(nByWords));
    // Items found by meaning may arrive while another result is chosen with the keys.
    const at = this.results.findIndex((item) => item.title === before?.title && item.row === before?.row);
    this.at = this.results.length ? Math.max(at, 0) : -1;
    if (isReading) this.list.append(note("Reading the texts to find by meaning …"));
    else if (!this.results.length) {
      this.list.append(h("li", { class: "hv-none", role: "option", "aria-disabled": "true" }, "Nothing found"));
    }
    this.list.hidden = false;
    this.map.announce(similar.length ? `${this.results.length} found, ${similar.length} by meaning` : `${this.results.length} found`);
    this.mark();
  }

  /** @param {number} k */
  option(item, k) {
    const { scene } = this;
    if (item.run) {
      return h("li", {
        role: "option", id: `${this.list.id}-${k}`, "aria-selected": "false",
        onpointerdown: (event) => {
          event.preventDefault();
          this.choose(k);
        },
      }, h("span", { class: "hv-name" }, item.title), h("small", {}, "command"));
    }
    const dataset = scene.datasetOf(item.row);
    const glyph = h("span", { class: "hv-glyph" }, dataset?.glyph ?? "");
    glyph.style.color = scene.palette[scene.slot[item.row]] ?? "";
    // A notebook has no addresses of pictures.
    const about = item.placed ? item.dataset : "not on this map";
    const mark = dataset?.media && !isNotebook ? h("img", { alt: "", src: this.map.media.address([item.row]) }) : glyph;
    mark.addEventListener("error", () => mark.replaceWith(glyph));
    return h("li", {
      role: "option", id: `${this.list.id}-${k}`, "aria-selected": "false",
      "aria-disabled": item.placed ? null : "true",
      "aria-label": item.similar ? `${item.title}, ${about}, by meaning` : null,
      onpointerdown: (event) => {
        event.preventDefault();
        this.choose(k);
      },
    }, mark, h("span", { class: "hv-name" }, item.title),
    h("small", {}, about));
  }

  mark() {
    this.list.querySelectorAll("[role=option]").forEach((option, k) => {
      const isActive = k === this.at;
      set(option, { "aria-selected": String(isActive) });
      if (isActive) option.scrollIntoView({ block: "nearest" });
    });
    set(this.input, {
      "aria-expanded": String(!this.list.hidden),
      "aria-activedescendant": this.at >= 0 ? `${this.list.id}-${this.at}` : null,
    });
  }

  hide() {
    this.list.hidden = true;
    this.at = -1;
    this.mark();
  }

  key(event) {
    event.stopPropagation();
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const by = event.key === "ArrowDown" ? 1 : -1;
      if (this.results.length) this.at = (this.at + by + this.results.length) % this.results.length;
      this.mark();
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (!this.list.hidden && this.at >= 0) this.choose(this.at);
    } else if (event.key === "Escape") {
      if (this.list.hidden) {
        this.input.value = "";
        this.map.stage.focus({ preventScroll: true });
      } else this.hide();
    }
  }

  /** @param {number} k */
  choose(k) {
    const { map } = this;
    const item = this.results[k];
    this.hide();
    if (!item) return;
    if (item.run) {
      this.input.value = "";
      item.run();
      return;
    }
    this.input.value = item.title;
    const group = this.field?.dataset.hvFind;
    const isFound = item.placed && (group ? map.complete(group, item.row) : map.visit(item.row));
    if (!isFound) {
      map.announce(`${item.title} is not on this map`);
      return;
    }
    map.stage.focus({ preventScroll: true });
  }

  close() {
    clearTimeout(this.timer);
    this.nRequests += 1;
  }
}

/** Search in the field of the sentence once it is used; returns a function that stops. @param {HetMap} map */
export function watchSentenceField(map) {
  const stop = new AbortController();
  /** @type {Search | null} */
  let search = null;
  document.addEventListener("focusin", (event) => {
    const field = /** @type {HTMLInputElement | null} */ (closest(event, FIELD));
    if (!field || field === search?.field || !map.scene.data?.stage) return;
    search?.close();
    search = new Search(map, field);
  }, { signal: stop.signal });
  return () => {
    stop.abort();
    search?.close();
  };
}
