// Where the camera goes: home, to items, in or out; each in one sweep. Python hears where it rests.

import { remember } from "./recall.js";
import { View, between, calm, ease, frameOf } from "./view.js";

const PAUSE = 900; // ms without movement before Python hears of the camera

export class Camera {
  constructor(map) { Object.assign(this, { map, told: null }); }

  /** The camera that shows all of the map. */
  get home() { return this.map.view.around(this.map.data.frame); }

  /** Look where one looked before the map left the page, else where Python says, else at all. */
  begin(data, kept) {
    const { view, stage, overlay } = this.map;
    view.W = Math.max(stage.clientWidth, 1);
    view.H = Math.max(stage.clientHeight, 1);
    overlay.resize(view.W, view.H);
    view.go(this.home);
    view.fitted = view.s;
    const same = kept.geometry === data.geometry.id;
    if (same && kept.zoomed) view.go(view.around({ ...kept.range, stretch: kept.k }));
    else if (!same && data.camera) view.go(view.around(data.camera));
    view.zoomed = same ? Boolean(kept.zoomed) : Boolean(data.camera);
    this.told = JSON.stringify(data.camera);
  }

  resize() {
    const { map } = this;
    const { view } = map;
    const { clientWidth: W, clientHeight: H } = map.stage;
    if (!W || !H || !map.data || (W === view.W && H === view.H)) return;
    view.resize(W, H);
    map.overlay.resize(W, H);
    const { home } = this;
    if (!view.zoomed && !map.data.live) view.go(home);
    view.fitted = home.s;
    map.bar.fit();
    map.legend.fit();
    map.wish({ paint: true, place: true });
  }

  /** Move there, in one sweep. */
  fly(place, ms = 450, zoomed = true) {
    const { map } = this;
    map.view.zoomed = zoomed;
    if (calm() || ms === 0) {
      map.flight = null;
      map.view.go(place);
    } else map.flight = { from: map.view.at(), to: place, begun: performance.now(), ms };
    map.wish({ view: true });
  }

  /** One frame of a sweep. */
  step(now) {
    const { map } = this;
    const { from, to, begun, ms } = map.flight;
    const t = Math.min(Math.max((now - begun) / ms, 0), 1);
    map.view.go(t < 1 ? between(from, to, ease(t)) : to);
    if (t >= 1) map.flight = null;
  }

  fit() {
    const { data, pos, pass, view } = this.map;
    const frame = data.live ? frameOf(pos, pass) : data.frame;
    this.fly(view.around({ ...frame, stretch: data.frame.stretch }), 450, false);
  }

  zoomBy(factor) {
    const { view, flight } = this.map;
    const there = Object.assign(new View(), view, flight?.to);
    there.zoom(factor);
    this.fly(there.at(), 220);
  }

  /** Fly to one item, close enough to see its surroundings. */
  flyTo(row) {
    const { view, pos } = this.map;
    const s = Math.max(view.s, view.fitted * 4);
    this.fly({ cx: pos[2 * row], cy: pos[2 * row + 1], s, k: view.k }, 700);
  }

  /** Fly to where all the given rows are seen. */
  flyToAll(rows) {
    const { view, pos, pass, n } = this.map;
    const flags = new Uint8Array(n);
    rows.forEach((r) => { flags[r] = pass[r]; });
    const frame = frameOf(pos, flags, 0, 1.25);
    const place = view.around({ ...frame, stretch: view.k });
    place.s = Math.min(place.s, view.fitted * 8);
    this.fly(place, 600);
  }

  /** Called when the camera rests. */
  rests() {
    const { map } = this;
    remember(map);
    if (map.data.mode !== "work" || map.data.together) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (map.dead || map.pointerDown) return;
      const camera = map.view.zoomed ? map.view.range : null;
      const told = JSON.stringify(camera);
      if (told === this.told) return;
      this.told = told;
      map.component.setStateValue("camera", camera);
    }, PAUSE);
  }

  close() { clearTimeout(this.timer); }
}
