// What is selected, and the links that touch it. Python hears of each selection with its version.

import { countOf, pack, rowsOf, unpack } from "./pick.js";
import { remember } from "./recall.js";
import { ask } from "./ask.js";
import { tell } from "./journey.js";

const [REST, MOST_HAIRS] = [60, 40];
const MOST_LINKED = 20000; // selections larger than this are asked for no links

export class Selection {
  constructor(map) { Object.assign(this, { map, known: null }); }

  /** The selected rows, in order. */
  rows() {
    this.known ??= rowsOf(this.map.picked);
    return this.known;
  }

  /** Python's selection, where it is newer than ours. */
  take(data, bits, fresh) {
    const { map } = this;
    if (data.selection.version > map.version || (fresh && map.version < 0)) {
      map.picked = bits ? unpack(bits, map.n) : new Uint8Array(map.n);
      map.count = data.selection.count ? countOf(map.picked) : 0;
      map.version = data.selection.version;
      this.changed();
    } else if (fresh && map.count) this.changed();
  }

  /** Select rows. `how` is "replace", "add" or "subtract". */
  select(rows, how = "replace") {
    const { map } = this;
    const { data } = map;
    if (data.mode !== "work") return;
    const picked = how === "replace" ? new Uint8Array(map.n) : Uint8Array.from(map.picked);
    const value = how === "subtract" ? 0 : 1;
    for (const r of rows) picked[r] = value;
    const count = countOf(picked);
    if (!count && !map.count) return;
    const version = Math.max(map.version, data.selection.version) + 1;
    Object.assign(map, { picked, count, version });
    this.known = null;
    tell(() => map.component.setStateValue(
      "selection", { packed: pack(picked), count, version, fingerprint: data.fingerprint },
    ));
    map.stats.selectedAt = performance.now();
    if (count) map.offer();
    map.camera.lift(this.rows());
    this.changed();
    map.early.show();
    remember(map);
    map.together.selected();
    map.say(count ? `${count.toLocaleString("en")} selected` : "Nothing selected");
    map.legend.update();
    // The picture follows in the next frames: Python hears of the selection first.
    setTimeout(() => map.wish({ paint: true, place: true }), 20);
  }

  /** Learn the links of the item that is pointed at, to draw them thin. */
  point(row) {
    const { map } = this;
    clearTimeout(this.resting);
    map.hovering = null;
    if (row < 0 || map.data.mode !== "work" || map.data.together) return;
    this.resting = setTimeout(async () => {
      const answer = await ask(`hv/links/${map.data.session}`, {
        method: "POST", body: Int32Array.of(row).buffer,
      }).catch(() => null);
      const found = answer?.ok ? await answer.json() : null;
      if (!found || map.dead || map.hovered !== row) return;
      map.hovering = { row, links: found.links.slice(0, MOST_HAIRS) };
      map.wish();
    }, REST);
  }

  clear() { this.select([]); }

  /** Ask for the links of what is selected now. */
  changed() {
    const { map } = this;
    this.known = null;
    map.early.clear();
    Object.assign(map, { links: [], linksTotal: 0 });
    const { version } = map;
    if (!map.count || map.count > MOST_LINKED || map.data.mode !== "work") return;
    ask(`hv/links/${map.data.session}`, {
      method: "POST", body: Int32Array.from(this.rows()).buffer,
    }).then((answer) => (answer.ok ? answer.json() : null)).then((found) => {
      if (!found || map.version !== version || map.dead) return;
      Object.assign(map, { links: found.links, linksTotal: found.total });
      map.legend.update();
      map.wish({ paint: true, place: true });
    }).catch(() => {});
  }
}
