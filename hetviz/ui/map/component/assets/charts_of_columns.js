// Charts of one column each: bins of numbers and dates, and bars of values. Bars show shares, so that the pale
// ones of all items have the same scale as those of the items that pass the other filters.

import { h, icon, set, thousands } from "./dom.js";
import { RovingFocus } from "./roving_focus.js";

/** @import { ChartDock } from "./chart_dock.js" */
/** @import { CodedColumn } from "./crossfilter.js" */
/** @import { ChartFilterSpec, ChartSpec } from "./messages.js" */

const GRIP_PX = 7; // px around an end of the brush that move it
const percent = (share) => (share > 0 && share < 0.005 ? "under 1 %" : `${Math.round(100 * share)} %`);
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

class ColumnChart {
  /** @param {ChartDock} dock @param {string[]} chart @param {ChartSpec} spec @param {CodedColumn} column */
  constructor(dock, chart, spec, column) {
    this.dock = dock;
    this.chart = chart;
    this.spec = spec;
    this.column = column;
    const [dataset, , of] = chart;
    /** @type {HTMLElement[]} */
    this.rows = [];
    this.noun = of ? `links of ${of}` : dock.scene.data.datasets.length > 1 ? dataset : "items";
    // What the chart counts, in words.
    const rule = of ? `${spec.title}: each link of the shown ${of} counts once` : `${spec.title} of ${dataset}`;
    this.countText = h("span", { class: "hv-chart-count" });
    this.clearButton = h("button", { type: "button", class: "hv-text-button", hidden: true, onclick: () => this.clear() }, "Clear");
    this.body = h("div", { class: "hv-chart-body" });
    this.note = h("span", { class: "hv-chart-note" });
    this.element = h("section", { class: "hv-chart", "aria-label": `Chart of ${spec.title}`, "data-column": chart[1], "data-of": of || null },
      h("header", {}, h("h3", { title: rule }, spec.title),
        h("button", { type: "button", class: "hv-tool", title: "Remove this chart", "aria-label": `Remove the chart of ${spec.title}`, onclick: () => dock.remove(chart) }, icon("close"))),
      h("div", { class: "hv-chart-line" }, this.countText, this.clearButton), this.body, this.note);
    this.nWhole = sum(column.whole, column.n);
    const missing = column.whole[column.n];
    this.note.textContent = missing ? `${thousands(missing)} without a value` : "";
  }

  /** Flags of the codes that pass the filter of the chart; null for all. @returns {Uint8Array | null} */
  get allowed() { return null; }

  clear() {}

  /** @param {any} card */
  follow(card) { void card; }

  /** Put the values with most items first, after the filters have changed. */
  sort() {}

  /** Write the number of items that pass all filters, of those of the dataset. */
  count() {
    const { column, countText, allowed } = this;
    const { counts, n } = column;
    let shown = allowed ? 0 : sum(counts, n + 1);
    if (allowed) for (let code = 0; code <= n; code++) if (allowed[code]) shown += counts[code];
    countText.textContent = `${thousands(shown)} of ${thousands(column.total)} ${this.noun}`;
    this.clearButton.hidden = !allowed;
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
  /** @param {ChartDock} dock @param {string[]} chart @param {ChartSpec} spec @param {CodedColumn} column */
  constructor(dock, chart, spec, column) {
    super(dock, chart, spec, column);
    const { n } = column;
    /** @type {[number, number] | null} First and last bin of the brush. */
    this.range = null;
    this.bars = Array.from({ length: n }, () => h("span", { class: "hv-bin" }, h("i", {}), h("b", {}), h("u", {})));
    this.window = h("div", { class: "hv-window", hidden: true });
    this.plot = h("div", { class: "hv-plot" }, ...this.bars, this.window);
    this.ends = h("div", { class: "hv-chart-ends" }, h("span", {}), h("b", {}), h("span", {}));
    this.sliders = ["Smallest", "Largest"].map((label, k) => h("input", {
      type: "range", min: 0, max: n - 1, value: k ? n - 1 : 0, "aria-label": `${label} value of ${spec.title}`,
      oninput: () => this.slide(), onchange: () => dock.end(this),
    }));
    this.body.append(this.plot, ...this.sliders, this.ends);
    this.plot.addEventListener("pointerdown", (event) => this.press(event));
    this.plot.addEventListener("pointermove", (event) => this.hover(event));
  }

  /** Draw the filters of Python. @param {ChartFilterSpec[]} filters */
  receive(filters) {
    const { lows, highs } = this.spec;
    this.range = null;
    for (const { kind, low, high } of filters) {
      if (kind !== "range") continue;
      const inside = lows.map((_, k) => k).filter((k) => lows[k] !== null
        && (low === null || Number(highs[k]) >= low) && (high === null || Number(lows[k]) <= high));
      this.range = inside.length ? [inside[0], inside[inside.length - 1]] : this.range;
    }
    this.place();
  }

  get allowed() {
    const { range, column } = this;
    if (!range) return null;
    const flags = new Uint8Array(column.n + 1);
    flags.fill(1, range[0], range[1] + 1);
    return flags;
  }

  /** Show the brush of another chart of the column. @param {BinsChart} card */
  follow(card) {
    this.range = card.range;
    this.place();
  }

  /** The filter for Python: the smallest and largest value inside the brush. */
  filter() {
    const { lows, highs } = this.spec;
    const none = { values: [], low: null, high: null, missing: false };
    if (!this.range) return none;
    const [first, last] = this.range;
    const present = (ends) => ends.slice(first, last + 1).filter((value) => value !== null);
    const low = present(lows)[0];
    return low === undefined ? none : { ...none, low, high: present(highs).at(-1) };
  }

  /** @param {[number, number] | null} range */
  setRange(range) {
    const { n } = this.column;
    // A brush over all bins would exclude only items without a value.
    this.range = range && range[0] <= 0 && range[1] >= n - 1 ? null : range;
    this.place();
    this.dock.brush(this, this.allowed);
  }

  clear() {
    this.setRange(null);
    this.dock.end(this);
  }

  slide() {
    const [a, b] = this.sliders.map((input) => Number(input.value));
    this.setRange([Math.min(a, b), Math.max(a, b)]);
  }

  /** Place of a pointer in bins, from 0. @param {PointerEvent} event */
  at({ clientX }) {
    const { left, width } = this.plot.getBoundingClientRect();
    return ((clientX - left) / (width || 1)) * this.column.n;
  }

  /** What a pointer would move: an end of the brush (0 or 1), the brush (2), or nothing (-1). */
  partAt(event) {
    const { range, column } = this;
    if (!range) return -1;
    const reach = (GRIP_PX / (this.plot.clientWidth || 1)) * column.n;
    const at = this.at(event);
    if (Math.abs(at - range[0]) < reach) return 0;
    if (Math.abs(at - range[1] - 1) < reach) return 1;
    return at > range[0] && at < range[1] + 1 ? 2 : -1;
  }

  /** @param {PointerEvent} event */
  hover(event) {
    if (event.buttons) return;
    const part = this.partAt(event);
    this.plot.style.cursor = part === 2 ? "grab" : part < 0 ? "crosshair" : "ew-resize";
    const code = Math.min(Math.max(Math.floor(this.at(event)), 0), this.column.n - 1);
    this.plot.title = this.title(code, this.shares().nCounts);
  }

  /** Draw a brush, or move or stretch the one there is. @param {PointerEvent} event */
  press(event) {
    if (event.button) return;
    event.preventDefault();
    const { plot, range, column: { n } } = this;
    const part = this.partAt(event);
    const from = this.at(event);
    let moved = false;
    const clamp = (bin) => Math.min(Math.max(bin, 0), n - 1);
    const move = (/** @type {PointerEvent} */ next) => {
      const to = this.at(next);
      if (!moved && Math.abs(next.clientX - event.clientX) < 3) return;
      moved = true;
      /** @type {[number, number]} */
      let wanted;
      if (part === 2 && range) {
        const by = Math.min(Math.max(Math.round(to - from), -range[0]), n - 1 - range[1]);
        wanted = [range[0] + by, range[1] + by];
      } else {
        // The other end stays.
        const fixed = range && part >= 0 ? range[1 - part] + (part ? 0 : 1) : from;
        const [a, b] = [Math.min(fixed, to), Math.max(fixed, to)];
        wanted = range && part >= 0 ? [clamp(Math.round(a)), clamp(Math.max(Math.round(b) - 1, Math.round(a)))]
          : [clamp(Math.floor(a)), clamp(Math.floor(b))];
      }
      if (!this.range || wanted.join() !== this.range.join()) this.setRange(wanted);
    };
    const stop = new AbortController();
    plot.setPointerCapture(event.pointerId);
    plot.addEventListener("pointermove", move, { signal: stop.signal });
    const finish = () => {
      stop.abort();
      if (moved) this.dock.end(this);
      else if (range) this.clear();
    };
    for (const name of ["pointerup", "pointercancel"]) plot.addEventListener(name, finish, { signal: stop.signal });
  }

  /** Draw the brush. */
  place() {
    const { range, column: { n }, spec: { starts, ends, lows } } = this;
    this.window.hidden = !range;
    const [first, last] = range ?? [0, n - 1];
    this.window.style.left = `${(100 * first) / n}%`;
    this.window.style.right = `${(100 * (n - 1 - last)) / n}%`;
    this.bars.forEach((bar, k) => bar.toggleAttribute("data-out", k < first || k > last));
    this.sliders.forEach((input, k) => { input.value = String(k ? last : first); });
    const present = lows.map((_, k) => k).filter((k) => lows[k] !== null);
    const inside = present.filter((k) => k >= first && k <= last);
    const [low, middle, high] = this.ends.children;
    low.textContent = starts[present[0]] ?? "";
    high.textContent = ends[present[present.length - 1]] ?? "";
    const text = !range ? "" : inside.length ? `${starts[inside[0]]} to ${ends[inside[inside.length - 1]]}` : "no items";
    middle.textContent = text;
    this.ends.toggleAttribute("data-range", Boolean(range));
    for (const input of this.sliders) set(input, { "aria-valuetext": this.spec.texts[Number(input.value)] });
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
  /** @param {ChartDock} dock @param {string[]} chart @param {ChartSpec} spec @param {CodedColumn} column */
  constructor(dock, chart, spec, column) {
    super(dock, chart, spec, column);
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

  /** Show the values of another chart of the column. @param {ValuesChart} card */
  follow(card) { this.chosen = new Set(card.chosen); }

  /** The filter for Python. */
  filter() {
    const { chosen, column, spec } = this;
    const values = [...chosen].filter((code) => code < column.n).map((code) => spec.values[code]);
    return { values, low: null, high: null, missing: chosen.has(column.n) };
  }

  /** Show only this value, or add it or remove it; a second click shows all. @param {number} code @param {boolean} adds */
  click(code, adds) {
    const { chosen } = this;
    if (adds) {
      if (!chosen.delete(code)) chosen.add(code);
    } else this.chosen = chosen.size === 1 && chosen.has(code) ? new Set() : new Set([code]);
    this.dock.brush(this, this.allowed);
    this.dock.end(this);
  }

  clear() {
    this.chosen = new Set();
    this.dock.brush(this, null);
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
