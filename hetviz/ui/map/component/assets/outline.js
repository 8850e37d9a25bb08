// The cluster that is pointed at in the panel: its outline on the map, and its name.

import { clear } from "./colour.js";
import { panelWidth } from "./panel.js";
import { SERIF } from "./regions.js";
import { ask } from "./ask.js";
import { array } from "./store.js";

const RADIUS = 18; // pixels round each member
const LINE = 1.6;
const GRAIN = 4; // members so near to each other are one disc
// A row holds its cluster's words; the button within it has a container of a like name that does not.
const ROWS = ':is([class*="st-key-quick-"], [class*="st-key-cluster-"]):has([data-hv-cluster])';

export class Outline {
  constructor(map) {
    Object.assign(this, { map, rows: null, name: "", of: "", known: new Map(), stop: new AbortController() });
    const { signal } = this.stop;
    const told = (event) => this.point(event.target);
    // A finger that taps a row selects it: there is nothing to point at.
    document.addEventListener("pointerover", (event) => event.pointerType === "mouse" && told(event), { signal });
    document.addEventListener("focusin", told, { signal });
  }

  point(target) {
    if (!this.map.data?.stage) return;
    const row = target.closest?.(".st-key-panel")?.contains(target) ? target.closest(ROWS) : null;
    const { hvCluster: of = "", hvName = "" } = row?.querySelector("[data-hv-cluster]")?.dataset ?? {};
    // The page keeps a number on one line with its unit; the names of regions have a plain space.
    const name = hvName.replaceAll("\u00a0", " ");
    if (of === this.of) return;
    Object.assign(this, { of, name, rows: null });
    this.map.wish({ place: true });
    if (of) this.find(of);
  }

  /** Learn which items a cluster has: `regions/LEVEL/CODE` of the map, or `clusters/MARK/CODE`. */
  async find(of) {
    const [what, which, code] = of.split("/");
    const { map } = this;
    let codes = map.regions.levels[Number(which)]?.codes;
    if (what === "clusters") {
      if (!this.known.has(which)) this.known = new Map([[which, this.clusters()]]);
      codes = await this.known.get(which).catch(() => null);
    }
    if (this.of !== of || map.dead || codes?.length !== map.n) return;
    this.rows = [];
    codes.forEach((one, r) => { if (one === Number(code)) this.rows.push(r); });
    map.wish({ place: true });
  }

  async clusters() {
    const { session } = this.map.data;
    const answer = await ask(`hv/clusters/${session}`);
    const { key } = await answer.json();
    return array(session, key, "i4");
  }

  /** Draw the union of discs round the members, and the name above it. */
  draw(overlay, ctx) {
    const { map, rows } = this;
    if (!rows?.length) return;
    const { view, pos, pass, tokens } = map;
    const there = new Map();
    for (const r of rows) {
      if (!pass[r] || !Number.isFinite(pos[2 * r])) continue;
      const [x, y] = [view.x(pos[2 * r]), view.y(pos[2 * r + 1])];
      if (x < -RADIUS || y < -RADIUS || x > view.W + RADIUS || y > view.H + RADIUS) continue;
      there.set(`${Math.round(x / GRAIN)},${Math.round(y / GRAIN)}`, [x, y]);
    }
    if (!there.size) return;
    const places = [...there.values()];
    const ratio = window.devicePixelRatio || 1;
    const sheet = this.sheet ??= document.createElement("canvas");
    Object.assign(sheet, { width: Math.round(view.W * ratio), height: Math.round(view.H * ratio) });
    const on = sheet.getContext("2d");
    on.setTransform(ratio, 0, 0, ratio, 0, 0);
    const discs = (radius) => {
      on.beginPath();
      for (const [x, y] of places) {
        on.moveTo(x + radius, y);
        on.arc(x, y, radius, 0, 7);
      }
      on.fill();
    };
    on.fillStyle = tokens.accent;
    discs(RADIUS);
    on.globalCompositeOperation = "destination-out";
    on.fillStyle = "#000";
    discs(RADIUS - LINE);
    on.globalCompositeOperation = "destination-over";
    on.fillStyle = clear(tokens.accent, 0.1);
    discs(RADIUS);
    ctx.globalAlpha = 1;
    ctx.drawImage(sheet, 0, 0, view.W, view.H);
    this.write(overlay, ctx, places);
  }

  write(overlay, ctx, places) {
    const { view, tokens } = this.map;
    const font = `700 19px ${SERIF}`;
    ctx.font = font;
    const half = ctx.measureText(this.name).width / 2 + 8;
    const [x, y] = places.reduce((a, b) => (b[1] < a[1] ? b : a));
    const edge = view.W - panelWidth();
    const at = Math.max(half, Math.min(x, edge - half));
    overlay.text(ctx, this.name, at, Math.max(y - RADIUS - 13, 16), font, tokens.ink, "center");
  }

  close() { this.stop.abort(); }
}
