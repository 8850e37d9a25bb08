// The cluster that is pointed at in the panel: its outline on the map, and its name; all else fades.

import { clear } from "./colour.js";
import { panelWidth } from "./panel.js";
import { SERIF } from "./regions.js";
import { ask } from "./ask.js";
import { array } from "./store.js";

const RADIUS = 18; // pixels round each member
const LINE = 1.6;
const INNER = 6; // so many smaller regions within it are named
const GRAIN = 4; // members so near to each other are one disc
// A row holds its cluster's words; the button within it has a container of a like name that does not.
const ROWS = ':is([class*="st-key-quick-"], [class*="st-key-cluster-"]):has([data-hv-cluster])';

/** The smaller regions of which more than half lies within what is flagged. */
function inside(codes, flags) {
  const counts = new Map();
  codes.forEach((code, r) => {
    const [all, within] = counts.get(code) ?? [0, 0];
    counts.set(code, [all + 1, within + flags[r]]);
  });
  return new Set([...counts].filter(([, [all, within]]) => within > all / 2).map(([code]) => code));
}

export class Outline {
  constructor(map) {
    Object.assign(this, { map, rows: null, flags: null, name: "", of: "", known: new Map(), stop: new AbortController() });
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
    Object.assign(this, { of, name, rows: null, flags: null });
    this.map.wish({ paint: true, place: true });
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
    const rows = [];
    codes.forEach((one, r) => { if (one === Number(code)) rows.push(r); });
    if (!rows.length) return;
    const flags = new Uint8Array(map.n);
    for (const r of rows) flags[r] = 1;
    Object.assign(this, { rows, flags, inner: inside(map.regions.levels[1]?.codes ?? [], flags) });
    map.wish({ paint: true, place: true });
  }

  /** Whether its name lies over a box. */
  covers([left, top, right, bottom]) {
    const { own } = this;
    return Boolean(this.rows && own) && own[0] < right && left < own[2] && own[1] < bottom && top < own[3];
  }

  /** Flags of its items; null where none is pointed at. */
  focus() { return this.flags?.length === this.map.n ? this.flags : null; }

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
    this.own = null;
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
    const down = Math.max(y - RADIUS - 13, 16);
    this.own = [at - half, down - 13, at + half, down + 13];
    this.writeInner(overlay, ctx, this.own);
    overlay.text(ctx, this.name, at, down, font, tokens.ink, "center");
  }

  /** The names of smaller regions that lie within it, each over its densest place. */
  writeInner(overlay, ctx, own) {
    const { map } = this;
    const { view, tokens, family } = map;
    const seen = (p) => p.kind === "name" || (p.kind === "picture" && this.flags[p.row] && map.media.picture(p.row));
    const taken = [own, ...overlay.boxes().filter(seen).map((p) => p.at)];
    const written = new Set([this.name, ...overlay.pieces.map((p) => p.text)]);
    const font = `600 14px ${family}`;
    ctx.font = font;
    let count = 0;
    for (const { text, level, code, x, y } of map.regions.anchors()) {
      if (level !== 1 || count === INNER || written.has(text) || !this.inner.has(code)) continue;
      const [px, py] = [view.x(x), view.y(y)];
      const half = ctx.measureText(text).width / 2 + 3;
      const box = [px - half, py - 25, px + half, py + 5];
      if (box[0] < 0 || box[2] > view.W - panelWidth() || box[1] < 0) continue;
      if (taken.some((a) => a[0] < box[2] && box[0] < a[2] && a[1] < box[3] && box[1] < a[3])) continue;
      taken.push(box);
      count += 1;
      overlay.ring(ctx, px, py, 3.4, 1.6);
      overlay.text(ctx, text, px, py - 14, font, tokens.ink, "center");
    }
  }

  close() { this.stop.abort(); }
}
