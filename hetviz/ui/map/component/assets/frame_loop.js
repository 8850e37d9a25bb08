// Frame loop: requests to draw are collected, and one frame serves them all. A map that does not move
// requests no frames.

const SETTLED_MS = 130; // ms without movement of camera or points
const PLACEMENT_INTERVAL_MS = 260; // ms between two placements of texts while points move

export class FrameLoop {
  constructor(map) { Object.assign(this, { map, pending: {}, frame: 0, placed: 0, drawn: 0, pausedUntil: 0 }); }

  /** Draw nothing for a moment, since without a graphics card a frame blocks the page. */
  hold(ms) { this.pausedUntil = performance.now() + ms; }

  /** Continue after the next frame. */
  release() { requestAnimationFrame(() => { this.pausedUntil = 0; }); }

requestDraw(changes) {
    for (const [name, isNeeded] of Object.entries(changes)) this.pending[name] ||= isNeeded;
    if (!this.frame && !this.map.isClosed && this.map.shown !== false) this.frame = requestAnimationFrame((now) => this.tick(now));
  }

  tick(now) {
    const { map, pending } = this;
    this.frame = 0;
    // A hidden map keeps its requests until it is visible.
    if (!map.data || map.isClosed || !map.shown) return;
    if (performance.now() < this.pausedUntil) {
      this.requestDraw({});
      return;
    }
    this.pending = {};
    if (map.flight) {
      map.camera.step(now);
      pending.view = true;
    }
    if (map.motion && map.transition.step(now)) pending.pos = true;
    if (pending.view) map.linkedMaps.onMove();
    if (pending.paint) map.points.sync();
    const more = map.points.draw(map.motion?.share ?? 1, now);
    map.root.toggleAttribute("data-drawn", map.points.ready);
    // The card is still busy with the last frame, so the overlay waits.
    if (map.points.isLate) {
      this.requestDraw(pending);
      return;
    }
    if (pending.view || pending.pos) this.measure(now);
    if (pending.place || (map.moving && now - this.placed > PLACEMENT_INTERVAL_MS)) {
      this.placed = now;
      map.overlay.place();
    }
    const drawn = performance.now();
    map.overlay.draw();
    map.stats.overlayMs = performance.now() - drawn;
    if (pending.view || pending.pos) this.settleSoon();
    if (map.flight || map.motion || more) this.requestDraw({});
  }

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
    const { map } = this;
    if (map.isClosed || map.flight) return;
    map.requestDraw({ place: true });
    map.camera.onRest();
  }

  close() {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.settling);
  }
}
