// Pairs that the panel proposes as links: the map draws them dashed, the one that is asked about
// with the names of its ends. The panel is drawn without the map, so the pairs are kept on the window.

import { clear } from "./colour.js";
import { panel, panelWidth, watchPanel } from "./panel.js";

const store = (window.hetvizProposed ??= { pairs: [], watch: new Set() });

/** What is proposed now: rows of both ends and their titles; the first is asked about. */
export const proposed = () => (panel.tab === "Predict" ? store.pairs : []);

let seen = panel.tab;
watchPanel(({ tab }) => {
  if (tab === seen) return;
  const turned = [tab, seen].includes("Predict") && store.pairs.length;
  seen = tab;
  if (turned) for (const told of store.watch) told(proposed());
});

/** Be told of a change; returns how to stop. */
export function watchProposed(told) {
  store.watch.add(told);
  return () => store.watch.delete(told);
}

function propose(pairs) {
  if (JSON.stringify(pairs) === JSON.stringify(store.pairs)) return;
  store.pairs = pairs;
  for (const told of store.watch) told(proposed());
}

/** Draw what is proposed over the points. */
export function drawProposed(overlay, ctx) {
  const { view, pos, pass, tokens, n } = overlay.map;
  const at = (r) => [view.x(pos[2 * r]), view.y(pos[2 * r + 1])];
  const there = (r) => r < n && pass[r] && Number.isFinite(pos[2 * r]);
  const shown = proposed().filter(([i, j]) => there(i) && there(j));
  for (const pair of [...shown].reverse()) {
    const [i, j] = pair;
    const asked = pair === store.pairs[0];
    ctx.beginPath();
    ctx.moveTo(...at(i));
    ctx.lineTo(...at(j));
    ctx.lineWidth = asked ? 2.2 : 1.2;
    ctx.setLineDash([6, 4]);
    ctx.strokeStyle = clear(tokens.accent, asked ? 1 : 0.45);
    ctx.stroke();
    ctx.setLineDash([]);
    if (asked) for (const r of [i, j]) overlay.ring(ctx, ...at(r), 8, 2.2);
  }
}

/** Where the names of the pair that is asked about are written; none where none is. */
function namesOf(overlay, ctx) {
  const { view, pos, pass, n } = overlay.map;
  const [asked] = proposed();
  if (!asked) return [];
  const [i, j, ...titles] = asked;
  if (![i, j].every((r) => r < n && pass[r] && Number.isFinite(pos[2 * r]))) return [];
  const font = `600 14px ${overlay.map.family}`;
  const edge = view.W - panelWidth();
  ctx.font = font;
  return [i, j].map((r, k) => {
    const [x, y] = [view.x(pos[2 * r]), view.y(pos[2 * r + 1])];
    const wide = ctx.measureText(titles[k]).width;
    const left = pos[2 * r] < pos[2 * (k ? i : j)] || x + 14 + wide > edge;
    const at = x + (left ? -14 : 14);
    return { text: titles[k], x: at, y, font, left, box: [left ? at - wide : x - 10, y - 10, left ? x + 10 : at + wide, y + 10] };
  });
}

/** Boxes on the screen of the names of the pair that is asked about: other names give way. */
export const proposedBoxes = (overlay, ctx) => namesOf(overlay, ctx).map((name) => name.box);

/** Write the names of the pair that is asked about. */
export function nameProposed(overlay, ctx) {
  for (const { text, x, y, font, left } of namesOf(overlay, ctx)) {
    ctx.globalAlpha = 1;
    overlay.text(ctx, text, x, y, font, overlay.map.tokens.ink, left ? "right" : "left");
  }
}

/** What the panel's page says; the lines end when it leaves the page. */
export function mount(root, component) {
  store.root = root;
  propose(component.data.pairs);
  return () => setTimeout(() => {
    // Another one may have taken its place meanwhile.
    if (!root.isConnected && store.root === root) propose([]);
  });
}
