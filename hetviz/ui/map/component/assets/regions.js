// Names of regions of the map at two ranks, each on the densest place of its region: lands in the colour
// of the category that most of their items have, and quarters. A name keeps its place unless another one
// is clearly better.

import { shift, textWidth } from "./boxes.js";
import { shorten } from "./dom.js";
import { panelWidth } from "./panel.js";
import { request } from "./requests.js";
import { array } from "./store.js";

/** @import { HetMap } from "./map.js" */
/** @import { Boxes, Ink } from "./boxes.js" */

export const SERIF = '"Source Serif", "Source Serif 4", Georgia, serif';
const NARROW_PX = 860;
const DETAIL_ZOOM = 1.8; // zoom from which names may stand elsewhere in their region, and there are more
export const MAX_LANDS = 8; // names on the whole map
export const MAX_QUARTERS = 25;
export const MAX_CHARACTERS = 22; // of a name on the map
export const PHONE_PX = 700;
const PHONE_LANDS = 4; // names on the whole map of a phone, where quarters have none
const LAND_REACH = [84, 60]; // px from the densest place
const QUARTER_REACH = [48, 40];
const STEP_PX = 6;
const MOVE_THRESHOLD = 0.75;
const MIN_MAJORITY = 0.5; // of the items, for the colour of a name
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
    /** The map whose regions are known, though it may have none. */
    this.loadedId = null;
    this.previousPlaces = new Map();
  }

  /** Whether there are names: not on the earth, nor on a map on Compare that others join. */
  get areShown() { return !this.scene.isGeography && Boolean(this.scene.data.stage || this.scene.data.regions); }

  /** Whether the names of the map are still computed or loaded. */
  get isAwaited() {
    const { data } = this.scene;
    return this.areShown && !data.live && data.colour?.option !== "cluster" && !this.levels.length
      && this.loadedId !== data.geometry.id;
  }

  /** Load the regions of the map once. */
  async load() {
    const { map, scene } = this;
    const { data } = scene;
    const mapId = data.geometry.id;
    if (!this.areShown || data.live || this.mapId === mapId) return;
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
    await document.fonts.load(`650 19px ${SERIF}`).catch(() => {});
    if (scene.isClosed || (this.mapId && this.mapId !== mapId)) return;
    this.levels = levels;
    this.loadedId = mapId;
    map.outline.reload();
    map.requestDraw({ place: true });
  }

  /** Clear all names, since the regions belong to other data. */
  clear() { Object.assign(this, { levels: [], mapId: null, loadedId: null, previousPlaces: new Map() }); }

  /** Levels with names; none if the map is coloured by clusters, which have their own names. */
  get named() { return this.areShown && this.scene.data.colour?.option !== "cluster" ? this.levels : []; }

  /** The densest shown member that the name of each region is true of, in units of the map. */
  anchors() {
    const { named, scene } = this;
    const { pos, isShown, slot, n } = scene;
    const cached = this.anchored;
    if (cached && cached.named === named && cached.isShown === isShown && cached.slot === slot && cached.geometry === scene.geometry) return cached.list;
    const nColours = scene.data.colour?.kind === "categories" ? scene.data.colour.categories.length : 0;
    const list = [];
    const wide = extentOf(pos, isShown, n) / CELLS;
    named.forEach(({ names, accounts, codes, isTrue }, level) => {
      const cells = names.map(() => new Map());
      const slots = names.map(() => new Map());
      for (let r = 0; r < n; r++) {
        if (!isShown[r] || !names[codes[r]] || !isTrue[r]) continue;
        const ofCode = slots[codes[r]];
        const own = nColours ? slot[r] && 1 + ((slot[r] - 1) % nColours) : 0;
        ofCode.set(own, (ofCode.get(own) ?? 0) + 1);
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
        // Its colour is that of most of its items.
        const [major, most] = [...slots[code]].reduce((a, b) => (b[1] > a[1] ? b : a), [0, 0]);
        const category = major && most > MIN_MAJORITY * count ? major - 1 : -1;
        if (text && count) list.push({ text, account: accounts[code], level, code, category, count, x: pos[2 * best[0]], y: pos[2 * best[0] + 1] });
      });
    });
    list.sort((a, b) => a.level - b.level || b.count - a.count);
    this.anchored = { named, isShown, slot, geometry: scene.geometry, list };
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
   * Place names, and reserve boxes for them.
   * @param {CanvasRenderingContext2D} ctx @param {Boxes} boxes @param {Ink} ink @param {number[][]} covered
   */
  place(ctx, boxes, ink, covered) {
    const { scene } = this;
    const { view } = scene;
    if (scene.moving) return [];
    const detailed = view.s >= view.fitted * DETAIL_ZOOM;
    // In a narrow window the panel is a sheet below.
    const right = view.W - (scene.data.stage && view.W > NARROW_PX ? panelWidth() : 0);
    const pieces = [];
    const counts = [0, 0];
    const limits = view.W < PHONE_PX ? [PHONE_LANDS, 0] : [MAX_LANDS, MAX_QUARTERS];
    for (const region of this.anchors()) {
      if (!detailed && counts[region.level] >= limits[region.level]) continue;
      const [ax, ay] = [view.x(region.x), view.y(region.y)];
      const within = ax > 0 && ay > 0 && ax < right && ay < view.H;
      const hidden = within && under(covered, ax, ay);
      const seen = within && !hidden ? region : detailed || hidden ? this.visibleAnchor(region, covered) : null;
      const piece = seen && this.placeName(seen, ctx, boxes, ink);
      if (!piece) continue;
      counts[region.level] += 1;
      pieces.push(piece);
    }
    return pieces;
  }

  /** @param {CanvasRenderingContext2D} ctx @param {Boxes} boxes @param {Ink} ink */
  placeName(region, ctx, boxes, ink) {
    const { view, family } = this.scene;
    const [ax, ay] = [view.x(region.x), view.y(region.y)];
    const font = region.level ? quarterFont(family) : landFont(view.W);
    // Of two names that do not fit, the first stands alone.
    const text = region.text.length > MAX_CHARACTERS ? region.text.split(" · ")[0] : region.text;
    const label = shorten(text, MAX_CHARACTERS);
    const w = textWidth(ctx, label, font) + 6;
    const tall = region.level ? 17 : 24;
    /** @param {number} dx @param {number} dy */
    const at = (dx, dy) => {
      /** @type {[number, number, number, number]} */
      const box = [ax + dx - w / 2, ay + dy - tall / 2, ax + dx + w / 2, ay + dy + tall / 2];
      if (!boxes.within(box, 4) || !boxes.isFree(box)) return null;
      // The halo covers dots, so a name stands where it hides few.
      return { cost: 0.6 * ink.under(box) + 0.35 * Math.hypot(dx, dy), box, dx, dy };
    };
    /** @type {ReturnType<typeof at>} */
    let best = null;
    const [wide, high] = region.level ? QUARTER_REACH : LAND_REACH;
    for (let dx = -wide; dx <= wide; dx += STEP_PX) {
      for (let dy = -high; dy <= high; dy += STEP_PX) {
        const candidate = at(dx, dy);
        if (candidate && (!best || candidate.cost < best.cost)) best = candidate;
      }
    }
    if (!best) return null;
    const key = `${region.level}${region.text}`;
    const before = this.previousPlaces.get(key);
    const previous = before && at(before.dx, before.dy);
    const { box, dx, dy } = previous && best.cost > MOVE_THRESHOLD * previous.cost ? previous : best;
    this.previousPlaces.set(key, { dx, dy });
    boxes.reserve([box[0] - 3, box[1], box[2] + 3, box[3]]);
    return {
      kind: "name", text: region.text, label, account: region.account, level: region.level, region: region.code, code: region.category, font,
      x: region.x, y: region.y, dx, dy, box: shift(box, -ax, -ay),
    };
  }
}

/** Font of the names of lands. @param {number} width of the map */
export const landFont = (width) => `650 ${width < PHONE_PX ? 15 : 19}px ${SERIF}`;

/** Font of the names of quarters. @param {string} family */
export const quarterFont = (family) => `500 12.5px ${family}`;

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
