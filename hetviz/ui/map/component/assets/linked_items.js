// Selected items and the items linked to them. Each of the strongest links ends in a picture with a name
// and a verdict. Discs that overlap are separated, selected items stay in place. Links of many items are
// drawn as bundles.

import { Boxes, shift, textWidth } from "./boxes.js";
import { withAlpha } from "./colors.js";
import { shorten, thousands } from "./dom.js";
import { outline } from "./flat_renderer.js";
import { panelWidth } from "./panel.js";
import { MAX_CHARACTERS, crossesBox } from "./regions.js";

/** @import { Ink } from "./boxes.js" */
/** @import { HetMap } from "./map.js" */
/** @import { Overlay } from "./overlay.js" */
/** @import { Scene } from "./scene.js" */

export const MAX_NAMED = 12; // selected items, and ends of links, with a name each
const SWEEPS = 160;
const GAP_PX = 7;
const BEND = 0.08;
const COUNT_PX = 28; // half the width of the number on a ribbon
const [NAME_PX, VERDICT_PX] = [14, 13];
const [MAX_BUNDLES, MIN_BUNDLE] = [6, 3];

/**
 * The number of closer items in the dataset of `to`, and whether the two are close.
 * @param {Scene} scene
 */
function rankOf(scene, from, to) {
  const { pos, isShown, data } = scene;
  /** @param {number} row */
  const of = (row) => data.datasets.findIndex((d) => row >= d.start && row < d.stop);
  const [ofFrom, ofTo] = [of(from), of(to)];
  const set = data.datasets[ofTo];
  // Small datasets are drawn larger, but their distances count to scale, as in the panel.
  const toScale = (row, k) => {
    const [cx, cy, times] = data.geometry.enlarged?.[k] ?? [0, 0, 1];
    return [cx + (pos[2 * row] - cx) / times, cy + (pos[2 * row + 1] - cy) / times];
  };
  const [x, y] = toScale(from, ofFrom);
  const distance = (row) => {
    const [rx, ry] = toScale(row, ofTo);
    return (rx - x) ** 2 + (ry - y) ** 2;
  };
  const far = distance(to);
  let nearer = 0;
  for (let r = set.start; r < set.stop; r++) {
    if (!isShown[r] || r === from) continue;
    if (distance(r) < far) nearer += 1;
  }
  const reach = data.geometry.reach?.[ofFrom]?.[ofTo] ?? null;
  return { nearer, isClose: reach === null ? null : far <= reach * reach, name: set.name };
}

/**
 * The ends of the strongest links of a few selected items.
 * @param {Scene} scene
 */
function linkedOf(scene, chosen) {
  if (!chosen.size) return { named: [], more: 0 };
  const ends = new Map();
  for (const [i, j, weight, kind] of scene.links) {
    const [from, to] = chosen.has(i) ? [i, j] : [j, i];
    if (!chosen.has(from) || chosen.has(to) || !scene.isShown[to] || ends.has(to)) continue;
    ends.set(to, { row: to, from, weight, hidden: kind === "hidden" });
  }
  const named = [...ends.values()].slice(0, MAX_NAMED).map((end) => {
    const { nearer, isClose, name } = rankOf(scene, end.from, end.row);
    const good = isClose === null || (end.weight < 0 ? !isClose : isClose);
    const rank = nearer === 1 ? `1 item of ${name} is closer` : `${thousands(nearer)} ${name} are closer`;
    const verdict = isClose === null ? rank : end.weight < 0 ? (good ? "apart" : "should be apart, but close")
      : good ? "close" : rank;
    return { ...end, good, words: good && end.hidden ? `${verdict}, hidden link` : verdict };
  });
  return { named, more: Math.max(scene.linksTotal, ends.size) - named.length };
}

/**
 * The part of the map where names fit, without panel and edges.
 * @returns {[number, number, number, number]}
 */
function freeArea({ view }) {
  const narrow = view.W < 860;
  return [narrow ? 40 : 76, 44, view.W - (narrow ? 40 : panelWidth() + 40), view.H - (narrow ? view.clear.bottom : 36)];
}

/** Point and direction at the edge of the map towards an item out of view. */
function atEdge([x, y], [x0, y0, x1, y1]) {
  if (x >= x0 && y >= y0 && x <= x1 && y <= y1) return null;
  const [cx, cy] = [(x0 + x1) / 2, (y0 + y1) / 2];
  const t = Math.min((x1 - x0) / 2 / Math.abs(x - cx || 1e-9), (y1 - y0) / 2 / Math.abs(y - cy || 1e-9));
  return { p: [cx + (x - cx) * t, cy + (y - cy) * t], angle: Math.atan2(y - cy, x - cx) };
}

/**
 * Place selected items, items linked to them, and their names, and reserve their boxes.
 * @param {HetMap} map @param {CanvasRenderingContext2D} ctx @param {Ink} ink
 * @param {number[][]} covered
 */
export function arrangeLinked(map, ctx, ink, missing, kinds, covered) {
  const { scene } = map;
  const picked = scene.count && scene.count <= MAX_NAMED ? map.selection.rows().filter((r) => scene.isShown[r]) : [];
  const rows = [...new Set([...picked, ...map.statements.namedRows()])];
  const grouped = new Set(map.statements.rows());
  const linked = linkedOf(scene, new Set(picked.filter((r) => map.statements.showsLinksOf(r))));
  const ends = linked.named.filter((end) => !rows.includes(end.row));
  const fit = (subset) => {
    const more = picked.length ? linked.more + ends.length - subset.length : 0;
    const chosen = rows.map((row, k) => ({
      row, chosen: true, ringed: scene.picked[row] && !grouped.has(row), words: more && !k ? `+${more} more` : "",
    }));
    const result = fitted(map, ctx, [...chosen, ...subset.map((end) => ({ ...end }))], ink, kinds, covered);
    const without = result.pieces.filter((node) => node.align === null && node.hasTitle);
    return { ...result, nUnnamed: without.filter((node) => node.chosen).length, hasUnnamedEnd: without.some((node) => !node.chosen) };
  };
  // A line without a name is not drawn. If there is no room for all, the strongest links come first.
  let result = fit(ends);
  if ((result.hasUnnamedEnd || result.nUnnamed) && ends.length) {
    const accepted = [];
    result = fit(accepted);
    for (const end of ends) {
      const next = fit([...accepted, end]);
      if (next.hasUnnamedEnd || next.nUnnamed > result.nUnnamed) continue;
      accepted.push(end);
      result = next;
    }
  }
  for (const { row, hasTitle, pictured } of result.pieces) {
    if (!hasTitle) missing.titles.push(row);
    if (pictured && !map.media.picture(row)) missing.pictures.push(row);
  }
  map.overlay.moved = new Map(result.pieces.map((node) => [node.row, node.off]));
  return result;
}

/**
 * Place these items and their names where they fit.
 * @param {HetMap} map @param {CanvasRenderingContext2D} ctx @param {Ink} ink
 * @param {any[]} all @param {number[][]} covered
 */
function fitted(map, ctx, all, ink, kinds, covered) {
  const { scene, media } = map;
  const { view, pos } = scene;
  const boxes = new Boxes(view.W, view.H);
  for (const box of covered) boxes.reserve(box);
  const size = view.W < 700 ? 24 : 28;
  const area = freeArea(scene);
  for (const node of all) {
    node.home = scene.pixel(node.row);
    const edge = atEdge(node.home, area);
    node.p = edge ? [...edge.p] : [...node.home];
    node.angle = edge?.angle ?? null;
    node.pinned = node.chosen && !edge;
    node.disc = kinds[node.row] ? size * (node.chosen ? 0.82 : 0.66) : node.chosen ? 12 : 9;
  }
  // A selected item stays in place; of several that overlap only the first does.
  const home = [];
  for (const node of all.filter(({ pinned }) => pinned)) {
    node.pinned = home.every((other) => Math.hypot(node.p[0] - other.p[0], node.p[1] - other.p[1]) >= node.disc + other.disc + GAP_PX);
    if (node.pinned) home.push(node);
  }
  for (const node of all) if (!node.pinned) moveOffCards(node, covered);
  separateDiscs(all, view.W);
  // Rings follow their items.
  map.overlay.moved = new Map(all.map((node) => [node.row, [node.p[0] - node.home[0], node.p[1] - node.home[1]]]));
  for (const node of all) {
    const d = node.disc + 2;
    boxes.reserve([node.p[0] - d, node.p[1] - d, node.p[0] + d, node.p[1] + d]);
  }
  const at = new Map(all.map((node) => [node.row, node.p]));
  const linePoints = [];
  const addLine = (a, b) => {
    for (let t = 0; t <= 1; t += 0.04) linePoints.push([a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t]);
  };
  for (const node of all) if (!node.chosen) addLine(at.get(node.from), node.p);
  for (const [i, j] of map.statements.pairs.slice(0, MAX_NAMED)) if (at.has(i) && at.has(j)) addLine(at.get(i), at.get(j));
  const ribbon = map.statements.ribbon();
  if (ribbon) {
    const [from, to] = ribbon;
    addLine(from, to);
    const [x, y] = [0, 1].map((axis) => (from[axis] + to[axis]) / 2);
    boxes.reserve([x - COUNT_PX, y - COUNT_PX / 2, x + COUNT_PX, y + COUNT_PX / 2]);
  }
  const narrow = view.W < 860;
  const pieces = [];
  for (const node of all) {
    const item = media.title(node.row);
    // Ids and file names are shown in the panel only.
    const title = item?.named ? shorten(item.title, MAX_CHARACTERS) : "";
    const face = `600 ${node.chosen ? NAME_PX + 1 : NAME_PX}px ${scene.family}`;
    const words = narrow && !node.chosen ? "" : node.words;
    const w = Math.max(textWidth(ctx, title, face), words ? textWidth(ctx, words, `400 ${VERDICT_PX}px ${scene.family}`) : 0) + 4;
    const name = title || (item && words) ? placeName(boxes, linePoints, ink, node, w, title && words ? 34 : 19, narrow && !node.chosen ? [0, 8] : [0, 14, 30, 52, 80]) : null;
    // Relative to the position of the item, so it moves with the camera.
    const box = (name?.box ?? [node.p[0] - node.disc, node.p[1] - node.disc, node.p[0] + node.disc, node.p[1] + node.disc])
      .map((v, k) => v - node.home[k % 2]);
    const from = node.chosen ? null : at.get(node.from);
    pieces.push({
      kind: "linked", row: node.row, chosen: Boolean(node.chosen), ringed: Boolean(node.ringed), weight: node.weight, good: node.good,
      hidden: node.hidden, words, size, title, face, off: [node.p[0] - node.home[0], node.p[1] - node.home[1]], disc: node.disc, box,
      align: item && !title && !words ? 2 : name?.align ?? null, hasTitle: Boolean(item), from: node.from, angle: node.angle, pictured: Boolean(kinds[node.row]),
      fromOff: from ? [from[0] - view.x(pos[2 * node.from]), from[1] - view.y(pos[2 * node.from + 1])] : null,
    });
  }
  return { pieces, boxes };
}

/** Move a disc out from under a card. */
function moveOffCards({ p, disc }, covered) {
  const g = disc + 8;
  for (const [x0, y0, x1, y1] of covered) {
    const ways = [[p[0] - x0 + g, 0, -1], [x1 - p[0] + g, 0, 1], [p[1] - y0 + g, 1, -1], [y1 - p[1] + g, 1, 1]];
    if (ways.some(([far]) => far <= 0)) continue;
    const open = ways.filter(([far, axis, sign]) => p[axis] + sign * far > 40);
    const [far, axis, sign] = open.reduce((a, b) => (b[0] < a[0] ? b : a));
    p[axis] += sign * far;
  }
}

/**
 * Separate discs that overlap, within the window; pinned discs stay, and those of items out of view.
 * @param {any[]} all @param {number} width of the map
 */
export function separateDiscs(all, width) {
  for (const node of all) keepWithin(node, width);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    let moved = false;
    for (let i = 0; i < all.length; i++) {
      for (let j = 0; j < i; j++) {
        const [a, b] = [all[i], all[j]];
        if (a.pinned && b.pinned) continue;
        const dx = a.p[0] - b.p[0] || 0.3;
        const dy = a.p[1] - b.p[1] || 0.7;
        const length = Math.hypot(dx, dy);
        const need = a.disc + b.disc + GAP_PX;
        if (length >= need) continue;
        moved = true;
        const push = (need - length) / length / (a.pinned || b.pinned ? 1 : 2);
        if (!a.pinned) { a.p[0] += dx * push; a.p[1] += dy * push; }
        if (!b.pinned) { b.p[0] -= dx * push; b.p[1] -= dy * push; }
        keepWithin(a, width);
        keepWithin(b, width);
      }
    }
    if (!moved) return;
  }
}

/**
 * Move the disc of an item that is in view into the window.
 * @param {any} node @param {number} width of the map
 */
function keepWithin(node, width) {
  const { home, p, disc, pinned } = node;
  if (pinned || home[0] < 0 || home[0] > width) return;
  const margin = Math.min(disc + 2, width / 2);
  p[0] = Math.max(margin, Math.min(width - margin, p[0]));
}

/** The best place for a name: eight sides at a few distances. */
function placeName(boxes, linePoints, ink, { p, disc }, w, tall, distances) {
  const g = disc + 4;
  /** @type {{ cost: number, box: number[], align: number } | null} */
  let best = null;
  const sides = [
    [g, -tall / 2, 0], [-g - w, -tall / 2, 1], [-w / 2, g - 2, 2], [-w / 2, -g - tall + 2, 2],
    [g * 0.8, g * 0.5, 0], [-g * 0.8 - w, g * 0.5, 1], [g * 0.8, -g * 0.5 - tall, 0], [-g * 0.8 - w, -g * 0.5 - tall, 1],
  ];
  for (const d of distances) {
    for (const [q, [x, y, align]] of sides.entries()) {
      const left = p[0] + x + (align === 2 ? 0 : Math.sign(x + w / 2) * d);
      const top = p[1] + y + (q < 2 ? 0 : Math.sign(y + tall / 2) * d);
      const box = [left, top, left + w, top + tall];
      if (!boxes.within(box) || !boxes.isFree(box)) continue;
      const under = linePoints.filter(([a, b]) => a > box[0] - 3 && a < box[2] + 3 && b > box[1] - 2 && b < box[3] + 2).length;
      const cost = ink.under(box) * 0.9 + d * 1.1 + q * 0.6 + under * 5;
      if (!best || cost < best.cost) best = { cost, box, align };
    }
  }
  if (best) boxes.reserve(best.box);
  return best;
}

/**
 * Whether the name of a region overlaps neither names nor lines.
 * @param {Boxes} boxes @param {Scene} scene
 * @param {any[]} pieces
 */
export function clearOf(box, boxes, pieces, scene) {
  if (!boxes.isFree(box)) return false;
  const { view, pos } = scene;
  return !pieces.some((node) => node.fromOff && crossesBox(
    [view.x(pos[2 * node.from]) + node.fromOff[0], view.y(pos[2 * node.from + 1]) + node.fromOff[1]],
    [view.x(pos[2 * node.row]) + node.off[0], view.y(pos[2 * node.row + 1]) + node.off[1]], box));
}

/**
 * Bundles of the links of many selected items, by target: "62 to Objects".
 * @param {HetMap} map @param {CanvasRenderingContext2D} ctx @param {Boxes} boxes
 */
export function bundles(map, ctx, boxes) {
  const { scene } = map;
  const { view, pos, isShown, data, picked, links } = scene;
  if (scene.count <= MAX_NAMED || !links.length || map.statements.groups.size) return [];
  const groups = new Map();
  const named = data.colour?.kind === "categories";
  for (const [i, j] of links) {
    const to = picked[i] ? j : i;
    if (picked[to] || !isShown[to]) continue;
    const dataset = data.datasets.find((d) => to >= d.start && to < d.stop)?.name ?? "others";
    // A borrowed colour is no group of the item.
    const own = named && !data.colour.borrowed.includes(dataset);
    const name = own ? data.colour.categories[scene.slot[to] - 1] ?? "others" : dataset;
    if (!groups.has(name)) groups.set(name, { name, count: 0, x: [], y: [] });
    const group = groups.get(name);
    group.count += 1;
    group.x.push(pos[2 * to]);
    group.y.push(pos[2 * to + 1]);
  }
  const rows = map.selection.rows().filter((r) => isShown[r]);
  const from = [middle(rows.map((r) => pos[2 * r])), middle(rows.map((r) => pos[2 * r + 1]))];
  // Of very many links the server sends only the strongest.
  const whole = scene.linksTotal / links.length;
  const about = whole > 1.001 ? "about " : "";
  const font = `600 ${NAME_PX}px ${scene.family}`;
  return [...groups.values()].filter((group) => group.count >= MIN_BUNDLE).sort((a, b) => b.count - a.count).slice(0, MAX_BUNDLES).map((group) => {
    const count = Math.round(group.count * whole);
    const text = `${about}${thousands(count)} to ${group.name}`;
    const [x, y] = [middle(group.x), middle(group.y)];
    const w = textWidth(ctx, text, font) + 8;
    /** @type {number[] | null} */
    let box = null;
    for (const [dx, dy] of [[0, 0], [0, -22], [0, 22], [0, -44], [0, 44], [w / 2, -22], [-w / 2, 22], [w, 0], [-w, 0]]) {
      const moved = [view.x(x) + dx - w / 2, view.y(y) + dy - 10, view.x(x) + dx + w / 2, view.y(y) + dy + 10];
      if (!boxes.within(moved) || !boxes.tryReserve(moved)) continue;
      box = shift(moved, -view.x(x), -view.y(y));
      break;
    }
    return box && { kind: "bundle", text, font, x, y, from, box, dx: (box[0] + box[2]) / 2, dy: (box[1] + box[3]) / 2, width: 1.5 + 5 * Math.sqrt(group.count / links.length) };
  }).filter(Boolean);
}

function middle(values) {
  values.sort((a, b) => a - b);
  return values[Math.floor(values.length / 2)];
}

/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {[x0: number, y0: number, x1: number, y1: number]} ends @param {number} share of the curve, from its begin
 * @param {number} width @param {number[]} dash
 */
function drawCurve(ctx, [x0, y0, x1, y1], share, width, colour, dash = []) {
  const [bx, by] = [(x0 + x1) / 2 - (y1 - y0) * BEND, (y0 + y1) / 2 + (x1 - x0) * BEND];
  /** @param {number} a @param {number} b */
  const mix = (a, b) => a + (b - a) * share;
  const [cx, cy] = [mix(x0, bx), mix(y0, by)];
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.quadraticCurveTo(cx, cy, mix(cx, mix(bx, x1)), mix(cy, mix(by, y1)));
  ctx.lineWidth = width;
  ctx.strokeStyle = colour;
  ctx.setLineDash(dash);
  ctx.stroke();
  ctx.setLineDash([]);
}

/**
 * Draw lines to the linked items with a halo; links that are not close are orange. `grown` is the share of the line
 * to a piece that is drawn; returns whether one still grows.
 * @param {CanvasRenderingContext2D} ctx @param {Scene} scene
 * @param {any[]} pieces @param {(piece: any) => number} grown
 */
export function drawLines(ctx, scene, pieces, grown) {
  const { view, pos, tokens } = scene;
  let isGrowing = false;
  for (const node of pieces) {
    if (node.kind === "bundle") {
      const share = grown(node);
      isGrowing ||= share < 1;
      drawCurve(ctx, [view.x(node.from[0]), view.y(node.from[1]), view.x(node.x), view.y(node.y)], share, node.width, withAlpha(tokens.accent, 0.55));
    }
    if (node.kind !== "linked" || node.chosen || node.align === null) continue;
    /** @type {[number, number, number, number]} */
    const ends = [
      view.x(pos[2 * node.from]) + node.fromOff[0], view.y(pos[2 * node.from + 1]) + node.fromOff[1],
      view.x(pos[2 * node.row]) + node.off[0], view.y(pos[2 * node.row + 1]) + node.off[1],
    ];
    const share = grown(node);
    isGrowing ||= share < 1;
    drawCurve(ctx, ends, share, 4.6, withAlpha(tokens.bg, 0.8));
    drawCurve(ctx, ends, share, 1.7, node.good ? tokens.accent : tokens.minus, node.weight < 0 ? [2, 4] : node.hidden ? [6, 4] : []);
  }
  return isGrowing;
}

/**
 * Draw the items with name and verdict on top.
 * @param {CanvasRenderingContext2D} ctx @param {Overlay} overlay
 * @param {any[]} pieces
 */
export function drawEnds(ctx, overlay, pieces) {
  const { map, scene } = overlay;
  const { view, tokens } = scene;
  for (const node of pieces) {
    if (node.kind === "bundle") overlay.text(ctx, node.text, view.x(node.x) + node.dx, view.y(node.y) + node.dy, node.font, tokens.ink, "center");
    if (node.kind !== "linked") continue;
    const [tx, ty] = scene.pixel(node.row);
    const [x, y] = [tx + node.off[0], ty + node.off[1]];
    const colour = scene.palette[scene.slot[node.row]];
    if (node.angle !== null) arrow(ctx, x, y, node.disc + 5, node.angle, tokens);
    else if (Math.hypot(...node.off) > 6) {
      ctx.beginPath();
      ctx.moveTo(x, y);
      ctx.lineTo(tx, ty);
      ctx.lineWidth = 1;
      ctx.strokeStyle = tokens.ink;
      ctx.stroke();
      mark(ctx, tx, ty, 6.8, scene, node.row, colour, tokens.ink);
    }
    if (node.pictured && map.media.picture(node.row)) overlay.picture(ctx, { row: node.row, size: node.size, detailed: true }, x, y, 1, node.ringed);
    else {
      mark(ctx, x, y, 12, scene, node.row, colour, tokens.bg);
      if (node.ringed) overlay.ring(ctx, x, y, 11, 2.4);
    }
    if (node.align === null) continue;
    const [left, top, right, bottom] = node.box.map((v, k) => v + (k % 2 ? ty : tx));
    const nx = Math.max(left, Math.min(x, right));
    const ny = Math.max(top, Math.min(y, bottom));
    if (Math.hypot(nx - x, ny - y) > node.disc + 12) {
      ctx.beginPath();
      ctx.moveTo(nx, ny);
      ctx.lineTo(x, y);
      ctx.lineWidth = 1;
      ctx.strokeStyle = tokens.mute;
      ctx.stroke();
    }
    const align = ["left", "right", "center"][node.align];
    const at = [left + 2, right - 2, (left + right) / 2][node.align];
    overlay.text(ctx, node.title, at, top + 9.5, node.face, tokens.ink, align);
    const verdict = node.chosen ? tokens.mute : node.good ? tokens.ok : tokens.minus;
    if (node.words) overlay.text(ctx, node.words, at, top + (node.title ? 26 : 9.5), `400 ${VERDICT_PX}px ${scene.family}`, verdict, align);
  }
}

/**
 * Draw an item without a picture, in the shape of its dataset.
 * @param {CanvasRenderingContext2D} ctx @param {Scene} scene
 * @param {number} x @param {number} y @param {number} size @param {number} row
 */
function mark(ctx, x, y, size, scene, row, fill, edge) {
  ctx.save();
  ctx.translate(x, y);
  outline(ctx, scene.datasetOf(row)?.symbol, size);
  ctx.fillStyle = fill;
  ctx.fill();
  ctx.lineWidth = 1.4;
  ctx.strokeStyle = edge;
  ctx.stroke();
  ctx.restore();
}

/**
 * Draw an arrow at the edge towards an item out of view.
 * @param {CanvasRenderingContext2D} ctx
 * @param {number} x @param {number} y @param {number} offset @param {number} angle
 */
function arrow(ctx, x, y, offset, angle, tokens) {
  ctx.save();
  ctx.translate(x + Math.cos(angle) * offset, y + Math.sin(angle) * offset);
  ctx.rotate(angle);
  ctx.beginPath();
  ctx.moveTo(0, -6);
  ctx.lineTo(9, 0);
  ctx.lineTo(0, 6);
  ctx.closePath();
  ctx.fillStyle = tokens.ink;
  ctx.fill();
  ctx.restore();
}
