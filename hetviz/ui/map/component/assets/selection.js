// Selection and the links that touch it. Python gets each selection with its version.

import { countOf, pack, rowsOf, unpack } from "./pick.js";
import { remember } from "./remember.js";
import { request } from "./requests.js";
import { send } from "./page_change.js";

/** @import { HetMap } from "./map.js" */
/** @import { MapSpec } from "./messages.js" */

const [HOVER_MS, MAX_HAIRLINES] = [60, 40];
const MAX_LINKED = 20000; // larger selections load no links

export class Selection {
  /** @param {HetMap} map */
  constructor(map) {
    this.map = map;
    this.scene = map.scene;
    this.cachedRows = null;
    this.reported = -1; // version
  }

  /** The selected rows, in order. */
  rows() {
    this.cachedRows ??= rowsOf(this.scene.picked);
    return this.cachedRows;
  }

  /**
   * Use the selection of Python if it is newer than ours.
   * @param {MapSpec} data @param {Uint8Array | null} bits @param {boolean} isNewMap
   */
  receive(data, bits, isNewMap) {
    const { scene } = this;
    if (data.selection.version > scene.version || (isNewMap && scene.version < 0)) {
      scene.picked = bits ? unpack(bits, scene.n) : new Uint8Array(scene.n);
      scene.count = data.selection.count ? countOf(scene.picked) : 0;
      scene.version = data.selection.version;
      this.changed();
    } else if (isNewMap && scene.count) this.changed();
  }

  /** Select rows. `how` is "replace", "add" or "subtract". */
  select(rows, mode = "replace") {
    const { map, scene } = this;
    const { data } = scene;
    if (data.mode !== "work" || scene.isPresenting) return;
    const picked = mode === "replace" ? new Uint8Array(scene.n) : Uint8Array.from(scene.picked);
    const value = mode === "subtract" ? 0 : 1;
    for (const r of rows) picked[r] = value;
    const count = countOf(picked);
    if (!count && !scene.count) return;
    const version = Math.max(scene.version, data.selection.version) + 1;
    Object.assign(scene, { picked, count, version });
    this.cachedRows = null;
    map.stats.selectedAt = performance.now();
    if (count) map.offer();
    map.camera.uncoverItems(this.rows());
    this.changed();
    // The server answers the preview first: it takes a fraction of a run of the page.
    map.itemPreview.show().then(() => this.report());
    remember(map.scene);
    map.linkedMaps.onSelect();
    if (map.sharedSelections.isSharing) map.sharedSelections.refresh();
    map.announce(count ? `${count.toLocaleString("en")} selected` : "Nothing selected");
    map.legend.update();
    // Send the selection to Python before drawing.
    setTimeout(() => map.requestDraw({ paint: true, place: true }), 20);
  }

  /** Send the selection to Python, unless it knows a newer one. */
  report() {
    const { map, scene } = this;
    const { version, data } = scene;
    if (scene.isClosed || version <= Math.max(this.reported, data.selection.version)) return;
    this.reported = version;
    const value = { packed: pack(scene.picked), count: scene.count, version, fingerprint: data.fingerprint };
    send(() => map.component.setStateValue("selection", value));
  }

  /** Load the links of the hovered item, to draw them as thin lines. @param {number} row */
  loadHoverLinks(row) {
    const { map, scene } = this;
    clearTimeout(this.hoverTimer);
    scene.hovering = null;
    if (row < 0 || scene.data.mode !== "work" || scene.data.linked_group) return;
    this.hoverTimer = setTimeout(async () => {
      const response = await request(`hv/links/${scene.data.session}`, {
        method: "POST", body: Int32Array.of(row).buffer,
      }).catch(() => null);
      const result = response?.ok ? await response.json() : null;
      if (!result || scene.isClosed || scene.hovered !== row) return;
      scene.hovering = { row, links: result.links.slice(0, MAX_HAIRLINES) };
      map.requestDraw();
    }, HOVER_MS);
  }

  clear() { this.select([]); }

  /** Load the links of the selection. */
  changed() {
    const { map, scene } = this;
    this.cachedRows = null;
    map.dock.table.schedule();
    map.itemPreview.clear();
    Object.assign(scene, { links: [], linksTotal: 0 });
    const { version } = scene;
    if (!scene.count || scene.count > MAX_LINKED || scene.data.mode !== "work") return;
    request(`hv/links/${scene.data.session}`, {
      method: "POST", body: Int32Array.from(this.rows()).buffer,
    }).then((response) => (response.ok ? response.json() : null)).then((result) => {
      if (!result || scene.version !== version || scene.isClosed) return;
      Object.assign(scene, { links: result.links, linksTotal: result.total });
      map.legend.update();
      map.requestDraw({ paint: true, place: true });
    }).catch(() => {});
  }
}
