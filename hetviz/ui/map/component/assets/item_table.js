// Table of the selected items, or else of those that the filters leave. Cells are loaded as they are scrolled
// into view.

import { h, thousands } from "./dom.js";
import { request } from "./requests.js";
import { RowGrid, copyText, listedRows, saveText } from "./row_grid.js";
import { LimitedMap, array } from "./store.js";

/** @import { HetMap } from "./map.js" */

const MAX_ROWS_PER_REQUEST = 200;
const [UPDATE_MS, SCROLL_MS, RETRY_MS] = [80, 60, 600];

export class ItemTable {
  /** @param {HetMap} map */
  constructor(map) {
    this.map = map;
    this.scene = map.scene;
    this.isOpen = false;
    this.dataset = "";
    /** @type {{ order: Int32Array, present: number } | null} */
    this.order = null;
    /** @type {LimitedMap} Texts by row. */
    this.texts = new LimitedMap(4000);
    this.version = "";
    this.maxCopied = 10000; // rows
    this.grid = new RowGrid({
      texts: (row) => this.texts.get(String(row)),
      isSelected: (row) => Boolean(this.place && this.scene.picked[this.place.start + row]),
      sort: () => this.load(),
      list: () => this.list(),
      visit: (row) => this.visit(row),
      load: (rows) => this.loadSoon(rows),
    });
    this.sets = h("div", { class: "hv-itemgrid-sets", role: "group", "aria-label": "Table of" });
    this.note = h("span", { class: "hv-dock-note" });
    this.copyButton = h("button", { type: "button", class: "hv-text-button", onclick: () => this.copy() }, "Copy");
    this.tools = h("div", { class: "hv-itemgrid-tools" }, this.sets, this.note, this.copyButton,
      h("button", { type: "button", class: "hv-text-button", onclick: () => this.download() }, "Download CSV"));
    this.element = h("div", { class: "hv-itemgrid-card" }, this.tools, this.grid.element);
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
      // The filtered items come first.
      const filtered = new Set(this.hasSelection ? [] : (data.charts?.filters ?? []).map(({ dataset }) => dataset));
      const first = data.datasets.findIndex((d, k) => counts[k] && filtered.has(d.name));
      this.choose(data.datasets[first < 0 ? Math.max(counts.findIndex(Boolean), 0) : first].name);
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
    const { rows } = this.grid;
    this.copyButton.textContent = rows.length > this.maxCopied ? `Copy the first ${thousands(this.maxCopied)}` : "Copy";
    this.grid.draw();
  }

  /** Show another dataset. @param {string} name */
  choose(name) {
    Object.assign(this, { dataset: name, order: null });
    this.texts.clear();
    this.grid.reset();
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
    const { dataset, grid, grid: { column }, scene } = this;
    const isCurrent = () => this.dataset === dataset && grid.column === column && !scene.isClosed;
    const response = await this.fetch("sorted", { column });
    if (!isCurrent()) return;
    if (response?.status === 202) setTimeout(() => isCurrent() && this.load(), RETRY_MS);
    if (response?.status !== 200) return;
    const { key, present } = await response.json();
    const order = await array(scene.data.session, key, "i4").catch(() => null);
    if (!order || !isCurrent()) return;
    this.order = { order, present };
    this.list();
    grid.draw();
  }

  list() {
    const { listed, order, place, grid } = this;
    if (!place) return;
    const n = place.stop - place.start;
    grid.rows = listedRows(n, order?.order, order?.present ?? n, grid.descending, (row) => listed[place.start + row]);
  }

  /** @param {number[]} rows */
  loadSoon(rows) {
    clearTimeout(this.loading);
    this.loading = setTimeout(() => this.loadCells(rows.slice(0, MAX_ROWS_PER_REQUEST)), this.grid.columns ? SCROLL_MS : 0);
  }

  /** @param {number[]} rows */
  async loadCells(rows) {
    const { dataset, grid } = this;
    const response = await this.fetch("cells", { rows: rows.join() });
    if (this.dataset !== dataset) return;
    if (response?.status === 202) setTimeout(() => grid.draw(), RETRY_MS);
    if (response?.status !== 200) return;
    const result = await response.json();
    if (this.dataset !== dataset) return;
    Object.assign(grid, { columns: result.columns, title: result.title });
    rows.forEach((row, k) => this.texts.set(String(row), result.rows[k]));
    grid.draw();
  }

  /** Select an item and bring it into view. @param {number} at row of the dataset */
  visit(at) {
    const { place, map } = this;
    if (!place) return;
    const row = place.start + at;
    // The table of a selection keeps its rows.
    if (this.hasSelection) {
      if (map.isPlaced(row)) map.camera.flyTo(row);
      this.grid.draw();
      return;
    }
    map.visit(row);
  }

  /** The listed rows as text. @param {Int32Array} rows @param {boolean} hasTabs */
  async textOf(rows, hasTabs) {
    const response = await this.fetch("rows", hasTabs ? { tabs: "1" } : {}, { method: "POST", body: rows.slice().buffer });
    return response?.ok ? response.text() : null;
  }

  async copy() {
    const rows = this.grid.rows.subarray(0, this.maxCopied);
    const text = await this.textOf(rows, true);
    const hasCopied = text !== null && await copyText(text);
    const message = hasCopied ? `${thousands(rows.length)} rows are copied` : "The browser refused to copy";
    this.note.textContent = message;
    this.map.announce(message);
  }

  async download() {
    const text = await this.textOf(this.grid.rows, false);
    if (text !== null) saveText(text, `${this.dataset}.csv`);
  }

  close() {
    clearTimeout(this.timer);
    clearTimeout(this.loading);
  }
}
