// Table of the selected items, or else of those that the filters leave. Only the rows in view are on the page,
// and their cells are loaded as they are scrolled into view.

import { h, set, thousands } from "./dom.js";
import { request } from "./requests.js";
import { LimitedMap, array } from "./store.js";

/** @import { HetMap } from "./map.js" */

const [ROW_PX, MORE_ROWS, MAX_ROWS_PER_REQUEST] = [28, 12, 200];
const [UPDATE_MS, SCROLL_MS, RETRY_MS] = [80, 60, 600];

export class ItemTable {
  /** @param {HetMap} map */
  constructor(map) {
    this.map = map;
    this.scene = map.scene;
    this.isOpen = false;
    this.dataset = "";
    this.column = ""; // of the order; empty for titles
    this.descending = false;
    /** @type {Int32Array} Places in the dataset of the listed rows, in order. */
    this.rows = new Int32Array(0);
    /** @type {{ order: Int32Array, present: number } | null} */
    this.order = null;
    /** @type {{ name: string, title: string, number: boolean }[] | null} */
    this.columns = null;
    /** @type {LimitedMap} Texts by row. */
    this.texts = new LimitedMap(4000);
    /** @type {Map<number, { row: number, texts: string[] | undefined, element: HTMLElement }>} Rows on the page. */
    this.drawn = new Map();
    this.version = "";
    this.title = "Title"; // name of the column of the titles
    this.focused = 0;
    this.maxCopied = 10000; // rows
    this.maxHeight = 16e6; // px; browsers have no much larger elements
    this.sets = h("div", { class: "hv-itemgrid-sets", role: "group", "aria-label": "Table of" });
    this.note = h("span", { class: "hv-dock-note" });
    this.copyButton = h("button", { type: "button", class: "hv-text-button", onclick: () => this.copy() }, "Copy");
    this.tools = h("div", { class: "hv-itemgrid-tools" }, this.sets, this.note, this.copyButton,
      h("button", { type: "button", class: "hv-text-button", onclick: () => this.download() }, "Download CSV"));
    this.head = h("div", { class: "hv-itemgrid-head", role: "row" });
    this.body = h("div", { class: "hv-itemgrid-body", role: "rowgroup" });
    this.grid = h("div", {
      class: "hv-itemgrid", role: "grid", "aria-label": "Items", onscroll: () => this.draw(),
      onkeydown: (event) => this.key(event),
    }, h("div", { role: "rowgroup", class: "hv-itemgrid-top" }, this.head), this.body);
    this.element = h("div", { class: "hv-itemgrid-card" }, this.tools, this.grid);
  }

  /** Update the rows soon, after filters or the selection have changed. */
  schedule() {
    if (this.isOpen) this.timer ??= setTimeout(() => { this.timer = undefined; this.update(); }, UPDATE_MS);
  }

  /** Whether the selection is listed. A single item is marked among those shown. */
  get hasSelection() { return this.scene.count > 1; }

  /** Flags of the items to list. */
  get listed() { return this.hasSelection ? this.scene.picked : this.scene.isShown; }

  update() {
    const { scene } = this;
    if (!this.isOpen || scene.isClosed) return;
    const { data } = scene;
    const { listed } = this;
    const counts = data.datasets.map((d) => {
      let n = 0;
      for (let r = d.start; r < d.stop; r++) n += listed[r];
      return n;
    });
    const version = `${data.fingerprint}/${data.session}`;
    if (version !== this.version) {
      this.version = version;
      this.choose(data.datasets[Math.max(counts.findIndex(Boolean), 0)].name);
    }
    if (this.hasSelection && !counts[data.datasets.findIndex((d) => d.name === this.dataset)]) {
      this.choose(data.datasets[Math.max(counts.findIndex(Boolean), 0)].name);
    }
    this.sets.replaceChildren(...data.datasets.map((d, k) => h("button", {
      type: "button", class: "hv-text-button", "aria-pressed": String(d.name === this.dataset),
      onclick: () => { this.choose(d.name); this.update(); },
    }, d.name, h("small", {}, thousands(counts[k])))));
    this.note.textContent = this.hasSelection ? "Selected items" : "Items on the map";
    this.list();
    this.copyButton.textContent = this.rows.length > this.maxCopied ? `Copy the first ${thousands(this.maxCopied)}` : "Copy";
    this.draw();
  }

  /** Show another dataset. @param {string} name */
  choose(name) {
    Object.assign(this, { dataset: name, column: "", descending: false, order: null, columns: null, title: "Title", focused: 0 });
    this.texts.clear();
    this.grid.scrollTop = 0;
    this.load();
  }

  get place() { return this.scene.data.datasets.find((d) => d.name === this.dataset); }

  /** @param {string} route @param {Record<string, string>} query */
  async fetch(route, query, options = {}) {
    const { data } = this.scene;
    const address = `hv/${route}/${data.session}?${new URLSearchParams({ dataset: this.dataset, ...query })}`;
    const response = await request(address, options).catch(() => null);
    return this.scene.isClosed ? null : response;
  }

  /** Load the order of the rows. */
  async load() {
    const { dataset, column, scene } = this;
    const isCurrent = () => this.dataset === dataset && this.column === column && !scene.isClosed;
    const response = await this.fetch("sorted", { column });
    if (!isCurrent()) return;
    if (response?.status === 202) setTimeout(() => isCurrent() && this.load(), RETRY_MS);
    if (response?.status !== 200) return;
    const { key, present } = await response.json();
    const order = await array(scene.data.session, key, "i4").catch(() => null);
    if (!order || !isCurrent()) return;
    this.order = { order, present };
    this.list();
    this.draw();
  }

  /** Put the listed rows in order. Those without a value come last either way. */
  list() {
    const { listed, order, place, descending } = this;
    if (!place) return;
    const n = place.stop - place.start;
    const rows = new Int32Array(n);
    let m = 0;
    const present = order?.present ?? n;
    for (let k = 0; k < n; k++) {
      const at = k < present && descending ? present - 1 - k : k;
      const row = order?.order[at] ?? at;
      if (listed[place.start + row]) rows[m++] = row;
    }
    this.rows = rows.subarray(0, m);
  }

  /** @param {string} column */
  sort(column) {
    const isSame = column === this.column;
    Object.assign(this, { column, descending: isSame && !this.descending });
    if (isSame) {
      this.list();
      this.draw();
    } else this.load();
  }

  /** Height of the scrolled element, and how far the rows move for each pixel that it is scrolled. */
  get heights() {
    const whole = this.rows.length * ROW_PX;
    const height = Math.min(whole, this.maxHeight);
    const view = this.grid.clientHeight - ROW_PX; // below the head
    return { height, scale: height > view ? (whole - view) / (height - view) : 1 };
  }

  /** Draw the rows in view, and load their cells. */
  draw() {
    const { grid, body, rows, columns, place, scene } = this;
    const { height, scale } = this.heights;
    body.style.height = `${height}px`;
    const top = grid.scrollTop * scale;
    const offset = grid.scrollTop - top;
    set(grid, { "aria-rowcount": rows.length + 1 });
    const first = Math.max(Math.floor(top / ROW_PX) - MORE_ROWS, 0);
    const last = Math.min(first + Math.ceil(grid.clientHeight / ROW_PX) + 2 * MORE_ROWS, rows.length);
    this.drawHead();
    const missing = [];
    const hadFocus = body.contains(document.activeElement);
    /** @type {typeof this.drawn} */
    const drawn = new Map();
    for (let at = first; at < last; at++) {
      const row = rows[at];
      const texts = this.texts.get(String(row));
      if (!texts) missing.push(row);
      const before = this.drawn.get(at);
      // A row that stays keeps its element, so that a click on it ends where it began.
      const element = before?.row === row && before.texts === texts ? before.element : this.drawRow(at, texts);
      element.style.top = `${at * ROW_PX + offset}px`;
      set(element, { tabindex: at === this.focused ? 0 : -1, "aria-selected": String(Boolean(place && scene.picked[place.start + row])) });
      drawn.set(at, { row, texts, element });
    }
    const elements = [...drawn.values()].map(({ element }) => element);
    this.drawn = drawn;
    if (elements.length !== body.children.length || elements.some((element, k) => element !== body.children[k])) body.replaceChildren(...elements);
    if (hadFocus) /** @type {HTMLElement | null} */ (body.querySelector('[tabindex="0"]'))?.focus({ preventScroll: true });
    if (missing.length) {
      clearTimeout(this.loading);
      this.loading = setTimeout(() => this.loadCells(missing.slice(0, MAX_ROWS_PER_REQUEST)), columns ? SCROLL_MS : 0);
    }
  }

  /** @param {number} at @param {string[] | undefined} texts */
  drawRow(at, texts) {
    return h("div", {
      class: "hv-itemgrid-row", role: "row", "aria-rowindex": at + 2, "data-at": at, onclick: () => this.visit(at),
    }, ...(texts ?? ["…"]).map((text, c) => h("span", {
      role: "gridcell", title: text, class: c && this.columns?.[c - 1]?.number ? "hv-number" : null,
    }, text)));
  }

  drawHead() {
    const { columns, column, descending, head } = this;
    const key = JSON.stringify([columns, column, descending, this.title]);
    if (key === this.headKey) return;
    this.headKey = key;
    const focused = head.contains(document.activeElement);
    const cell = (name, title, isNumber) => {
      const isSorted = name === column;
      return h("span", {
        role: "columnheader", class: isNumber ? "hv-number" : null, "aria-sort": isSorted ? (descending ? "descending" : "ascending") : null,
      }, h("button", { type: "button", "data-name": name, title: `Sort by ${title}`, onclick: () => this.sort(name) }, title, isSorted ? h("i", { "aria-hidden": "true" }, descending ? " ↓" : " ↑") : null));
    };
    head.replaceChildren(cell("", this.title, false), ...(columns ?? []).map(({ name, title, number }) => cell(name, title, number)));
    this.grid.style.setProperty("--n-columns", String(columns?.length ?? 0));
    if (focused) /** @type {HTMLElement | undefined} */ ([...head.querySelectorAll("button")].find((button) => button.dataset.name === column))?.focus({ preventScroll: true });
  }

  /** @param {number[]} rows */
  async loadCells(rows) {
    const { dataset } = this;
    const response = await this.fetch("cells", { rows: rows.join() });
    if (this.dataset !== dataset) return;
    if (response?.status === 202) setTimeout(() => this.draw(), RETRY_MS);
    if (response?.status !== 200) return;
    const result = await response.json();
    if (this.dataset !== dataset) return;
    Object.assign(this, { columns: result.columns, title: result.title });
    rows.forEach((row, k) => this.texts.set(String(row), result.rows[k]));
    this.draw();
  }

  /** Select an item and bring it into view. @param {number} at */
  visit(at) {
    const { place, map } = this;
    this.focused = at;
    if (!place) return;
    const row = place.start + this.rows[at];
    // The table of a selection keeps its rows.
    if (this.hasSelection) {
      if (map.isPlaced(row)) map.camera.flyTo(row);
      this.draw();
      return;
    }
    map.visit(row);
  }

  /** Move between rows with the arrow keys; Enter shows the item. @param {KeyboardEvent} event */
  key(event) {
    const element = event.target instanceof HTMLElement ? event.target : null;
    if (!element?.matches(".hv-itemgrid-row")) return;
    const page = Math.max(Math.floor(this.grid.clientHeight / ROW_PX) - 2, 1);
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity }[event.key];
    if (event.key === "Enter") this.visit(this.focused);
    else if (step) {
      this.focused = Math.min(Math.max(this.focused + step, 0), this.rows.length - 1);
      const top = this.focused * ROW_PX;
      const { grid, heights: { scale } } = this;
      const height = grid.clientHeight - 2 * ROW_PX;
      const before = grid.scrollTop * scale;
      const after = Math.min(Math.max(before, top - height), top);
      if (after !== before) grid.scrollTop = after / scale;
      this.draw();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** The listed rows as text. @param {Int32Array} rows @param {boolean} hasTabs */
  async textOf(rows, hasTabs) {
    const response = await this.fetch("rows", hasTabs ? { tabs: "1" } : {}, { method: "POST", body: rows.slice().buffer });
    return response?.ok ? response.text() : null;
  }

  async copy() {
    const rows = this.rows.subarray(0, this.maxCopied);
    const text = await this.textOf(rows, true);
    const hasCopied = text !== null && await navigator.clipboard.writeText(text).then(() => true, () => false);
    const message = hasCopied ? `${thousands(rows.length)} rows are copied` : "The browser refused to copy";
    this.note.textContent = message;
    this.map.announce(message);
  }

  async download() {
    const text = await this.textOf(this.rows, false);
    if (text === null) return;
    const address = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    h("a", { href: address, download: `${this.dataset}.csv` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  }

  close() {
    clearTimeout(this.timer);
    clearTimeout(this.loading);
  }
}
