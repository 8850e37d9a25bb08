// What Python says: a small description with keys of arrays. The arrays come once, by address; when
// all are there, the parts of the map take over what is new.

import { followCharts } from "./charts.js";
import { slots } from "./colour.js";
import { Media } from "./media.js";
import { awaitPanel } from "./panel.js";
import { remember, remembered } from "./recall.js";
import { scheme } from "./scheme.js";
import { Missing, array, loadStyle, places } from "./store.js";

export class Arrival {
  constructor(map) { Object.assign(this, { map, ticket: 0, painted: null }); }

  async update(component) {
    const { map } = this;
    const { data } = component;
    map.component = component;
    const ticket = ++this.ticket;
    this.dress(data);
    // A job's first partial map may be there already; those who look at a map need not wait for more.
    if (data.live && map.data?.n === data.n) map.follower.follow(data.live, data.session);
    try {
      const arrays = await this.fetch(data);
      if (ticket === this.ticket && !map.dead) this.take(data, arrays);
    } catch (error) {
      if (ticket !== this.ticket || map.dead) return;
      if (error instanceof Missing) component.setTriggerValue("missing", error.message);
      // The server may be restarting; ask again.
      setTimeout(() => ticket === this.ticket && !map.dead && this.update(component), 2500);
    }
  }

  /** Size and colours of the whole component. */
  dress(data) {
    const { root } = this.map;
    root.style.height = data.height;
    root.dataset.mode = data.mode;
    root.dataset.place = data.place ?? "map";
    root.toggleAttribute("data-stage", Boolean(data.stage));
    this.colour(data);
  }

  /** Colours of the theme that is seen. */
  colour(data) {
    const { map } = this;
    const { root } = map;
    map.scheme = scheme();
    root.dataset.theme = map.scheme;
    for (const [name, value] of Object.entries(data.tokens[map.scheme])) {
      if (typeof value === "string") root.style.setProperty(`--m-${name.replaceAll("_", "-")}`, value);
    }
  }

  /** The theme changed: all that has a colour is drawn anew. */
  recolour() {
    const { map } = this;
    if (!map.data) return;
    const before = map.scheme;
    this.colour(map.data);
    map.tokens = map.data.tokens[map.scheme];
    Object.assign(map, slots(map.data.colour, map.values, map.n, map.scheme));
    map.bar.update();
    map.legend.update();
    // What is written stays where it is. The small maps follow once the large one is seen.
    map.wish({ paint: true });
    requestAnimationFrame(() => setTimeout(() => {
      if (map.dead) return;
      map.film.update();
      if (map.data.stage) followCharts(map, before);
    }));
  }

  async fetch(data) {
    const get = (key, type) => (key ? array(data.session, key, type) : null);
    const groups = Object.entries(data.acts?.groups ?? {});
    const newer = data.selection.version > remembered(this.map, data).version;
    const fresh = this.map.data?.n !== data.n;
    const [geometry, values, mask, order, bits, rows] = await Promise.all([
      places(data.session, data.geometry, data.n, fresh ? (pos) => this.grow(pos) : null),
      get(data.colour?.key, data.colour?.kind === "numbers" ? "f4" : "i1"),
      get(data.mask, "u1"), get(data.order, "i4"),
      newer ? get(data.selection.key, "u1") : null,
      Promise.all(groups.map(([, key]) => get(key, "i4"))),
      loadStyle(),
    ]);
    const grouped = new Map(groups.map(([name], k) => [name, Array.from(rows[k])]));
    return { geometry, values, mask, order, bits, grouped };
  }

  take(data, { geometry, values, mask, order, bits, grouped }) {
    const { map } = this;
    const before = map.data;
    const kept = remembered(map, data);
    if (data.stage && data.selection.count) awaitPanel();
    const fresh = !before || before.n !== data.n;
    Object.assign(map, {
      data, n: data.n, tokens: data.tokens[map.scheme], family: getComputedStyle(map.root).fontFamily,
      order: order || [], mask,
    });
    if (!data.stage) map.view.k = data.frame.stretch || 1;
    this.takeMedia(data);
    if (fresh) this.begin(data, geometry, kept);
    map.selection.take(data, bits, fresh);
    map.layers.take(data);
    // Cards tell of nearness and of the group that a colour stands for.
    if (values !== map.values || geometry !== map.geometry) map.media.cards.clear();
    if (values !== map.values || data.colour !== before?.colour) {
      Object.assign(map, slots(data.colour, values, map.n, map.scheme), { values });
    }
    map.stage.setAttribute("aria-label", `${data.alt} Press question mark for the keys.`);
    map.layers.show();
    const shown = !["data", "compare", "export"].includes(data.place);
    if (shown !== map.shown) {
      map.wish({ view: true });
      // Browsers may forget what a canvas showed that was out of sight for long.
      if (shown) map.points.again();
    }
    map.shown = shown;
    const other = before && (before.mode !== data.mode || before.stage !== data.stage);
    if (fresh || other) map.camera.begin(data, fresh ? kept : {});
    else if (geometry !== map.geometry) map.travel.arrive(geometry);
    map.together.join(data.together);
    map.acts.take(data, grouped);
    map.bar.update();
    map.legend.update();
    map.film.update();
    map.root.toggleAttribute("data-known", true);
    map.note.hidden = true;
    map.follower.follow(data.live, data.session);
    if (!data.live) map.travel.home();
    map.moving = Boolean(data.live) || Boolean(map.motion);
    map.learnTrust();
    const others = fresh || before.datasets.some(({ name }, k) => name !== data.datasets[k]?.name);
    if (others) map.regions.forget();
    map.regions.learn();
    remember(map);
    this.draw(fresh);
  }

  /** More of a large map has arrived: show it among what is there. */
  grow(pos) {
    const { map } = this;
    if (map.dead || map.geometry !== pos || map.motion) return;
    map.pos = Float32Array.from(pos);
    map.layers.show();
    map.legend.update();
    map.points.layout(map.pos.slice(), null, () => map.wish({ paint: true, place: true }));
  }

  takeMedia(data) {
    const { map } = this;
    const version = data.fingerprint || `${data.session}${data.order || ""}`;
    if (version === map.media?.version) return;
    map.media?.close();
    map.media = new Media(data.session, version, () => map.wish({ place: true }));
  }

  /** A map of other items than before, or the first: places are taken over as they are. */
  begin(data, geometry, kept) {
    const { map } = this;
    Object.assign(map, {
      picked: kept.picked || new Uint8Array(map.n), count: kept.picked ? kept.count : 0,
      version: kept.version, tool: data.mode === "work" ? kept.tool || map.tool : "move",
      links: [], pos: Float32Array.from(geometry), geometry, trust: null, trusted: null,
      cursor: -1, hovered: -1, sketch: null, ghosts: null, flight: null, motion: null,
    });
    map.points.begin(data);
    map.points.layout(map.pos.slice(), null, () => map.wish({ paint: true, place: true }));
    map.keys.walk = null;
    map.tip.show(-1);
    map.travel.target = geometry;
  }

  draw(fresh) {
    const { map } = this;
    const { data } = map;
    // Most reruns of the page change nothing that is painted.
    const painted = JSON.stringify([
      data.geometry.id, data.colour, data.mask, map.hidden, map.scheme, map.version, data.mode,
    ]);
    map.wish({ paint: fresh || painted !== this.painted, place: true });
    this.painted = painted;
  }
}
