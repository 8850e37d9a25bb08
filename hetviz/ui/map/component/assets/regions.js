// Names of regions of the map at two levels, beside the region, with a line to its densest place. A name
// keeps its place unless another one is clearly better.

import { shift, textWidth } from "./boxes.js";
import { panelWidth } from "./panel.js";
import { request } from "./requests.js";
import { array } from "./store.js";

/** @import { HetMap } from "./map.js" */
/** @import { Boxes, Ink } from "./boxes.js" */

export const SERIF = '"Source Serif", "Source Serif 4", Georgia, serif';
const DETAIL_ZOOM = 1.8; // zoom from which the second level is named
const [ANGLES, DISTANCES, FIRST, STEP] = [40, 32, 20, 10];
const MOVE_THRESHOLD = 0.75;
const MIN_LEADER_PX = 16; // minimum length of a leader line
const CELLS = 50; // cells across the middle 90 % of the map, for densities
const MAX_SAMPLED = 2000;
const MIN_SEEN = 12;
const RETRY_MS = 2000; // ms until a pending request is repeated

export class Regions {
  /** @param {HetMap} map */
  constructor(map) {
    this.map = map;
    this.scene = map.scene;
    this.levels = [];
    this.mapId = null;
    this.previousPlaces = new Map();
  }

  /** Load the regions of the map once. */
  async load() {
    const { map, scene } = this;
    const { data } = scene;
    const mapId = data.geometry.id;
    if (!(data.stage || data.regions) || data.live || this.mapId === mapId) return;
    this.mapId = mapId;
    let levels = [];
    try {
      const response = await request(`hv/regions/${data.session}?of=${mapId}`);
      const { levels: namedLevels, pending, failed } = response.ok ? await response.json() : { levels: [] };
      if (pending) {
        // A worker computes them; another map may be shown by then.
        setTimeout(() => {
          if (scene.isClosed || this.mapId !== mapId) return;
          this.mapId = null;
          this.load();
        }, RETRY_MS);
        return;
      }
      // The page shows the error and offers to retry; the next update loads again.
      if (failed) this.mapId = null;
      levels = await Promise.all(namedLevels.map(
        async ({ key, names, accounts, true: holds }) => {
          const [codes, isTrue] = await Promise.all([array(data.session, key, "i1"), array(data.session, holds, "u1")]);
          return { names, accounts, codes, isTrue };
        }));
    } catch {
      // The server may be restarting; the next update loads again.
      this.mapId = null;
    }
    await document.fonts.load(`600 16px ${SERIF}`).catch(() => {});
    if (scene.isClosed || (this.mapId && this.mapId !== mapId)) return;
    this.levels = levels;
    map.outline.reload();
    map.requestDraw({ place: true });
  }

  /** Clear all names, since the regions belong to other data. */
  clear() { Object.assign(this, { levels: [], mapId: null, previousPlaces: new Map() }); }

  /** Levels with names; none if the map is coloured by clusters, which have their own names. */
  get named() { return this.scene.data.colour?.option === "cluster" ? [] : this.levels; }

  /** The densest shown member that the name of each region is true of, in units of the map. */
  anchors() {
    const { named, scene } = this;
    const { pos, isShown, n } = scene;
    const cached = this.anchored;
    if (cached && cached.named === named && cached.isShown === isShown && cached.geometry === scene.geometry) return cached.list;
    const list = [];
    const wide = extentOf(pos, isShown, n) / CELLS;
    named.forEach(({ names, accounts, codes, isTrue }, level) => {
      const cells = names.map(() => new Map());
      for (let r = 0; r < n; r++) {
        if (!isShown[r] || !names[codes[r]] || !isTrue[r]) continue;
        const c = Math.floor(pos[2 * r] / wide) * 65536 + Math.floor(pos[2 * r + 1] / wide);
        const cell = cells[codes[r]].get(c);
        if (cell) cell.push(r);
        else cells[codes[r]].set(c, [r]);
      }
      names.forEach((text, code) => {
        let best = [];
        let maxDensity = -1;
        let count = 0;
        for (const [c, rows] of cells[code]) {
          count += rows.length;
          let density = 0;
          for (const [by, share] of [[0, 1], [1, 0.6], [-1, 0.6], [65536, 0.6], [-65536, 0.6], [65537, 0.4], [65535, 0.4], [-65537, 0.4], [-65535, 0.4]]) {
            density += share * (cells[code].get(c + by)?.length ?? 0);
          }
          if (density > maxDensity) [maxDensity, best] = [density, rows];
        }
        if (text && count) list.push({ text, account: accounts[code], level, code, count, x: pos[2 * best[0]], y: pos[2 * best[0] + 1] });
      });
    });
    list.sort((a, b) => a.level - b.level || b.count - a.count);
    this.anchored = { named, isShown, geometry: scene.geometry, list };
    return list;
  }

  /**
   * The densest visible place of a region whose densest member is out of view or covered.
   * @param {number[][]} covered
   */
  visibleAnchor(region, covered) {
    const { pos, isShown, view, n } = this.scene;
    const { codes, isTrue } = this.named[region.level];
    const cells = new Map();
    let count = 0;
    for (let r = 0; r < n; r++) {
      if (codes[r] !== region.code || !isShown[r] || !isTrue[r]) continue;
      const [x, y] = this.scene.pixel(r);
      if (!(x > 0 && y > 0 && x < view.W && y < view.H) || under(covered, x, y)) continue;
      count += 1;
      const c = Math.floor(x / 72) * 512 + Math.floor(y / 72);
      if (cells.has(c)) cells.get(c).push(r);
      else cells.set(c, [r]);
    }
    if (count < MIN_SEEN) return null;
    const [row] = [...cells.values()].reduce((a, b) => (b.length > a.length ? b : a));
    return { ...region, x: pos[2 * row], y: pos[2 * row + 1] };
  }

  /**
   * Place names; reserve boxes for them and their leader lines.
   * @param {CanvasRenderingContext2D} ctx @param {Boxes} boxes @param {Ink} ink @param {number[][]} covered
   */
  place(ctx, boxes, ink, covered) {
    const { scene } = this;
    const { view, family } = scene;
    if (scene.moving) return [];
    const detailed = view.s >= view.fitted * DETAIL_ZOOM;
    const right = view.W - (scene.data.stage ? panelWidth() : 0);
    const pieces = [];
    const placed = [];
    for (const region of this.anchors()) {
      if (region.level && !detailed) continue;
      const [ax, ay] = [view.x(region.x), view.y(region.y)];
      const within = ax > 0 && ay > 0 && ax < right && ay < view.H;
      const hidden = within && under(covered, ax, ay);
      const seen = within && !hidden ? region : detailed || hidden ? this.visibleAnchor(region, covered) : null;
      if (!seen) continue;
      const narrow = view.W < 700;
      const font = region.level ? `600 ${narrow ? 13 : 14}px ${family}` : `600 ${narrow ? 15 : 16}px ${SERIF}`;
      const piece = this.placeName(seen, font, ctx, boxes, ink, placed);
      if (!piece) continue;
      pieces.push(piece);
    }
    return pieces;
  }

  /** @param {string} font @param {CanvasRenderingContext2D} ctx @param {Boxes} boxes @param {Ink} ink */
  placeName(region, font, ctx, boxes, ink, placed) {
    const { view } = this.scene;
    const [ax, ay] = [view.x(region.x), view.y(region.y)];
    const w = textWidth(ctx, region.text, font) + 8;
    const tall = region.level ? 18 : 22;
    /** @param {number} angle @param {number} k */
    const at = (angle, k) => {
      const d = FIRST + STEP * k;
      const [x, y] = [ax + Math.cos(angle) * (d + w * 0.35), ay + Math.sin(angle) * d];
      const box = [x - w / 2, y - tall / 2, x + w / 2, y + tall / 2];
      if (!boxes.within(box, 4) || !boxes.isFree(box)) return null;
      const end = [Math.max(box[0], Math.min(ax, box[2])), Math.max(box[1], Math.min(ay, box[3]))];
      const length = Math.hypot(end[0] - ax, end[1] - ay);
      let cost = ink.under([box[0] - 3, box[1] - 2, box[2] + 3, box[3] + 2]) * 5 + length * 0.42;
      for (const other of placed) {
        if (crosses(end, [ax, ay], other.end, other.anchor)) cost += 80;
        if (crossesBox(end, [ax, ay], other.box)) cost += 60;
      }
      return { cost, box, end, length, angle, k };
    };
    /** @type {ReturnType<typeof at>} */
    let best = null;
    const far = region.level ? 10 : DISTANCES;
    for (let a = 0; a < ANGLES; a++) {
      for (let k = 0; k < far; k++) {
        const candidate = at((a / ANGLES) * 2 * Math.PI, k);
        if (candidate && (!best || candidate.cost < best.cost)) best = candidate;
      }
    }
    if (!best) return null;
    const key = `${region.level}${region.text}`;
    const before = this.previousPlaces.get(key);
    const previous = before && at(before.angle, before.k);
    const place = previous && best.cost > MOVE_THRESHOLD * previous.cost ? previous : best;
    this.previousPlaces.set(key, { angle: place.angle, k: place.k });
    const { box, end, length } = place;
    boxes.reserve([box[0] - 4, box[1] - 2, box[2] + 4, box[3] + 2]);
    placed.push({ box, end, anchor: [ax, ay] });
    if (length > MIN_LEADER_PX) {
      for (let t = 0.1; t < 1; t += 0.1) {
        const [x, y] = [end[0] + (ax - end[0]) * t, end[1] + (ay - end[1]) * t];
        boxes.reserve([x - 3, y - 3, x + 3, y + 3]);
      }
    }
    return {
      kind: "name", text: region.text, account: region.account, level: region.level, region: region.code, code: -1, font, x: region.x, y: region.y,
      dx: (box[0] + box[2]) / 2 - ax, dy: (box[1] + box[3]) / 2 - ay, box: shift(box, -ax, -ay),
      lead: length > MIN_LEADER_PX ? [end[0] - ax, end[1] - ay] : null,
    };
  }
}

/**
 * The wider side of the middle 90 % of the shown items, in units of the map.
 * @param {Float32Array} pos @param {Uint8Array} isShown @param {number} n
 */
function extentOf(pos, isShown, n) {
  const step = Math.max(1, Math.floor(n / MAX_SAMPLED));
  /** @type {number[][]} */
  const sides = [[], []];
  for (let r = 0; r < n; r += step) if (isShown[r]) sides.forEach((side, k) => side.push(pos[2 * r + k]));
  const widths = sides.map((side) => {
    side.sort((a, b) => a - b);
    const end = Math.floor(side.length / 20);
    return side.length ? side[side.length - 1 - end] - side[end] : 0;
  });
  return Math.max(...widths) || 1;
}

/** @param {number[][]} boxes @param {number} x @param {number} y */
const under = (boxes, x, y) => boxes.some(([x0, y0, x1, y1]) => x > x0 && x < x1 && y > y0 && y < y1);

function turns(a, b, c) { return (c[1] - a[1]) * (b[0] - a[0]) > (b[1] - a[1]) * (c[0] - a[0]); }

export function crosses(a, b, c, d) {
  return turns(a, c, d) !== turns(b, c, d) && turns(a, b, c) !== turns(a, b, d);
}

export function crossesBox(a, b, [x0, y0, x1, y1]) {
  return crosses(a, b, [x0, y0], [x1, y1]) || crosses(a, b, [x0, y1], [x1, y0]);
}
