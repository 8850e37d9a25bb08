// Proposed pairs that a tab of the panel asks about, drawn as dashed lines, the first ones with the names
// of their ends. Other candidates get a ring whose arc shows the certainty. The panel is drawn without
// the map, so the pairs are stored on the window.

import { shift } from "./boxes.js";
import { withAlpha } from "./colors.js";
import { separateDiscs } from "./linked_items.js";
import { panel, panelWidth, watchPanel } from "./panel.js";

/** @import { ProposalSpec } from "./messages.js" */
/** @import { Overlay } from "./overlay.js" */
/** @import { Scene } from "./scene.js" */

const store = (window.hetvizProposed ??= { byTab: {}, watch: new Set() });
/**
 * @typedef {Omit<ProposalSpec, "tab" | "assets">} Proposal
 * @typedef {{ byTab: Record<string, Proposal & { message: Proposal }>, watch: Set<(pairs: ProposalSpec["pairs"]) => void>,
 *   roots?: Record<string, HTMLElement> }} Store
 * @typedef {{ home: [number, number], p: [number, number], disc: number, pinned: boolean, shown: number[] | null }} End
 */

/** @type {Proposal} */
const NONE = { pairs: [], n_asked: 0, candidates: [] };
const now = () => (panel.open ? store.byTab[panel.tab] : null) ?? NONE;

/** Proposed pairs: rows of both ends and their titles. */
export const proposedPairs = () => now().pairs;

/** The proposed pairs in question. */
const askedPairs = () => proposedPairs().slice(0, now().n_asked);

/** Flags of the ends of proposed pairs, which stay while all else fades; null without pairs. @param {number} n */
export function proposedFlags(n) {
  const { pairs } = now();
  if (!pairs.length) return null;
  if (focusCache.pairs !== pairs || focusCache.flags.length !== n) {
    focusCache = { pairs, flags: new Uint8Array(n) };
    for (const [i, j] of pairs) if (i < n && j < n) focusCache.flags[i] = focusCache.flags[j] = 1;
    for (const [r] of now().candidates) if (r < n) focusCache.flags[r] = 1;
  }
  return focusCache.flags;
}
let focusCache = { pairs: /** @type {unknown} */ (null), flags: new Uint8Array(0) };

let seen = NONE;
function notify() {
  if (now() === seen) return;
  seen = now();
  for (const listener of store.watch) listener(proposedPairs());
}
watchPanel(notify);

/** Watch for changes; returns a function that stops. */
export function watchProposedPairs(listener) {
  store.watch.add(listener);
  return () => store.watch.delete(listener);
}

function propose(tab, message) {
  if (JSON.stringify(message) === JSON.stringify(store.byTab[tab]?.message ?? NONE)) return;
  store.byTab[tab] = { ...message, message };
  notify();
}

/**
 * Positions of the ends of pairs in question; ends that overlap are separated. Ends that are shown as
 * selected or linked items keep that position.
 * @param {Overlay} overlay
 */
function endsOf({ scene, pieces }) {
  const { view, pos, isShown, n } = scene;
  /** @type {Map<number, End>} */
  const shown = new Map();
  for (const { kind, row, off, disc, box } of pieces) {
    if (kind !== "linked") continue;
    const [x, y] = scene.pixel(row);
    shown.set(row, { home: [x, y], p: [x + off[0], y + off[1]], disc, pinned: true, shown: shift(box, x, y) });
  }
  /** @type {Map<number, End>} */
  const ends = new Map();
  for (const r of askedPairs().flatMap(([i, j]) => [i, j])) {
    if (ends.has(r) || r >= n || !isShown[r] || !Number.isFinite(pos[2 * r])) continue;
    const home = scene.pixel(r);
    ends.set(r, shown.get(r) ?? {
      home, p: [...home], disc: isPictured(scene, r) ? FACE_PX : DOT_PX, pinned: !ends.size && !shown.size, shown: null,
    });
  }
  // Other candidates.
  /** @type {Map<number, End & { share: number, face: any }>} */
  const rings = new Map();
  for (const [r, share] of now().candidates) {
    if (ends.has(r) || shown.has(r) || r >= n || !isShown[r] || !Number.isFinite(pos[2 * r])) continue;
    const home = scene.pixel(r);
    // A narrow window has no room for their pictures.
    const face = view.W >= NARROW_PX && isPictured(scene, r);
    rings.set(r, { share, face, home, p: [...home], disc: (face ? PICTURE_RING_PX : RING_PX) - 1, pinned: false, shown: null });
  }
  const others = new Set([...ends.values(), ...shown.values(), ...rings.values()]);
  if (ends.size) separateDiscs([...others], view.W);
  return { ends, rings, shown: [...shown.values()] };
}

/**
 * Draw proposed pairs over the points.
 * @param {Overlay} overlay @param {CanvasRenderingContext2D} ctx
 */
export function drawProposedPairs(overlay, ctx) {
  const { scene } = overlay;
  const { pos, isShown, tokens, n } = scene;
  const { ends, rings } = endsOf(overlay);
  /** @type {(r: number) => [number, number]} */
  const at = (r) => ends.get(r)?.p ?? scene.pixel(r);
  /** @param {number} r */
  const isPlaced = (r) => r < n && isShown[r] && Number.isFinite(pos[2 * r]);
  /** @param {{ home: [number, number], p: [number, number] }} end */
  const drawTie = ({ home, p }) => {
    // A moved end keeps a line to its position.
    ctx.beginPath();
    ctx.moveTo(...home);
    ctx.lineTo(...p);
    ctx.lineWidth = 1;
    ctx.strokeStyle = withAlpha(tokens.ink, 0.45);
    ctx.stroke();
  };
  for (const node of rings.values()) drawTie(node);
  for (const [r, node] of [...rings].reverse()) drawCertainty(overlay, ctx, r, node);
  const shown = proposedPairs().filter(([i, j]) => isPlaced(i) && isPlaced(j));
  const first = askedPairs();
  for (const pair of [...shown].reverse()) {
    const [i, j] = pair;
    const asked = first.includes(pair);
    ctx.beginPath();
    ctx.moveTo(...at(i));
    ctx.lineTo(...at(j));
    ctx.lineWidth = asked ? 2.2 : 1.2;
    ctx.setLineDash([6, 4]);
    ctx.strokeStyle = withAlpha(tokens.accent, asked ? 1 : 0.45);
    ctx.stroke();
    ctx.setLineDash([]);
  }
  for (const [r, node] of [...ends].reverse()) {
    if (node.shown) continue;
    drawTie(node);
    drawEnd(overlay, ctx, r, ...node.p);
  }
}

/** Draw a ring whose arc shows the certainty, with the picture if there is one. */
function drawCertainty(overlay, ctx, r, { share, face, p: [x, y] }) {
  const { map, scene } = overlay;
  const top = -Math.PI / 2;
  const seen = face && map.media.picture(r);
  if (seen) overlay.picture(ctx, { row: r, size: SMALL_PICTURE_PX }, x, y, 1, false);
  if (face) map.media.askPictures([r]);
  for (const [part, colour, wide] of [[1, withAlpha(scene.tokens.bg, 0.8), 5], [1, withAlpha(scene.tokens.accent, 0.25), 3], [share, scene.tokens.accent, 3]]) {
    ctx.beginPath();
    ctx.arc(x, y, seen ? PICTURE_RING_PX : RING_PX, top, top + part * 2 * Math.PI);
    ctx.lineWidth = wide;
    ctx.strokeStyle = colour;
    ctx.stroke();
  }
}

/**
 * Draw an end of a pair in question: its picture, else its dot, in a ring.
 * @param {Overlay} overlay @param {CanvasRenderingContext2D} ctx
 * @param {number} r @param {number} x @param {number} y
 */
function drawEnd(overlay, ctx, r, x, y) {
  const { scene, map: { media } } = overlay;
  if (!isPictured(scene, r) || !media.picture(r)) overlay.ring(ctx, x, y, 8, 2.2);
  else overlay.picture(ctx, { row: r, size: PICTURE_PX }, x, y, 1, true);
  if (isPictured(scene, r)) media.askPictures([r]);
}

const PICTURE_PX = 26;
const SMALL_PICTURE_PX = 17;
const [FACE_PX, DOT_PX] = [21, 9];
const [RING_PX, PICTURE_RING_PX] = [8, 14]; // radius of a ring without and with a picture
const MARGIN_PX = 4;
const NARROW_PX = 860;
/** @param {Scene} scene @param {number} r */
const isPictured = (scene, r) => scene.datasetOf(r)?.media;

/**
 * Place the names of pairs in question beside their ends, without overlap.
 * @param {Overlay} overlay @param {CanvasRenderingContext2D} ctx
 */
function namesOf(overlay, ctx) {
  const { view } = overlay.scene;
  const font = `600 14px ${overlay.scene.family}`;
  // In a narrow window the panel is below.
  const edge = view.W - (view.W < NARROW_PX ? 0 : panelWidth()) - MARGIN_PX;
  const { ends, rings, shown } = endsOf(overlay);
  const boxes = [...ends.values(), ...rings.values(), ...shown].map(({ p: [x, y], disc }) => [x - disc, y - disc, x + disc, y + disc]);
  for (const node of shown) if (node.shown) boxes.push(node.shown);
  // Names avoid tools, legend and sheet.
  boxes.push(...(overlay.scene.covered ?? []));
  const names = [];
  const named = new Set();
  ctx.font = font;
  for (const [i, j, ...titles] of askedPairs()) {
    const [first, second] = [ends.get(i), ends.get(j)];
    if (!first || !second) continue;
    [i, j].forEach((r, k) => {
      const [own, other] = k ? [second, first] : [first, second];
      if (named.has(r) || own.shown) return;
      named.add(r);
      const { p: [x, y], disc } = own;
      const wide = ctx.measureText(titles[k]).width;
      const [right, left] = [x + disc + 4, x - disc - 4 - wide];
      const middle = Math.max(MARGIN_PX, Math.min(x - wide / 2, edge - wide));
      const sides = x > other.p[0] ? [left, right] : [right, left];
      const places = /** @type {[number, number][]} */ ([
        ...sides.map((x0) => [x0, y]), [middle, y + disc + 12], [middle, y - disc - 12],
        ...sides.flatMap((x0) => [20, -20, 40, -40, 60, -60, 80].map((far) => [x0, y + far])),
      ]).filter(([x0]) => x0 >= MARGIN_PX && x0 + wide <= edge);
      const around = ([x0, y0]) => [x0 - 2, y0 - 10, x0 + wide + 2, y0 + 10];
      const isFree = (box) => boxes.every((b) => box[2] < b[0] || box[0] > b[2] || box[3] < b[1] || box[1] > b[3]);
      const place = places.find((candidate) => isFree(around(candidate))) ?? places[0] ?? [middle, y];
      boxes.push(around(place));
      names.push({ text: titles[k], x: place[0], y: place[1], font, box: around(place) });
    });
  }
  return names;
}

/**
 * Boxes of the names of pairs in question; other names avoid them.
 * @param {Overlay} overlay @param {CanvasRenderingContext2D} ctx
 */
export const proposedBoxes = (overlay, ctx) => namesOf(overlay, ctx).map((name) => name.box);

/**
 * Draw the names of pairs in question.
 * @param {Overlay} overlay @param {CanvasRenderingContext2D} ctx
 */
export function drawProposedNames(overlay, ctx) {
  for (const { text, x, y, font } of namesOf(overlay, ctx)) {
    ctx.globalAlpha = 1;
    overlay.text(ctx, text, x, y, font, overlay.scene.tokens.ink, "left");
  }
}

/** Mount the pairs of a tab; they disappear when it leaves the page. */
export function mount(root, component) {
  const { tab, pairs, n_asked, candidates } = component.data;
  const roots = store.roots ??= {};
  roots[tab] = root;
  propose(tab, { pairs, n_asked, candidates });
  return () => setTimeout(() => {
    // A new root may already have replaced this one.
    if (!root.isConnected && roots[tab] === root) propose(tab, NONE);
  });
}
