// What is selected and what that is linked to. Each of the heaviest links ends in a picture with its
// name and the verdict of the map; what lies too close is pulled apart, what is selected stays. The
// links of many items are drawn in bundles, never one by one.

import { Boxes, shift, textWidth } from "./boxes.js";
import { clear } from "./colour.js";
import { thousands } from "./dom.js";
import { outline } from "./flat_renderer.js";
import { panelWidth } from "./panel.js";
import { crossesBox } from "./regions.js";

export const FEW = 12; // so many selected items, and ends of links, are named one by one
const SWEEPS = 160;
const GAP = 7;
const BEND = 0.08;
const [NAME, VERDICT] = [14, 13];
const [BUNDLES, LEAST_BUNDLE] = [6, 3];

/** How many items of the other's dataset lie nearer, and whether the two are near, as everywhere in the app. */
function rankOf(m, from, to) {
  const { pos, pass, data } = m;
  const of = (row) => data.datasets.findIndex((d) => row >= d.start && row < d.stop);
  const set = data.datasets[of(to)];
  const [x, y] = [pos[2 * from], pos[2 * from + 1]];
  const far = (pos[2 * to] - x) ** 2 + (pos[2 * to + 1] - y) ** 2;
  let nearer = 0;
  for (let r = set.start; r < set.stop; r++) {
    if (!pass[r] || r === from) continue;
    if ((pos[2 * r] - x) ** 2 + (pos[2 * r + 1] - y) ** 2 < far) nearer += 1;
  }
  const reach = data.geometry.reach?.[of(from)]?.[of(to)] ?? null;
  return { nearer, kept: reach === null ? null : far <= reach * reach, name: set.name };
}

/** The ends of the heaviest links of a few selected items. */
function linkedOf(m, chosen) {
  const ends = new Map();
  for (const [i, j, weight, kind] of m.links) {
    const [from, to] = chosen.has(i) ? [i, j] : [j, i];
    if (!chosen.has(from) || chosen.has(to) || !m.pass[to] || ends.has(to)) continue;
    ends.set(to, { row: to, from, weight, held: kind === "held" });
  }
  const named = [...ends.values()].slice(0, FEW).map((end) => {
    const { nearer, kept, name } = rankOf(m, end.from, end.row);
    const good = kept === null || (end.weight < 0 ? !kept : kept);
    const rank = `${thousands(nearer)} ${name} lie nearer`;
    const said = kept === null ? rank : end.weight < 0 ? (good ? "kept apart" : "said to be apart, lies near")
      : good ? "kept" : rank;
    return { ...end, good, words: good && end.held ? `${said}, held out` : said };
  });
  return { named, more: Math.max(m.linksTotal, ends.size) - named.length };
}

/** The part of the map that neither the panel nor the edge covers, for what is named. */
function free(m) {
  const { view } = m;
  const narrow = view.W < 860;
  return [narrow ? 40 : 76, 44, view.W - (narrow ? 40 : panelWidth() + 40), view.H - (narrow ? view.clear.bottom : 36)];
}

/** Towards what is out of sight: where the way there leaves the map, and its direction. */
function atEdge([x, y], [x0, y0, x1, y1]) {
  if (x >= x0 && y >= y0 && x <= x1 && y <= y1) return null;
  const [cx, cy] = [(x0 + x1) / 2, (y0 + y1) / 2];
  const t = Math.min((x1 - x0) / 2 / Math.abs(x - cx || 1e-9), (y1 - y0) / 2 / Math.abs(y - cy || 1e-9));
  return { p: [cx + (x - cx) * t, cy + (y - cy) * t], angle: Math.atan2(y - cy, x - cx) };
}

/** Places of the selected items, those they are linked to, and their names, with the boxes they take. */
export function arrange(m, ctx, ink, lacking, kinds, covered) {
  const picked = m.count && m.count <= FEW ? m.pickedRows().filter((r) => m.pass[r]) : [];
  const badges = m.acts.badges();
  const rows = [...new Set([...picked, ...badges.filter((badge) => badge.few).map((badge) => badge.row)])].filter((r) => m.pass[r]);
  const said = new Set(m.acts.rows());
  // While something is being said of groups, their own lines are what counts.
  const linked = said.size && m.acts.preview.length ? { named: [], more: 0 } : linkedOf(m, new Set(picked));
  const ends = linked.named.filter((end) => !rows.includes(end.row));
  const fit = (some) => {
    const more = picked.length ? linked.more + ends.length - some.length : 0;
    const chosen = rows.map((row, k) => ({
      row, chosen: true, ringed: m.picked[row] && !said.has(row), words: more && !k ? `+${more} more` : "",
    }));
    const found = fitted(m, ctx, [...chosen, ...some.map((end) => ({ ...end }))], ink, kinds, covered);
    const without = found.pieces.filter((one) => one.align === null && one.known);
    return { ...found, heads: without.filter((one) => one.chosen).length, loose: without.some((one) => !one.chosen) };
  };
  // A line ends in a name or is not drawn: where not all have room, the heaviest that have.
  let found = fit(ends);
  if ((found.loose || found.heads) && ends.length) {
    const kept = [];
    found = fit(kept);
    for (const end of ends) {
      const one = fit([...kept, end]);
      if (one.loose || one.heads > found.heads) continue;
      kept.push(end);
      found = one;
    }
  }
  for (const { row, known, pictured } of found.pieces) {
    if (!known) lacking.titles.push(row);
    if (pictured && !m.media.picture(row)) lacking.pictures.push(row);
  }
  m.overlay.moved = new Map(found.pieces.map((one) => [one.row, one.off]));
  return found;
}

/** These items and their names, each where it fits. */
function fitted(m, ctx, all, ink, kinds, covered) {
  const { view, pos, media } = m;
  const boxes = new Boxes(view.W, view.H);
  for (const box of covered) boxes.take(box);
  const size = view.W < 700 ? 24 : 28;
  const room = free(m);
  for (const one of all) {
    one.still = [view.x(pos[2 * one.row]), view.y(pos[2 * one.row + 1])];
    const edge = atEdge(one.still, room);
    one.p = edge ? [...edge.p] : [...one.still];
    one.angle = edge?.angle ?? null;
    one.pinned = one.chosen && !edge;
    one.disc = kinds[one.row] ? size * (one.chosen ? 0.82 : 0.66) : one.chosen ? 12 : 9;
  }
  // One selected item stays where it is; of several that lie on each other only the first does.
  const still = [];
  for (const one of all.filter(({ pinned }) => pinned)) {
    one.pinned = still.every((other) => Math.hypot(one.p[0] - other.p[0], one.p[1] - other.p[1]) >= one.disc + other.disc + GAP);
    if (one.pinned) still.push(one);
  }
  for (const one of all) if (!one.pinned) uncover(one, covered);
  spread(all);
  // Badges stand where their items are drawn.
  m.overlay.moved = new Map(all.map((one) => [one.row, [one.p[0] - one.still[0], one.p[1] - one.still[1]]]));
  for (const one of all) {
    const d = one.disc + 2;
    boxes.take([one.p[0] - d, one.p[1] - d, one.p[0] + d, one.p[1] + d]);
  }
  for (const { box } of m.acts.badges()) boxes.take(box);
  const at = new Map(all.map((one) => [one.row, one.p]));
  const roads = [];
  const walk = (a, b) => {
    for (let t = 0; t <= 1; t += 0.04) roads.push([a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t]);
  };
  for (const one of all) if (!one.chosen) walk(at.get(one.from), one.p);
  for (const [i, j] of m.acts.preview.slice(0, FEW)) if (at.has(i) && at.has(j)) walk(at.get(i), at.get(j));
  const narrow = view.W < 860;
  const pieces = [];
  for (const one of all) {
    const item = media.title(one.row);
    // Ids and names of files are for the panel; the map says only what holds of the item.
    const title = item?.named ? (item.title.length > 30 ? `${item.title.slice(0, 28)}…` : item.title) : "";
    const face = `600 ${one.chosen ? NAME + 1 : NAME}px ${m.family}`;
    const words = narrow && !one.chosen ? "" : one.words;
    const w = Math.max(textWidth(ctx, title, face), words ? textWidth(ctx, words, `400 ${VERDICT}px ${m.family}`) : 0) + 4;
    const name = title || (item && words) ? beside(boxes, roads, ink, one, w, title && words ? 34 : 19, narrow && !one.chosen ? [0, 8] : [0, 14, 30, 52, 80]) : null;
    // All relative to the item's own place, so that a moving camera takes it along.
    const box = (name?.box ?? [one.p[0] - one.disc, one.p[1] - one.disc, one.p[0] + one.disc, one.p[1] + one.disc])
      .map((v, k) => v - one.still[k % 2]);
    const from = one.chosen ? null : at.get(one.from);
    pieces.push({
      kind: "linked", row: one.row, chosen: Boolean(one.chosen), ringed: Boolean(one.ringed), weight: one.weight, good: one.good,
      held: one.held, words, size, title, face, off: [one.p[0] - one.still[0], one.p[1] - one.still[1]], disc: one.disc, box,
      align: item && !title && !words ? 2 : name?.align ?? null, known: Boolean(item), from: one.from, angle: one.angle, pictured: Boolean(kinds[one.row]),
      fromOff: from ? [from[0] - view.x(pos[2 * one.from]), from[1] - view.y(pos[2 * one.from + 1])] : null,
    });
  }
  return { pieces, boxes };
}

/** What a card would cover stands beside it. */
function uncover({ p, disc }, covered) {
  const g = disc + 8;
  for (const [x0, y0, x1, y1] of covered) {
    const ways = [[p[0] - x0 + g, 0, -1], [x1 - p[0] + g, 0, 1], [p[1] - y0 + g, 1, -1], [y1 - p[1] + g, 1, 1]];
    if (ways.some(([far]) => far <= 0)) continue;
    const open = ways.filter(([far, axis, sign]) => p[axis] + sign * far > 40);
    const [far, axis, sign] = open.reduce((a, b) => (b[0] < a[0] ? b : a));
    p[axis] += sign * far;
  }
}

/** Pull discs apart that lie too close; what is pinned stays. */
export function spread(all) {
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    let moved = false;
    for (let i = 0; i < all.length; i++) {
      for (let j = 0; j < i; j++) {
        const [a, b] = [all[i], all[j]];
        if (a.pinned && b.pinned) continue;
        const dx = a.p[0] - b.p[0] || 0.3;
        const dy = a.p[1] - b.p[1] || 0.7;
        const length = Math.hypot(dx, dy);
        const need = a.disc + b.disc + GAP;
        if (length >= need) continue;
        moved = true;
        const push = (need - length) / length / (a.pinned || b.pinned ? 1 : 2);
        if (!a.pinned) { a.p[0] += dx * push; a.p[1] += dy * push; }
        if (!b.pinned) { b.p[0] -= dx * push; b.p[1] -= dy * push; }
      }
    }
    if (!moved) return;
  }
}

/** The best of eight sides at a few distances for a name. */
function beside(boxes, roads, ink, { p, disc }, w, tall, distances) {
  const g = disc + 4;
  const sides = [
    [g, -tall / 2, 0], [-g - w, -tall / 2, 1], [-w / 2, g - 2, 2], [-w / 2, -g - tall + 2, 2],
    [g * 0.8, g * 0.5, 0], [-g * 0.8 - w, g * 0.5, 1], [g * 0.8, -g * 0.5 - tall, 0], [-g * 0.8 - w, -g * 0.5 - tall, 1],
  ];
  let best = null;
  for (const d of distances) {
    sides.forEach(([x, y, align], q) => {
      const left = p[0] + x + (align === 2 ? 0 : Math.sign(x + w / 2) * d);
      const top = p[1] + y + (q < 2 ? 0 : Math.sign(y + tall / 2) * d);
      const box = [left, top, left + w, top + tall];
      if (!boxes.within(box) || !boxes.free(box)) return;
      const under = roads.filter(([a, b]) => a > box[0] - 3 && a < box[2] + 3 && b > box[1] - 2 && b < box[3] + 2).length;
      const cost = ink.under(box) * 0.9 + d * 1.1 + q * 0.6 + under * 5;
      if (!best || cost < best.cost) best = { cost, box, align };
    });
  }
  if (best) boxes.take(best.box);
  return best;
}

/** Whether a name of a region lies clear of what is named and of the lines. */
export function clearOf(box, boxes, pieces, m) {
  if (!boxes.free(box)) return false;
  const { view, pos } = m;
  return !pieces.some((one) => one.fromOff && crossesBox(
    [view.x(pos[2 * one.from]) + one.fromOff[0], view.y(pos[2 * one.from + 1]) + one.fromOff[1]],
    [view.x(pos[2 * one.row]) + one.off[0], view.y(pos[2 * one.row + 1]) + one.off[1]], box));
}

/** The links of many selected items, gathered by what they lead to: "62 to Objects". */
export function bundles(m, ctx, boxes) {
  const { view, pos, pass, data, picked, links } = m;
  if (m.count <= FEW || !links.length) return [];
  const groups = new Map();
  const named = data.colour?.kind === "categories";
  for (const [i, j] of links) {
    const to = picked[i] ? j : i;
    if (picked[to] || !pass[to]) continue;
    const code = named ? m.slot[to] : 1 + data.datasets.findIndex((d) => to >= d.start && to < d.stop);
    const name = (named ? data.colour.categories : data.datasets.map((d) => d.name))[code - 1] ?? "others";
    if (!groups.has(name)) groups.set(name, { name, count: 0, x: [], y: [] });
    const group = groups.get(name);
    group.count += 1;
    group.x.push(pos[2 * to]);
    group.y.push(pos[2 * to + 1]);
  }
  const rows = m.pickedRows().filter((r) => pass[r]);
  const from = [middle(rows.map((r) => pos[2 * r])), middle(rows.map((r) => pos[2 * r + 1]))];
  // The server answers with the heaviest links alone where there are very many.
  const whole = m.linksTotal / links.length;
  const about = whole > 1.001 ? "about " : "";
  const font = `600 ${NAME}px ${m.family}`;
  return [...groups.values()].filter((group) => group.count >= LEAST_BUNDLE).sort((a, b) => b.count - a.count).slice(0, BUNDLES).map((group) => {
    const count = Math.round(group.count * whole);
    const text = `${about}${thousands(count)} to ${group.name}`;
    const [x, y] = [middle(group.x), middle(group.y)];
    const w = textWidth(ctx, text, font) + 8;
    let box = null;
    for (const [dx, dy] of [[0, 0], [0, -22], [0, 22], [0, -44], [0, 44], [w / 2, -22], [-w / 2, 22], [w, 0], [-w, 0]]) {
      const there = [view.x(x) + dx - w / 2, view.y(y) + dy - 10, view.x(x) + dx + w / 2, view.y(y) + dy + 10];
      if (!boxes.within(there) || !boxes.put(there)) continue;
      box = shift(there, -view.x(x), -view.y(y));
      break;
    }
    return box && { kind: "bundle", text, font, x, y, from, box, dx: (box[0] + box[2]) / 2, dy: (box[1] + box[3]) / 2, width: 1.5 + 5 * Math.sqrt(group.count / links.length) };
  }).filter(Boolean);
}

function middle(values) {
  values.sort((a, b) => a - b);
  return values[Math.floor(values.length / 2)];
}

function bow(ctx, x0, y0, x1, y1, width, colour, dash = []) {
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.quadraticCurveTo((x0 + x1) / 2 - (y1 - y0) * BEND, (y0 + y1) / 2 + (x1 - x0) * BEND, x1, y1);
  ctx.lineWidth = width;
  ctx.strokeStyle = colour;
  ctx.setLineDash(dash);
  ctx.stroke();
  ctx.setLineDash([]);
}

/** Lines to the linked items, with a halo; what the map does not keep is orange. */
export function drawLines(ctx, m, pieces) {
  const { view, pos, tokens } = m;
  for (const one of pieces) {
    if (one.kind === "bundle") {
      bow(ctx, view.x(one.from[0]), view.y(one.from[1]), view.x(one.x), view.y(one.y), one.width, clear(tokens.accent, 0.55));
    }
    if (one.kind !== "linked" || one.chosen || one.align === null) continue;
    const ends = [
      view.x(pos[2 * one.from]) + one.fromOff[0], view.y(pos[2 * one.from + 1]) + one.fromOff[1],
      view.x(pos[2 * one.row]) + one.off[0], view.y(pos[2 * one.row + 1]) + one.off[1],
    ];
    bow(ctx, ...ends, 4.6, clear(tokens.bg, 0.8));
    bow(ctx, ...ends, 1.7, one.good ? tokens.accent : tokens.minus, one.weight < 0 ? [2, 4] : one.held ? [6, 4] : []);
  }
}

/** The items themselves, with name and verdict, above all. */
export function drawEnds(ctx, overlay, pieces) {
  const m = overlay.map;
  const { view, pos, tokens } = m;
  for (const one of pieces) {
    if (one.kind === "bundle") overlay.text(ctx, one.text, view.x(one.x) + one.dx, view.y(one.y) + one.dy, one.font, tokens.ink, "center");
    if (one.kind !== "linked") continue;
    const [tx, ty] = [view.x(pos[2 * one.row]), view.y(pos[2 * one.row + 1])];
    const [x, y] = [tx + one.off[0], ty + one.off[1]];
    const colour = m.palette[m.slot[one.row]];
    if (one.angle !== null) arrow(ctx, x, y, one.disc + 5, one.angle, tokens);
    else if (Math.hypot(...one.off) > 6) {
      ctx.beginPath();
      ctx.moveTo(x, y);
      ctx.lineTo(tx, ty);
      ctx.lineWidth = 1;
      ctx.strokeStyle = tokens.ink;
      ctx.stroke();
      mark(ctx, tx, ty, 6.8, m, one.row, colour, tokens.ink);
    }
    if (one.pictured && m.media.picture(one.row)) overlay.picture(ctx, { row: one.row, size: one.size, near: true }, x, y, 1, one.ringed);
    else {
      mark(ctx, x, y, 12, m, one.row, colour, tokens.bg);
      if (one.ringed) overlay.ring(ctx, x, y, 11, 2.4);
    }
    if (one.align === null) continue;
    const [left, top, right, bottom] = one.box.map((v, k) => v + (k % 2 ? ty : tx));
    const nx = Math.max(left, Math.min(x, right));
    const ny = Math.max(top, Math.min(y, bottom));
    if (Math.hypot(nx - x, ny - y) > one.disc + 12) {
      ctx.beginPath();
      ctx.moveTo(nx, ny);
      ctx.lineTo(x, y);
      ctx.lineWidth = 1;
      ctx.strokeStyle = tokens.mute;
      ctx.stroke();
    }
    const align = ["left", "right", "center"][one.align];
    const at = [left + 2, right - 2, (left + right) / 2][one.align];
    overlay.text(ctx, one.title, at, top + 9.5, one.face, tokens.ink, align);
    const verdict = one.chosen ? tokens.mute : one.good ? tokens.ok : tokens.minus;
    if (one.words) overlay.text(ctx, one.words, at, top + (one.title ? 26 : 9.5), `400 ${VERDICT}px ${m.family}`, verdict, align);
  }
}

/** An item without a picture, in the shape of its dataset. */
function mark(ctx, x, y, size, m, row, fill, edge) {
  ctx.save();
  ctx.translate(x, y);
  outline(ctx, m.data.datasets.find((d) => row >= d.start && row < d.stop)?.symbol, size);
  ctx.fillStyle = fill;
  ctx.fill();
  ctx.lineWidth = 1.4;
  ctx.strokeStyle = edge;
  ctx.stroke();
  ctx.restore();
}

/** At the edge: this way to an item that is out of sight. */
function arrow(ctx, x, y, away, angle, tokens) {
  ctx.save();
  ctx.translate(x + Math.cos(angle) * away, y + Math.sin(angle) * away);
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
