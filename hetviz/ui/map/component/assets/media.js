// Titles and small pictures of items, fetched in batches for items in view.

import { ROOT, request } from "./requests.js";
import { LimitedMap } from "./store.js";

const caches = new Map(); // data -> {titles, pictures, cards}; versions of the data share nothing

function cacheOf(key) {
  if (!caches.has(key)) {
    caches.clear();
    caches.set(key, { titles: new LimitedMap(20000), pictures: new LimitedMap(6000), cards: new LimitedMap(400) });
  }
  return caches.get(key);
}

export class Media {
  /** `changed` is called when requested data arrive. @param {string} session */
  constructor(session, version, changed) {
    this.session = session;
    this.version = version;
    this.changed = changed;
    this.pending = new Set();
    this.stop = new AbortController();
    const { titles, pictures, cards } = cacheOf(`${session}/${version}`);
    this.titles = titles;
    this.pictures = pictures;
    this.cards = cards;
    this.size = window.devicePixelRatio > 1.2 ? 96 : 48;
  }

  /** @param {number} row */
  title(row) { return this.titles.get(row); }

  /** @param {number} row */
  picture(row) { return this.pictures.get(row); }

  /** @param {number[]} rows */
  async askTitles(rows) {
    const missing = rows.filter((r) => !this.titles.has(r) && !this.pending.has(`t${r}`)).slice(0, 400);
    if (!missing.length) return;
    missing.forEach((r) => this.pending.add(`t${r}`));
    try {
      const response = await request(
        `hv/items/${this.session}?rows=${missing.join(",")}`, { signal: this.stop.signal },
      );
      if (!response.ok) return;
      for (const item of await response.json()) {
        this.titles.set(item.row, item);
        // Dropped from the cache, it may be requested again.
        this.pending.delete(`t${item.row}`);
      }
      this.changed();
    } catch {
      missing.forEach((r) => this.pending.delete(`t${r}`));
    }
  }

  /** @param {number[]} rows */
  async askPictures(rows) {
    const missing = rows.filter((r) => !this.pictures.has(r) && !this.pending.has(`p${r}`));
    const batches = [];
    for (let k = 0; k < missing.length; k += 100) batches.push(missing.slice(k, k + 100));
    await Promise.all(batches.map((batch) => this.strip(batch)));
  }

  /** The address of the pictures of these rows, side by side. @param {number[]} rows */
  address(rows) { return ROOT + this.path(rows); }

  /** @param {number[]} rows */
  path(rows) { return `hv/thumbnails/${this.session}?rows=${rows.join(",")}&size=${this.size}&v=${this.version}`; }

  /** @param {number[]} rows */
  async strip(rows) {
    rows.forEach((r) => this.pending.add(`p${r}`));
    try {
      const response = await request(this.path(rows), { signal: this.stop.signal });
      if (!response.ok) return;
      const strip = await createImageBitmap(await response.blob());
      const cell = strip.height;
      const when = performance.now();
      rows.forEach((r, k) => {
        this.pictures.set(r, { strip, x: k * cell, cell, when });
        this.pending.delete(`p${r}`);
      });
      this.changed();
    } catch {
      rows.forEach((r) => this.pending.delete(`p${r}`));
    }
  }

  /** The card of an item for the tooltip. @param {number} row */
  async card(row) {
    if (!this.cards.has(row)) {
      const response = await request(`hv/item/${this.session}/${row}`, { signal: this.stop.signal });
      if (!response.ok) throw new Error("no such item");
      this.cards.set(row, await response.json());
    }
    return this.cards.get(row);
  }

  close() { this.stop.abort(); }
}
