// Cache of arrays, layouts and view settings that outlives one mount of the map. A page change unmounts
// the component, and coming back must cost no request.

import { request, assetUrl } from "./requests.js";

/** @import { LayoutSpec } from "./messages.js" */

const ARRAY_BYTES = 256e6;
const arrays = new Map(); // address -> {promise, bytes}, oldest first
const memories = new Map(); // session and map name -> state for a remount

const TYPES = { f4: Float32Array, i4: Int32Array, i1: Int8Array, u1: Uint8Array };

export class MissingArray extends Error {}

/**
 * Fetch an array once. All callers share one promise, unless `cache` is false.
 * @param {string} session @param {string} key
 */
export function array(session, key, type, cache = true) {
  const address = `hv/array/${session}/${key}`;
  const cached = arrays.get(address);
  if (cached) {
    arrays.delete(address);
    arrays.set(address, cached);
    return cached.promise;
  }
  const entry = { bytes: 0 };
  entry.promise = request(address).then(async (response) => {
    if (!response.ok) throw new MissingArray(key);
    const buffer = await response.arrayBuffer();
    entry.bytes = buffer.byteLength;
    if (cache) trim();
    else arrays.delete(address);
    return new TYPES[type](buffer);
  });
  entry.promise.catch(() => arrays.delete(address));
  arrays.set(address, entry);
  return entry.promise;
}

const NO_PLACE = (1 << 20) - 1;

/**
 * Load the positions of all rows, two numbers each, NaN for none. Resolves with the first piece.
 *
 * Positions are whole numbers of 20 bits over `extent`, in planes (upper 16 bits of x, of y, lower 4
 * bits of both). Piece k of m has the rows k, k + m, ...: a random sample of all. `onGrown` is called
 * as further pieces fill the array; without it the promise waits for all pieces.
 * @param {string} session @param {LayoutSpec} layout @param {number} n
 * @param {((pos: Float32Array) => void) | null} onGrown
 * @returns {Promise<Float32Array>}
 */
export function loadLayout(session, { pieces, extent }, n, onGrown = null) {
  const name = `${session}/${pieces.join()}`;
  if (!layouts.has(name)) layouts.set(name, new Layout(session, pieces, extent, n));
  const layout = layouts.get(name);
  layout.first.catch(() => layouts.delete(name));
  if (!onGrown) return layout.complete;
  if (layout.nLoaded < pieces.length) layout.listeners.add(onGrown);
  return layout.first;
}

class Layout {
  /** @param {string} session @param {any[]} pieces @param {number} n */
  constructor(session, pieces, extent, n) {
    this.session = session;
    this.pieces = pieces;
    this.extent = extent;
    this.nLoaded = 0;
    this.listeners = new Set();
    this.pos = new Float32Array(2 * n).fill(NaN);
    this.first = this.loadPiece(0).then(() => this.pos);
    this.complete = this.first.then(() => this.loadRest());
    this.complete.catch(() => {}); // callers that need all pieces handle the error
  }

  async loadRest() {
    for (let k = 1; k < this.pieces.length; k++) {
      await this.loadPiece(k);
      // Rebuilding the point index is slow, so only at each doubling and at the end.
      const doubled = Number.isInteger(Math.log2(k + 1));
      if (doubled || k + 1 === this.pieces.length) for (const onGrown of this.listeners) onGrown(this.pos);
    }
    this.listeners.clear();
    return this.pos;
  }

  /** @param {number} first */
  async loadPiece(first) {
    const { pos, pieces, extent: [x0, y0, x1, y1] } = this;
    const bytes = await array(this.session, pieces[first], "u1", false);
    const m = bytes.length / 5;
    const high = new Uint16Array(bytes.buffer, bytes.byteOffset, 2 * m);
    for (let k = 0, r = first; k < m; k++, r += pieces.length) {
      const x = high[k] * 16 + (bytes[4 * m + k] & 15);
      if (x === NO_PLACE) continue;
      const y = high[m + k] * 16 + (bytes[4 * m + k] >> 4);
      pos[2 * r] = x0 + (x * (x1 - x0)) / (NO_PLACE - 1);
      pos[2 * r + 1] = y0 + (y * (y1 - y0)) / (NO_PLACE - 1);
    }
    this.nLoaded += 1;
  }
}

function trim() {
  let total = 0;
  for (const entry of arrays.values()) total += entry.bytes;
  for (const [address, entry] of arrays) {
    if (total <= ARRAY_BYTES) return;
    total -= entry.bytes;
    arrays.delete(address);
  }
}

const sheets = new Map();

/** Add our style sheet to the page, unless its head has it, and wait until it is loaded. */
export function loadStyle() {
  const address = assetUrl("map.css");
  const own = document.querySelector("style[data-hv-version]");
  if (!address || address.includes(`/${own?.getAttribute("data-hv-version")}/`)) return Promise.resolve();
  if (!sheets.has(address)) {
    sheets.set(address, new Promise((resolve) => {
      const link = document.createElement("link");
      link.rel = "stylesheet";
      link.href = address;
      link.onload = link.onerror = resolve;
      document.head.append(link);
    }));
  }
  return sheets.get(address);
}

/**
 * Remembered state of a map of a session, by the name of the map on its page.
 * @param {string} session @param {string} name
 */
export function memory(session, name) {
  const key = `${session}/${name}`;
  if (!memories.has(key)) memories.set(key, {});
  return memories.get(key);
}

/** A Map with a size limit that drops its oldest entries. */
export class LimitedMap extends Map {
  constructor(limit) {
    super();
    this.limit = limit;
  }

  /** @param {string} key */
  set(key, value) {
    this.delete(key);
    super.set(key, value);
    if (this.size > this.limit) this.delete(this.keys().next().value);
    return this;
  }
}

const layouts = new LimitedMap(8);
