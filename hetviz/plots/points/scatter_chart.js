// Two numbers or dates of each item: a dot for each of few items, and cells by their number of items for many.

import { context2d } from "./canvas.js";
import { ChartAxis, partsAt, placeOf, pressBrush } from "./chart_axis.js";
import { BinsChart, ChartCard, ValuesChart, percent } from "./charts_of_columns.js";
import { h, thousands } from "./dom.js";

/** @import { ChartHost, ChartPart } from "./charts_of_columns.js" */

const NO_PLACE = 255;
const MAX_DOTS = 1500;
const [DOT_PX, CELL_PX] = [3.5, 4];
const MARGIN_PX = 2; // of the canvas, for dots at the ends

/** Make a chart of one column, or of two. @param {ChartHost} dock @param {string[]} chart @param {ChartPart[]} parts */
export function makeChart(dock, chart, parts) {
  if (parts.length > 1) return new ScatterChart(dock, chart, parts);
  return parts[0].spec.kind === "bins" ? new BinsChart(dock, chart, parts) : new ValuesChart(dock, chart, parts);
}

export class ScatterChart extends ChartCard {
  /** @param {ChartHost} dock @param {string[]} chart @param {ChartPart[]} parts x and y */
  constructor(dock, chart, parts) {
    const axes = parts.map(({ spec, column }) => new ChartAxis(spec, column));
    const [x, y] = axes.map(({ spec }) => spec.title);
    super(dock, chart, axes, `${y} against ${x.replace(/^\p{Lu}(?=\p{Ll})/u, (letter) => letter.toLowerCase())}`);
    this.axes = axes;
    /** @type {Uint8Array[]} Place of each row on both axes. */
    this.places = parts.map(({ places }) => /** @type {Uint8Array} */ (places));
    this.nPlaced = this.places[0].reduce((n, place, k) => n + Number(place !== NO_PLACE && this.places[1][k] !== NO_PLACE), 0);
    this.noteMissing(axes[0].column.total - this.nPlaced);
    this.isFew = this.nPlaced <= MAX_DOTS;
    this.canvas = h("canvas", { "aria-hidden": "true", "data-dots": this.isFew });
    this.context = context2d(this.canvas, { willReadFrequently: true });
    this.window = h("div", { class: "hv-window", hidden: true });
    this.plot = h("div", { class: "hv-plot" }, this.canvas, this.window, ...axes.flatMap((axis) => axis.addSliders(this)));
    for (const input of axes[1].sliders) input.classList.add("hv-upright");
    this.side = h("div", { class: "hv-scatter-side" }, h("span", {}), h("span", {}));
    this.titles = axes.map(() => h("b", {}));
    this.ends = h("div", { class: "hv-chart-ends" }, h("span", {}), this.titles[0], h("span", {}));
    this.element.classList.add("hv-scatter");
    this.body.append(this.titles[1], this.side, this.plot, this.ends);
    this.plot.addEventListener("pointerdown", (event) => pressBrush(this, event));
    this.plot.addEventListener("pointermove", (event) => this.hover(event));
    this.size = [0, 0]; // of the plot; reading it from the plot would lay the page out again
    new ResizeObserver(([{ contentRect: { width, height } }]) => {
      this.size = [width, height];
      this.draw();
    }).observe(this.plot);
    this.place();
  }

  /** @param {PointerEvent} event */
  hover(event) {
    if (event.buttons) return;
    const parts = partsAt(this, event);
    const [x, y] = parts ?? [];
    this.plot.style.cursor = !parts ? "crosshair" : x === 2 ? (y === 2 ? "grab" : "ns-resize") : y === 2 ? "ew-resize" : x === y ? "nesw-resize" : "nwse-resize";
    this.plot.title = this.textAt(placeOf(this, event));
  }

  /** Values and number of items around a place. @param {number[]} place */
  textAt(place) {
    const { axes, dock: { crossfilter: { failed } } } = this;
    const own = ~(axes[0].column.own | axes[1].column.own);
    const [x, y] = axes.map(({ column }) => column);
    const [i, j] = axes.map(({ column: { n } }, k) => Math.min(Math.max(Math.floor(place[k]), 0), n - 1));
    let [shown, whole] = [0, 0];
    for (let k = x.begins[i]; k < x.begins[i + 1]; k++) {
      const row = x.rows[k];
      if (y.codes[row - y.start] !== j) continue;
      whole += 1;
      if ((failed[row] & own) === 0) shown += 1;
    }
    const values = axes.map(({ spec }, k) => `${spec.title} ${spec.texts[[i, j][k]]}`);
    return `${values.join(", ")}: ${thousands(shown)} of ${thousands(whole)} (${percent(whole / (this.nPlaced || 1))} of all)`;
  }

  /** Draw the brush. */
  place() {
    const { axes: [x, y], window: { style } } = this;
    this.window.hidden = !x.range && !y.range;
    const sides = [["left", "right"], ["bottom", "top"]];
    this.axes.forEach((axis, k) => {
      const { n } = axis.column;
      style[sides[k][0]] = `${(100 * axis.span[0]) / n}%`;
      style[sides[k][1]] = `${(100 * (n - 1 - axis.span[1])) / n}%`;
      const title = [axis.spec.title, axis.rangeText].filter(Boolean).join(": ");
      Object.assign(this.titles[k], { textContent: title, title });
      this.titles[k].toggleAttribute("data-range", Boolean(axis.range));
      const [low, high] = k ? [this.side.children[1], this.side.children[0]] : [this.ends.children[0], this.ends.children[2]];
      low.textContent = axis.lowText;
      high.textContent = axis.highText;
      axis.drawSliders();
    });
  }

  draw() {
    const { canvas, places: [xs, ys], axes: [{ column: x }, { column: y }], isFew } = this;
    const { failed } = this.dock.crossfilter;
    const { start } = x;
    if (failed.length < start + xs.length) return;
    const [width, height] = this.size.map((length) => Math.max(Math.floor(isFew ? length : length / CELL_PX), 1));
    const scale = isFew ? globalThis.devicePixelRatio || 1 : 1;
    const margin = isFew ? 2 * MARGIN_PX : 0;
    const own = ~(x.own | y.own);
    const lefts = Uint16Array.from({ length: NO_PLACE }, (_, place) => Math.floor(((place + 0.5) / NO_PLACE) * width));
    const tops = Uint16Array.from({ length: NO_PLACE }, (_, place) => Math.floor((1 - (place + 0.5) / NO_PLACE) * height));
    // All items, those that pass the filters of other columns, and those that are shown.
    const cells = [0, 1, 2].map(() => new Uint32Array(width * height));
    let shown = 0;
    for (let k = 0; k < xs.length; k++) {
      const bits = failed[start + k];
      if (bits === 0) shown += 1;
      if (xs[k] === NO_PLACE || ys[k] === NO_PLACE) continue;
      const cell = tops[ys[k]] * width + lefts[xs[k]];
      cells[0][cell] += 1;
      if (bits === 0) cells[2][cell] += 1;
      else if ((bits & own) === 0) cells[1][cell] += 1;
    }
    this.writeCount(shown, x.total);
    if (!this.size[0] || !this.size[1]) return;
    Object.assign(canvas, { width: Math.round((width + margin) * scale), height: Math.round((height + margin) * scale) });
    const { context } = this;
    const style = getComputedStyle(canvas);
    const colours = ["--m-mute", "--m-mute", "--m-accent"].map((name) => style.getPropertyValue(name));
    if (isFew) {
      context.setTransform(scale, 0, 0, scale, scale * MARGIN_PX, scale * MARGIN_PX);
      cells.forEach((counts, level) => drawDots(context, counts, width, colours[level], [0.2, 0.4, 0.75][level]));
    } else context.putImageData(shadeCells(context, cells, width, colours), 0, 0);
  }
}

/**
 * Draw a dot for each cell with items.
 * @param {CanvasRenderingContext2D} context @param {Uint32Array} counts @param {number} width @param {string} colour @param {number} alpha
 */
function drawDots(context, counts, width, colour, alpha) {
  context.fillStyle = colour;
  context.globalAlpha = alpha;
  counts.forEach((count, cell) => {
    if (!count) return;
    context.beginPath();
    context.arc(cell % width, Math.floor(cell / width), DOT_PX / 2, 0, 2 * Math.PI);
    context.fill();
  });
}

/**
 * Cells with a pixel each, darker with more items, on a logarithmic scale.
 * @param {CanvasRenderingContext2D} context @param {Uint32Array[]} levels @param {number} width @param {string[]} colours
 */
function shadeCells(context, levels, width, colours) {
  const image = context.createImageData(width, levels[0].length / width);
  const { data } = image;
  levels.forEach((counts, level) => {
    // The canvas writes any colour as #rrggbb.
    context.fillStyle = colours[level];
    const channels = [1, 3, 5].map((k) => parseInt(String(context.fillStyle).slice(k, k + 2), 16));
    const scale = Math.log1p(counts.reduce((a, b) => Math.max(a, b), 0)) || 1;
    counts.forEach((count, cell) => {
      if (!count) return;
      const alpha = [0.32, 0.45, 1][level] * (0.25 + (0.75 * Math.log1p(count)) / scale);
      const below = (data[4 * cell + 3] / 255) * (1 - alpha);
      channels.forEach((channel, k) => { data[4 * cell + k] = (channel * alpha + data[4 * cell + k] * below) / (alpha + below); });
      data[4 * cell + 3] = 255 * (alpha + below);
    });
  });
  return image;
}
