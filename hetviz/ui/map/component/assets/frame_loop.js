// Frame loop: requests to draw are collected, and one frame serves them all. A map that does not move
// requests no frames.

/** @import { HetMap } from "./map.js" */

const SETTLED_MS = 130; // ms without movement of camera or points
const PLACEMENT_INTERVAL_MS = 260; // ms between two placements of texts while points move

export class FrameLoop {
  /** @param {HetMap} map */
  constructor(map) {
    this.map = map;
    this.scene = map.scene;
    this.pending = {};
    this.frame = 0;
    this.placed = 0;
    this.drawn = 0;
    this.pausedUntil = 0;
  }

  /** Draw nothing for a moment, since without a graphics card a frame blocks the page. @param {number} ms */
  hold(ms) { this.pausedUntil = performance.now() + ms; }

  /** Continue after the next frame. */
  release() { requestAnimationFrame(() => { this.pausedUntil = 0; }); }

  requestDraw(changes) {
    for (const [name, isNeeded] of Object.entries(changes)) this.pending[name] ||= isNeeded;
    if (!this.frame && !this.scene.isClosed && this.scene.isOnPage !== false) this.frame = requestAnimationFrame((now) => this.tick(now));
  }

  /** @param {number} now */
  tick(now) {
    const { map, pending, scene } = this;
    this.frame = 0;
    // A hidden map keeps its requests until it is visible.
    if (!scene.data || scene.isClosed || !scene.isOnPage) return;
    if (performance.now() < this.pausedUntil) {
      this.requestDraw({});
      return;
    }
    this.pending = {};
    if (scene.flight) {
      map.camera.step(now);
      pending.view = true;
    }
    if (scene.motion && map.transition.step(now)) pending.pos = true;
    if (pending.view) map.linkedMaps.onMove();
    if (pending.paint) map.points.sync();
    const more = map.points.draw(scene.motion?.share ?? 1, now);
    map.root.toggleAttribute("data-drawn", map.points.ready);
    // The card is still busy with the last frame, so the overlay waits.
    if (map.points.isLate) {
      this.requestDraw(pending);
      return;
    }
    if (pending.view) map.points.terrain.follow(scene.view);
    map.geography.draw();
    if (pending.place || pending.pos) map.points.drawTerrain();
    if (pending.view || pending.pos) this.measure(now);
    if (pending.place || (scene.moving && now - this.placed > PLACEMENT_INTERVAL_MS)) {
      this.placed = now;
      map.overlay.place();
    }
    const drawn = performance.now();
    map.overlay.draw();
    map.stats.overlayMs = performance.now() - drawn;
    if (pending.view || pending.pos) this.settleSoon();
    if (scene.flight || scene.motion || more) this.requestDraw({});
  }

  /** @param {number} now */
  measure(now) {
    const { stats } = this.map;
    stats.draws += 1;
    if (this.drawn) stats.fps = 0.9 * stats.fps + 0.1 * (1000 / Math.max(now - this.drawn, 1));
    this.drawn = now;
  }

  settleSoon() {
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.settle(), SETTLED_MS);
  }

  settle() {
    const { map, scene } = this;
    if (scene.isClosed || scene.flight) return;
    map.requestDraw({ place: true });
    map.camera.onRest();
  }

  close() {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.settling);
  }
}
