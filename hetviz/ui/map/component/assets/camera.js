// Where the camera goes: home, to items, in or out; each in one sweep. Python hears where it rests.

import { cardsOver } from "./covered.js";
import { tell } from "./journey.js";
import { panel as shownPanel, panelTop, panelWidth } from "./panel.js";
import { remember } from "./recall.js";
import { View, between, calm, ease, frameOf } from "./view.js";

const [NARROW, MIDDLING] = [860, 1100];
const DOZEN = 12;
const FRAMED = 6; // times the scale at which all is seen
const SPOT = 48; // px within which items cannot be told apart
const CROWDED = 20000;
const BAR = 104; // height of the bar of a selection, above the sheet of a narrow window
const AIR = 10; // px between a selected item and a card
const [FURTHEST, STRIDE, WAYS] = [480, 6, 32];
const PAUSE = 900; // ms without movement before Python hears of the camera

export class Camera {
  constructor(map) { Object.assign(this, { map, told: null }); }

  /** The camera that shows all of the map. */
  get home() { return this.around(this.map.data.frame); }

  /** The camera that shows a frame; the map that fills the window may be wider than it is high. */
  around({ x, y }) {
    const { view, data } = this.map;
    return view.around({ x, y, stretch: data.stage ? 0 : data.frame.stretch });
  }

  /** Which edges the cards and the panel need: the same scale whether the panel is open or not. */
  clear() {
    const { view, data, root } = this.map;
    const { W, H } = view;
    const before = JSON.stringify(view.clear);
    let clear = { left: 0, top: 0, right: 0, bottom: 0 };
    if (data.stage && data.mode === "look") clear = { left: 24, top: 8, right: 24, bottom: 8 };
    else if (data.stage && W < NARROW) {
      clear = { left: 12, top: 64, right: 56, bottom: Math.max(H - panelTop(root) + 8, 80) };
    } else if (data.stage && shownPanel.open && shownPanel.wide) {
      // What the wide panel leaves is all there is: the map is fitted to that.
      clear = { left: 64, top: 24, right: panelWidth() + 24, bottom: 24 };
    } else if (data.stage) {
      const panel = W < MIDDLING ? 300 : 340;
      const cards = W < MIDDLING ? 64 : 110;
      const open = panelWidth() > 60;
      const slide = open ? 0 : Math.round((panel - 44 + (W < MIDDLING ? 0 : 104)) / 2);
      clear = { left: cards + slide, top: 10, right: panel + 10 - slide, bottom: 140 };
    }
    view.clear = clear;
    return JSON.stringify(clear) !== before;
  }

  /** How far what is clear lies right of the middle, in pixels. */
  get aside() { return (this.map.view.clear.left - this.map.view.clear.right) / 2; }

  /** The panel opened or closed: what was seen slides aside, at the same scale. */
  slide() {
    const { map } = this;
    const { view } = map;
    if (!map.data?.stage) return;
    const old = this.aside;
    if (!this.clear()) return;
    const { home } = this;
    view.fitted = home.s;
    const rows = map.pickedRows();
    if (!view.zoomed) this.fly(this.bared(home, rows), 180, false);
    else {
      const to = view.at();
      to.cx += (old - this.aside) / view.s;
      this.fly(this.bared(to, rows), 180);
    }
  }

  /** Look where one looked before the map left the page, else where Python says, else at all. */
  begin(data, kept) {
    const { view, stage, overlay } = this.map;
    view.W = Math.max(stage.clientWidth, 1);
    view.H = Math.max(stage.clientHeight, 1);
    overlay.resize(view.W, view.H);
    this.clear();
    view.go(this.home);
    view.fitted = view.s;
    const same = kept.geometry === data.geometry.id;
    if (same && kept.zoomed) view.go(view.seeing(kept.range, kept.k));
    else if (!same && data.camera) {
      const place = view.seeing(data.camera);
      view.go({ ...place, cx: place.cx - this.aside / place.s });
    }
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
    this.clear();
    const { home } = this;
    if (!view.zoomed && !map.data.live) view.go(home);
    view.fitted = home.s;
    map.film.lay();
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

  fit(rows = []) {
    const { data, pos, pass } = this.map;
    const frame = data.live ? frameOf(pos, pass) : data.frame;
    this.fly(this.bared(this.around(frame), rows), 450, false);
  }

  /** Show every item, those too that lie so far out that the map does not begin with them. */
  whole() {
    const { pos, pass } = this.map;
    this.fly(this.around(frameOf(pos, pass, 0)));
  }

  /** How much nearer one may look: no further where about a dozen items fill the view. */
  nearer(factor) {
    const { view, pos, pass, n } = this.map;
    if (factor <= 1 || view.s < 2 * view.fitted) return factor;
    const { x, y } = view.range;
    let seen = 0;
    for (let r = 0; r < n && seen <= DOZEN; r++) {
      if (pass[r] && pos[2 * r] > x[0] && pos[2 * r] < x[1] && pos[2 * r + 1] > y[0] && pos[2 * r + 1] < y[1]) seen += 1;
    }
    return seen > DOZEN ? factor : 1;
  }

  zoomBy(step) {
    const { view, flight } = this.map;
    const factor = this.nearer(step);
    const there = Object.assign(new View(), view, flight?.to);
    there.zoom(factor);
    this.fly(there.at(), 220);
  }

  /** Bring one item into sight with what it is linked to; on a crowded map, near enough to tell it apart. */
  flyTo(row) {
    const { view, pos, visible } = this.map;
    if (visible > CROWDED) {
      const s = Math.max(view.s, view.fitted * 4);
      this.fly({ cx: pos[2 * row], cy: pos[2 * row + 1], s, k: view.k }, 700);
      return;
    }
    const [x, y] = [view.x(pos[2 * row]), view.y(pos[2 * row + 1])];
    const { left, top, right, bottom } = view.clear;
    if (x > left && y > top && x < view.W - right && y < view.H - bottom) return;
    this.fit([row]);
  }

  /** Fly to where all the given rows are seen on a map that comes, with what is round them. */
  flyToAll(rows, pos) {
    const { view, pass, n } = this.map;
    const flags = new Uint8Array(n);
    rows.forEach((r) => { flags[r] = pass[r]; });
    const there = Object.assign(new View(), view);
    // In a narrow window the bar of the selection stands above the sheet.
    if (view.W < NARROW) there.clear = { ...view.clear, bottom: view.clear.bottom + BAR };
    this.framed = there.around({ ...frameOf(pos, flags, 0, 1.25), stretch: view.k, most: view.fitted * FRAMED });
    this.fly(this.framed, 600);
  }

  /** Whether the camera still is where it went by itself for what was named. */
  get byItself() {
    const { framed, map: { view, flight } } = this;
    const now = flight ? flight.to : view.at();
    return Boolean(framed) && ["cx", "cy", "s"].every((one) => Math.abs(now[one] - framed[one]) < 1e-9 * Math.abs(framed[one]));
  }

  /** Whether, on a map that comes, some of the rows would be off the screen or all of them one spot. */
  loses(rows, pos) {
    const { view, pass } = this.map;
    const there = Object.assign(new View(), view);
    if (!view.zoomed) there.go(this.home);
    const at = rows.filter((r) => pass[r] && !Number.isNaN(pos[2 * r]))
      .map((r) => [there.x(pos[2 * r]), there.y(pos[2 * r + 1])]);
    if (!at.length) return false;
    const { left, top, right, bottom } = view.clear;
    const off = ([x, y]) => x < left || y < top || x > view.W - right || y > view.H - bottom;
    const span = (axis) => Math.max(...at.map((p) => p[axis])) - Math.min(...at.map((p) => p[axis]));
    return at.some(off) || (at.length > 1 && Math.max(span(0), span(1)) < SPOT);
  }

  /** Have rows on the screen: the whole map is shown where one of them is beyond its edge. */
  see(rows) {
    const { view, pos, pass } = this.map;
    const hidden = (r) => {
      const [x, y] = [view.x(pos[2 * r]), view.y(pos[2 * r + 1])];
      return pass[r] && !(x > 20 && y > 20 && x < view.W - 20 && y < view.H - 20);
    };
    if (view.zoomed && rows.some(hidden)) this.fit();
    this.map.wish({ paint: true });
  }

  /** A few selected items stay clear of the cards, in a narrow window above the bar and the sheet too. */
  lift(rows) {
    const { view, flight } = this.map;
    const now = flight ? flight.to : view.at();
    const to = this.bared(now, rows);
    if (to !== now) this.fly(to, 180, view.zoomed);
  }

  /** That camera, or where one of these rows would lie under a card the nearest from which none does. */
  bared(place, rows) {
    const { view, pos, pass, data } = this.map;
    const narrow = view.W < NARROW;
    const shown = rows.filter((r) => pass[r] && !Number.isNaN(pos[2 * r]));
    if (!data.stage || data.mode !== "work" || !shown.length || shown.length > (narrow ? DOZEN : 1)) return place;
    const there = Object.assign(new View(), view, place);
    const at = shown.map((r) => [there.x(pos[2 * r]), there.y(pos[2 * r + 1])]);
    const low = view.H - (narrow ? view.clear.bottom + BAR : AIR);
    // What is out of sight on purpose stays so.
    if (at.some(([x, y]) => x < 0 || y < 0 || x > view.W || y > view.H)) return place;
    const cards = cardsOver(this.map).map(([x0, y0, x1, y1]) => [x0 - AIR, y0 - AIR, x1 + AIR, y1 + AIR]);
    const clear = (dx, dy) => at.every(([px, py]) => {
      const [x, y] = [px + dx, py + dy];
      return x >= AIR && y >= AIR && x <= view.W - AIR && y <= low
        && !cards.some(([x0, y0, x1, y1]) => x > x0 && x < x1 && y > y0 && y < y1);
    });
    const moved = (dx, dy) => ({ ...place, cx: place.cx - dx / place.s, cy: place.cy + (dy * place.k) / place.s });
    if (clear(0, 0)) return place;
    for (let far = STRIDE; far <= FURTHEST; far += STRIDE) {
      for (let way = 0; way < WAYS; way++) {
        const turn = (way / WAYS) * 2 * Math.PI - Math.PI / 2;
        const [dx, dy] = [Math.cos(turn) * far, Math.sin(turn) * far];
        if (clear(dx, dy)) return moved(dx, dy);
      }
    }
    // Not all have room: above the sheet they are seen at least.
    const over = Math.max(...at.map(([, y]) => y)) - low;
    return over > 0 ? moved(0, -over) : place;
  }

  /** What is seen, about the middle of what is clear: the panel may stand elsewhere the next time. */
  kept() {
    const { x, y } = this.map.view.range;
    const by = this.aside / this.map.view.s;
    return { x: x.map((end) => end + by), y };
  }

  /** Called when the camera rests. */
  rests() {
    const { map } = this;
    remember(map);
    map.film.lay();
    if (map.data.mode !== "work" || map.data.together) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (map.dead || map.pointerDown) return;
      const camera = map.view.zoomed ? this.kept() : null;
      const told = JSON.stringify(camera);
      if (told === this.told) return;
      this.told = told;
      tell(() => map.component.setStateValue("camera", camera));
    }, PAUSE);
  }

  close() { clearTimeout(this.timer); }
}
