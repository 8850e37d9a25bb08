// Camera moves: to the whole map, to items, in and out, each as one animation. Python gets the final position.

import { cardBoxes } from "./covered_area.js";
import { send } from "./page_change.js";
import { panel as shownPanel, panelTop, panelWidth } from "./panel.js";
import { remember } from "./remember.js";
import { clearOfStrays, strays } from "./stray_items.js";
import { MORPH_MS } from "./transition.js";
import { View, interpolateCamera, prefersReducedMotion, ease, frameOf } from "./view.js";

/** @import { HetMap } from "./map.js" */
/** @import { Place } from "./scene.js" */
/** @import { MapSpec } from "./messages.js" */
/** @import { Cards } from "./stray_items.js" */

const [NARROW_PX, MEDIUM_PX] = [860, 1100];
const PILL_PX = 250; // width of the folded legend with its margins
const VIEWS_PX = [170, 52]; // width and height of the switch of views with its margins
const LEGEND_PX = 276; // width of the legend with its margins
const [LINE_PX, TWO_LINES_PX, STRIP_AND_LINE_PX] = [84, 124, 150]; // height of the foot with the sentence
const MIN_VISIBLE = 12;
const MAX_FRAME_ZOOM = 6; // times the scale of the whole map
const SPOT_PX = 48; // px within which items overlap
const CROWDED_ITEMS = 20000;
const BAR_PX = 64; // height of the selection bar above the sheet of a narrow window
const DRAFT_PX = 180; // height of the sentence above that sheet
const MARGIN_PX = 10; // px between a selected item and a card
const [MAX_SHIFT_PX, SHIFT_STEP_PX, N_DIRECTIONS] = [480, 6, 32];
const SEND_DELAY_MS = 900; // ms without movement before the camera is sent to Python

export class Camera {
  /** @param {HetMap} map */
  constructor(map) {
    this.map = map;
    this.scene = map.scene;
    /** @type {string | null} */
    this.sentKey = null;
    /** @type {Place | null} Camera that `flyToAll` moved to. */
    this.framed = null;
    /** @type {Cards | null} */
    this.cards = null;
    /** @type {Float32Array | null} Positions that `homePlace` was computed for. */
    this.homeOf = null;
    this.homeKey = "";
    /** @type {number[]} */
    this.strayRows = [];
    /** @type {Place} */
    this.homePlace = this.scene.view.at();
  }

  /** The camera that shows all of the map. */
  get home() {
    const { view, data, geometry, hidden } = this.scene;
    const place = this.around(data.frame);
    if (!this.cards) return place;
    const key = JSON.stringify([place, view.W, view.H, this.cards, hidden]);
    if (this.homeOf !== geometry || this.homeKey !== key) {
      Object.assign(this, { homeOf: geometry, homeKey: key, strayRows: strays(this) });
      this.homePlace = clearOfStrays(this, this.cards, place);
    }
    return this.homePlace;
  }

  /** Number of shown items beyond the window when all of the map is in view. */
  get nOffScreen() {
    const { data, geometry, isShown, view } = this.scene;
    if (!this.cards) return data.outside;
    const whole = Object.assign(new View(), view, this.home);
    return this.strayRows.filter((r) => {
      const [x, y] = [whole.x(geometry[2 * r]), whole.y(geometry[2 * r + 1])];
      return isShown[r] && (x < 0 || y < 0 || x > view.W || y > view.H);
    }).length;
  }

  /** The camera that shows a frame; the map that fills the window may be stretched. */
  around({ x, y }) {
    const { view, data, isGeography } = this.scene;
    return view.around({ x, y, stretch: data.stage && !isGeography ? 0 : data.frame.stretch });
  }

  /** Set the margins for cards and panel, with the same scale for an open and a closed panel. */
  clear() {
    const { root } = this.map;
    const { view, data } = this.scene;
    const { W, H } = view;
    const before = JSON.stringify(view.clear);
    let clear = { left: 0, top: 0, right: 0, bottom: 0 };
    let shift = 0;
    if (this.scene.isPresenting) {
      const bottom = this.map.stories.element.offsetHeight + 40;
      clear = W < MEDIUM_PX ? { left: 16, top: 56, right: 16, bottom } : { left: LEGEND_PX, top: 28, right: 40, bottom };
    } else if (data.stage && data.mode === "look") clear = { left: 40, top: 24, right: 40, bottom: 40 };
    else if (data.stage && W < NARROW_PX) {
      const bar = this.map.statements.groups.size ? DRAFT_PX : this.scene.count ? BAR_PX : 0;
      clear = { left: 12, top: 64, right: 56, bottom: Math.max(H - panelTop(root) + 8, 80) + bar };
    } else if (data.stage && shownPanel.open && shownPanel.wide) {
      // The map is fitted to the space beside the wide panel.
      clear = { left: 64, top: 24, right: panelWidth() + 24, bottom: 24 };
    } else if (data.stage) {
      const panel = W < MEDIUM_PX ? 300 : 340;
      // The legend is a button in a window of medium width.
      const cards = W < MEDIUM_PX ? 24 : LEGEND_PX;
      shift = panelWidth() > 60 ? 0 : Math.round((panel - 44) / 2);
      const top = W < MEDIUM_PX ? 56 : 28;
      // The sentence has two lines in a window of medium width, and else stands above the strip of maps.
      const bottom = W < MEDIUM_PX ? TWO_LINES_PX : this.map.filmStrip.maps().length > 1 ? STRIP_AND_LINE_PX : LINE_PX;
      clear = { left: cards + shift, top, right: panel + 10 - shift, bottom };
    }
    view.clear = clear;
    const isWork = data.stage && data.mode === "work" && !this.scene.isPresenting && !(shownPanel.open && shownPanel.wide);
    this.cards = !isWork ? null : W < NARROW_PX
      ? { legend: 0, top: [W, clear.top], panel: 0, foot: clear.bottom, views: [0, 0], shift: 0, maxShift: 0 }
      : {
        legend: W < MEDIUM_PX ? 0 : LEGEND_PX, top: [PILL_PX, W < MEDIUM_PX ? clear.top : 0], panel: clear.right + shift,
        foot: clear.bottom, views: this.map.geography.element.hidden ? [0, 0] : VIEWS_PX, shift, maxShift: W < MEDIUM_PX ? 128 : 148,
      };
    return JSON.stringify(clear) !== before;
  }

  /** Distance of the uncovered area from the middle, to the right, in pixels. */
  get panelShift() { return (this.scene.view.clear.left - this.scene.view.clear.right) / 2; }

  /** Shift the view when the panel opens or closes, at the same scale. */
  followPanel() {
    const { map, scene } = this;
    const { view } = scene;
    if (!scene.data?.stage) return;
    const old = this.panelShift;
    if (!this.clear()) return;
    const { home } = this;
    view.fitted = home.s;
    map.legend.update();
    const rows = map.selection.rows();
    if (!view.zoomed) this.fly(this.clearOfCards(home, rows), 180, false);
    else {
      const to = view.at();
      to.cx += (old - this.panelShift) / view.s;
      this.fly(this.clearOfCards(to, rows), 180);
    }
  }

  /** Restore the camera of the last mount, else use the one of Python, else show all. @param {MapSpec} data */
  begin(data, restored) {
    const { stage, overlay } = this.map;
    const { view } = this.scene;
    view.W = Math.max(stage.clientWidth, 1);
    view.H = Math.max(stage.clientHeight, 1);
    overlay.resize(view.W, view.H);
    this.clear();
    view.go(this.home);
    view.fitted = view.s;
    const same = restored.geometry === data.geometry.id;
    if (same && restored.zoomed) view.go(view.cameraOfRange(restored.range, restored.k));
    else if (!same && data.camera) {
      const place = view.cameraOfRange(data.camera, view.stretchOf(data.camera));
      view.go({ ...place, cx: place.cx - this.panelShift / place.s });
    }
    view.zoomed = same ? Boolean(restored.zoomed) : Boolean(data.camera);
    this.sentKey = JSON.stringify(data.camera);
  }

  resize() {
    const { map, scene } = this;
    const { view } = scene;
    const { clientWidth: W, clientHeight: H } = map.stage;
    if (!W || !H || !scene.data || (W === view.W && H === view.H)) return;
    view.resize(W, H);
    map.overlay.resize(W, H);
    this.clear();
    const { home } = this;
    if (!view.zoomed && !scene.data.live) view.go(home);
    view.fitted = home.s;
    map.filmStrip.drawOverview();
    map.legend.update();
    map.requestDraw({ paint: true, place: true });
  }

  /** Move the camera in one animation. @param {Place} place */
  fly(place, ms = 450, zoomed = true) {
    const { map, scene } = this;
    scene.view.zoomed = zoomed;
    if (prefersReducedMotion() || ms === 0) {
      scene.flight = null;
      scene.view.go(place);
    } else scene.flight = { from: scene.view.at(), to: place, begun: performance.now(), ms };
    map.requestDraw({ view: true });
  }

  /** One frame of the animation. @param {number} now */
  step(now) {
    const { scene } = this;
    if (!scene.flight) return;
    const { from, to, begun, ms } = scene.flight;
    const t = Math.min(Math.max((now - begun) / ms, 0), 1);
    scene.view.go(t < 1 ? interpolateCamera(from, to, ease(t)) : to);
    if (t >= 1) scene.flight = null;
  }

  /** @param {number[]} rows */
  fit(rows = []) {
    const { data, pos, isShown } = this.scene;
    const place = data.live ? this.around(frameOf(pos, isShown)) : this.home;
    this.fly(this.clearOfCards(place, rows), 450, false);
  }

  /** Show every item, including outliers. */
  fitAll() {
    const { pos, isShown } = this.scene;
    this.fly(this.around(frameOf(pos, isShown, 0)));
  }

  /** Limit a zoom factor: no further in when about a dozen items fill the view. @param {number} factor */
  limitZoom(factor) {
    const { view, pos, isShown, n } = this.scene;
    if (factor <= 1 || view.s < 2 * view.fitted) return factor;
    const { x, y } = view.range;
    let seen = 0;
    for (let r = 0; r < n && seen <= MIN_VISIBLE; r++) {
      if (isShown[r] && pos[2 * r] > x[0] && pos[2 * r] < x[1] && pos[2 * r + 1] > y[0] && pos[2 * r + 1] < y[1]) seen += 1;
    }
    return seen > MIN_VISIBLE ? factor : 1;
  }

  /** Zoom around a place, the centre if none is given. @param {number} step */
  zoomBy(step, px = this.scene.view.W / 2, py = this.scene.view.H / 2) {
    const { view, flight } = this.scene;
    const factor = this.limitZoom(step);
    const target = Object.assign(new View(), view, flight?.to);
    target.zoom(factor, px, py);
    this.fly(target.at(), 220);
  }

  /** Bring an item into view with its links; on a crowded map, zoom in enough to separate it. @param {number} row */
  flyTo(row) {
    const { view, pos, visible } = this.scene;
    if (visible > CROWDED_ITEMS) {
      const s = Math.max(view.s, view.fitted * 4);
      this.fly({ cx: pos[2 * row], cy: pos[2 * row + 1], s, k: view.k }, 700);
      return;
    }
    const [x, y] = this.scene.pixel(row);
    const { left, top, right, bottom } = view.clear;
    if (x > left && y > top && x < view.W - right && y < view.H - bottom) return;
    this.fit([row]);
  }

  /**
   * Move to a view of all given rows on a new map, with their surroundings.
   * @param {number[]} rows @param {Float32Array} pos
   */
  flyToAll(rows, pos) {
    const { view, isShown, n } = this.scene;
    const flags = new Uint8Array(n);
    rows.forEach((r) => { flags[r] = isShown[r]; });
    const target = Object.assign(new View(), view);
    this.framed = target.around({ ...frameOf(pos, flags, 0, 1.25), stretch: view.k, maxScale: view.fitted * MAX_FRAME_ZOOM });
    this.fly(this.framed, MORPH_MS);
  }

  /** Whether the camera is still where `flyToAll` moved it. */
  get movedByMap() {
    const { framed, scene: { view, flight } } = this;
    const now = flight ? flight.to : view.at();
    return framed !== null && /** @type {const} */ (["cx", "cy", "s"]).every((key) => Math.abs(now[key] - framed[key]) < 1e-9 * Math.abs(framed[key]));
  }

  /**
   * Whether, on a new map, some rows would be off screen or all in one spot.
   * @param {number[]} rows @param {Float32Array} pos
   */
  losesRows(rows, pos) {
    const { view, isShown } = this.scene;
    const target = Object.assign(new View(), view);
    if (!view.zoomed) target.go(this.home);
    const at = rows.filter((r) => isShown[r] && !Number.isNaN(pos[2 * r]))
      .map((r) => /** @type {[number, number]} */ ([target.x(pos[2 * r]), target.y(pos[2 * r + 1])]));
    if (!at.length) return false;
    const { left, top, right, bottom } = view.clear;
    const off = ([x, y]) => x < left || y < top || x > view.W - right || y > view.H - bottom;
    const span = (axis) => Math.max(...at.map((p) => p[axis])) - Math.min(...at.map((p) => p[axis]));
    return at.some(off) || (at.length > 1 && Math.max(span(0), span(1)) < SPOT_PX);
  }

  /** Show the whole map if one of the rows is off screen. @param {number[]} rows */
  showRows(rows) {
    const { view, isShown } = this.scene;
    /** @param {number} r */
    const hidden = (r) => {
      const [x, y] = this.scene.pixel(r);
      return isShown[r] && !(x > 20 && y > 20 && x < view.W - 20 && y < view.H - 20);
    };
    if (view.zoomed && rows.some(hidden)) this.fit();
    this.map.requestDraw({ paint: true });
  }

  /** Move the camera so that a few selected items are not covered. @param {number[]} rows */
  uncoverItems(rows) {
    const { scene } = this;
    const { view } = scene;
    if (!view.zoomed) this.followPanel();
    const now = scene.flight ? scene.flight.to : view.at();
    const to = this.clearOfCards(now, rows);
    if (to !== now) this.fly(to, 180, view.zoomed);
  }

  /**
   * The given camera, or the nearest one where none of these rows is covered.
   * @param {Place} place @param {number[]} rows
   */
  clearOfCards(place, rows) {
    const { view, pos, isShown, data } = this.scene;
    const narrow = view.W < NARROW_PX;
    const shown = rows.filter((r) => isShown[r] && !Number.isNaN(pos[2 * r]));
    if (!data.stage || data.mode !== "work" || !shown.length || shown.length > (narrow ? MIN_VISIBLE : 1)) return place;
    const target = Object.assign(new View(), view, place);
    const at = shown.map((r) => [target.x(pos[2 * r]), target.y(pos[2 * r + 1])]);
    const low = view.H - (narrow ? view.clear.bottom : MARGIN_PX);
    // Items out of view stay so.
    if (at.some(([x, y]) => x < 0 || y < 0 || x > view.W || y > view.H)) return place;
    const cards = cardBoxes(this.map).map(([x0, y0, x1, y1]) => [x0 - MARGIN_PX, y0 - MARGIN_PX, x1 + MARGIN_PX, y1 + MARGIN_PX]);
    /** @param {number} dx @param {number} dy */
    const clear = (dx, dy) => at.every(([px, py]) => {
      const [x, y] = [px + dx, py + dy];
      return x >= MARGIN_PX && y >= MARGIN_PX && x <= view.W - MARGIN_PX && y <= low
        && !cards.some(([x0, y0, x1, y1]) => x > x0 && x < x1 && y > y0 && y < y1);
    });
    /** @param {number} dx @param {number} dy */
    const moved = (dx, dy) => ({ ...place, cx: place.cx - dx / place.s, cy: place.cy + (dy * place.k) / place.s });
    if (clear(0, 0)) return place;
    for (let distance = SHIFT_STEP_PX; distance <= MAX_SHIFT_PX; distance += SHIFT_STEP_PX) {
      for (let direction = 0; direction < N_DIRECTIONS; direction++) {
        const angle = (direction / N_DIRECTIONS) * 2 * Math.PI - Math.PI / 2;
        const [dx, dy] = [Math.cos(angle) * distance, Math.sin(angle) * distance];
        if (clear(dx, dy)) return moved(dx, dy);
      }
    }
    // If there is no room for all, keep them above the sheet.
    const over = Math.max(...at.map(([, y]) => y)) - low;
    return over > 0 ? moved(0, -over) : place;
  }

  /** The visible range, centred on the uncovered area, since the panel may change. */
  clearRange() {
    const { x, y } = this.scene.view.range;
    const by = this.panelShift / this.scene.view.s;
    return { x: x.map((end) => end + by), y };
  }

  /** Called when the camera rests. */
  onRest() {
    const { map, scene } = this;
    remember(map.scene);
    map.filmStrip.drawOverview();
    if (scene.data.mode !== "work" || scene.data.linked_group || scene.isGeography || scene.isPresenting) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (scene.isClosed || scene.pointerDown) return;
      const camera = scene.view.zoomed ? this.clearRange() : null;
      const key = JSON.stringify(camera);
      if (key === this.sentKey) return;
      this.sentKey = key;
      send(() => map.component.setStateValue("camera", camera));
    }, SEND_DELAY_MS);
  }

  close() { clearTimeout(this.timer); }
}
