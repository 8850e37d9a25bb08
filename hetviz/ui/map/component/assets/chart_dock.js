// Charts below the map. They show the filters, and a brush filters the map and all other charts while it is
// dragged. Python applies the filter when it ends.

import { Crossfilter, OFF, codedColumn, columnLinks } from "./crossfilter.js";
import { h, icon, set, thousands } from "./dom.js";
import { ItemTable } from "./item_table.js";
import { searchBox } from "./legend.js";
import { send } from "./page_change.js";
import { uncoverCharts } from "./panel.js";
import { countOf } from "./pick.js";
import { RovingFocus } from "./roving_focus.js";
import { request } from "./requests.js";
import { array } from "./store.js";
import { BinsChart, ValuesChart } from "./charts_of_columns.js";

/** @import { HetMap } from "./map.js" */
/** @import { ChartFilterSpec, ChartSpec, MapSpec } from "./messages.js" */

const [RETRY_MS, MAX_UNSEARCHED] = [600, 10];

/** @param {string[]} chart */
const keyOf = (chart) => JSON.stringify(chart);
/** Charts of the same column share their filters. @param {string[]} chart */
const columnOf = (chart) => JSON.stringify(chart.slice(0, 2));

export class ChartDock {
  /** @param {HetMap} map */
  constructor(map) {
    this.map = map;
    this.scene = map.scene;
    this.crossfilter = new Crossfilter();
    this.isOpen = false;
    /** @type {string[][]} */
    this.charts = [];
    /** @type {Map<string, BinsChart | ValuesChart>} */
    this.cards = new Map();
    /** @type {string[]} Charts that were sent to Python and have not come back. */
    this.sent = [];
    /** @type {Map<string, { number: number, allowed: Uint8Array | null }>} Filters that Python has not applied. */
    this.pending = new Map();
    /** @type {Int32Array | null} */
    this.failed = null;
    /** @type {ChartFilterSpec[]} */
    this.filters = [];
    this.number = 0; // of the last filter that was sent
    this.frame = 0;
    this.fingerprint = "";
    this.nAbsent = 0; // items that the legend hides or that have no position
    this.wasFilled = false; // whether charts have been shown
    this.isReading = false; // whether Python reads the columns for the first charts
    this.nReports = 0;
    /** @type {Set<string>} */
    this.loading = new Set();
    /** @type {BinsChart | ValuesChart | null} */
    this.dragged = null;
    /** @type {RovingFocus | null} */
    this.focus = null;
    this.total = h("b", { role: "status" });
    this.absent = h("span", { class: "hv-dock-note" });
    this.selector = h("button", { type: "button", class: "hv-text-button", hidden: true, onclick: () => this.select() }, "Select them");
    this.table = new ItemTable(map);
    this.tableButton = h("button", { type: "button", class: "hv-text-button", onclick: () => this.toggleTable() });
    this.menu = h("div", { class: "hv-menu hv-dock-menu" });
    const add = h("button", { type: "button", class: "hv-text-button", "aria-expanded": "false" }, "Add chart");
    this.adder = map.toolbar.addMenu(add, this.menu, h("div", { class: "hv-drop" }, add, this.menu));
    add.addEventListener("click", () => this.menu.hidden || this.fillMenu());
    this.row = h("div", { class: "hv-dock-row" });
    this.element = h("div", { class: "hv-dock", role: "region", "aria-label": "Charts", hidden: true },
      h("div", { class: "hv-dock-head" }, this.total, this.selector, this.absent, h("span", { class: "hv-dock-gap" }), this.tableButton, this.adder.element,
        h("button", { type: "button", class: "hv-tool", "aria-label": "Close the charts", title: "Close the charts", onclick: () => this.toggle(false) }, icon("close"))),
      this.row, this.table.element);
    this.showTable(false);
  }

  /** Show the table instead of the charts, or the charts again. */
  toggleTable() {
    this.showTable(!this.table.isOpen);
    this.report();
    this.draw();
    uncoverCharts();
  }

  /** @param {boolean} isOpen */
  showTable(isOpen) {
    const { table } = this;
    table.isOpen = isOpen;
    table.element.hidden = !isOpen;
    this.row.hidden = this.adder.element.hidden = isOpen;
    this.tableButton.textContent = isOpen ? "Show charts" : "Show table";
    table.schedule();
  }

  /** Open or close the charts, like their switch. */
  toggle(open = !this.isOpen) {
    this.isOpen = open;
    this.report();
    this.draw();
  }

  get state() { return { open: this.isOpen, table: this.table.isOpen, charts: this.charts }; }

  /** Whether Python has not chosen the first charts yet. */
  get waits() { return !this.wasFilled && (this.isReading || this.sent.length > 0); }

  /** Send the charts to Python. */
  report() {
    const value = this.state;
    // Without charts Python chooses the first ones.
    const state = this.charts.length || this.wasFilled ? value : { ...value, charts: undefined, n: ++this.nReports };
    this.sent.push(JSON.stringify(value));
    send(() => this.map.component.setStateValue("charts", state));
  }

  /** Apply charts and filters of Python. @param {MapSpec} data @param {Int32Array | null} failed */
  receive(data, failed) {
    const { charts } = data;
    if (!charts) {
      this.isOpen = false;
      this.draw();
      return;
    }
    if (this.fingerprint !== data.fingerprint) {
      this.fingerprint = data.fingerprint;
      this.pending.clear();
      for (const card of this.cards.values()) card.element.remove();
      this.cards.clear();
    }
    const echo = this.sent.indexOf(JSON.stringify({ open: charts.open, table: charts.table, charts: charts.charts }));
    if (echo >= 0) this.sent.splice(0, echo + 1);
    else if (!this.sent.length || !this.charts.length) {
      Object.assign(this, { isOpen: charts.open, charts: charts.charts });
      if (charts.table !== this.table.isOpen) this.showTable(charts.table);
      this.sent = [];
    }
    this.isReading = charts.loading;
    clearTimeout(this.retry);
    if (charts.loading) this.retry = setTimeout(() => this.isOpen && this.report(), RETRY_MS);
    this.wasFilled ||= charts.charts.length > 0;
    this.number = Math.max(this.number, charts.acknowledged);
    for (const [key, { number }] of this.pending) if (number <= charts.acknowledged) this.pending.delete(key);
    Object.assign(this, { failed, filters: charts.filters });
    this.draw();
  }

  /** Count again, after the filters or the shown rows have changed. */
  recount() {
    if (!this.isOpen) return;
    const { crossfilter, scene } = this;
    const cards = [...this.cards.values()];
    for (const card of cards) card.column.own = this.bitsOf(card);
    const drawable = this.map.layers.drawable();
    this.nAbsent = scene.n - countOf(drawable);
    crossfilter.reset(this.failed, drawable, cards.map(({ column }) => column));
    for (const [key, { allowed }] of this.pending) {
      const card = cards.find(({ column }) => column.key === key);
      if (card) crossfilter.brush(card.column, allowed);
    }
    for (const card of cards) {
      if (!this.pending.has(card.column.key)) card.receive(this.filters.filter((item) => this.isOf(card, item)));
    }
    if (this.pending.size) this.applyMask();
    this.show();
    if (!this.dragged) for (const card of cards) card.sort();
  }

  /** @param {BinsChart | ValuesChart} card @param {ChartFilterSpec} item */
  isOf({ chart }, item) { return item.dataset === chart[0] && item.column === chart[1]; }

  /** Bits of the filters of the column of a chart. @param {BinsChart | ValuesChart} card */
  bitsOf(card) {
    let bits = 0;
    this.filters.forEach((item, k) => { if (this.isOf(card, item)) bits |= 1 << k; });
    return bits;
  }

  /** Show the map by the brushes. */
  applyMask() {
    const { crossfilter, map, scene } = this;
    scene.mask = crossfilter.mask;
    // Other parts compare the array itself.
    scene.isShown = crossfilter.shown.slice();
    scene.visible = crossfilter.visible;
    map.requestDraw({ paint: true });
  }

  /**
   * Filter by a chart while it is brushed.
   * @param {BinsChart | ValuesChart} card @param {Uint8Array | null} allowed flags of codes, null for all
   */
  brush(card, allowed) {
    const begun = performance.now();
    this.dragged = card;
    this.pending.set(card.column.key, { number: Infinity, allowed });
    for (const other of this.cards.values()) if (other !== card && other.column.key === card.column.key) other.follow(/** @type {any} */ (card));
    this.crossfilter.brush(card.column, allowed);
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.applyMask();
      this.show();
    });
    this.map.stats.brushMs = performance.now() - begun;
  }

  /** Send the filter of a chart to Python. @param {BinsChart | ValuesChart} card */
  end(card) {
    const { map } = this;
    const pending = this.pending.get(card.column.key);
    this.dragged = null;
    if (!pending) return;
    for (const other of this.cards.values()) if (other !== card) other.sort();
    pending.number = ++this.number;
    const [dataset, column] = card.chart;
    const value = { number: this.number, dataset, column, ...card.filter() };
    send(() => map.component.setTriggerValue("filter", value));
    map.requestDraw({ paint: true, place: true });
    map.legend.update();
    map.announce(this.total.textContent);
  }

  /** Datasets of which the filters hide some items. */
  get filtered() {
    const { scene, crossfilter: { failed } } = this;
    return scene.data.datasets.filter((d) => failed.subarray(d.start, d.stop).some((bits) => bits & ~OFF));
  }

  /** Select the items that the filters leave, to use them as a group. */
  select() {
    const { shown } = this.crossfilter;
    const rows = [];
    for (const d of this.filtered) for (let r = d.start; r < d.stop; r++) if (shown[r]) rows.push(r);
    this.map.selection.select(rows);
  }

  draw() {
    const { map, element, charts } = this;
    const shown = this.isOpen && map.scene.data?.mode === "work";
    if (element.hidden === shown) {
      element.hidden = !shown;
      map.toolbar.update();
      if (shown) uncoverCharts();
    }
    set(document.documentElement, { "data-hv-dock": !shown ? null : this.table.isOpen ? "table" : "charts" });
    if (!shown) return;
    const keys = charts.map(keyOf);
    for (const [key, card] of this.cards) {
      if (keys.includes(key)) continue;
      card.element.remove();
      this.cards.delete(key);
    }
    for (const chart of charts) if (!this.cards.has(keyOf(chart))) this.load(chart);
    if (this.cards.size) return;
    const text = charts.length || this.waits ? "Loading charts" : "Add a chart of a column to begin.";
    this.row.replaceChildren(h("p", { class: "hv-dock-note" }, text));
  }

  /** Load a chart and show it in its place. @param {string[]} chart */
  async load(chart) {
    const { map, scene } = this;
    const { data } = scene;
    const key = keyOf(chart);
    const [dataset, column, of] = chart;
    const [rows, others] = [dataset, of].map((name) => data.datasets.find((d) => d.name === name));
    if (!rows || this.loading.has(key)) return;
    this.loading.add(key);
    try {
      const query = new URLSearchParams({ dataset, column, of });
      const response = await request(`hv/chart/${data.session}?${query}`);
      if (response.status === 202) setTimeout(() => scene.isClosed || this.draw(), RETRY_MS);
      if (response.status !== 200 || scene.isClosed) return;
      /** @type {ChartSpec} */
      const spec = await response.json();
      const [codes, sources, targets] = await Promise.all([
        array(data.session, spec.key, "u1"), ...(spec.links ?? []).map((name) => array(data.session, name, "i4")),
      ]);
      if (scene.data.fingerprint !== data.fingerprint || codes.length !== rows.stop - rows.start) return;
      const Card = spec.kind === "bins" ? BinsChart : ValuesChart;
      const card = new Card(this, chart, spec, codedColumn(columnOf(chart), rows.start, codes, spec.texts.length, others && sources ? columnLinks(sources, targets, others, rows) : null));
      this.cards.set(key, card);
      const { scrollLeft } = this.row;
      this.row.replaceChildren(...this.charts.flatMap((other) => this.cards.get(keyOf(other))?.element ?? []));
      // Otherwise a row that snaps stays at the chart that was loaded first.
      this.row.scrollLeft = scrollLeft;
      this.recount();
    } catch {
      // The next update of the page tries again.
    } finally {
      this.loading.delete(key);
      map.requestDraw();
    }
  }

  /** Write all counts. */
  show() {
    const { crossfilter, scene } = this;
    this.total.textContent = `${thousands(crossfilter.visible)} of ${thousands(scene.n)} items`;
    this.selector.hidden = crossfilter.visible === scene.n - this.nAbsent || !crossfilter.visible;
    this.absent.textContent = this.nAbsent ? `${thousands(this.nAbsent)} hidden on the map` : "";
    for (const card of this.cards.values()) card.draw();
    this.table.schedule();
  }

  /** @param {string[]} chart */
  remove(chart) {
    this.charts = this.charts.filter((other) => keyOf(other) !== keyOf(chart));
    this.report();
    this.draw();
    this.recount();
    this.adder.button.focus();
  }

  /** List the columns that have no chart yet. */
  async fillMenu() {
    const { data } = this.scene;
    const response = await request(`hv/columns/${data.session}`).catch(() => null);
    if (!response?.ok) return;
    /** @type {{ columns: { group: string, dataset: string, column: string, of: string, title: string }[] }} */
    const { columns } = await response.json();
    const shown = this.charts.map(keyOf);
    const buttons = [];
    const listed = [];
    let group = "";
    for (const { dataset, column, of, title, group: name } of columns) {
      const chart = [dataset, column, of];
      if (shown.includes(keyOf(chart))) continue;
      if (name !== group) listed.push(h("p", { class: "hv-menu-group" }, name));
      group = name;
      const button = h("button", { type: "button", onclick: () => this.add(chart) }, title);
      buttons.push(button);
      listed.push(button);
    }
    const search = buttons.length > MAX_UNSEARCHED ? searchBox(buttons, "Find a column") : null;
    this.menu.replaceChildren(...(search ? [search] : []), ...(buttons.length ? listed : [h("p", { class: "hv-menu-group" }, "All columns are shown.")]));
    (search ?? buttons[0])?.focus();
    this.focus ??= new RovingFocus(this.menu, "button:not([hidden])");
  }

  /** @param {string[]} chart */
  add(chart) {
    this.map.toolbar.closeMenus();
    this.charts = [...this.charts, chart];
    this.report();
    this.draw();
    this.adder.button.focus();
  }

  close() {
    this.table.close();
    clearTimeout(this.retry);
    cancelAnimationFrame(this.frame);
    document.documentElement.toggleAttribute("data-hv-dock", false);
  }
}
