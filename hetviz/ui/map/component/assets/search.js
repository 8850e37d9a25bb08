// Search for items, values, parts of the map, colours, pages and commands: in the top bar, where a result is
// opened or selected, and in the sentence at the foot of the map, which an item completes.

import { closest, h, icon, set, thousands } from "./dom.js";
import { isNotebook, request } from "./requests.js";
import { TABS, openTab } from "./panel.js";
import { rowsOf } from "./pick.js";
import { NO_MATCH, folded, rank } from "./text_search.js";

/** @import { HetMap } from "./map.js" */

/**
 * @typedef {object} SearchResult
 * @property {string} title
 * @property {string} [kind] "item" for items
 * @property {number} [row]
 * @property {string} [dataset]
 * @property {boolean} [placed]
 * @property {string} [detail] text below the title
 * @property {string} [aside] text at the right
 * @property {string} [keys] keys of a command
 * @property {string} [icon]
 * @property {string} [glyph]
 * @property {() => void} [run] opens it
 * @property {() => number[] | Promise<number[]>} [rows] rows that it selects
 *
 * @typedef {object} SearchGroup
 * @property {string} key
 * @property {string} title
 * @property {string} [note]
 * @property {SearchResult[]} options
 * @property {number} [total]
 * @property {boolean} [is_complete]
 * @property {() => number[] | Promise<number[]>} [rows] rows of all its matches
 */

const FIELD = "input[data-hv-find]";
const TYPING_PAUSE_MS = 60;
const READING_PAUSE_MS = 1000; // between requests while the texts are read for a search by meaning
const ARRIVAL_STEP_MS = 100;
const [MAX_LISTED, MAX_COMMANDS] = [5, 6];
const COLOUR_QUERY = /^colou?r(?: by)? +(?=\S)/;
let serial = 0;

/** @param {string} selector */
const click = (selector) => document.querySelector(selector)?.click();
const goTo = (place) => () => click(`.st-key-place-${place} a`);

/** Do something on the map, from any page. @param {() => void} run */
function onMap(run, tries = 50) {
  // A notebook has no pages.
  if (!document.querySelector(".st-key-place-map") || document.querySelector(".hv-at-map")) run();
  else if (tries) {
    if (tries === 50) goTo("map")();
    setTimeout(() => onMap(run, tries - 1), ARRIVAL_STEP_MS);
  }
}

/** The options whose title fits, the best first. @template {SearchResult} T @param {T[]} options @param {string} query */
function fitting(options, query) {
  return options.map((option) => ({ option, at: rank(folded(option.title), query) })).filter(({ at }) => at < NO_MATCH)
    .sort((a, b) => a.at - b.at).map(({ option }) => option);
}

/** A group of results known in the browser. @param {SearchResult[]} options @returns {SearchGroup} */
const group = (key, title, options, max = MAX_LISTED) => ({ key, title, options: options.slice(0, max), total: options.length });

export class Search {
  /**
   * `field` is the field of the sentence; without one, a field of its own is made.
   * @param {HetMap} map @param {HTMLInputElement | null} field
   */
  constructor(map, field = null) {
    this.map = map;
    this.field = field;
    this.scene = map.scene;
    /** @type {{ result: SearchResult, group: SearchGroup, element: HTMLElement }[]} */
    this.options = [];
    this.at = -1;
    this.nRequests = 0;
    this.query = ""; // whose results are listed
    /** @type {{ text: string, isAll: boolean } | null} What was entered before its results came. */
    this.entered = null;
    /** @type {(() => void) | null} Shows what arrived while a button of the mouse is down. */
    this.held = null;
    /** @type {{ text: string, row: number } | null} The item of a query "like NAME". */
    this.likeItem = null;
    const id = `hv-found-${++serial}`;
    this.list = h("div", { class: "hv-search-results", role: "listbox", id, "aria-label": "Results" });
    // Keeps the focus in the field. A finger can scroll.
    this.list.addEventListener("mousedown", (event) => {
      event.preventDefault();
      this.hold();
    });
    this.list.hidden = true;
    const label = isNotebook ? "Find items and values" : "Find items, values, commands";
    this.input = field ?? h("input", { type: "text", placeholder: label, "aria-label": label });
    set(this.input, {
      role: "combobox", "aria-expanded": "false", "aria-controls": id, "aria-autocomplete": "list",
      autocomplete: "off", spellcheck: "false",
      ...(field ? {} : { "aria-description": "Shift + Enter selects all matches. The right arrow lists items like the current one." }),
    });
    this.element = field?.parentElement ?? h("div", { class: "hv-search" }, icon("search"), this.input, h("button", {
      type: "button", class: "hv-search-close", "aria-label": "Close the search", onclick: () => this.leave(),
    }, icon("close")));
    this.element.append(this.list);
    this.input.addEventListener("input", () => this.schedule());
    // The old query is replaced by what is typed next.
    this.input.addEventListener("focus", () => {
      this.input.select();
      if (this.input.value || !field) this.schedule();
    });
    this.input.addEventListener("blur", () => setTimeout(() => this.hide(), 150));
    this.input.addEventListener("keydown", (event) => this.key(event));
  }

  /** Keep the list until the click has ended, which a replaced result would not get. */
  hold() {
    this.held = () => {};
    addEventListener("mouseup", () => setTimeout(() => {
      const show = this.held;
      this.held = null;
      show?.();
    }), { once: true, capture: true });
  }

  schedule() {
    clearTimeout(this.timer);
    this.entered = null;
    this.timer = setTimeout(() => this.runSearch(), TYPING_PAUSE_MS);
  }

  async runSearch() {
    const text = this.input.value.trim();
    const serial = ++this.nRequests;
    if (!text && this.field) {
      this.hide();
      return;
    }
    const like = this.likeItem?.text === text ? `&row=${this.likeItem.row}` : "";
    try {
      const response = await request(`hv/search/${this.scene.data.session}?q=${encodeURIComponent(text)}${like}`);
      const found = response.ok ? await response.json() : { groups: [], examples: [], note: "", pending: false };
      if (serial !== this.nRequests || this.scene.isClosed || !this.isActive) return;
      this.show(text, found);
      if (found.pending) this.timer = setTimeout(() => this.list.hidden || this.runSearch(), READING_PAUSE_MS);
    } catch {
      this.hide();
    }
  }

  get isActive() { return document.activeElement === this.input; }

  /** Search for items like one. @param {number} row @param {string} title */
  findLike(row, title) {
    this.likeItem = { text: `like ${title}`, row };
    this.input.value = this.likeItem.text;
    this.input.focus();
    this.input.setSelectionRange(this.input.value.length, this.input.value.length);
    this.schedule();
  }

  /** All groups of results, those with the best result first. @param {string} text */
  groups(text, found) {
    /** @type {SearchGroup[]} */
    const groups = found.groups;
    for (const part of groups) this.complete(part, text);
    if (this.field) return groups.filter(({ options }) => options.every(({ kind }) => kind === "item"));
    const query = folded(text);
    if (!query) return [];
    const colourOnly = COLOUR_QUERY.test(query);
    const others = colourOnly ? [this.colours(query.replace(COLOUR_QUERY, ""))]
      : [this.regions(query), this.datasets(query), this.colours(query), this.commands(query)];
    const ranked = [...colourOnly ? [] : groups, ...others].filter(({ options }) => options.length);
    // Similar items follow what has the words.
    const order = ({ key, options }) => (/^(alike|near)/.test(key) ? -1 : key === "meaning" ? 6 : key === "texts" ? 5 : rank(folded(options[0].title), query));
    return ranked.sort((a, b) => order(a) - order(b));
  }

  /** Say what the results of the server do. @param {SearchGroup} part @param {string} text */
  complete(part, text) {
    const { session } = this.scene.data;
    const load = async (query) => {
      const response = await request(`hv/matches/${session}?${new URLSearchParams(query)}`);
      return [...new Int32Array(response.ok ? await response.arrayBuffer() : 0)];
    };
    if (part.key === "names" || part.key === "texts") part.rows = () => load({ q: text, group: part.key });
    else if (part.options.every(({ kind }) => kind === "item")) part.rows = () => part.options.map(({ row = -1 }) => row);
    for (const option of part.options) {
      if (option.kind !== "value") continue;
      const { dataset = "", column = "", value = "" } = /** @type {any} */ (option);
      option.glyph = this.scene.data.datasets.find(({ name }) => name === dataset)?.glyph;
      option.rows = () => load({ dataset, column, value });
    }
  }

  /** @param {string} query */
  regions(query) {
    const { map } = this;
    const options = map.regions.named.flatMap(({ names, accounts, codes, isTrue }) => names.map((title, code) => {
      const rows = () => rowsOf(codes.map((c) => Number(c === code)));
      return { title, detail: accounts[code]?.replace(`${title}: `, ""), icon: "terrain", rows, run: () => map.camera.flyToAll(rows().filter((r) => isTrue[r]), this.scene.pos) };
    }).filter(({ title }) => title));
    return group("regions", "Places on this map", fitting(options, query));
  }

  /** @param {string} query */
  datasets(query) {
    const { map, scene } = this;
    const options = scene.data.datasets.map((d) => ({
      title: d.name, glyph: d.glyph, aside: thousands(d.stop - d.start), detail: "Show only these",
      rows: () => Array.from({ length: d.stop - d.start }, (_, k) => d.start + k),
      run: () => map.legend.showOnly(d.name),
    }));
    return group("datasets", "Datasets", fitting(options, query));
  }

  /** @param {string} query */
  colours(query) {
    const { colours = [], datasets } = this.scene.data;
    const options = colours.map(({ key, title, group: of }) => ({
      title, aside: datasets.length === 1 && datasets[0].name === of ? "" : of, icon: "fade", run: () => this.map.legend.colourBy(key),
    }));
    return group("colours", "Colour the map by", fitting(options, query));
  }

  /** @param {string} query */
  commands(query) {
    const { map } = this;
    const page = (title, place) => ({ title, aside: "page", run: goTo(place) });
    const hasPages = Boolean(document.querySelector(".st-key-top"));
    const undo = document.querySelector(".st-key-undo button:enabled");
    /** @type {SearchResult[]} */
    const options = [
      ...(hasPages ? [page("Data", "data"), page("Map", "map"), page("Compare", "compare"), page("Export", "export")] : []),
      ...(hasPages ? TABS.map((title, k) => ({ title, aside: "panel", keys: String(k + 1), run: () => openTab(title) })) : []),
      ...(undo ? [{ title: undo.querySelector("p")?.textContent ?? "Undo", keys: "Ctrl + Z", run: () => undo.click() }] : []),
      ...map.toolbar.commands(),
      { title: "Select all items in view", keys: "Ctrl + A", run: () => map.keys.selectSeen() },
    ];
    return group("commands", "Commands", fitting(options, query), MAX_COMMANDS);
  }

  /** List the results. @param {string} text */
  show(text, found) {
    if (this.held) {
      this.held = () => this.show(text, found);
      return;
    }
    const groups = this.groups(text, found);
    const before = text === this.query ? this.options[this.at]?.result : null;
    this.query = text;
    this.options = [];
    const notes = [];
    const isEmpty = !groups.length && !found.pending;
    if (isEmpty && text) notes.push(h("div", { class: "hv-search-none", role: "option", "aria-disabled": "true" }, "Nothing found", h("small", {}, found.note)));
    if (isEmpty && !this.field && found.examples.length) {
      groups.push({ key: "examples", title: text ? "Try instead" : "Try", options: found.examples.map((title) => ({ title, icon: "search", run: () => this.ask(title) })) });
    }
    const parts = groups.map((part) => this.group(part));
    // A list needs an option.
    const waiting = this.options.length ? { role: "presentation" } : { role: "option", "aria-disabled": "true" };
    if (found.pending) notes.push(h("div", { class: "hv-search-note", ...waiting }, "Reading the texts to find by meaning …"));
    this.list.replaceChildren(...(isEmpty ? [...notes, ...parts] : [...parts, ...notes]));
    if (this.options.length && !this.field && text) this.list.append(h("div", { class: "hv-search-keys", role: "presentation" }, "Enter opens, Shift + Enter selects all, → lists items like it"));
    // Items found by meaning may arrive while another result is chosen with the keys.
    const at = this.options.findIndex(({ result }) => result.title === before?.title && result.row === before?.row);
    this.at = this.options.length && text ? Math.max(at, 0) : -1;
    this.list.hidden = !this.list.childElementCount;
    const similar = groups.find(({ key }) => key === "meaning")?.options.length;
    if (text) this.map.announce(isEmpty ? `Nothing found. ${found.note}` : `${this.options.length} listed${similar ? `, ${similar} by meaning` : ""}`);
    this.mark();
    const { entered } = this;
    if (entered?.text !== text) return;
    this.entered = null;
    if (!isEmpty && this.options.length) this.choose(this.at, entered.isAll);
  }

  /** Search for an example. @param {string} text */
  ask(text) {
    this.input.value = text;
    this.input.focus();
    this.schedule();
  }

  /** @param {SearchGroup} part */
  group(part) {
    const { key, title, options, note, rows, total = options.length, is_complete: isComplete = true } = part;
    const id = `${this.list.id}-${key.replace(/\W/g, "_")}`;
    const count = isComplete ? thousands(total) : `over ${thousands(total)}`;
    const shown = total > options.length || !isComplete ? `${options.length} of ${count}` : "";
    const elements = options.map((option) => this.option(option, part));
    if (rows && total > 1 && !this.field) elements.push(this.option({ title: isComplete ? `Select all ${count}` : `Select all, ${count}`, icon: "box", rows }, part));
    return h("div", { role: "group", "aria-labelledby": id },
      h("div", { class: "hv-search-note", id }, h("span", {}, title), h("small", {}, [note, shown].filter(Boolean).join(", "))),
      ...elements);
  }

  /** @param {SearchResult} result @param {SearchGroup} part */
  option(result, part) {
    const isItem = result.kind === "item";
    const hasMany = this.scene.data.datasets.length > 1;
    const isOff = isItem && !result.placed;
    const aside = isOff ? "not on this map" : result.aside || (isItem && hasMany && !part.key.startsWith("near") ? result.dataset : "");
    const k = this.options.length;
    const name = h("span", { class: "hv-name" }, h("span", {}, ...this.emphasised(result.title)), result.detail ? h("small", {}, ...this.emphasised(result.detail)) : null);
    const element = h("div", {
      class: "hv-search-option", role: "option", id: `${this.list.id}-${k}`, "aria-selected": "false", "aria-disabled": isOff ? "true" : null,
      "aria-label": part.key === "meaning" ? `${result.title}, ${aside}, by meaning` : null,
      onclick: (event) => (closest(event, ".hv-search-like") ? this.findLike(result.row ?? 0, result.title) : this.choose(k, event.shiftKey)),
    }, isItem ? this.face(result.row ?? 0) : h("span", { class: "hv-glyph", "aria-hidden": "true" }, result.glyph ?? (result.icon ? icon(result.icon) : "")),
    name, aside ? h("small", {}, aside) : null, result.keys ? h("kbd", {}, result.keys) : null,
    isItem && !this.field ? h("span", { class: "hv-search-like", "aria-hidden": "true", title: "Items like this one" }, "Like this") : null);
    this.options.push({ result, group: part, element });
    return element;
  }

  /** The picture of an item, or the shape of its dataset. @param {number} row */
  face(row) {
    const { scene } = this;
    const dataset = scene.datasetOf(row);
    const glyph = h("span", { class: "hv-glyph", "aria-hidden": "true" }, dataset?.glyph ?? "");
    glyph.style.color = scene.palette[scene.slot[row]] ?? "";
    // A notebook has no addresses of pictures.
    if (!dataset?.media || isNotebook) return glyph;
    const picture = h("img", { alt: "", src: this.map.media.address([row]) });
    picture.addEventListener("error", () => picture.replaceWith(glyph));
    return picture;
  }

  /** A text with the query in bold. @param {string} text @returns {(string | HTMLElement)[]} */
  emphasised(text) {
    const query = this.query.replace(/^.*?:\s*/, "").toLowerCase();
    const plain = text.toLowerCase();
    const at = query && plain.length === text.length ? plain.indexOf(query) : -1;
    return at < 0 ? [text] : [text.slice(0, at), h("b", {}, text.slice(at, at + query.length)), text.slice(at + query.length)];
  }

  mark() {
    this.options.forEach(({ element }, k) => {
      const isActive = k === this.at;
      set(element, { "aria-selected": String(isActive) });
      if (isActive) element.scrollIntoView({ block: "nearest" });
    });
    if (this.at === 0) this.list.scrollTop = 0;
    set(this.input, {
      "aria-expanded": String(!this.list.hidden),
      "aria-activedescendant": this.at >= 0 ? `${this.list.id}-${this.at}` : null,
    });
  }

  hide() {
    this.entered = null;
    if (this.held) this.held = () => {};
    this.list.hidden = true;
    this.at = -1;
    this.mark();
  }

  key(event) {
    event.stopPropagation();
    const { input } = this;
    const current = this.list.hidden ? null : this.options[this.at]?.result;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const n = this.options.length;
      const by = event.key === "ArrowDown" ? 1 : -1;
      if (n) this.at = this.at < 0 ? (by > 0 ? 0 : n - 1) : (this.at + by + n) % n;
      this.mark();
    } else if (event.key === "ArrowRight" && current?.kind === "item" && !this.field && input.selectionStart === input.value.length) {
      event.preventDefault();
      this.findLike(current.row ?? 0, current.title);
    } else if (event.key === "Enter") {
      event.preventDefault();
      const text = input.value.trim();
      // The list may still be of what was typed before.
      if (text && text !== this.query) {
        clearTimeout(this.timer);
        this.entered = { text, isAll: event.shiftKey };
        this.runSearch();
      } else if (current) this.choose(this.at, event.shiftKey);
    } else if (event.key === "Escape") {
      if (this.list.hidden) this.leave();
      else this.hide();
    }
  }

  leave() {
    this.input.value = "";
    this.hide();
    this.map.stage.focus({ preventScroll: true });
  }

  /** Open a result, or select all that it stands for. @param {number} k @param {boolean} isAll */
  choose(k, isAll = false) {
    const { map } = this;
    const { result, group: part } = this.options[k] ?? {};
    if (!result || !part) return;
    const rows = (isAll && (part.rows ?? result.rows)) || (!result.run && result.kind !== "item" && result.rows);
    if (part.key !== "examples") this.hide();
    if (rows && !this.field) {
      onMap(async () => this.select(await rows()));
      return;
    }
    if (result.kind !== "item") {
      if (part.key === "commands") this.input.value = "";
      if (part.key === "examples" || result.aside === "page") result.run?.();
      else onMap(() => result.run?.());
      return;
    }
    this.input.value = result.title;
    const { row = -1 } = result;
    const name = this.field?.dataset.hvFind;
    onMap(() => {
      if (!result.placed || !(name ? map.complete(name, row) : map.visit(row))) map.announce(`${result.title} is not on this map`);
      else map.stage.focus({ preventScroll: true });
    });
  }

  /** Select rows and show them. @param {number[]} rows */
  select(rows) {
    const { map } = this;
    const placed = rows.filter((row) => map.isPlaced(row));
    for (const { name, start, stop } of this.scene.data.datasets) {
      if (this.scene.hidden.includes(name) && placed.some((row) => row >= start && row < stop)) map.layers.toggle(name);
    }
    map.selection.select(placed);
    map.camera.showRows(placed);
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
