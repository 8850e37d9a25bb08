// The legend: datasets, what the colours mean, and a filter, in one. A click leaves the others faint,
// with Shift one more, a second click all again; a double click hides. Python hears of hidden datasets.

import { spoken } from "./colour.js";
import { h, icon, set, thousands } from "./dom.js";
import { tell } from "./journey.js";
import { Rove } from "./rove.js";

export class Legend {
  constructor(map) {
    Object.assign(this, { map, alone: { set: new Set(), code: new Set() }, veiled: new Set(), range: null });
    this.sets = h("div", { class: "hv-rows", role: "group", "aria-label": "Datasets" });
    this.title = h("button", { type: "button", class: "hv-colour", "aria-expanded": "false" });
    this.options = h("div", { class: "hv-menu hv-colours-menu" });
    this.colours = h("div", { class: "hv-rows hv-colours", role: "group", "aria-label": "Colours" });
    this.said = h("p", { class: "hv-said-of" });
    this.status = h("div", { class: "hv-status" });
    this.pill = h("button", {
      type: "button", class: "hv-pill", "aria-expanded": "false", onclick: () => this.unfold(),
    });
    const drop = h("div", { class: "hv-drop" }, this.title, this.options);
    map.bar.opens(this.title, this.options, drop);
    this.body = h("div", { class: "hv-legend-body" }, this.sets, h("hr"), drop, this.colours, this.said, this.status);
    this.rove = new Rove(this.body, "button.hv-row, .hv-colour, .hv-picked");
    this.element = h("div", { class: "hv-legend hv-float", role: "region", "aria-label": "Legend" }, this.pill, this.body);
    this.observer = new ResizeObserver(() => this.measure());
    this.observer.observe(this.element);
  }

  /** What stands below the legend learns where it ends. */
  measure() {
    if (!this.map.data?.stage) return;
    document.documentElement.style.setProperty("--hv-legend-end", `${this.element.offsetTop + this.element.offsetHeight}px`);
  }

  unfold() {
    const open = this.element.toggleAttribute("data-open");
    set(this.pill, { "aria-expanded": String(open) });
  }

  update() {
    const { data, scheme, hidden } = this.map;
    if (data.mode !== "work" || data.together) return;
    const meant = data.colour?.key;
    if (meant !== this.meant) Object.assign(this, { meant, veiled: new Set(), range: null, alone: { set: this.alone.set, code: new Set() } });
    const told = JSON.stringify([
      data.datasets, data.colour, data.colours, data.said, scheme, hidden, [...this.alone.set], [...this.alone.code], [...this.veiled], this.range,
    ]);
    if (told !== this.told) {
      this.told = told;
      this.rove.redraw(() => this.draw(data));
    }
    this.rove.redraw(() => this.counts());
  }

  draw(data) {
    const most = Math.max(...data.datasets.map((d) => d.count ?? d.stop - d.start), 1);
    this.sets.replaceChildren(...data.datasets.map((d) => this.dataset(d, most)));
    const { colour } = data;
    set(this.title, { title: colour?.title ?? null });
    set(this.pill, { title: colour?.title ?? null });
    this.title.replaceChildren("Colour ", h("b", {}, colour?.title ?? "none"), icon("down"));
    this.pill.replaceChildren(
      h("span", { class: "hv-pill-marks" }, ...(colour?.palette?.[this.map.scheme] ?? []).slice(0, 8).map((c) => mark(c))),
      h("span", {}, colour?.title ?? "Legend"), icon("down"),
    );
    this.options.replaceChildren(...(data.colours ?? []).map((one) => h("button", {
      type: "button", "aria-pressed": String(one.key === colour?.option), onclick: () => this.colourBy(one.key),
    }, one.title)));
    this.colours.replaceChildren(...this.meaning(colour));
    this.said.textContent = (data.said ?? []).join(" ");
  }

  colourBy(key) {
    this.map.bar.closeMenus();
    tell(() => this.map.component.setTriggerValue("colour", key));
  }

  dataset(d, most) {
    const { map } = this;
    const shown = !map.hidden.includes(d.name);
    const count = d.count ?? d.stop - d.start;
    return this.row({
      kind: "set", name: d.name, key: d.name, count, most, shown, bar: "var(--m-mute)",
      mark: h("span", { class: "hv-glyph", "aria-hidden": "true" }, d.glyph),
      hide: () => map.layers.toggle(d.name), rows: () => this.rowsOf((r) => r >= d.start && r < d.stop),
    });
  }

  meaning(colour) {
    if (!colour) return [];
    if (colour.kind === "numbers") return this.ramp(colour);
    const counts = colour.counts?.categories ?? [];
    const others = colour.counts?.other ?? 0;
    const most = Math.max(...counts, 1);
    const palette = colour.palette[this.map.scheme];
    const rows = colour.categories.map((name, code) => this.row({
      kind: "code", name, key: code, count: counts[code], most, shown: !this.veiled.has(code), bar: palette[code],
      mark: mark(palette[code]), hide: () => this.veil(code), rows: () => this.rowsOf((r) => this.map.slot[r] === code + 1),
    }));
    if (others) {
      const ghost = colour.ghost[this.map.scheme];
      rows.push(h("div", { class: "hv-row hv-others" }, mark(ghost), h("span", {}, "other"), bar(others, most, ghost), h("span", { class: "hv-count" }, thousands(others))));
    }
    return rows;
  }

  row({ kind, name, key, count, most, shown, bar: colour, mark: sign, hide, rows }) {
    const chosen = this.alone[kind].has(key);
    return h("button", {
      type: "button", class: "hv-row", "aria-pressed": String(chosen), "data-shown": String(shown), "data-name": name,
      "data-code": kind === "code" ? key : null,
      title: `${name}: click to show only these, Shift + click to add others, Ctrl + click to select, double-click to ${shown ? "hide" : "show"}`,
      onclick: (event) => this.click(event, kind, key, shown, hide, rows),
    }, sign, h("span", { class: "hv-name" }, name), bar(count ?? 0, most, colour),
    h("span", { class: "hv-count", title: count >= 1e6 ? thousands(count) : "" }, count === undefined ? "" : brief(count)));
  }

  click(event, kind, key, shown, hide, rows) {
    const { map } = this;
    const twice = this.last?.key === key && this.last.kind === kind && performance.now() - this.last.at < 350;
    this.last = twice ? null : { kind, key, at: performance.now() };
    const chosen = this.alone[kind];
    if (event.ctrlKey || event.metaKey || event.altKey) {
      const found = rows();
      const all = found.length > 0 && found.every((r) => map.picked[r]);
      map.select(found, all || event.altKey ? "subtract" : event.shiftKey ? "add" : "replace");
      return;
    }
    if (twice || !shown) {
      chosen.clear();
      hide();
    } else if (event.shiftKey) {
      if (!chosen.delete(key)) chosen.add(key);
    } else if (chosen.size === 1 && chosen.has(key)) chosen.clear();
    else {
      chosen.clear();
      chosen.add(key);
    }
    this.changed();
  }

  /** Hide a group of one colour, or show it again. */
  veil(code) {
    if (!this.veiled.delete(code)) this.veiled.add(code);
    this.map.layers.show();
  }

  changed() {
    const { map } = this;
    this.update();
    map.wish({ paint: true, place: true });
    const names = [...this.alone.set, ...[...this.alone.code].map((code) => map.data.colour.categories[code])];
    map.say(names.length ? `Only ${names.join(", ")}` : "All shown");
  }

  /** Whether the legend leaves only some of the items in colour. */
  get partial() { return this.alone.set.size > 0 || this.alone.code.size > 0 || this.range !== null; }

  /** Flags of the items that stay in colour; null for all. */
  focus() {
    if (!this.partial) return null;
    const { map, alone, range } = this;
    const flags = new Uint8Array(map.n);
    const sets = map.data.datasets.filter((d) => !alone.set.size || alone.set.has(d.name));
    for (const d of sets) {
      for (let r = d.start; r < d.stop; r++) {
        const coded = !alone.code.size || alone.code.has(map.slot[r] - 1);
        const within = !range || (map.values[r] >= range[0] && map.values[r] <= range[1]);
        flags[r] = coded && within ? 1 : 0;
      }
    }
    return flags;
  }

  rowsOf(of) {
    const { pass, n } = this.map;
    const rows = [];
    for (let r = 0; r < n; r++) if (pass[r] && of(r)) rows.push(r);
    return rows;
  }

  /** The scale of a column of numbers, with two ends that can be moved. */
  ramp(colour) {
    const line = h("span", { class: "hv-ramp" });
    line.style.background = `linear-gradient(90deg, ${colour.scale[this.map.scheme].join(", ")})`;
    const span = colour.high - colour.low || 1;
    const ends = this.range ?? [colour.low, colour.high];
    const told = h("div", { class: "hv-ends" }, h("span", { class: "hv-end" }, spoken(ends[0])), h("span", { class: "hv-end" }, spoken(ends[1])));
    const end = (k, label) => {
      const input = h("input", {
        type: "range", min: 0, max: 100, step: 1, "aria-label": `${label} of ${colour.title}`,
        value: Math.round((100 * (ends[k] - colour.low)) / span),
        oninput: () => {
          const [low, high] = inputs.map((one) => Number(one.value));
          const range = [Math.min(low, high), Math.max(low, high)];
          this.range = range[0] <= 0 && range[1] >= 100 ? null : range.map((share) => colour.low + (share / 100) * span);
          const now = this.range ?? [colour.low, colour.high];
          [...told.children].forEach((one, at) => { one.textContent = spoken(now[at]); });
          this.map.wish({ paint: true, place: true });
        },
      });
      return input;
    };
    const inputs = [end(0, "Lowest value shown"), end(1, "Highest value shown")];
    return [h("div", { class: "hv-brush" }, line, ...inputs), told];
  }

  counts() {
    const { map } = this;
    const parts = [];
    const { n } = map;
    if (map.visible < n && (map.visible || !map.data.live)) parts.push(h("span", {}, `${thousands(map.visible)} of ${thousands(n)} shown`));
    if (this.partial || this.veiled.size) {
      parts.push(h("button", { type: "button", class: "hv-picked", onclick: () => this.clear() }, "Show all"));
    }
    const { outside, live } = map.data;
    if (outside && !live) {
      parts.push(
        h("span", {}, `${thousands(outside)} beyond the edge`),
        h("button", { type: "button", class: "hv-picked", onclick: () => map.camera.whole() }, outside === 1 ? "Show it" : "Show them"),
      );
    }
    this.status.replaceChildren(...parts);
  }

  /** As its button does, where something is filtered here. */
  showAll() { if (this.partial || this.veiled.size) this.clear(); }

  clear() {
    Object.assign(this, { alone: { set: new Set(), code: new Set() }, veiled: new Set(), range: null });
    this.map.layers.show();
    this.changed();
  }

  close() { this.observer.disconnect(); }
}

/** Millions with three digits: seven and their commas have no room in a row. */
const brief = (count) => (count >= 1e6 ? `${(count / 1e6).toPrecision(3)} M` : thousands(count));

function mark(colour) {
  const one = h("i", { class: "hv-mark", "aria-hidden": "true" });
  one.style.background = colour;
  return one;
}

function bar(count, most, colour) {
  const length = h("i", {});
  length.style.width = `${Math.max((100 * count) / most, count ? 4 : 0)}%`;
  length.style.background = colour;
  return h("span", { class: "hv-length", "aria-hidden": "true" }, length);
}
