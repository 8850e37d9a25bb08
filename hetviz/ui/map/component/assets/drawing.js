// When what is drawn: wishes are gathered, and one frame fulfils them all. A map on which nothing
// moves asks for no frames.

const SETTLED = 130; // ms without a move of camera or points
const PLACING = 260; // ms from one choice of what is written to the next, while points move

export class Drawing {
  constructor(map) { Object.assign(this, { map, wishes: {}, frame: 0, placed: 0, drawn: 0, held: 0 }); }

  /** Draw nothing for a moment: without a graphics card a frame of the map keeps all others waiting. */
  hold(ms) { this.held = performance.now() + ms; }

  /** Go on once what is there now was seen. */
  release() { requestAnimationFrame(() => { this.held = 0; }); }

  wish(what) {
    for (const [name, wanted] of Object.entries(what)) this.wishes[name] ||= wanted;
    if (!this.frame && !this.map.dead && this.map.shown !== false) this.frame = requestAnimationFrame((now) => this.tick(now));
  }

  tick(now) {
    const { map, wishes } = this;
    this.frame = 0;
    // A map that another place covers keeps its wishes for when it is seen.
    if (!map.data || map.dead || !map.shown) return;
    if (performance.now() < this.held) {
      this.wish({});
      return;
    }
    this.wishes = {};
    if (map.flight) {
      map.camera.step(now);
      wishes.view = true;
    }
    if (map.motion && map.travel.step(now)) wishes.pos = true;
    if (wishes.view) map.together.moved();
    if (wishes.paint) map.points.sync();
    const more = map.points.draw(map.motion?.share ?? 1, now);
    map.root.toggleAttribute("data-drawn", map.points.ready);
    // The card is still busy with the frame before: what lies above must not run ahead.
    if (map.points.late) {
      this.wish(wishes);
      return;
    }
    if (wishes.view || wishes.pos) this.measure(now);
    if (wishes.place || (map.moving && now - this.placed > PLACING)) {
      this.placed = now;
      map.overlay.place();
    }
    const drawn = performance.now();
    map.overlay.draw();
    map.stats.overlayMs = performance.now() - drawn;
    if (wishes.view || wishes.pos) this.settleSoon();
    if (map.flight || map.motion || more) this.wish({});
  }

  measure(now) {
    const { stats } = this.map;
    stats.draws += 1;
    if (this.drawn) stats.fps = 0.9 * stats.fps + 0.1 * (1000 / Math.max(now - this.drawn, 1));
    this.drawn = now;
  }

  settleSoon() {
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.settle(), SETTLED);
  }

  settle() {
    const { map } = this;
    if (map.dead || map.flight) return;
    map.wish({ place: true });
    map.camera.rests();
  }

  close() {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.settling);
  }
}
