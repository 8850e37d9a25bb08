// Charts of one column each: bins of numbers and dates, and bars of values. Bars show shares, so that the pale
// ones of all items have the same scale as those of the items that pass the other filters.

import { ChartAxis, NO_FILTER, partsAt, placeOf, pressBrush } from "./chart_axis.js";
import { h, icon, set, thousands } from "./dom.js";
import { RovingFocus } from "./roving_focus.js";
import { TimePlayer } from "./time_player.js";

/** @import { CodedColumn, Crossfilter } from "./crossfilter.js" */
/** @import { ChartFilterSpec, ChartSpec } from "./messages.js" */

/** @typedef {{ spec: ChartSpec, column: CodedColumn, places: Uint8Array | null }} ChartPart */

/**
 * What the charts are in: the row below the map, or an exported page, which removes none.
 * @typedef {object} ChartHost
 * @property {Crossfilter} crossfilter
 * @property {any} scene
 * @property {(card: ChartCard, brushed: ChartFilter) => void} brush filter while a chart is brushed
 * @property {(card: ChartCard) => void} end
 * @property {(chart: string[]) => void} [remove]
 * @property {() => void} [placeNames] place the names on the map again
 */

/** @param {number} share */
export const percent = (share) => (share > 0 && share < 0.005 ? "under 1 %" : `${Math.round(100 * share)} %`);
/** @param {Int32Array} counts @param {number} n */
const sum = (counts, n) => counts.subarray(0, n).reduce((a, b) => a + b, 0);

/**
 * Draw the share of a code among all items and among those shown; a line marks the first inside a longer bar.
 * @param {Element} element @param {"X" | "Y"} axis @param {number} whole @param {number} share
 */
function drawBar(element, axis, whole, share) {
  const [ghost, bar, line] = /** @type {HTMLCollectionOf<HTMLElement>} */ (element.children);
  ghost.style.transform = `scale${axis}(${whole})`;
  bar.style.transform = `scale${axis}(${share})`;
  line.style[axis === "X" ? "left" : "bottom"] = `${100 * whole}%`;
  line.hidden = share <= 1.02 * whole;
  return bar;
}

/**
 * Filter of one column of a chart: `allowed` has flags of the codes that pass, null for all.
 * @typedef {object} ChartFilter
 * @property {CodedColumn} column
 * @property {Uint8Array | null} allowed
 * @property {(filters: ChartFilterSpec[]) => void} receive read the filters of Python
 * @property {(allowed: Uint8Array | null) => void} follow show the filter of another chart of the column
 * @property {() => { values: string[], low: number | null, high: number | null, missing: boolean }} filter the filter for Python
 */

/**
 * Filter by a column, and show it in the other charts of the column.
 * @param {Crossfilter} crossfilter @param {Iterable<ChartCard>} cards @param {ChartFilter} brushed
 */
export function brushColumn(crossfilter, cards, brushed) {
  const { column, allowed } = brushed;
  for (const card of cards) {
    for (const axis of card.axes) {
      if (axis === brushed || axis.column.key !== column.key) continue;
      axis.follow(allowed);
      card.place();
    }
  }
  crossfilter.brush(column, allowed);
}

/** A chart in its card. */
export class ChartCard {
  /** @param {ChartHost} dock @param {string[]} chart @param {{ column: CodedColumn }[]} parts @param {string} title */
  constructor(dock, chart, parts, title) {
    this.dock = dock;
    this.chart = chart;
    /** @type {ChartFilter[]} */
    this.axes = [];
    const [dataset, column, of] = chart;
    this.columns = parts.map((part) => part.column);
    const isOnly = dock.scene.data.datasets.length === 1;
    // A plural such as "customers" names the items itself.
    this.noun = of ? `links of ${of}` : isOnly ? "items" : /[^su]s$/i.test(dataset) ? dataset : `items of ${dataset}`;
    // What the chart counts, in words.
    const rule = of ? `${title}: each link of the shown ${of} counts once` : `${title} of ${dataset}`;
    this.countText = h("span", { class: "hv-chart-count" });
    this.clearButton = h("button", { type: "button", class: "hv-text-button", hidden: true, onclick: () => this.clear() }, "Clear");
    this.body = h("div", { class: "hv-chart-body" });
    this.note = h("span", { class: "hv-chart-note" });
    this.element = h("section", { class: "hv-chart", "aria-label": `Chart of ${title}`, "data-column": column, "data-of": of || null },
      h("header", {}, h("h3", { title: rule }, title),
        dock.remove && h("button", { type: "button", class: "hv-tool", title: "Remove this chart", "aria-label": `Remove the chart of ${title}`, onclick: () => dock.remove?.(chart) }, icon("close"))),
      h("div", { class: "hv-chart-line" }, this.countText, this.clearButton), this.body, this.note);
  }

  clear() { this.setRanges(/** @type {ChartAxis[]} */ (this.axes).map((axis) => [axis, null]), true); }

  /**
   * Brush axes.
   * @param {[ChartAxis, [number, number] | null][]} ranges @param {boolean} ends whether the brush has ended
   */
  setRanges(ranges, ends = false) {
    for (const [axis, range] of ranges) {
      const before = String(axis.range);
      axis.setRange(range);
      if (ends || String(axis.range) !== before) this.dock.brush(this, axis);
    }
    this.place();
    if (ends) this.dock.end(this);
  }

  /** Draw the brush. */
  place() {}

  draw() {}

  /** Put the values with most items first, after the filters have changed. */
  sort() {}

  /** @param {number} missing items that the chart cannot show */
  noteMissing(missing) { this.note.textContent = missing ? `${thousands(missing)} without a value` : ""; }

  /** Write the number of items that pass all filters, of those of the dataset. @param {number} shown @param {number} total */
  writeCount(shown, total) {
    this.countText.textContent = `${thousands(shown)} of ${thousands(total)} ${this.noun}`;
    this.clearButton.hidden = this.axes.every(({ allowed }) => !allowed);
  }
}

class ColumnChart extends ChartCard {
  /** @param {ChartHost} dock @param {string[]} chart @param {ChartPart[]} parts */
  constructor(dock, chart, parts) {
    const [{ spec, column }] = parts;
    super(dock, chart, parts, spec.title);
    this.spec = spec;
    this.column = column;
    this.nWhole = sum(column.whole, column.n);
    this.noteMissing(column.whole[column.n]);
  }

  count() {
    const { column } = this;
    const { counts, n, start, codes, links } = column;
    const { allowed } = this.axes[0];
    let shown = 0;
    // A filter that is not of this chart can end within a bar.
    if (!links) for (const isShown of this.dock.crossfilter.shown.subarray(start, start + codes.length)) shown += isShown;
    else for (let code = 0; code <= n; code++) if (!allowed || allowed[code]) shown += counts[code];
    this.writeCount(shown, column.total);
  }

  /** Shares of the codes among the items that pass the other filters and among all, and the largest one. */
  shares() {
    const { counts, whole, n } = this.column;
    const nCounts = sum(counts, n) || 1;
    let highest = 0;
    for (let code = 0; code < n; code++) highest = Math.max(highest, counts[code] / nCounts, whole[code] / (this.nWhole || 1));
    return { nCounts, highest: highest || 1 };
  }

  /** @param {number} code @param {number} nCounts */
  title(code, nCounts) {
    const { counts, whole } = this.column;
    return `${this.spec.texts[code]}: ${thousands(counts[code])} of ${thousands(whole[code])} (${percent(counts[code] / nCounts)} of those shown, ${percent(whole[code] / (this.nWhole || 1))} of all)`;
  }
}

export class BinsChart extends ColumnChart {
  /** @param {ChartHost} dock @param {string[]} chart @param {ChartPart[]} parts */
  constructor(dock, chart, parts) {
    super(dock, chart, parts);
    this.axis = new ChartAxis(this.spec, this.column);
    this.axes = [this.axis];
    this.bars = Array.from({ length: this.column.n }, () => h("span", { class: "hv-bin" }, h("i", {}), h("b", {}), h("u", {})));
    this.window = h("div", { class: "hv-window", hidden: true });
    this.plot = h("div", { class: "hv-plot" }, ...this.bars, this.window);
    this.ends = h("div", { class: "hv-chart-ends" }, h("span", {}), h("b", {}), h("span", {}));
    this.body.append(this.plot, ...this.axis.addSliders(this), this.ends);
    if (this.spec.time) this.countText.after(new TimePlayer(this).element);
    this.plot.addEventListener("pointerdown", (event) => pressBrush(this, event));
    this.plot.addEventListener("pointermove", (event) => this.hover(event));
  }

  /** @param {PointerEvent} event */
  hover(event) {
    if (event.buttons) return;
    const part = partsAt(this, event)?.[0] ?? -1;
    this.plot.style.cursor = part === 2 ? "grab" : part < 0 ? "crosshair" : "ew-resize";
    const code = Math.min(Math.max(Math.floor(placeOf(this, event)[0]), 0), this.column.n - 1);
    this.plot.title = this.title(code, this.shares().nCounts);
  }

  place() {
    const { axis, column: { n } } = this;
    this.window.hidden = !axis.range;
    const [first, last] = axis.span;
    this.window.style.left = `${(100 * first) / n}%`;
    this.window.style.right = `${(100 * (n - 1 - last)) / n}%`;
    this.bars.forEach((bar, k) => bar.toggleAttribute("data-out", k < first || k > last));
    axis.drawSliders();
    const missing = this.column.whole[n];
    if (this.spec.time && missing) this.note.textContent = `${thousands(missing)} without a date${axis.range ? ", now hidden" : ""}`;
    const [low, middle, high] = this.ends.children;
    low.textContent = axis.lowText;
    high.textContent = axis.highText;
    middle.textContent = axis.rangeText;
    this.ends.toggleAttribute("data-range", Boolean(axis.range));
  }

  draw() {
    const { counts, whole, n } = this.column;
    const { nCounts, highest } = this.shares();
    this.count();
    for (let code = 0; code < n; code++) {
      drawBar(this.bars[code], "Y", whole[code] / (this.nWhole || 1) / highest, counts[code] / nCounts / highest);
    }
  }
}

export class ValuesChart extends ColumnChart {
  /** @param {ChartHost} dock @param {string[]} chart @param {ChartPart[]} parts */
  constructor(dock, chart, parts) {
    super(dock, chart, parts);
    const { spec, column } = this;
    this.axes = [this];
    /** @type {Set<number>} Codes that the chart lets pass; empty for all. */
    this.chosen = new Set();
    const text = (code) => spec.texts[code] ?? "no value";
    // Rows without a value have a bar of their own, so they can be chosen too.
    const codes = [...spec.texts.keys(), ...(column.whole[column.n] ? [column.n] : [])];
    this.isOrdered = spec.texts.some((name, code) => code && Number(name) > Number(spec.texts[code - 1]));
    this.rows = codes.map((code) => h("button", {
      type: "button", class: "hv-value", "aria-pressed": "false", "data-code": code,
      // Values after the 250th have one bar.
      disabled: code >= spec.values.length && code < column.n,
      onclick: (event) => this.click(code, event.shiftKey || event.ctrlKey || event.metaKey),
    }, h("span", { class: "hv-name" }, text(code)), h("span", { class: "hv-value-bar" }, h("i", {}), h("b", {}), h("u", {})), h("span", { class: "hv-count" })));
    this.note.textContent = "";
    this.list = h("div", { class: "hv-values" }, ...this.rows);
    this.body.append(this.list);
    this.focus = new RovingFocus(this.body, "button.hv-value");
    this.focus.setTabStop();
  }

  /** Draw the filters of Python. @param {ChartFilterSpec[]} filters */
  receive(filters) {
    const { values } = this.spec;
    this.chosen = new Set();
    for (const item of filters) {
      if (item.kind !== "values") continue;
      for (const value of item.values) {
        const code = values.indexOf(value);
        if (code >= 0) this.chosen.add(code);
      }
      if (item.missing) this.chosen.add(this.column.n);
    }
  }

  get allowed() {
    if (!this.chosen.size) return null;
    const flags = new Uint8Array(this.column.n + 1);
    for (const code of this.chosen) flags[code] = 1;
    return flags;
  }

  /** @param {Uint8Array | null} allowed */
  follow(allowed) { this.chosen = new Set([...(allowed ?? []).keys()].filter((code) => allowed?.[code])); }

  /** The filter for Python. */
  filter() {
    const { chosen, column, spec } = this;
    const values = [...chosen].filter((code) => code < column.n).map((code) => spec.values[code]);
    return { ...NO_FILTER, values, missing: chosen.has(column.n) };
  }

  /** Show only this value, or add it or remove it; a second click shows all. @param {number} code @param {boolean} adds */
  click(code, adds) {
    const { chosen } = this;
    if (adds) {
      if (!chosen.delete(code)) chosen.add(code);
    } else this.chosen = chosen.size === 1 && chosen.has(code) ? new Set() : new Set([code]);
    this.dock.brush(this, this);
    this.dock.end(this);
  }

  clear() {
    this.chosen = new Set();
    this.dock.brush(this, this);
    this.dock.end(this);
  }

  sort() {
    const { list, rows, isOrdered, column: { counts, whole, n } } = this;
    // Numbers stay in order, and a list that is in use stays as it is.
    if (isOrdered || list.contains(document.activeElement) || list.matches(":hover")) return;
    const codes = new Map(rows.map((row) => [row, Number(row.dataset.code)]));
    const at = (row) => codes.get(row) ?? n;
    const sorted = [...rows].sort((a, b) => Number(at(a) === n) - Number(at(b) === n)
      || counts[at(b)] - counts[at(a)] || whole[at(b)] - whole[at(a)]);
    if (sorted.some((row, k) => row !== list.children[k])) list.replaceChildren(...sorted);
    list.scrollTop = 0;
  }

  /** Colours of the values on the map, if it is coloured by the column. */
  get colours() {
    const { data, scheme } = this.dock.scene;
    const { option, kind, categories, palette } = data.colour ?? {};
    if (kind !== "categories" || !option.startsWith("[") || JSON.stringify(JSON.parse(option)) !== JSON.stringify(this.chart.slice(0, 2))) return null;
    return new Map(categories.map((name, k) => [name, palette[scheme][k]]));
  }

  draw() {
    const { counts, whole, n } = this.column;
    const { nCounts, highest } = this.shares();
    const { colours } = this;
    this.count();
    for (const row of this.rows) {
      const code = Number(row.dataset.code);
      const [, lengths, number] = row.children;
      const scale = code < n ? highest : Infinity;
      const bar = drawBar(lengths, "X", whole[code] / (this.nWhole || 1) / scale, counts[code] / nCounts / scale);
      bar.style.background = colours ? colours.get(this.spec.texts[code]) ?? "" : "";
      number.textContent = thousands(counts[code]);
      set(row, { "aria-pressed": String(this.chosen.has(code)), "data-out": this.chosen.size > 0 && !this.chosen.has(code), title: code < n ? this.title(code, nCounts) : null });
    }
  }
}
