// Pairs that a tab of the panel asks about: the map draws them dashed, the first ones with the names of
// their ends. The panel is drawn without the map, so the pairs are kept on the window.

import { clear } from "./colour.js";
import { panel, panelWidth, watchPanel } from "./panel.js";

const store = (window.hetvizProposed ??= { of: {}, watch: new Set() });
const NONE = { pairs: [], asked: 0 };
const now = () => (panel.open ? store.of[panel.tab] : null) ?? NONE;

/** What is proposed now: rows of both ends and their titles. */
export const proposed = () => now().pairs;

/** Those of them that are asked about. */
const asks = () => proposed().slice(0, now().asked);

/** Flags of the ends of what is proposed, which stay while all else fades; null where nothing is. */
export function proposedFocus(n) {
  const { pairs } = now();
  if (!pairs.length) return null;
  if (lit.pairs !== pairs || lit.flags.length !== n) {
    lit = { pairs, flags: new Uint8Array(n) };
    for (const [i, j] of pairs) if (i < n && j < n) lit.flags[i] = lit.flags[j] = 1;
  }
  return lit.flags;
}
let lit = { pairs: null, flags: null };

let seen = NONE;
function look() {
  if (now() === seen) return;
  seen = now();
  for (const told of store.watch) told(proposed());
}
watchPanel(look);

/** Be told of a change; returns how to stop. */
export function watchProposed(told) {
  store.watch.add(told);
  return () => store.watch.delete(told);
}

function propose(tab, what) {
  if (JSON.stringify(what) === JSON.stringify(store.of[tab]?.what ?? NONE)) return;
  store.of[tab] = { ...what, what };
  look();
}

/** Draw what is proposed over the points. */
export function drawProposed(overlay, ctx) {
  const { view, pos, pass, tokens, n } = overlay.map;
  const at = (r) => [view.x(pos[2 * r]), view.y(pos[2 * r + 1])];
  const there = (r) => r < n && pass[r] && Number.isFinite(pos[2 * r]);
  const shown = proposed().filter(([i, j]) => there(i) && there(j));
  const first = asks();
  for (const pair of [...shown].reverse()) {
    const [i, j] = pair;
    const asked = first.includes(pair);
    ctx.beginPath();
    ctx.moveTo(...at(i));
    ctx.lineTo(...at(j));
    ctx.lineWidth = asked ? 2.2 : 1.2;
    ctx.setLineDash([6, 4]);
    ctx.strokeStyle = clear(tokens.accent, asked ? 1 : 0.45);
    ctx.stroke();
    ctx.setLineDash([]);
    if (asked) for (const r of [i, j]) end(overlay, ctx, r, ...at(r));
  }
}

/** One end of what is asked about: its picture if it has one, else its dot, in a ring. */
function end(overlay, ctx, r, x, y) {
  const { media, data } = overlay.map;
  if (!isPictured(data, r) || !media.picture(r)) overlay.ring(ctx, x, y, 8, 2.2);
  else overlay.picture(ctx, { row: r, size: SIZE }, x, y, 1, true);
  if (isPictured(data, r)) media.askPictures([r]);
}

const SIZE = 26;
const MARGIN = 4;
const isPictured = (data, r) => data.datasets.find((d) => r >= d.start && r < d.stop)?.media;

/** Where the names of what is asked about are written. */
function namesOf(overlay, ctx) {
  const { view, pos, pass, n, data } = overlay.map;
  const font = `600 14px ${overlay.map.family}`;
  const edge = view.W - panelWidth();
  const found = new Map();
  ctx.font = font;
  for (const [i, j, ...titles] of asks()) {
    if (![i, j].every((r) => r < n && pass[r] && Number.isFinite(pos[2 * r]))) continue;
    [i, j].forEach((r, k) => {
      if (found.has(r)) return;
      const x = view.x(pos[2 * r]);
      let y = view.y(pos[2 * r + 1]);
      const wide = ctx.measureText(titles[k]).width;
      const away = isPictured(data, r) ? 25 : 14;
      let left = pos[2 * r] < pos[2 * (k ? i : j)] || x + away + wide > edge;
      if (left && x - away - wide < MARGIN) left = false;
      let at = x + (left ? -away : away);
      // Where neither side has room it stands below.
      if (!left && at + wide > edge - MARGIN) {
        at = Math.max(MARGIN, Math.min(x - wide / 2, edge - MARGIN - wide));
        y += away + 6;
      }
      const [x0, x1] = [left ? at - wide : Math.min(at, x - away + 4), left ? x + away - 4 : at + wide];
      // Names of ends that lie on each other stand one below the other.
      while ([...found.values()].some(({ box }) => x0 < box[2] && box[0] < x1 && Math.abs(y - box[1] - 10) < 20)) y += 20;
      found.set(r, { text: titles[k], x: at, y, font, left, box: [x0, y - 10, x1, y + 10] });
    });
  }
  return [...found.values()];
}

/** Boxes on the screen of the names of what is asked about: other names give way. */
export const proposedBoxes = (overlay, ctx) => namesOf(overlay, ctx).map((name) => name.box);

/** Write the names of what is asked about. */
export function nameProposed(overlay, ctx) {
  for (const { text, x, y, font, left } of namesOf(overlay, ctx)) {
    ctx.globalAlpha = 1;
    overlay.text(ctx, text, x, y, font, overlay.map.tokens.ink, left ? "right" : "left");
  }
}

/** What a tab says; the lines end when it leaves the page. */
export function mount(root, component) {
  const { tab, pairs, asked } = component.data;
  (store.roots ??= {})[tab] = root;
  propose(tab, { pairs, asked });
  return () => setTimeout(() => {
    // Another one may have taken its place meanwhile.
    if (!root.isConnected && store.roots[tab] === root) propose(tab, NONE);
  });
}
