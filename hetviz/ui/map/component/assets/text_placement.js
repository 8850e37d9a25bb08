// Placement of texts and pictures on the map in three ranks: names of lands, of quarters, and of items,
// each where it fits, in pixels, at any zoom. The whole map has few names of items. Zooming in makes room
// for more, and nothing overlaps.

import { Boxes, Ink, shift, textWidth } from "./boxes.js";
import { cardBoxes } from "./covered_area.js";
import { shorten } from "./dom.js";
import { MAX_CHARACTERS, MAX_LANDS, MAX_QUARTERS, PHONE_PX, landFont, quarterFont } from "./regions.js";
import { MAX_NAMED, arrangeLinked, bundles, clearOf } from "./linked_items.js";

/** @import { HetMap } from "./map.js" */
/** @import { Scene } from "./scene.js" */

const NAME_SHIFTS = [0, -20, 20];
const WORD_SHIFTS = [[8, 0], [-8, 0]];
const EMPHASISED_SHIFTS = [[9, 0], [-9, 0], [9, -15], [9, 15], [-9, -15], [-9, 15]];
const RINGED_SHIFTS = [[11, 0], [-11, 0], [9, -17], [9, 17], [-9, -17], [-9, 17]];
const RING_BOX = [-8, -8, 8, 8];
const CROWD_PX = 34; // px; on the whole map a picture needs others within this cell
const PICTURE_CELL_PX = 46; // on the whole map, of which the most linked item has a picture
const MAX_MEMBERS = 60;
const IDLE_ZOOM = 1.35; // up to which the map counts as whole
const AREA_PER_NAME = 40000; // px² per name of an item on the whole map
const MIN_DETAIL_PX = 26; // picture size from which almost all fit

/**
 * Collect in one pass the points in view and the densest places of each group.
 * @param {HetMap} map
 */
function survey(map) {
  const { scene } = map;
  const { view, pos, isShown, slot, data } = scene;
  const { W, H } = view;
  const media = mediaOf(data);
  const columns = Math.ceil(W / CROWD_PX) + 1;
  const crowd = new Uint16Array(columns * (Math.ceil(H / CROWD_PX) + 1));
  const groups = new Map(); // slot -> Map(cell -> [count, sum x, sum y])
  const coded = new Set(map.regions.named.length ? [] : data.names.map((name) => name.code + 1));
  const ink = new Ink(W, H);
  const wide = Math.ceil(W / 72) + 1;
  let pictures = 0;
  // A sample is enough for large maps; each row stands for several.
  const { rows, each } = map.points.sampleInView();
  const n = rows ? rows.length : scene.n;
  for (let k = 0; k < n; k++) {
    const r = rows ? rows[k] : k;
    if (!isShown[r]) continue;
    const px = view.x(pos[2 * r]);
    const py = view.y(pos[2 * r + 1]);
    if (!(px >= 0 && py >= 0 && px <= W && py <= H)) continue;
    ink.add(px, py, each);
    if (media[r]) {
      pictures += each;
      crowd[Math.floor(px / CROWD_PX) + columns * Math.floor(py / CROWD_PX)] += Math.min(each, 4);
    }
    const g = slot[r];
    if (!coded.has(g)) continue;
    if (!groups.has(g)) groups.set(g, new Map());
    const cells = groups.get(g);
    const c = Math.floor(px / 72) + wide * Math.floor(py / 72);
    const cell = cells.get(c);
    if (cell) {
      cell[0] += 1;
      cell[1] += pos[2 * r];
      cell[2] += pos[2 * r + 1];
    } else cells.set(c, [1, pos[2 * r], pos[2 * r + 1]]);
  }
  /** @param {number} px @param {number} py */
  const nearbyPictures = (px, py) => {
    let count = 0;
    for (const a of [-17, 17]) {
      for (const b of [-17, 17]) {
        const c = Math.floor((px + a) / CROWD_PX);
        const d = Math.floor((py + b) / CROWD_PX);
        if (c >= 0 && d >= 0 && c < columns) count += crowd[c + columns * d] || 0;
      }
    }
    return count;
  };
  ink.close();
  return { pictures, groups, nearbyPictures, ink };
}

/** Whether the camera shows about the whole map. @param {Scene["view"]} view */
const isWholeMap = (view) => view.s <= view.fitted * IDLE_ZOOM;

const flags = new WeakMap();

/** For each row, whether its dataset has pictures (1). */
function mediaOf(data) {
  if (!flags.has(data.datasets)) {
    const out = new Uint8Array(data.n);
    for (const d of data.datasets) out.fill(d.media ? 1 : 0, d.start, d.stop);
    flags.set(data.datasets, out);
  }
  return flags.get(data.datasets);
}

/**
 * Place all texts and pictures; returns the pieces by priority, and missing titles and pictures.
 * @param {HetMap} map @param {CanvasRenderingContext2D} ctx
 */
export function placeTexts(map, ctx) {
  const { scene, media } = map;
  const { view, pos, isShown, data } = scene;
  const { W, H } = view;
  const boxes = new Boxes(W, H);
  const pieces = [];
  /** @type {{ titles: number[], pictures: number[] }} */
  const missing = { titles: [], pictures: [] };
  const kinds = mediaOf(data);
  // Items with a picture need no word.
  const worded = data.datasets.filter((d) => d.words && !(d.people && isWholeMap(view)) && (!d.media || data.datasets.every((other) => other.media)));
  /** @param {number} r */
  const saysWords = (r) => worded.some((d) => r >= d.start && r < d.stop);
  const { pictures, groups, nearbyPictures, ink } = survey(map);
  const covered = cardBoxes(map);
  scene.covered = covered;
  for (const box of covered) boxes.reserve(box);
  const ideal = Math.sqrt(((W * H) / Math.max(pictures, 1)) * 0.26);
  const detailed = ideal >= MIN_DETAIL_PX;
  const size = detailed ? Math.max(26, Math.min(38, ideal)) : 24;
  const half = detailed ? size * 0.76 : PICTURE_CELL_PX / 2;
  const family = scene.family;
  /** @param {number} r */
  const inView = (r) => {
    const px = view.x(pos[2 * r]);
    const py = view.y(pos[2 * r + 1]);
    return px > 0 && py > 0 && px < W && py < H;
  };
  const ringEach = scene.count > 0 && scene.count <= MAX_NAMED;
  const emphasised = new Set(scene.cursor >= 0 && isShown[scene.cursor] ? [scene.cursor] : []);

  // Names of regions keep their places under a selection; names of items avoid them.
  const regional = map.regions.named.length > 0;
  // Names of groups would give way to those of regions at once.
  const hasGroupNames = !regional && !map.regions.isAwaited;
  if (regional) pieces.push(...map.regions.place(ctx, boxes, ink, covered));
  if (!data.linked_group && scene.data.mode === "work" && (scene.count || map.statements.groups.size)) {
    const ends = arrangeLinked(map, ctx, ink, missing, kinds, covered);
    const linkedBoxes = ends.boxes;
    const sheaves = bundles(map, ctx, linkedBoxes);
    const left = pieces.filter((p) => clearOf(shift(p.box, view.x(p.x), view.y(p.y)), linkedBoxes, ends.pieces, scene));
    if (hasGroupNames) names(scene, ctx, linkedBoxes, groups, left);
    const shown = [...left, ...sheaves, ...ends.pieces];
    if (scene.count > MAX_NAMED || !scene.count) shown.push(...members(map, linkedBoxes, kinds, missing, size, detailed));
    return { pieces: shown, missing, detailed, ringEach };
  }

  /** @param {number} r @param {number} s */
  const picture = (r, s, box, strong) => {
    if (!media.picture(r)) missing.pictures.push(r);
    pieces.push({ kind: "picture", row: r, size: s, detailed, strong, box });
  };
  for (const r of emphasised) {
    if (!kinds[r]) continue;
    const b = (size + 6) * 0.75;
    const box = [-b, -b, b, b];
    if (boxes.tryReserve(shift(box, view.x(pos[2 * r]), view.y(pos[2 * r + 1])))) {
      picture(r, size + 6, box, true);
    }
  }
  // Rings of selected items on maps side by side. No name covers one.
  const ringed = new Set(data.linked_group && ringEach ? map.selection.rows().filter((r) => isShown[r]) : []);
  for (const r of ringed) boxes.reserve(shift(RING_BOX, view.x(pos[2 * r]), view.y(pos[2 * r + 1])));
  /** @type {Set<string>} */
  const said = new Set();
  /** @param {number} r */
  const word = (r, strong) => {
    const item = media.title(r);
    if (!item) {
      missing.titles.push(r);
      return false;
    }
    if (!item.word && !(strong && item.named) && !ringed.has(r)) return false;
    const text = shorten(item.title, MAX_CHARACTERS);
    if (!strong && said.has(item.title.toLowerCase())) return false;
    const px = view.x(pos[2 * r]);
    const py = view.y(pos[2 * r + 1]);
    const tall = strong ? 14 : 12.5;
    const font = `${strong ? 600 : 400} ${tall}px ${family}`;
    const w = textWidth(ctx, text, font);
    for (const [dx, dy] of ringed.has(r) ? RINGED_SHIFTS : strong ? EMPHASISED_SHIFTS : WORD_SHIFTS) {
      const x0 = dx > 0 ? dx - 2 : dx - w - 2;
      const near = ringed.has(r) ? Math.abs(dx) - 2 : -7;
      const box = [dx > 0 ? near : x0, dy - tall * 0.62, dx > 0 ? x0 + w + 4 : -near, dy + tall * 0.62];
      const shifted = shift(box, px, py);
      if (boxes.within(shifted) && boxes.tryReserve(shifted)) {
        pieces.push({ kind: "word", row: r, text, font, dx, dy, strong, box });
        said.add(item.title.toLowerCase());
        return true;
      }
    }
    return false;
  };
  for (const r of new Set([...emphasised, ...ringed])) word(r, true);

  if (hasGroupNames) names(scene, ctx, boxes, groups, pieces);
  // An item does not repeat a name that stands on the map, in capitals or not.
  for (const p of pieces) if (p.kind === "name") said.add(p.text.toLowerCase());

  const isWhole = isWholeMap(view);
  const nQuarters = pieces.filter((p) => p.kind === "name" && p.level).length;
  const cap = isWhole && W < PHONE_PX ? 0 : isWhole ? Math.min(Math.floor((W * H) / AREA_PER_NAME), MAX_QUARTERS - nQuarters)
    : detailed ? 400 : Math.round((W * H) / 15000);
  const words = () => {
    let tried = 0;
    let nPlaced = 0;
    for (const r of scene.order) {
      if (tried >= cap * 2 || nPlaced >= cap) break;
      if (!isShown[r] || !saysWords(r) || emphasised.has(r) || !inView(r)) continue;
      tried += 1;
      if (word(r, false)) nPlaced += 1;
    }
  };
  const thumbs = () => {
    let nPlaced = 0;
    for (const r of scene.order) {
      if (nPlaced >= 400) break;
      if (!kinds[r] || !isShown[r] || emphasised.has(r)) continue;
      const px = view.x(pos[2 * r]);
      const py = view.y(pos[2 * r + 1]);
      const box = [-half, -half, half, half];
      if (px < size * 0.6 || py < size * 0.6 || px > W - size * 0.6 || py > H - size * 0.6) continue;
      if (!detailed && nearbyPictures(px, py) < 4) continue;
      if (boxes.tryReserve(shift(box, px, py))) {
        picture(r, size, box, false);
        nPlaced += 1;
      }
    }
  };
  if (detailed) {
    thumbs();
    words();
  } else if (!data.linked_group) {
    words();
    thumbs();
  }
  return { pieces, missing, detailed, ringEach };
}

/**
 * Place pictures of many selected items.
 * @param {HetMap} map @param {Boxes} boxes
 * @param {number} size @param {boolean} detailed
 */
function members(map, boxes, kinds, missing, size, detailed) {
  const { scene } = map;
  const { view, pos, isShown, picked } = scene;
  const half = size * 0.68;
  const pieces = [];
  for (const r of scene.order) {
    if (pieces.length >= MAX_MEMBERS) break;
    if (!picked[r] || !kinds[r] || !isShown[r]) continue;
    const box = [-half, -half, half, half];
    const shifted = shift(box, view.x(pos[2 * r]), view.y(pos[2 * r + 1]));
    if (!boxes.within(shifted) || !boxes.tryReserve(shifted)) continue;
    if (!map.media.picture(r)) missing.pictures.push(r);
    pieces.push({ kind: "picture", row: r, size: Math.min(size, 24), detailed, strong: true, box });
  }
  return pieces;
}

/**
 * Place names of groups: at precomputed places, else where the group is densest in view and the majority.
 * @param {Scene} scene @param {CanvasRenderingContext2D} ctx @param {Boxes} boxes
 * @param {any[]} pieces
 */
function names(scene, ctx, boxes, groups, pieces) {
  const { view, data } = scene;
  const { W, H } = view;
  const tall = W < 700 ? 15 : 19;
  const font = landFont(W);
  const isWhole = isWholeMap(view);
  const written = new Set();
  const totals = new Map(); // cell -> number of points of all groups
  for (const cells of groups.values()) {
    for (const [c, [count]] of cells) totals.set(c, (totals.get(c) || 0) + count);
  }
  /** @param {number} size */
  const write = (name, face, size, places) => {
    const label = shorten(name.text, MAX_CHARACTERS);
    const w = textWidth(ctx, label, face);
    for (const [x, y] of places) {
      const py = view.y(y);
      const raw = view.x(x);
      if (raw < 0 || raw > W || py < 0 || py > H) continue;
      const px = Math.max(w / 2 + 9, Math.min(W - w / 2 - 9, raw));
      for (const dy of NAME_SHIFTS) {
        const box = [px - raw - w / 2 - 6, dy - size * 0.72, px - raw + w / 2 + 6, dy + size * 0.72];
        const shifted = shift(box, raw, py);
        if (boxes.within(shifted) && boxes.tryReserve(shifted)) {
          pieces.push({
            kind: "name", text: name.text, label, level: name.within ? 1 : 0, code: name.code, font: face, x, y, dx: px - raw, dy, box,
          });
          return true;
        }
      }
    }
    return false;
  };
  // When zoomed in, names of its parts replace the name of a group.
  const inParts = new Set();
  for (const name of isWhole || scene.moving ? [] : data.names) {
    if (!name.within || !groups.has(name.code + 1) || written.has(name.text)) continue;
    if (write(name, quarterFont(scene.family), 12.5, name.at)) {
      written.add(name.text);
      inParts.add(name.code);
    }
  }
  let nLands = 0;
  for (const name of data.names) {
    const cells = groups.get(name.code + 1);
    if (!cells || name.within || inParts.has(name.code) || (isWhole && nLands >= MAX_LANDS)) continue;
    const own = [...cells].filter(([c, [count]]) => count > totals.get(c) / 2);
    const dense = own.map(([, cell]) => cell).sort((a, b) => b[0] - a[0]);
    const total = dense.reduce((sum, cell) => sum + cell[0], 0);
    // When zoomed in, the name of a stray point would seem to name its surroundings.
    if (!isWhole && total < 3) continue;
    const peaks = dense.slice(0, 4).map(([count, x, y]) => [x / count, y / count]);
    const namePlaces = scene.moving ? [] : name.at;
    if (write(name, font, tall, isWhole ? [...namePlaces, ...peaks] : peaks)) nLands += 1;
  }
}
