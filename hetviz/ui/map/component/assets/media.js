// Titles and small pictures of items, fetched in batches for what is seen and lacking.

import { ask } from "./ask.js";
import { Kept } from "./store.js";

const caches = new Map(); // data -> {titles, pictures}; two versions of the data share nothing

function cacheOf(key) {
  if (!caches.has(key)) {
    caches.clear();
    caches.set(key, { titles: new Kept(20000), pictures: new Kept(6000), cards: new Kept(400) });
  }
  return caches.get(key);
}

export class Media {
  /** `changed` is called when something asked for has arrived. */
  constructor(session, version, changed) {
    Object.assign(this, { session, version, changed, asked: new Set(), stop: new AbortController() });
    Object.assign(this, cacheOf(`${session}/${version}`));
    this.size = window.devicePixelRatio > 1.2 ? 96 : 48;
  }

  title(row) { return this.titles.get(row); }

  picture(row) { return this.pictures.get(row); }

  async askTitles(rows) {
    const lacking = rows.filter((r) => !this.titles.has(r) && !this.asked.has(`t${r}`)).slice(0, 400);
    if (!lacking.length) return;
    lacking.forEach((r) => this.asked.add(`t${r}`));
    try {
      const answer = await ask(
        `hv/items/${this.session}?rows=${lacking.join(",")}`, { signal: this.stop.signal },
      );
      if (!answer.ok) return;
      for (const item of await answer.json()) {
        this.titles.set(item.row, item);
        // What is forgotten for its age may be asked for again.
        this.asked.delete(`t${item.row}`);
      }
      this.changed();
    } catch {
      lacking.forEach((r) => this.asked.delete(`t${r}`));
    }
  }

  async askPictures(rows) {
    const lacking = rows.filter((r) => !this.pictures.has(r) && !this.asked.has(`p${r}`));
    const batches = [];
    for (let k = 0; k < lacking.length; k += 100) batches.push(lacking.slice(k, k + 100));
    await Promise.all(batches.map((batch) => this.strip(batch)));
  }

  async strip(rows) {
    rows.forEach((r) => this.asked.add(`p${r}`));
    try {
      const answer = await ask(
        `hv/atlas/${this.session}?rows=${rows.join(",")}&size=${this.size}&v=${this.version}`,
        { signal: this.stop.signal },
      );
      if (!answer.ok) return;
      const strip = await createImageBitmap(await answer.blob());
      const cell = strip.height;
      const when = performance.now();
      rows.forEach((r, k) => {
        this.pictures.set(r, { strip, x: k * cell, cell, when });
        this.asked.delete(`p${r}`);
      });
      this.changed();
    } catch {
      rows.forEach((r) => this.asked.delete(`p${r}`));
    }
  }

  /** The card of one item, for the hover. */
  async card(row) {
    if (!this.cards.has(row)) {
      const answer = await ask(`hv/item/${this.session}/${row}`, { signal: this.stop.signal });
      if (!answer.ok) throw new Error("no such item");
      this.cards.set(row, await answer.json());
    }
    return this.cards.get(row);
  }

  close() { this.stop.abort(); }
}
