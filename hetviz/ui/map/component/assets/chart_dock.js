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
import { BinsChart, brushColumn } from "./charts_of_columns.js";
import { makeChart } from "./scatter_chart.js";

/** @import { HetMap } from "./map.js" */
/** @import { ChartCard, ChartFilter, ChartPart } from "./charts_of_columns.js" */
/** @import { CodedColumn } from "./crossfilter.js" */
/** @import { ChartChoice, ChartFilterSpec, ChartSpec, MapSpec } from "./messages.js" */


const [RETRY_MS, MAX_UNSEARCHED] = [600, 10];

/** @param {string[]} chart */
const keyOf = (chart) => JSON.stringify(chart);
/** Charts of the same column share their filters. @param {string} dataset @param {string} column */
const columnOf = (dataset, column) => JSON.stringify([dataset, column]);

export class ChartDock {
  /** @param {HetMap} map */
  constructor(map) {
    this.map = map;
    this.scene = map.scene;
    this.crossfilter = new Crossfilter();
    this.isOpen = false;
    /** @type {string[][]} */
    this.charts = [];
    /** @type {Map<string, ChartCard>} */
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
    /** @type {string[] | null} Chart of dates while the charts are closed. */
    this.time = null;
    this.isTimeClosed = false; // by a person, in these data
    this.mode = "";
    this.nAbsent = 0; // items that the legend hides or that have no position
    this.wasFilled = false; // whether charts have been shown
    this.isReading = false; // whether Python reads the columns for the first charts
    this.nReports = 0;
    /** @type {Set<string>} */
    this.loading = new Set();
    /** @type {ChartCard | null} */
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
    add.addEventListener("click", () => { if (!this.menu.hidden) this.fillMenu(); });
    this.row = h("div", { class: "hv-dock-row" });
    this.element = h("div", { class: "hv-dock", role: "region", "aria-label": "Charts", hidden: true },
      h("div", { class: "hv-dock-head" }, this.total, this.selector, this.absent, h("span", { class: "hv-dock-gap" }), this.tableButton, this.adder.element,
        h("button", { type: "button", class: "hv-tool", "aria-label": "Close the charts", title: "Close the charts", onclick: () => this.toggle(false) }, icon("close"))),
      map.periods.element, this.row, this.table.element);
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
    const value = { ...this.state, ...(this.isTimeClosed ? { time: false } : {}) };
    // Without charts Python chooses the first ones.
    const state = this.charts.length || this.wasFilled ? value : { ...value, charts: undefined, n: ++this.nReports };
    this.sent.push(JSON.stringify(this.state));
    send(() => this.map.component.setStateValue("charts", state));
  }

  /** Apply charts and filters of Python. @param {MapSpec} data @param {Int32Array | null} failed */
  receive(data, failed) {
    const { charts } = data;
    if (!charts) {
      this.isOpen = false;
      this.time = null;
      this.draw();
      return;
    }
    if (this.fingerprint !== data.fingerprint) {
      this.fingerprint = data.fingerprint;
      this.pending.clear();
      this.isTimeClosed = false;
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
    Object.assign(this, { failed, filters: charts.filters, time: this.isTimeClosed ? null : charts.time });
    this.draw();
  }

  /** Count again, after the filters or the shown rows have changed. */
  recount() {
    if (!this.isOpen && !this.time) return;
    const { crossfilter, scene } = this;
    const cards = [...this.cards.values()];
    for (const column of cards.flatMap(({ columns }) => columns)) column.own = this.bitsOf(column);
    const drawable = this.map.layers.drawable();
    this.nAbsent = scene.n - countOf(drawable);
    crossfilter.reset(this.failed, drawable, cards.flatMap(({ columns }) => columns));
    for (const [key, { allowed }] of this.pending) {
      const brushed = crossfilter.columns.find((column) => column.key === key);
      if (brushed) crossfilter.brush(brushed, allowed);
    }
    for (const card of cards) {
      for (const axis of card.axes) {
        if (!this.pending.has(axis.column.key)) axis.receive(this.filters.filter((item) => this.isOf(axis.column, item)));
      }
      card.place();
    }
    if (this.pending.size) this.applyMask();
    this.show();
    if (!this.dragged) for (const card of cards) card.sort();
  }

  /** @param {CodedColumn} column @param {ChartFilterSpec} item */
  isOf({ key }, item) { return key === columnOf(item.dataset, item.column); }

  /** Bits of the filters of a column. @param {CodedColumn} column */
  bitsOf(column) {
    let bits = 0;
    this.filters.forEach((item, k) => { if (this.isOf(column, item)) bits |= 1 << k; });
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
   * Filter by a column of a chart while it is brushed.
   * @param {ChartCard} card @param {ChartFilter} brushed
   */
  brush(card, brushed) {
    const begun = performance.now();
    const { column, allowed } = brushed;
    this.dragged = card;
    this.pending.set(column.key, { number: Infinity, allowed });
    brushColumn(this.crossfilter, this.cards.values(), brushed);
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.applyMask();
      this.show();
    });
    this.map.stats.brushMs = performance.now() - begun;
  }

  /** Name what is shown now, as a brush that moves does not. */
  placeNames() { this.map.requestDraw({ paint: true, place: true }); }

  /** Send the filters of a chart to Python. @param {ChartCard} card */
  end(card) {
    const { map } = this;
    const brushed = card.axes.filter(({ column }) => this.pending.has(column.key));
    this.dragged = null;
    if (!brushed.length) return;
    for (const other of this.cards.values()) if (other !== card) other.sort();
    this.number += 1;
    for (const { column, allowed } of brushed) this.pending.set(column.key, { number: this.number, allowed });
    const filters = brushed.map((axis) => {
      const [dataset, column] = JSON.parse(axis.column.key);
      return { dataset, column, ...axis.filter() };
    });
    const value = { number: this.number, filters };
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
    const { map, element, listed: charts } = this;
    const isWork = map.scene.data?.mode === "work";
    // The dates appear when their chart is there, and not as a list of few dates.
    const dates = isWork && !this.isOpen && this.time ? this.cards.get(keyOf(this.time)) : null;
    if (isWork && !this.isOpen && this.time && !dates) this.load(this.time);
    const mode = !isWork ? "" : this.isOpen ? (this.table.isOpen ? "table" : "charts") : dates instanceof BinsChart ? "time" : map.periods.isShown ? "periods" : "";
    if (this.mode !== mode) {
      const isOpening = this.isOpen && !["charts", "table"].includes(this.mode);
      this.mode = mode;
      element.hidden = !mode;
      this.row.hidden = mode === "table";
      map.toolbar.update();
      map.legend.update();
      if (mode && isOpening) uncoverCharts();
    }
    set(document.documentElement, { "data-hv-dock": mode || null, "data-hv-periods": mode && map.periods.isShown ? "" : null });
    if (!mode || mode === "periods") return;
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

  /** The charts that are shown. */
  get listed() { return this.isOpen ? this.charts : this.time ? [this.time] : []; }

  /** Load a chart and show it in its place. @param {string[]} chart */
  async load(chart) {
    const { map, scene } = this;
    const { data } = scene;
    const key = keyOf(chart);
    const [, column, , y] = chart;
    if (this.loading.has(key)) return;
    this.loading.add(key);
    try {
      const parts = await Promise.all((y ? [column, y] : [column]).map((name) => this.loadPart(chart, name)));
      if (scene.isClosed || scene.data.fingerprint !== data.fingerprint || parts.includes(null)) return;
      const card = makeChart(this, chart, /** @type {ChartPart[]} */ (parts));
      if (card instanceof BinsChart && card.spec.time) card.element.querySelector("h3")?.after(this.periodsButton());
      this.cards.set(key, card);
    } catch {
      // The next update of the page tries again.
    } finally {
      this.loading.delete(key);
      // All at once, since a chart that came before others would move them from under a finger.
      if (!this.loading.size && this.cards.size) {
        if (!this.isOpen) this.draw();
        this.fill();
      }
      map.requestDraw();
    }
  }

  /** A button that opens the form of maps of periods. */
  periodsButton() {
    const button = h("button", { type: "button", class: "hv-text-button hv-map-periods", onclick: () => this.map.periods.openForm(button) }, "Map each period");
    return button;
  }

  /** Show the loaded charts in their order. */
  fill() {
    const { scrollLeft } = this.row;
    this.row.replaceChildren(...this.listed.flatMap((chart) => this.cards.get(keyOf(chart))?.element ?? []));
    // Otherwise a row that snaps stays at the chart that it showed before.
    this.row.scrollLeft = scrollLeft;
    this.recount();
  }

  /** Load a column of a chart. @param {string[]} chart @param {string} column @returns {Promise<ChartPart | null>} */
  async loadPart([dataset, , of, y], column) {
    const { data } = this.scene;
    const [rows, others] = [dataset, of].map((name) => data.datasets.find((d) => d.name === name));
    const query = new URLSearchParams({ dataset, column, of, ...(y ? { places: "1" } : {}) });
    const response = await request(`hv/chart/${data.session}?${query}`);
    if (response.status === 202) setTimeout(() => this.scene.isClosed || this.draw(), RETRY_MS);
    if (response.status !== 200 || !rows) return null;
    /** @type {ChartSpec} */
    const spec = await response.json();
    const [codes, places, sources, targets] = await Promise.all([
      array(data.session, spec.key, "u1"), spec.places ? array(data.session, spec.places, "u1") : null,
      ...(spec.links ?? []).map((name) => array(data.session, name, "i4")),
    ]);
    if (codes.length !== rows.stop - rows.start || (y && !places)) return null;
    const links = others && sources ? columnLinks(sources, targets, others, rows) : null;
    return { spec, column: codedColumn(columnOf(dataset, column), rows.start, codes, spec.texts.length, links), places };
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
    if (!this.isOpen) {
      this.isTimeClosed = true;
      this.time = null;
      this.report();
      this.draw();
      return;
    }
    this.charts = this.charts.filter((other) => keyOf(other) !== keyOf(chart));
    this.report();
    this.draw();
    this.recount();
    this.adder.button.focus();
  }

  /**
   * List the columns that have no chart yet, or those that a scatter can show `y` against.
   * @param {ChartChoice | null} y
   */
  async fillMenu(y = null) {
    const { data } = this.scene;
    const response = await request(`hv/columns/${data.session}`).catch(() => null);
    if (!response?.ok) return;
    /** @type {{ columns: ChartChoice[] }} */
    const { columns } = await response.json();
    const shown = this.charts.map(keyOf);
    const buttons = [];
    const listed = [];
    let group = "";
    for (const choice of columns) {
      const { dataset, column, of, title } = choice;
      const chart = y ? [dataset, column, of, y.column] : [dataset, column, of];
      const isOther = y && (dataset !== y.dataset || column === y.column || !choice.axis);
      const canScatter = !y && choice.axis && columns.some((other) => other.axis && other.dataset === dataset && other.column !== column);
      if (isOther || (shown.includes(keyOf(chart)) && !canScatter)) continue;
      const name = y ? `${y.title} against` : choice.group;
      if (name !== group) listed.push(h("p", { class: "hv-menu-group" }, name));
      group = name;
      const button = h("button", { type: "button", disabled: shown.includes(keyOf(chart)), onclick: () => this.add(chart) }, title);
      buttons.push(button);
      listed.push(canScatter ? h("div", { class: "hv-dock-choice" }, button, h("button", {
        type: "button", "aria-label": `${title} against another column`, title: `Scatter of ${title} against another column`, onclick: () => this.fillMenu(choice),
      }, "against …")) : button);
    }
    const search = buttons.length > MAX_UNSEARCHED ? searchBox(buttons, "Find a column") : null;
    this.menu.replaceChildren(...(search ? [search] : []), ...(buttons.length ? listed : [h("p", { class: "hv-menu-group" }, "All columns are shown.")]));
    this.menu.scrollTop = 0;
    (search ?? this.menu.querySelector("button:enabled"))?.focus();
    this.focus ??= new RovingFocus(this.menu, "button:not([hidden]):enabled");
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
    document.documentElement.toggleAttribute("data-hv-periods", false);
  }
}
