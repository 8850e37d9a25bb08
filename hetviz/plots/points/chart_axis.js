// One column along a side of a chart, with the part of it that a brush covers.

import { h, set } from "./dom.js";

/** @import { BinsChart } from "./charts_of_columns.js" */
/** @import { ScatterChart } from "./scatter_chart.js" */
/** @import { CodedColumn } from "./crossfilter.js" */
/** @import { ChartFilterSpec, ChartSpec } from "./messages.js" */

const GRIP_PX = 7; // px around an end of the brush that move it
const MOVED_PX = 3;

/** Filter that lets all rows pass. */
export const NO_FILTER = { values: [], low: null, high: null, missing: false };

/** @param {number} days since 1970 */
const dayText = (days) => new Date(Math.floor(days) * 864e5).toISOString().slice(0, 10);

export class ChartAxis {
  /** @param {ChartSpec} spec @param {CodedColumn} column */
  constructor(spec, column) {
    this.spec = spec;
    this.column = column;
    /** @type {[number, number] | null} First and last code of the brush. */
    this.range = null;
    /** @type {[number | null, number | null]} Days of a filter that can end within a bar. */
    this.days = [null, null];
    const isBins = spec.kind === "bins";
    this.lows = isBins ? spec.lows : spec.values.map(Number);
    this.highs = isBins ? spec.highs : this.lows;
    this.starts = isBins ? spec.starts : spec.texts;
    this.ends = isBins ? spec.ends : spec.texts;
    this.present = this.lows.map((_, k) => k).filter((k) => this.lows[k] !== null);
    /** @type {HTMLInputElement[]} For the keyboard. */
    this.sliders = [];
  }

  /** Make a slider for each end. @param {BinsChart | ScatterChart} card */
  addSliders(card) {
    const last = this.column.n - 1;
    this.sliders = ["Smallest", "Largest"].map((label, k) => h("input", {
      type: "range", min: 0, max: last, value: k ? last : 0, "aria-label": `${label} value of ${this.spec.title}`,
      oninput: () => {
        const [a, b] = this.sliders.map((input) => Number(input.value));
        card.setRanges([[this, [Math.min(a, b), Math.max(a, b)]]]);
      },
      onchange: () => card.dock.end(card),
    }));
    return this.sliders;
  }

  /** Read the filters of Python. @param {ChartFilterSpec[]} filters */
  receive(filters) {
    const { lows, highs, present, spec } = this;
    this.range = null;
    this.days = [null, null];
    for (const { kind, low, high, values } of filters) {
      let codes = /** @type {number[]} */ ([]);
      if (kind === "range") codes = present.filter((k) => (low === null || Number(highs[k]) >= low) && (high === null || Number(lows[k]) <= high));
      else if (kind === "values") codes = values.map((value) => spec.values.indexOf(value)).filter((k) => k >= 0);
      if (spec.time) this.days = [low, high];
      if (codes.length) this.range = [Math.min(...codes), Math.max(...codes)];
    }
  }

  /** Flags of the codes that pass; null for all. */
  get allowed() {
    if (!this.range) return null;
    const flags = new Uint8Array(this.column.n + 1);
    flags.fill(1, this.range[0], this.range[1] + 1);
    return flags;
  }

  /** Cover what another chart of the column lets pass. @param {Uint8Array | null} allowed */
  follow(allowed) {
    this.days = [null, null];
    const inside = allowed ? allowed.subarray(0, this.column.n) : new Uint8Array(0);
    this.range = inside.includes(1) ? [inside.indexOf(1), inside.lastIndexOf(1)] : null;
  }

  /** The filter for Python: the smallest and largest value inside the brush. */
  filter() {
    const { range, lows, highs, present, spec } = this;
    if (!range) return NO_FILTER;
    if (spec.kind === "values") return { ...NO_FILTER, values: spec.values.slice(range[0], range[1] + 1) };
    const inside = present.filter((k) => k >= range[0] && k <= range[1]);
    return inside.length ? { ...NO_FILTER, low: lows[inside[0]], high: highs[inside[inside.length - 1]] } : NO_FILTER;
  }

  /** @param {[number, number] | null} range */
  setRange(range) {
    this.days = [null, null];
    // A brush over all codes would exclude only items without a value.
    this.range = range && range[0] <= 0 && range[1] >= this.column.n - 1 ? null : range;
  }

  /** First and last code of the brush, or of all. @returns {[number, number]} */
  get span() { return this.range ?? [0, this.column.n - 1]; }

  get lowText() { return this.starts[this.present[0]] ?? ""; }

  get highText() { return this.ends[this.present[this.present.length - 1]] ?? ""; }

  /** The values inside the brush. */
  get rangeText() {
    if (!this.range) return "";
    const [first, last] = this.range;
    const inside = this.present.filter((k) => k >= first && k <= last);
    const [start, end] = [this.starts[inside[0]], this.ends[inside[inside.length - 1]]]
      .map((text, k) => (this.days[k] === null ? text : dayText(/** @type {number} */ (this.days[k]))));
    return !inside.length ? "no items" : start === end ? start : `${start} to ${end}`;
  }

  drawSliders() {
    this.sliders.forEach((input, k) => {
      input.value = String(this.span[k]);
      set(input, { "aria-valuetext": this.spec.texts[this.span[k]] });
    });
  }

  /** What a pointer at a place would move: an end of the brush (0 or 1), the brush (2), or nothing (-1). */
  partAt(at, length) {
    const [first, last] = this.span;
    const reach = (GRIP_PX / (length || 1)) * this.column.n;
    if (Math.abs(at - first) < reach) return 0;
    if (Math.abs(at - last - 1) < reach) return 1;
    return at > first && at < last + 1 ? 2 : -1;
  }

  /**
   * The brush after a pointer has moved.
   * @returns {[number, number]} @param {number} part @param {[number, number]} span before @param {number} from @param {number} to
   */
  dragged(part, [first, last], from, to) {
    const { n } = this.column;
    const clamp = (/** @type {number} */ code) => Math.min(Math.max(code, 0), n - 1);
    if (part === 2) {
      const by = Math.min(Math.max(Math.round(to - from), -first), n - 1 - last);
      return [first + by, last + by];
    }
    // The other end stays.
    const fixed = part === 0 ? last + 1 : part === 1 ? first : from;
    const [a, b] = [Math.min(fixed, to), Math.max(fixed, to)];
    if (part < 0) return [clamp(Math.floor(a)), clamp(Math.floor(b))];
    return [clamp(Math.round(a)), clamp(Math.max(Math.round(b) - 1, Math.round(a)))];
  }
}

/**
 * Place of a pointer on each axis, in codes from 0. The second axis goes up.
 * @param {BinsChart | ScatterChart} card @param {PointerEvent} event
 */
export function placeOf({ axes, plot }, { clientX, clientY }) {
  const { left, bottom, width, height } = plot.getBoundingClientRect();
  return axes.map(({ column: { n } }, k) => (n * (k ? bottom - clientY : clientX - left)) / ((k ? height : width) || 1));
}

/**
 * What a pointer would move on each axis; null for a new brush.
 * @param {BinsChart | ScatterChart} card @param {PointerEvent} event
 */
export function partsAt(card, event) {
  const { axes, plot } = card;
  if (axes.every(({ range }) => !range)) return null;
  const place = placeOf(card, event);
  const parts = axes.map((axis, k) => axis.partAt(place[k], k ? plot.clientHeight : plot.clientWidth));
  return parts.includes(-1) ? null : parts;
}

/** Draw a brush, or move or stretch the one there is. @param {BinsChart | ScatterChart} card @param {PointerEvent} event */
export function pressBrush(card, event) {
  if (event.button) return;
  event.preventDefault();
  const { axes, plot } = card;
  const parts = partsAt(card, event);
  const from = placeOf(card, event);
  const spans = axes.map(({ span }) => span);
  const isMove = parts?.every((part) => part === 2);
  let moved = false;
  const move = (/** @type {PointerEvent} */ next) => {
    const to = placeOf(card, next);
    moved ||= Math.max(Math.abs(next.clientX - event.clientX), axes.length > 1 ? Math.abs(next.clientY - event.clientY) : 0) >= MOVED_PX;
    if (!moved) return;
    /** @type {[ChartAxis, [number, number]][]} */
    const ranges = [];
    axes.forEach((axis, k) => {
      // At one side only that side moves.
      if (!parts || isMove || parts[k] < 2) ranges.push([axis, axis.dragged(parts?.[k] ?? -1, spans[k], from[k], to[k])]);
    });
    card.setRanges(ranges);
  };
  const stop = new AbortController();
  plot.setPointerCapture(event.pointerId);
  plot.addEventListener("pointermove", move, { signal: stop.signal });
  const finish = () => {
    stop.abort();
    if (moved) card.dock.end(card);
    else if (parts || axes.some(({ range }) => range)) card.clear();
  };
  for (const name of ["pointerup", "pointercancel"]) plot.addEventListener(name, finish, { signal: stop.signal });
}
