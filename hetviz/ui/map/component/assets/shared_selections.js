// Selections of other people who have the project open. Each page sends its own one only while it is
// switched on, and every page with a name receives those of others.

import { request } from "./requests.js";
import { SERIF } from "./regions.js";

/** @import { HetMap } from "./map.js" */

const [FAST_MS, SLOW_MS] = [2000, 5000];
const MAX_ROWS = 200;
const RADIUS_PX = 11;
const DASH = [4, 3];

export class SharedSelections {
  /** @param {HetMap} map */
  constructor(map) {
    this.map = map;
    this.scene = map.scene;
    /** @type {{ name: string, rows: number[], count: number }[]} */
    this.others = [];
    this.page = crypto.randomUUID?.() ?? String(Math.random());
    this.isSharing = false;
    this.timer = 0;
    this.leave = () => this.send(null);
    window.addEventListener("pagehide", this.leave);
  }

  get isOffered() { return Boolean(this.scene.data.me); }

  /** Begin to exchange selections, once the visitor has a name. */
  start() {
    if (this.isOffered && !this.timer) this.timer = window.setTimeout(() => this.exchange(), SLOW_MS / 5);
    if (!this.isOffered) this.close();
  }

  toggle() {
    this.isSharing = !this.isSharing;
    this.refresh();
  }

  /** Exchange at once. */
  refresh() {
    if (!this.timer) return;
    clearTimeout(this.timer);
    this.exchange();
  }

  /** @param {number[] | null} rows */
  send(rows) {
    const { data, count } = this.scene;
    if (!data?.me) return Promise.resolve(null);
    const body = JSON.stringify({ page: this.page, name: data.me, fingerprint: data.fingerprint, rows, count });
    return request(`hv/people/${data.session}`, { method: "POST", body, keepalive: true }).catch(() => null);
  }

  async exchange() {
    const { map, scene } = this;
    const rows = this.isSharing ? Array.from(map.selection.rows()).slice(0, MAX_ROWS) : null;
    const response = await this.send(rows);
    const others = response?.ok ? (await response.json().catch(() => ({}))).others ?? [] : [];
    if (scene.isClosed) return;
    const names = new Set(this.others.map(({ name }) => name));
    const isChanged = JSON.stringify(others) !== JSON.stringify(this.others);
    this.others = others;
    for (const { name, count } of others) {
      if (!names.has(name)) map.announce(`${name} selected ${count.toLocaleString("en")}`);
    }
    if (isChanged) map.requestDraw({ paint: true });
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.exchange(), this.isSharing || others.length ? FAST_MS : SLOW_MS);
  }

  /** Draw dashed rings around the items, and the name above the highest. @param {CanvasRenderingContext2D} ctx */
  draw(ctx) {
    const { map, scene } = this;
    for (const { name, rows, count } of this.others) {
      const places = rows.filter((r) => r < scene.n && scene.isShown[r] && map.isPlaced(r)).map((r) => scene.pixel(r));
      for (const [x, y] of places) map.overlay.ring(ctx, x, y, RADIUS_PX, 2.4, DASH, scene.tokens.accent);
      if (!places.length) continue;
      const [x, y] = places.reduce((top, place) => (place[1] < top[1] ? place : top));
      const more = count > 1 ? ` (${count.toLocaleString("en")})` : "";
      map.overlay.text(ctx, name + more, x, y - RADIUS_PX - 9, `600 13px ${SERIF}`, scene.tokens.accent, "center");
    }
  }

  close() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.others = [];
    window.removeEventListener("pagehide", this.leave);
    if (this.isSharing) this.send(null);
    this.isSharing = false;
  }
}
