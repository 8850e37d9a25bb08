// Outline and name of the cluster that is hovered in the panel. Everything else fades.

import { context2d, makeCanvas } from "./canvas.js";
import { withAlpha } from "./colors.js";
import { panelWidth } from "./panel.js";
import { SERIF } from "./regions.js";
import { request } from "./requests.js";
import { array } from "./store.js";

/** @import { HetMap } from "./map.js" */
/** @import { Overlay } from "./overlay.js" */

const RADIUS_PX = 18; // pixels around each member
const LINE_PX = 1.6;
const MAX_INNER_NAMES = 6; // maximum number of named smaller regions
const GRAIN_PX = 4; // members within this distance share a disc
// A row contains the data of its cluster; the container of its button does not.
const ROWS = ':is([class*="st-key-quick-"], [class*="st-key-cluster-"]):has([data-hv-cluster])';

/** The smaller regions with more than half of their items flagged. */
function inside(codes, flags) {
  const counts = new Map();
  codes.forEach((code, r) => {
    const [all, within] = counts.get(code) ?? [0, 0];
    counts.set(code, [all + 1, within + flags[r]]);
  });
  return new Set([...counts].filter(([, [all, within]]) => within > all / 2).map(([code]) => code));
}

export class Outline {
  /** @param {HetMap} map */
  constructor(map) {
    this.map = map;
    this.scene = map.scene;
    /** @type {number[] | null} */
    this.rows = null;
    /** @type {Uint8Array | null} */
    this.flags = null;
    this.name = "";
    this.of = "";
    this.cache = new Map();
    /** @type {Set<number>} Codes of the smaller regions within it. */
    this.inner = new Set();
    /** @type {[number, number, number, number] | null} */
    this.labelBox = null;
    this.sheet = makeCanvas(1, 1);
    this.stop = new AbortController();
    const { signal } = this.stop;
    const onPoint = (event) => this.point(event.target);
    // A tap on a row selects it, so touch has no hover.
    document.addEventListener("pointerover", (event) => event.pointerType === "mouse" && onPoint(event), { signal });
    document.addEventListener("focusin", onPoint, { signal });
  }

  point(target) {
    if (!this.scene.data?.stage) return;
    const row = target.closest?.(".st-key-panel")?.contains(target) ? target.closest(ROWS) : null;
    const { hvCluster: of = "", hvName = "" } = row?.querySelector("[data-hv-cluster]")?.dataset ?? {};
    // The page uses no-break spaces, names of regions use plain ones.
    const name = hvName.replaceAll("\u00a0", " ");
    if (of === this.of) return;
    Object.assign(this, { of, name, rows: null, flags: null });
    this.map.requestDraw({ paint: true, place: true });
    if (of) this.loadRows(of);
  }

  /** Load the items of the hovered cluster if it was hovered before the regions arrived. */
  reload() { if (this.of && !this.rows) this.loadRows(this.of); }

  /** Load the items of a cluster: `regions/LEVEL/CODE` of the map, or `clusters/MARK/CODE`. */
  async loadRows(of) {
    const [what, which, code] = of.split("/");
    const { map, scene } = this;
    let codes = map.regions.levels[Number(which)]?.codes;
    if (what === "clusters") {
      if (!this.cache.has(which)) this.cache = new Map([[which, this.clusters()]]);
      codes = await this.cache.get(which).catch(() => null);
    }
    if (this.of !== of || scene.isClosed || codes?.length !== scene.n) return;
    const rows = [];
    codes.forEach((other, r) => { if (other === Number(code)) rows.push(r); });
    if (!rows.length) return;
    const flags = new Uint8Array(scene.n);
    for (const r of rows) flags[r] = 1;
    Object.assign(this, { rows, flags, inner: inside(map.regions.levels[1]?.codes ?? [], flags) });
    map.requestDraw({ paint: true, place: true });
  }

  /** Whether the name covers a box. */
  covers([left, top, right, bottom]) {
    const { labelBox } = this;
    return this.rows !== null && labelBox !== null && labelBox[0] < right && left < labelBox[2] && labelBox[1] < bottom && top < labelBox[3];
  }

  /** Flags of the items; null without a hovered cluster. */
  focus() { return this.flags?.length === this.scene.n ? this.flags : null; }

  async clusters() {
    const { session } = this.scene.data;
    const response = await request(`hv/clusters/${session}`);
    const { key } = await response.json();
    return array(session, key, "i4");
  }

  /**
   * Draw the union of discs around the members, and the name above it.
   * @param {Overlay} overlay @param {CanvasRenderingContext2D} ctx
   */
  draw(overlay, ctx) {
    const { rows, scene } = this;
    if (!rows?.length) return;
    const { view, pos, isShown, tokens } = scene;
    this.labelBox = null;
    const centres = new Map();
    for (const r of rows) {
      if (!isShown[r] || !Number.isFinite(pos[2 * r])) continue;
      const [x, y] = scene.pixel(r);
      if (x < -RADIUS_PX || y < -RADIUS_PX || x > view.W + RADIUS_PX || y > view.H + RADIUS_PX) continue;
      centres.set(`${Math.round(x / GRAIN_PX)},${Math.round(y / GRAIN_PX)}`, [x, y]);
    }
    if (!centres.size) return;
    const places = [...centres.values()];
    const ratio = window.devicePixelRatio || 1;
    const { sheet } = this;
    Object.assign(sheet, { width: Math.round(view.W * ratio), height: Math.round(view.H * ratio) });
    const sheetCtx = context2d(sheet);
    sheetCtx.setTransform(ratio, 0, 0, ratio, 0, 0);
    /** @param {number} radius */
    const discs = (radius) => {
      sheetCtx.beginPath();
      for (const [x, y] of places) {
        sheetCtx.moveTo(x + radius, y);
        sheetCtx.arc(x, y, radius, 0, 7);
      }
      sheetCtx.fill();
    };
    sheetCtx.fillStyle = tokens.accent;
    discs(RADIUS_PX);
    sheetCtx.globalCompositeOperation = "destination-out";
    sheetCtx.fillStyle = "#000";
    discs(RADIUS_PX - LINE_PX);
    sheetCtx.globalCompositeOperation = "destination-over";
    sheetCtx.fillStyle = withAlpha(tokens.accent, 0.1);
    discs(RADIUS_PX);
    ctx.globalAlpha = 1;
    ctx.drawImage(sheet, 0, 0, view.W, view.H);
    this.write(overlay, ctx, places);
  }

  /** @param {Overlay} overlay @param {CanvasRenderingContext2D} ctx */
  write(overlay, ctx, places) {
    const { view, tokens } = this.scene;
    const font = `700 19px ${SERIF}`;
    ctx.font = font;
    const half = ctx.measureText(this.name).width / 2 + 8;
    const [x, y] = places.reduce((a, b) => (b[1] < a[1] ? b : a));
    const edge = view.W - panelWidth();
    const at = Math.max(half, Math.min(x, edge - half));
    const down = Math.max(y - RADIUS_PX - 13, 16);
    this.labelBox = [at - half, down - 13, at + half, down + 13];
    this.writeInner(overlay, ctx, this.labelBox);
    overlay.text(ctx, this.name, at, down, font, tokens.ink, "center");
  }

  /**
   * Draw the names of smaller regions within it, each at its densest place.
   * @param {Overlay} overlay @param {CanvasRenderingContext2D} ctx
   */
  writeInner(overlay, ctx, labelBox) {
    const { map, scene } = this;
    const { view, tokens, family } = scene;
    const seen = (p) => p.kind === "name" || (p.kind === "picture" && this.flags?.[p.row] && map.media.picture(p.row));
    const reserved = [labelBox, ...overlay.boxes().filter(seen).map((p) => p.at)];
    const written = new Set([this.name, ...overlay.pieces.map((p) => p.text)]);
    const font = `600 14px ${family}`;
    ctx.font = font;
    let count = 0;
    for (const { text, level, code, x, y } of map.regions.anchors()) {
      if (level !== 1 || count === MAX_INNER_NAMES || written.has(text) || !this.inner.has(code)) continue;
      const [px, py] = [view.x(x), view.y(y)];
      const half = ctx.measureText(text).width / 2 + 3;
      const box = [px - half, py - 25, px + half, py + 5];
      if (box[0] < 0 || box[2] > view.W - panelWidth() || box[1] < 0) continue;
      if (reserved.some((a) => a[0] < box[2] && box[0] < a[2] && a[1] < box[3] && box[1] < a[3])) continue;
      reserved.push(box);
      count += 1;
      overlay.ring(ctx, px, py, 3.4, 1.6);
      overlay.text(ctx, text, px, py - 14, font, tokens.ink, "center");
    }
  }

  close() { this.stop.abort(); }
}
