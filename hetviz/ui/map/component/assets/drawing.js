// When what is drawn: wishes are gathered, and one frame fulfils them all. A map on which nothing
// moves asks for no frames.

import { dotSize } from "./plot.js";

const SETTLED = 130; // ms without a move of camera or points
const PLACING = 260; // ms from one choice of what is written to the next, while points move

export class Drawing {
  constructor(map) { Object.assign(this, { map, wishes: {}, frame: 0, placed: 0, drawn: 0 }); }

  wish(what) {
    for (const [name, wanted] of Object.entries(what)) this.wishes[name] ||= wanted;
    if (!this.frame && !this.map.dead) this.frame = requestAnimationFrame((now) => this.tick(now));
  }

  tick(now) {
    const { map, wishes } = this;
    this.frame = 0;
    if (!map.data || map.dead) return;
    const begun = performance.now();
    this.wishes = {};
    if (map.flight) {
      map.camera.step(now);
      wishes.view = true;
    }
    if (map.motion && map.travel.step(now)) wishes.pos = true;
    if (wishes.view) map.together.moved();
    if (wishes.paint) this.paint();
    else if (wishes.view || wishes.pos) {
      map.plot.nudge(map.view, wishes.pos ? map.pos : null, map.shown);
      this.measure(begun, now);
    }
    if (wishes.place || (map.moving && now - this.placed > PLACING)) {
      this.placed = now;
      map.overlay.place();
    }
    if (wishes.view || wishes.paint) {
      map.density.lay();
      map.fog.lay();
    }
    const drawn = performance.now();
    map.overlay.draw();
    map.stats.overlayMs = performance.now() - drawn;
    if (wishes.view || wishes.pos) this.settleSoon();
    if (map.flight || map.motion) this.wish({});
  }

  /** Diameter of a dot now; maps that share a page are small, and so are their dots. */
  get dotWanted() {
    const { drawn, view, data } = this.map;
    const size = dotSize(drawn || 1, view.s / view.fitted);
    return data.together ? size * 0.66 : size;
  }

  paint() {
    const { pos, shown, slot, palette, picked, count, view, tokens, data, root, plot } = this.map;
    const any = count > 0;
    root.toggleAttribute("data-any", any);
    this.dot = this.dotWanted;
    plot.paint({
      pos, shown, slot, palette, picked, any, datasets: data.datasets, view, tokens, dot: this.dot,
    }).then(() => {
      if (plot.ready) root.dataset.drawn = "1";
    });
  }

  measure(begun, now) {
    const { stats } = this.map;
    stats.draws += 1;
    stats.ms.push(performance.now() - begun);
    if (stats.ms.length > 600) stats.ms.splice(0, 300);
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
    const resized = Math.abs(this.dotWanted / this.dot - 1) > 0.12;
    map.wish({ place: true, paint: resized && !map.motion && !map.pointerDown });
    map.density.refresh(false);
    map.fog.refresh();
    map.camera.rests();
  }

  /** After a lost graphics context: begin anew with a fresh one. */
  rebuild() {
    const { map } = this;
    if (map.dead) return;
    map.plot.purge();
    clearTimeout(this.rebuilding);
    this.rebuilding = setTimeout(() => map.wish({ paint: true, place: true }), 250);
  }

  close() {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.settling);
    clearTimeout(this.rebuilding);
  }
}
