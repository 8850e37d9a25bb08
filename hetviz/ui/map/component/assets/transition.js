// Animated transition between two maps: the new map is aligned, points move together, and the largest
// moves leave ghosts.

import { aligned } from "./align.js";
import { within } from "./pick.js";
import { prefersReducedMotion, ease } from "./view.js";

/** @import { HetMap } from "./map.js" */

const MAX_GHOSTS = 60;
const MIN_MOVE_PX = 4;
const MAX_FRAMED = 60;
export const MORPH_MS = 900;
export const TRAIL_MS = 1500;
const REST_MS = 100; // ms without movement before texts are placed again

export class Transition {
  /** @param {HetMap} map */
  constructor(map) {
    this.map = map;
    this.scene = map.scene;
    /** @type {Float32Array | null} */
    this.target = null;
  }

  /**
   * Start the transition to a new map of the same items, with ghosts of the largest moves.
   * @param {Float32Array} geometry @param {boolean} isSameView whether it is no switch to or from the geography
   */
  start(geometry, isSameView = true) {
    const { map, scene } = this;
    const { view } = scene;
    // Maps of periods are aligned already.
    const start = map.periods.isStep ? scene.geometry : null;
    const from = isSameView ? start ?? aligned(scene.geometry, geometry, scene.isShown) : null;
    scene.geometry = geometry;
    const rows = from ? this.movers(from, geometry) : [];
    scene.ghosts = from && rows.length ? {
      rows, born: performance.now(),
      from: Float32Array.from(rows.flatMap((r) => [from[2 * r], from[2 * r + 1]])),
    } : null;
    if (scene.data.stage && scene.ghosts) this.holdSentence();
    const seen = within(scene.pos, scene.isShown, view.range).length;
    this.move(geometry, MORPH_MS);
    const { home } = map.camera;
    view.fitted = home.s;
    // A zoomed camera stays unless it would show almost nothing.
    const isLost = () => within(geometry, scene.isShown, view.range).length < 0.05 * seen;
    // Items of a statement are framed if they would overlap or be out of view.
    const named = scene.data.refitted && isSameView ? map.selection.rows() : [];
    if (named.length && named.length <= MAX_FRAMED && map.camera.losesRows(named, geometry)) {
      map.camera.flyToAll(named, geometry);
    } else if (!view.zoomed || map.camera.movedByMap || isLost()) map.camera.fly(home, MORPH_MS, false);
    else view.k = home.k;
  }

  /** The panel says what changed when the trails have faded (see theme.css). */
  holdSentence() {
    const { dataset } = document.documentElement;
    if (prefersReducedMotion()) return;
    dataset.hvMoving = "";
    clearTimeout(this.sentenceTimer);
    this.sentenceTimer = setTimeout(() => delete dataset.hvMoving, MORPH_MS + TRAIL_MS);
  }

  /** The selected or grouped rows, else those that move clearly more than the rest, as in the panel. */
  movers(from, to) {
    const { map, scene } = this;
    const chosen = [...new Set([...map.selection.rows(), ...map.statements.rows()])];
    if (chosen.length && chosen.length <= MAX_GHOSTS) return chosen.filter((r) => scene.isShown[r]);
    const moved = [];
    for (let r = 0; r < scene.n; r++) {
      const d = Math.hypot(to[2 * r] - from[2 * r], to[2 * r + 1] - from[2 * r + 1]);
      if (scene.isShown[r] && Number.isFinite(d)) moved.push([d, r]);
    }
    moved.sort((a, b) => b[0] - a[0]);
    /** @param {number} share */
    const distance = (share) => moved[Math.floor(share * (moved.length - 1))]?.[0] ?? 0;
    const [high, low] = [distance(0.25), distance(0.75)];
    const limit = Math.max(high + 3 * (high - low), MIN_MOVE_PX / scene.view.s);
    return moved.filter(([d]) => d > limit).slice(0, MAX_GHOSTS).map((pair) => pair[1]);
  }

  /** Move to the final map after intermediate layouts of a job. */
  moveToGeometry() {
    const { geometry } = this.scene;
    if (this.target && this.target !== geometry) this.move(geometry, 500);
  }

  /**
   * Move the points to `target` in `ms`, eased or at a steady speed.
   * @param {Float32Array} target @param {number} ms
   */
  move(target, ms, steady = false) {
    const { map, scene } = this;
    this.target = target;
    const from = Float32Array.from(scene.pos);
    // Items without an old or new position do not move.
    let appeared = false;
    for (let k = 0; k < from.length; k++) {
      if (Number.isNaN(from[k]) !== Number.isNaN(target[k])) appeared = true;
      if (Number.isNaN(from[k]) || Number.isNaN(target[k])) from[k] = target[k];
    }
    scene.moving = true;
    // The index of a large map is built in a worker; the transition starts when it is ready.
    map.points.layout(target, from, () => {
      if (this.target !== target || scene.isClosed) return;
      const now = performance.now();
      scene.motion = { from, to: target, begun: now, ms: prefersReducedMotion() ? 0 : ms, steady, share: 0 };
      map.requestDraw();
    });
    if (appeared) {
      scene.pos = Float32Array.from(from);
      map.layers.update();
      map.requestDraw({ paint: true });
    }
    map.requestDraw();
  }

  /** Points stop while the user aims at them. */
  get isPaused() { return this.scene.pointerDown || performance.now() < this.scene.pausedUntil; }

  /** Move the points one step; returns whether any may have moved. @param {number} now */
  step(now) {
    const { map, scene } = this;
    const { motion, pos } = scene;
    if (!motion) return false;
    if (this.isPaused) {
      motion.begun += now - (motion.seen ?? now);
      motion.seen = now;
      return false;
    }
    motion.seen = now;
    const t = motion.ms ? Math.min(Math.max((now - motion.begun) / motion.ms, 0), 1) : 1;
    // A frame may be dated before the start, then nothing changed.
    if (t === 0) return false;
    const share = motion.steady ? t : ease(t);
    motion.share = share;
    const { from, to } = motion;
    for (let k = 0; k < pos.length; k++) pos[k] = from[k] + (to[k] - from[k]) * share;
    if (t >= 1) {
      scene.motion = null;
      scene.moving = Boolean(scene.data.live);
      map.points.endTransition();
      // The sheet may have risen while the points moved.
      if (scene.data.refitted) map.camera.uncoverItems(map.selection.rows());
      clearTimeout(this.timer);
      this.timer = setTimeout(() => map.requestDraw({ place: true }), REST_MS);
    }
    return true;
  }

  close() {
    clearTimeout(this.timer);
    clearTimeout(this.sentenceTimer);
    if (this.scene.data?.stage) delete document.documentElement.dataset.hvMoving;
  }
}
