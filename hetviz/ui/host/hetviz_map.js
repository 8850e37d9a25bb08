// The map on any page, without a server: points, links and names go in, and the element has events.
// Python puts STYLE (colours and marks) and SHEET (style sheet) before this text.

import { mount } from "./map.js";
import { setRequestHandler } from "./requests.js";

/** @typedef {Record<string, ArrayLike<any>> | object[] | { schema: any, getChild: (name: string) => Iterable<any> }} Table */
/**
 * @typedef {object} MapInput
 * @property {Table} points id, x and y (null without a place); optional dataset, title, text, picture; other columns are facts and colours
 * @property {Table} [links] source and target ids; optional source_dataset, target_dataset, weight
 * @property {Table} [statements] like links: weight 1 for together, -1 for apart
 * @property {Table} [names] text, x and y
 * @property {string} [colour] column of the points
 * @property {string} [title]
 * @property {number} [height] pixels
 */

const GRID = (1 << 20) - 2; // steps of a position, see store.js
const OWN = ["id", "x", "y", "title", "text", "picture"];
const MAX_NUMBERED = 12; // whole numbers with fewer values are categories
const MAX_FOUND = 12;
const BASE = 1000; // versions of selections that the page sets, above those of the visitor
let nMaps = 0;

/** Show a map in an element of the page. @param {HTMLElement} element @param {MapInput} input */
export function showMap(element, input) {
  addSheet();
  const root = document.createElement("div");
  root.className = "hv-map";
  element.append(root);
  const shown = new HostedMap(root, element);
  shown.update(input);
  return {
    /** Show other points, links or colours. @param {Partial<MapInput>} changes */
    update: (changes) => shown.update(changes),
    /** Select items. @param {Record<string, any[]>} ids by dataset */
    select: (ids) => shown.select(ids),
    close: () => shown.close(),
  };
}

function addSheet() {
  if (document.querySelector("style[data-hetviz-map]")) return;
  const style = document.createElement("style");
  style.dataset.hetvizMap = "";
  style.textContent = SHEET;
  document.head.append(style);
}

export class HostedMap {
  /** @param {HTMLElement} root @param {HTMLElement} target element with the events */
  constructor(root, target) {
    this.root = root;
    this.target = target;
    /** @type {Points} */
    this.points = /** @type {any} */ (null);
    /** @type {any[][]} */
    this.links = [];
    this.unmount = () => {};
    this.session = `host-${nMaps += 1}`;
    this.arrays = new Map();
    /** @type {Partial<MapInput>} */
    this.input = {};
    this.swatches = new Map();
    this.hidden = [];
    /** @type {number[]} */
    this.picked = [];
    this.version = 0;
    this.colour = "dataset";
    this.stopRequests = setRequestHandler(this.session, (path, options) => Promise.resolve(this.respond(path, options)));
  }

  /** @param {Partial<MapInput>} changes */
  update(changes) {
    this.input = { ...this.input, ...changes };
    if (changes.points) {
      this.points = readPoints(changes.points);
      this.picked = [];
      this.version += BASE;
    }
    if (!this.points) throw new Error("hetviz map: points are missing. Give points with the columns id, x and y.");
    if (changes.points || changes.links || changes.statements) {
      this.links = [...readLinks(this.input.links, this.points, "links"), ...readLinks(this.input.statements, this.points, "statements")];
    }
    const { points } = this;
    const wanted = this.input.colour ?? (points.datasets.length > 1 ? "dataset" : Object.keys(points.facts)[0] ?? "dataset");
    if (wanted !== "dataset" && !points.facts[wanted]) {
      throw new Error(`hetviz map: colour "${wanted}" is no column of the points. There is: ${["dataset", ...Object.keys(points.facts)].join(", ")}.`);
    }
    this.colour = wanted;
    this.draw();
  }

  /** @param {Record<string, any[]>} ids */
  select(ids) {
    this.picked = Object.entries(ids).flatMap(([dataset, list]) => list.map((id) => this.points.find(id, dataset, "selection")));
    this.version += BASE;
    this.draw();
    this.send("selection", this.selection());
  }

  close() {
    this.stopRequests();
    this.root.remove();
    this.unmount();
  }

  draw() {
    const data = this.spec();
    this.unmount = mount(this.root, {
      data,
      setStateValue: (name, value) => this.changed(name, value),
      setTriggerValue: (name, value) => this.triggered(name, value),
    });
  }

  /** A state of the map that the visitor changed. */
  changed(name, value) {
    const { points } = this;
    if (name === "selection") {
      const bits = Uint8Array.from(atob(value.packed), (c) => c.charCodeAt(0));
      this.picked = [...points.ids.keys()].filter((row) => (bits[row >> 3] >> (row & 7)) & 1);
      this.version = Math.max(this.version, value.version);
      this.send("selection", this.selection());
    } else if (name === "hidden") {
      this.hidden = value;
      this.send("hidden", value);
    } else if (name === "camera") {
      this.send("camera", value);
    }
  }

  triggered(name, value) {
    if (name === "colour") {
      this.colour = value;
      this.draw();
      this.send("colour", value);
    } else if (name === "swatch") {
      this.swatches.set(`${value.option}/${value.code}`, value.colour);
      this.draw();
    }
  }

  /** Selected ids by dataset. */
  selection() {
    const { points } = this;
    const ids = {};
    for (const row of this.picked) (ids[points.datasetOf(row).name] ??= []).push(points.ids[row]);
    return ids;
  }

  send(name, detail) { this.target.dispatchEvent(new CustomEvent(`hetviz-${name}`, { detail, bubbles: true })); }

  keep(key, array) {
    this.arrays.set(key, array);
    return key;
  }

  spec() {
    const { points, session, version, input } = this;
    const n = points.ids.length;
    const colour = this.colourSpec();
    // Keys of arrays are for ever, so new contents need a new key.
    const layout = this.keep(`places-${points.serial}`, points.planes);
    const bits = new Uint8Array(Math.ceil(n / 8));
    for (const row of this.picked) bits[row >> 3] |= 1 << (row & 7);
    const [x0, y0, x1, y1] = points.extent;
    const [dx, dy] = [0.03 * (x1 - x0), 0.03 * (y1 - y0)];
    return {
      session, n, fingerprint: `${session}-${points.serial}`, mode: "work", title: input.title ?? "", proposed: [],
      geometry: { id: layout, pieces: [layout], extent: points.extent, reach: null, enlarged: [] },
      alt: `Map of ${n.toLocaleString("en")} items, coloured by ${this.colour}.`,
      frame: { x: [x0 - dx, x1 + dx], y: [y0 - dy, y1 + dy], stretch: 1 },
      outside: 0, unplaced: points.nUnplaced, notes: [], datasets: points.datasets, colour,
      colours: ["dataset", ...Object.keys(points.facts)].map((key) => ({ group: "Columns", key, title: key })),
      mask: null, hidden: this.hidden, terrain: true, names: this.names(colour),
      order: this.keep(`order-${points.serial}`, points.order),
      selection: { key: this.picked.length ? this.keep(`selection-${version}-${points.serial}`, bits) : null, count: this.picked.length, version },
      camera: null, refitted: false, pins: [], live: null, tokens: STYLE.tokens, name: "map",
      height: `${input.height ?? 520}px`, regions: false,
    };
  }

  colourSpec() {
    const { points, colour: column } = this;
    const values = column === "dataset" ? [...points.ids.keys()].map((row) => points.datasetOf(row).name) : points.facts[column];
    const key = `colour-${points.serial}-${column}`;
    const common = { key, option: column, title: column, borrowed: [], pale: null, swatches: [], choices: STYLE.choices, ghost: STYLE.ghost, endSigns: ["", ""], log: false };
    const known = values.filter((value) => value !== null && value !== undefined && value !== "");
    const distinct = new Set(known);
    if (known.length && known.every((value) => typeof value === "number") && distinct.size > MAX_NUMBERED) {
      this.keep(key, Float32Array.from(values, (value) => (typeof value === "number" ? value : NaN)));
      const [low, high] = bounds(known);
      return { ...common, kind: "numbers", categories: [], counts: {}, palette: {}, low, high, scale: STYLE.scale };
    }
    const counts = new Map();
    for (const value of known) counts.set(String(value), (counts.get(String(value)) ?? 0) + 1);
    const limit = STYLE.choices.light.length;
    const ranked = [...counts].sort((a, b) => b[1] - a[1]).slice(0, limit);
    // Datasets keep their order, so that colours stay with them.
    const categories = column === "dataset" ? points.datasets.map(({ name }) => name).slice(0, limit) : ranked.map(([name]) => name);
    const codes = new Map(categories.map((name, code) => [name, code]));
    this.keep(key, Int8Array.from(values, (value) => codes.get(String(value)) ?? -1));
    const shownCounts = categories.map((name) => counts.get(name) ?? 0);
    const other = known.length - shownCounts.reduce((sum, count) => sum + count, 0);
    const palette = Object.fromEntries(Object.entries(STYLE.choices).map(([theme, choices]) => [
      theme, categories.map((_, code) => this.swatches.get(`${column}/${code}`) ?? choices[code]),
    ]));
    return {
      ...common, kind: "categories", categories, palette, low: null, high: null, scale: {},
      swatches: categories.flatMap((_, code) => (this.swatches.has(`${column}/${code}`) ? [code] : [])),
      counts: { categories: shownCounts, borrowed: categories.map(() => 0), other, none: values.length - known.length },
    };
  }

  /** Names of the input at their places, or of the categories at the middle of their items. */
  names({ kind, categories, key }) {
    if (kind !== "categories") return [];
    const { points } = this;
    const codes = this.arrays.get(key);
    if (this.input.names) {
      const { text = [], x = [], y = [] } = readColumns(this.input.names, "names");
      return Array.from(text, (name, k) => ({ text: String(name), code: codes[points.nearest(x[k], y[k])] ?? -1, at: [[x[k], y[k]]] }));
    }
    return categories.flatMap((text, code) => {
      const rows = [...codes.keys()].filter((row) => codes[row] === code && !Number.isNaN(points.x[row]));
      return rows.length ? [{ text, code, at: [[median(rows.map((row) => points.x[row])), median(rows.map((row) => points.y[row]))]] }] : [];
    });
  }

  /** Answer a request of the map, as the routes of the app do. */
  respond(path, { body = null } = {}) {
    const url = new URL(path, "http://map/");
    const [, , request, , part] = url.pathname.split("/");
    if (request === "array") {
      const content = this.arrays.get(decodeURIComponent(part));
      return content ? new Response(content.slice().buffer) : new Response(null, { status: 404 });
    }
    if (request === "items") return Response.json((url.searchParams.get("rows") ?? "").split(",").map((row) => this.item(Number(row))));
    if (request === "item") return Response.json(this.card(Number(part)));
    if (request === "links") return Response.json(this.linksOf(new Int32Array(/** @type {any} */ (body))));
    if (request === "search") return Response.json(this.search(url.searchParams.get("q") ?? ""));
    if (request === "matches") return new Response(Int32Array.from(this.matches(url.searchParams.get("q") ?? "")).buffer);
    return new Response(null, { status: 404 });
  }

  item(row) {
    const { points } = this;
    return { row, title: points.titles[row], dataset: points.datasetOf(row).name, word: false };
  }

  card(row) {
    const { points } = this;
    const facts = Object.entries(points.facts).map(([name, values]) => [name, values[row]])
      .filter(([, value]) => value !== null && value !== undefined && value !== "")
      .map(([name, value]) => [name, typeof value === "number" ? String(Number(value.toPrecision(4))) : String(value)]);
    const links = this.links.filter(([i, j]) => i === row || j === row).length;
    return { ...this.item(row), facts, text: points.texts?.[row] ?? null, picture: points.pictures?.[row] ?? null, links };
  }

  linksOf(rows) {
    const chosen = new Set(rows);
    const found = this.links.flatMap(([i, j, weight]) => {
      if (chosen.has(i)) return [[i, j, weight, "given"]];
      return chosen.has(j) ? [[j, i, weight, "given"]] : [];
    });
    return { links: found.slice(0, 2000), total: found.length };
  }

  matches(query) {
    const text = query.trim().toLowerCase();
    if (!text) return [];
    return [...this.points.ids.keys()].filter((row) => this.points.titles[row].toLowerCase().includes(text));
  }

  search(query) {
    const rows = this.matches(query).slice(0, MAX_FOUND);
    const options = rows.map((row) => ({ kind: "item", ...this.item(row), placed: !Number.isNaN(this.points.x[row]) }));
    return { groups: options.length ? [{ key: "names", title: "Items", options }] : [], examples: [], note: "", pending: false };
  }
}

/** Columns of a table: arrays by name, a list of objects, or an Arrow table. @param {any} table @param {string} what */
function readColumns(table, what) {
  if (Array.isArray(table)) {
    const names = new Set(table.flatMap((row) => Object.keys(row)));
    return Object.fromEntries([...names].map((name) => [name, table.map((row) => row[name] ?? null)]));
  }
  // Arrow tables of any version of its library; whole numbers of 64 bits become plain ones.
  if (table.schema && table.getChild) {
    return Object.fromEntries(table.schema.fields.map(({ name }) => [name, Array.from(table.getChild(name), (v) => (typeof v === "bigint" ? Number(v) : v))]));
  }
  const columns = Object.fromEntries(Object.entries(table).map(([name, values]) => [name, Array.from(/** @type {any} */ (values))]));
  const [first, ...others] = Object.keys(columns);
  for (const name of others) {
    if (columns[name].length !== columns[first].length) {
      throw new Error(`hetviz map: ${what}.${name} has ${columns[name].length} values, but ${what}.${first} has ${columns[first].length}. Give one value for each.`);
    }
  }
  return columns;
}

let nPoints = 0;

class Points {
  constructor(columns) {
    for (const name of ["x", "y"]) {
      if (!columns[name]) throw new Error(`hetviz map: points have no column "${name}". There is: ${Object.keys(columns).join(", ") || "none"}.`);
    }
    this.serial = nPoints += 1;
    const n = columns.x.length;
    const dataset = columns.dataset?.map(String) ?? Array(n).fill("items");
    const names = [...new Set(dataset)];
    const rows = [...Array(n).keys()].sort((a, b) => names.indexOf(dataset[a]) - names.indexOf(dataset[b]) || a - b);
    const sorted = (values) => rows.map((row) => values[row]);
    this.ids = columns.id ? sorted(columns.id) : rows;
    this.titles = (columns.title ? sorted(columns.title) : this.ids).map((title, row) => String(title ?? this.ids[row]));
    this.texts = columns.text && sorted(columns.text);
    this.pictures = columns.picture && sorted(columns.picture);
    this.facts = Object.fromEntries(Object.entries(columns).filter(([name]) => !OWN.includes(name) && name !== "dataset").map(([name, values]) => [name, sorted(values)]));
    const number = (values, name) => sorted(values).map((value, row) => {
      if (value === null || value === undefined) return NaN;
      if (typeof value !== "number") throw new Error(`hetviz map: points.${name} of ${this.titles[row]} is "${value}". Give a number, or null for an item without a place.`);
      return value;
    });
    this.x = number(columns.x, "x");
    this.y = number(columns.y, "y");
    /** @type {number[]} */
    this.extent = [];
    this.planes = new Uint8Array(5 * n);
    this.order = new Int32Array(0);
    this.nUnplaced = 0;
    let start = 0;
    this.datasets = names.map((name, k) => {
      const count = dataset.filter((other) => other === name).length;
      const [symbol, glyph, factor] = STYLE.shapes[k % STYLE.shapes.length];
      start += count;
      return { name, start: start - count, stop: start, symbol, glyph, factor, count, counted: `${count.toLocaleString("en")} ${name}`, media: false, words: false, people: false };
    });
    this.rowOf = new Map();
    this.rowsOfId = new Map();
    this.ids.forEach((id, row) => {
      const key = JSON.stringify([this.datasetOf(row).name, String(id)]);
      if (this.rowOf.has(key)) throw new Error(`hetviz map: the id "${id}" of ${this.datasetOf(row).name} occurs twice. Give each item its own id.`);
      this.rowOf.set(key, row);
      this.rowsOfId.set(String(id), [...(this.rowsOfId.get(String(id)) ?? []), row]);
    });
    this.place(n);
  }

  datasetOf(row) { return /** @type {any} */ (this.datasets.find(({ stop }) => row < stop)); }

  /** The row of an id. @param {string | null} dataset @param {string} where */
  find(id, dataset, where) {
    if (dataset !== null) {
      const row = this.rowOf.get(JSON.stringify([String(dataset), String(id)]));
      if (row === undefined) throw new Error(`hetviz map: ${where} name "${id}" of ${dataset}, which is no item of the points.`);
      return row;
    }
    const rows = this.rowsOfId.get(String(id)) ?? [];
    if (rows.length === 1) return rows[0];
    const reason = rows.length ? "which several datasets have. Add the columns source_dataset and target_dataset." : "which is no id of the points.";
    throw new Error(`hetviz map: ${where} name "${id}", ${reason}`);
  }

  nearest(x, y) {
    let [best, least] = [-1, Infinity];
    for (let row = 0; row < this.x.length; row++) {
      const d = (this.x[row] - x) ** 2 + (this.y[row] - y) ** 2;
      if (d < least) [best, least] = [row, d];
    }
    return best;
  }

  /** Positions in the form of `loadLayout`, and a random order of the items. */
  place(n) {
    const isPlaced = (row) => !Number.isNaN(this.x[row] + this.y[row]);
    const placed = [...Array(n).keys()].filter(isPlaced);
    const [x0, x1] = bounds(placed.map((row) => this.x[row]));
    const [y0, y1] = bounds(placed.map((row) => this.y[row]));
    this.extent = [x0, y0, x1, y1];
    this.nUnplaced = n - placed.length;
    const high = new Uint16Array(2 * n);
    for (let row = 0; row < n; row++) {
      const step = (value, low, top) => (isPlaced(row) ? Math.round(((value - low) / (top - low)) * GRID) : GRID + 1);
      const [i, j] = [step(this.x[row], x0, x1), step(this.y[row], y0, y1)];
      high[row] = i >> 4;
      high[n + row] = j >> 4;
      this.planes[4 * n + row] = (i & 15) | ((j & 15) << 4);
    }
    this.planes.set(new Uint8Array(high.buffer));
    this.order = Int32Array.from(placed);
    let state = 1;
    for (let k = placed.length - 1; k > 0; k--) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      const other = state % (k + 1);
      [this.order[k], this.order[other]] = [this.order[other], this.order[k]];
    }
  }
}

const readPoints = (table) => new Points(readColumns(table, "points"));

/** Links as [row, row, weight]. @param {any} table @param {Points} points @param {string} what */
function readLinks(table, points, what) {
  if (!table) return [];
  const { source, target, weight, source_dataset: from, target_dataset: to, ...others } = readColumns(table, what);
  if (!source && !target) return [];
  if (!source || !target) {
    const found = [source && "source", target && "target", ...Object.keys(others)].filter(Boolean);
    throw new Error(`hetviz map: ${what} need the columns source and target. There is: ${found.join(", ")}.`);
  }
  return source.map((id, k) => [points.find(id, from?.[k] ?? null, what), points.find(target[k], to?.[k] ?? null, what), weight?.[k] ?? 1]);
}

/** Least and largest value, apart from each other. @param {number[]} values */
function bounds(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (low > high) return [0, 1];
  return high > low ? [low, high] : [low, low + 1];
}

/** @param {number[]} values */
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
