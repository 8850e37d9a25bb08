// Selection and the links that touch it. Python gets each selection with its version.

import { countOf, pack, rowsOf, unpack } from "./pick.js";
import { remember } from "./remember.js";
import { request } from "./requests.js";
import { send } from "./page_change.js";

const [HOVER_MS, MAX_HAIRLINES] = [60, 40];
const MAX_LINKED = 20000; // larger selections load no links

export class Selection {
  constructor(map) { Object.assign(this, { map, cachedRows: null }); }

  /** The selected rows, in order. */
  rows() {
    this.cachedRows ??= rowsOf(this.map.picked);
    return this.cachedRows;
  }

  /** Use the selection of Python if it is newer than ours. */
  receive(data, bits, isNewMap) {
    const { map } = this;
    if (data.selection.version > map.version || (isNewMap && map.version < 0)) {
      map.picked = bits ? unpack(bits, map.n) : new Uint8Array(map.n);
      map.count = data.selection.count ? countOf(map.picked) : 0;
      map.version = data.selection.version;
      this.changed();
    } else if (isNewMap && map.count) this.changed();
  }

  /** Select rows. `how` is "replace", "add" or "subtract". */
  select(rows, mode = "replace") {
    const { map } = this;
    const { data } = map;
    if (data.mode !== "work") return;
    const picked = mode === "replace" ? new Uint8Array(map.n) : Uint8Array.from(map.picked);
    const value = mode === "subtract" ? 0 : 1;
    for (const r of rows) picked[r] = value;
    const count = countOf(picked);
    if (!count && !map.count) return;
    const version = Math.max(map.version, data.selection.version) + 1;
    Object.assign(map, { picked, count, version });
    this.cachedRows = null;
    send(() => map.component.setStateValue(
      "selection", { packed: pack(picked), count, version, fingerprint: data.fingerprint },
    ));
    map.stats.selectedAt = performance.now();
    if (count) map.offer();
    map.camera.uncoverItems(this.rows());
    this.changed();
    map.itemPreview.show();
    remember(map);
    map.linkedMaps.onSelect();
    map.announce(count ? `${count.toLocaleString("en")} selected` : "Nothing selected");
    map.legend.update();
    // Send the selection to Python before drawing.
    setTimeout(() => map.requestDraw({ paint: true, place: true }), 20);
  }

  /** Load the links of the hovered item, to draw them as thin lines. */
  loadHoverLinks(row) {
    const { map } = this;
    clearTimeout(this.hoverTimer);
    map.hovering = null;
    if (row < 0 || map.data.mode !== "work" || map.data.together) return;
    this.hoverTimer = setTimeout(async () => {
      const response = await request(`hv/links/${map.data.session}`, {
        method: "POST", body: Int32Array.of(row).buffer,
      }).catch(() => null);
      const result = response?.ok ? await response.json() : null;
      if (!result || map.isClosed || map.hovered !== row) return;
      map.hovering = { row, links: result.links.slice(0, MAX_HAIRLINES) };
      map.requestDraw();
    }, HOVER_MS);
  }

  clear() { this.select([]); }

  /** Load the links of the selection. */
  changed() {
    const { map } = this;
    this.cachedRows = null;
    map.itemPreview.clear();
    Object.assign(map, { links: [], linksTotal: 0 });
    const { version } = map;
    if (!map.count || map.count > MAX_LINKED || map.data.mode !== "work") return;
    request(`hv/links/${map.data.session}`, {
      method: "POST", body: Int32Array.from(this.rows()).buffer,
    }).then((response) => (response.ok ? response.json() : null)).then((result) => {
      if (!result || map.version !== version || map.isClosed) return;
      Object.assign(map, { links: result.links, linksTotal: result.total });
      map.legend.update();
      map.requestDraw({ paint: true, place: true });
    }).catch(() => {});
  }
}
