// Legend with datasets and colours, which is also a filter. A click dims the others, Shift + click adds
// one, a second click shows all again, a double-click hides. Python is notified of hidden datasets.

import { ColorChooser, faintCategories, isFaint } from "./color_chooser.js";
import { formatNumber } from "./colors.js";
import { h, icon, set, thousands } from "./dom.js";
import { send } from "./page_change.js";
import { countOf } from "./pick.js";
import { closePopover, openPopover } from "./popovers.js";
import { RovingFocus } from "./roving_focus.js";

/** @import { HetMap } from "./map.js" */
/** @import { ColourSpec, MapSpec } from "./messages.js" */

const MAX_NAMED = 3; // datasets up to which the title names them
const MAX_UNSEARCHED = 10; // colours up to which the menu has no search box
const MAX_NOTE = 160; // characters up to which the note is not folded
const LONG_TITLE = 60; // characters up to which the title is in larger type

export class Legend {
  /** @param {HetMap} map */
  constructor(map) {
    this.map = map;
    this.scene = map.scene;
    this.isolated = { set: new Set(), code: new Set() };
    this.hiddenCodes = new Set();
    /** @type {[number, number] | null} */
    this.range = null;
    /** @type {string | undefined} */
    this.colourKey = undefined;
    this.headline = h("p", { class: "hv-map-title" });
    this.origin = h("p", { class: "hv-map-origin" });
    this.sentence = h("p", { class: "hv-map-sentence" });
    this.sets = h("div", { class: "hv-rows hv-sets", role: "group", "aria-label": "Datasets" });
    this.title = h("button", { type: "button", class: "hv-colour", "aria-expanded": "false" });
    this.options = h("div", { class: "hv-menu hv-colours-menu" });
    this.colours = h("div", { class: "hv-rows hv-colours", role: "group", "aria-label": "Colours" });
    this.note = h("div", { class: "hv-legend-note" });
    this.status = h("div", { class: "hv-status" });
    this.chooser = new ColorChooser(map, {
      onPreview: (code, colour) => this.preview(code, colour), onChoose: (code, colour) => this.setSwatch(code, colour),
    });
    this.pill = h("button", {
      type: "button", class: "hv-pill", "aria-expanded": "false", onclick: () => this.unfold(),
    });
    const drop = h("div", { class: "hv-drop" }, this.title);
    this.body = h("div", { class: "hv-legend-body" }, this.headline, this.origin, this.sentence, drop, this.colours, this.sets, this.note, this.status, this.chooser.element);
    this.rovingFocus = new RovingFocus(this.body, "button.hv-row, .hv-colour, .hv-text-button");
    this.element = h("div", { class: "hv-legend hv-map-card", role: "region", "aria-label": "Legend" }, this.pill, this.body);
    this.observer = new ResizeObserver(() => this.measure());
    // The body of a legend that scrolls changes alone.
    for (const part of [this.element, this.body]) this.observer.observe(part);
  }

  /** Set where the filters, which stand below the legend, and their form begin. */
  measure() {
    if (!this.scene.data?.stage) return;
    const { style } = document.documentElement;
    const { offsetTop, offsetHeight } = this.element;
    style.setProperty("--hv-legend-end", `${offsetTop + offsetHeight}px`);
    style.setProperty("--hv-change-end", `${this.title.getBoundingClientRect().bottom}px`);
  }

  unfold() {
    const open = this.element.toggleAttribute("data-open");
    set(this.pill, { "aria-expanded": String(open) });
  }

  update() {
    const { data, scheme, hidden } = this.scene;
    if (data.mode !== "work" || data.linked_group) return;
    const colourKey = data.colour?.key;
    if (colourKey !== this.colourKey) Object.assign(this, { colourKey, hiddenCodes: new Set(), range: null, isolated: { set: this.isolated.set, code: new Set() } });
    const state = JSON.stringify([
      data.datasets, data.colour, data.colours, data.notes, data.proposed, this.scene.unstable && data.spread?.text, scheme, hidden, [...this.isolated.set], [...this.isolated.code], [...this.hiddenCodes], this.range,
    ]);
    if (state !== this.drawnState) {
      this.drawnState = state;
      this.rovingFocus.redraw(() => this.draw(data));
    }
    this.rovingFocus.redraw(() => this.counts());
    this.say();
  }

  /** Write what the map shows, and how many of its links are close, once that is known. */
  say() {
    const { data } = this.scene;
    if (!data.stage || data.mode !== "work") return;
    const { datasets } = data;
    const title = datasets.length > MAX_NAMED ? `${thousands(this.scene.n)} items of ${datasets.length} datasets`
      : joined(datasets.map((d) => d.counted));
    // Names of files may be long words.
    this.headline.textContent = title.replaceAll("_", "_\u200b");
    this.headline.toggleAttribute("data-long", title.length > LONG_TITLE);
    const open = this.map.filmStrip.maps().find((entry) => entry.is_open);
    const close = this.scene.isGeography ? null : open?.close;
    this.sentence.textContent = close ?? "";
    set(this.sentence, { "data-hv-show": close && open ? `links/1/given/${open.id}` : null });
  }

  /** @param {MapSpec} data */
  draw(data) {
    if (!this.options.isConnected && !this.title.ariaHasPopup) this.addOpener(data.stage);
    const maxCount = Math.max(...data.datasets.map((d) => d.count ?? d.stop - d.start), 1);
    const { colour } = data;
    const byDataset = colour?.option === "dataset";
    const palette = colour?.palette?.[this.scene.scheme] ?? [];
    this.sets.replaceChildren(...data.datasets.map((d, k) => this.dataset(d, maxCount, byDataset ? palette[k] : undefined)));
    set(this.title, { title: colour?.title ?? null });
    set(this.pill, { title: colour?.title ?? null });
    const [long, short] = data.proposed ?? [];
    this.origin.textContent = long ?? "";
    this.title.replaceChildren("Colour: ", h("b", {}, colour?.title ?? "none"), h("span", { class: "hv-change" }, "Change"));
    this.pill.replaceChildren(
      h("span", { class: "hv-pill-marks" }, ...(colour?.palette?.[this.scene.scheme] ?? []).slice(0, 8).map((c) => mark(c))),
      h("span", {}, colour?.title ?? "Legend", short ? h("small", {}, short) : null), icon("down"),
    );
    const groups = new Map((data.colours ?? []).map(({ group }) => [group, /** @type {HTMLElement[]} */ ([])]));
    for (const option of data.colours ?? []) {
      groups.get(option.group)?.push(h("button", {
        type: "button", "aria-pressed": String(option.key === colour?.option), onclick: () => this.colourBy(option.key),
      }, option.title));
    }
    const options = [...groups.values()].flat();
    const listed = [...groups].flatMap(([name, buttons]) => [h("p", { class: "hv-menu-group" }, name), ...buttons]);
    this.options.replaceChildren(...(options.length > MAX_UNSEARCHED ? [searchBox(options)] : []), ...listed);
    this.colours.replaceChildren(...(byDataset ? [] : this.meaning(colour)));
    const faded = this.scene.unstable ? data.spread?.text ?? "" : "";
    const note = [...data.notes, faded].filter(Boolean).join(" ");
    const isOpen = this.note.querySelector("details[open]") !== null;
    this.note.replaceChildren(note.length <= MAX_NOTE ? note
      : h("details", { open: isOpen }, h("summary", {}, "About the dots"), note));
  }

  /** Let the title open the menu: in the app a sheet has it, with the filters. */
  addOpener(isStage) {
    const { map, title, options } = this;
    if (!isStage) {
      title.after(options);
      map.toolbar.addMenu(title, options, title.parentElement);
      return;
    }
    set(title, {
      "aria-haspopup": "dialog",
      onclick: () => (title.ariaExpanded === "true" ? closePopover("filter")
        : openPopover("filter", "filter-form", title, (form) => form.querySelector(".hv-colours-host")?.replaceChildren(options))),
    });
  }

  /** @param {string | number} key */
  colourBy(key) {
    this.map.toolbar.closeMenus();
    if (this.scene.data.stage) closePopover("filter");
    send(() => this.map.component.setTriggerValue("colour", key));
  }

  /** @param {number} maxCount @param {string} [color] Colour of its items, if colours show the dataset. */
  dataset(d, maxCount, color) {
    const { map, scene } = this;
    const shown = !scene.hidden.includes(d.name);
    const count = d.count ?? d.stop - d.start;
    const glyph = h("span", { class: "hv-glyph", "aria-hidden": "true" }, d.glyph);
    if (color) glyph.style.color = color;
    return this.row({
      code: color ? scene.data.datasets.indexOf(d) : null, kind: "set", name: d.name, key: d.name, count, maxCount, shown, barColour: color ?? "var(--m-mute)",
      mark: glyph,
      hide: () => map.layers.toggle(d.name), rows: () => this.rowsOf((r) => r >= d.start && r < d.stop),
    });
  }

  /** @param {ColourSpec} colour */
  meaning(colour) {
    if (!colour) return [];
    if (colour.kind === "numbers") return this.ramp(colour);
    const counts = colour.counts?.categories ?? [];
    const others = colour.counts?.other ?? 0;
    const maxCount = Math.max(...counts, 1);
    const palette = colour.palette[this.scene.scheme];
    /** @type {HTMLElement[]} */
    const rows = colour.categories.map((name, code) => this.row({
      code, kind: "code", name, key: code, count: counts[code], borrowed: colour.counts?.borrowed?.[code] ?? 0, maxCount, shown: !this.hiddenCodes.has(code), barColour: palette[code],
      mark: mark(palette[code]), hide: () => this.toggleCode(code), rows: () => this.rowsOf((r) => this.scene.slot[r] === code + 1),
    }));
    if (others) {
      const ghost = colour.ghost[this.scene.scheme];
      rows.push(h("div", { class: "hv-row hv-others" }, mark(ghost), h("span", {}, "other"), lengthBar(others, maxCount, ghost), h("span", { class: "hv-count" }, thousands(others))));
    }
    return rows;
  }

  row({ code, kind, name, key, count, borrowed = 0, maxCount, shown, barColour: colour, mark: sign, hide, rows }) {
    const chosen = this.isolated[kind].has(key);
    const hasPicker = code !== null && Boolean(this.scene.data.stage);
    if (hasPicker) sign.classList.add("hv-swatch");
    return h("button", {
      type: "button", class: "hv-row", "aria-pressed": String(chosen), "data-shown": String(shown), "data-name": name,
      "data-code": kind === "code" ? key : null,
      title: `${name}${borrowed ? ` (${thousands(count)}, and ${thousands(borrowed)} paler ones by what they link to)` : ""}: click to show only these, Shift + click to add more, Ctrl + click to select, double-click to ${shown ? "hide" : "show"}${hasPicker ? ", E or click its mark to change the colour" : ""}`,
      "aria-keyshortcuts": hasPicker ? "E" : null,
      onclick: (event) => (hasPicker && event.target === sign ? this.chooser.open(code, name, event.currentTarget)
        : this.click(event, kind, key, shown, hide, rows)),
      onkeydown: (event) => {
        if (!hasPicker || event.key.toLowerCase() !== "e" || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        this.chooser.open(code, name, event.currentTarget);
      },
    }, sign, h("span", { class: "hv-name" }, name), lengthBar(count ?? 0, maxCount, colour),
    h("span", { class: "hv-count", title: `${thousands(count ?? 0)}: click to see them`, "data-hv-show": kind === "code" ? `category/${key}` : `dataset/${encodeURIComponent(name)}` }, count === undefined ? "" : compact(count)));
  }

  /** @param {string | number} key @param {Uint8Array} shown */
  click(event, kind, key, shown, hide, rows) {
    const { map, scene } = this;
    // The browser counts clicks of a mouse, but not taps and keys.
    const isUncounted = event.detail === 0 || event.pointerType === "touch";
    const isSoon = event.detail === 2 || (isUncounted && performance.now() - (this.last?.at ?? 0) < 350);
    const isDouble = this.last?.key === key && this.last.kind === kind && isSoon;
    this.last = isDouble ? null : { kind, key, at: performance.now() };
    const chosen = this.isolated[kind];
    if (event.ctrlKey || event.metaKey || event.altKey) {
      const matching = rows();
      const all = matching.length > 0 && matching.every((r) => scene.picked[r]);
      map.selection.select(matching, all || event.altKey ? "subtract" : event.shiftKey ? "add" : "replace");
      return;
    }
    if (isDouble || !shown) {
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

  /** Draw the map in a colour before Python knows it. @param {number} code @param {string} colour */
  preview(code, colour) {
    const { scene } = this;
    // A copy, since Streamlit may give the same object again.
    const shown = structuredClone(scene.data.colour);
    for (const colours of Object.values(shown.palette)) colours[code] = colour;
    if (!shown.swatches.includes(code)) shown.swatches.push(code);
    scene.data = { ...scene.data, colour: shown };
    this.map.updates.recolour();
  }

  /** Keep the colour of a category, or give all their usual ones. @param {number | null} code @param {string} colour */
  setSwatch(code, colour) {
    const { map, scene } = this;
    const { option, categories } = scene.data.colour;
    if (code !== null && colour) {
      const [name] = categories.slice(code, code + 1);
      this.preview(code, colour);
      map.announce(isFaint(colour, scene.tokens.bg) ? hardToSee([name]) : `${name} has another colour`);
    }
    send(() => this.map.component.setTriggerValue("swatch", { option, code, colour }));
  }

  /** Hide the items of one colour, or show them again. @param {number} code */
  toggleCode(code) {
    if (!this.hiddenCodes.delete(code)) this.hiddenCodes.add(code);
    this.map.layers.update();
  }

  /** Show one dataset and fade the others. @param {string} name */
  showOnly(name) {
    if (this.scene.hidden.includes(name)) this.map.layers.toggle(name);
    this.isolated.set.clear();
    this.isolated.set.add(name);
    this.changed();
  }

  changed() {
    const { map, scene } = this;
    this.update();
    map.requestDraw({ paint: true, place: true });
    const names = [...this.isolated.set, ...[...this.isolated.code].map((code) => scene.data.colour.categories[code])];
    map.announce(names.length ? `Only ${names.join(", ")}` : "All shown");
  }

  /** Whether the legend dims some items. */
  get partial() { return this.isolated.set.size > 0 || this.isolated.code.size > 0 || this.range !== null; }

  /** Flags of the items that stay in colour; null for all. */
  focus() {
    if (!this.partial) return null;
    const { isolated, range, scene } = this;
    const { pale, values } = scene;
    const flags = new Uint8Array(scene.n);
    const sets = scene.data.datasets.filter((d) => !isolated.set.size || isolated.set.has(d.name));
    for (const d of sets) {
      for (let r = d.start; r < d.stop; r++) {
        const coded = !isolated.code.size || isolated.code.has(scene.slot[r] - 1);
        const within = !range || !values || (!pale?.[r] && values[r] >= range[0] && values[r] <= range[1]);
        flags[r] = coded && within ? 1 : 0;
      }
    }
    return flags;
  }

  rowsOf(of) {
    const { isShown, n } = this.scene;
    const rows = [];
    for (let r = 0; r < n; r++) if (isShown[r] && of(r)) rows.push(r);
    return rows;
  }

  /** The colour scale of a numeric column with two sliders. @param {ColourSpec} colour */
  ramp(colour) {
    const line = h("span", { class: "hv-ramp" });
    line.style.background = `linear-gradient(90deg, ${colour.scale[this.scene.scheme].join(", ")})`;
    const [low, high] = [colour.low ?? 0, colour.high ?? 0];
    const span = high - low || 1;
    const ends = this.range ?? [low, high];
    // A sign stands before an end of the scale that numbers lie beyond.
    /** @param {number} value @param {number} k */
    const text = (value, k) =>
      (value === [low, high][k] ? colour.endSigns[k] : "") + formatNumber(colour.log ? 10 ** value : value);
    const labels = h("div", { class: "hv-ends" }, ...ends.map((value, k) => h("span", { class: "hv-end" }, text(value, k))));
    /** @param {number} k */
    const end = (k, label) => {
      const input = h("input", {
        type: "range", min: 0, max: 100, step: 1, "aria-label": `${label} of ${colour.title}`,
        value: Math.round((100 * (ends[k] - low)) / span),
        oninput: () => {
          const shares = inputs.map((option) => Number(option.value));
          /** @param {number} share */
          const at = (share) => low + (share / 100) * span;
          const [first, last] = [Math.min(...shares), Math.max(...shares)];
          this.range = first <= 0 && last >= 100 ? null : [at(first), at(last)];
          const now = this.range ?? [low, high];
          [...labels.children].forEach((option, k) => { option.textContent = text(now[k], k); });
          this.map.requestDraw({ paint: true, place: true });
        },
      });
      return input;
    };
    const inputs = [end(0, "Lowest value shown"), end(1, "Highest value shown")];
    const note = colour.log ? [h("div", { class: "hv-legend-note" }, "Logarithmic scale")] : [];
    return [h("div", { class: "hv-brush" }, line, ...inputs), labels, ...note];
  }

  counts() {
    const { map, scene } = this;
    const parts = [];
    const { n } = scene;
    // The charts count live, and the filters count those that pass them.
    const isCounted = !map.dock.element.hidden || (scene.data.stage && scene.mask && countOf(scene.mask) === scene.visible);
    if (scene.visible < n && !isCounted && (scene.visible || !scene.data.live)) parts.push(h("span", {}, `${thousands(scene.visible)} of ${thousands(n)} shown`));
    if (this.partial || this.hiddenCodes.size) {
      parts.push(h("button", { type: "button", class: "hv-text-button", onclick: () => this.clear() }, "Show all"));
    }
    const { colour, live, stage } = scene.data;
    const outside = live ? 0 : map.camera.nOffScreen;
    if (stage && colour?.swatches?.length) {
      parts.push(h("button", { type: "button", class: "hv-text-button", onclick: () => this.setSwatch(null, "") }, "Reset colours"));
    }
    const faint = stage ? faintCategories(colour, scene.scheme, scene.tokens.bg) : [];
    if (faint.length) parts.push(h("span", {}, hardToSee(faint)));
    if (outside) {
      parts.push(
        h("span", {}, `${thousands(outside)} off screen`),
        h("button", { type: "button", class: "hv-text-button", onclick: () => map.camera.fitAll() }, "Show"),
      );
    }
    this.status.replaceChildren(...parts);
  }

  /** Clear the filters of the legend, like its button. */
  showAll() { if (this.partial || this.hiddenCodes.size) this.clear(); }

  clear() {
    Object.assign(this, { isolated: { set: new Set(), code: new Set() }, hiddenCodes: new Set(), range: null });
    this.map.layers.update();
    this.changed();
  }

  close() { this.observer.disconnect(); }
}

/** @param {string[]} names */
const hardToSee = (names) => `${joined(names)} ${names.length > 1 ? "are" : "is"} hard to see on this background`;

/** @param {string[]} texts */
const joined = (texts) => (texts.length < 2 ? texts.join("") : `${texts.slice(0, -1).join(", ")} and ${texts.at(-1)}`);

/** Format millions with three digits, since rows are narrow. @param {number} count */
const compact = (count) => (count >= 1e6 ? `${(count / 1e6).toPrecision(3)} M` : thousands(count));

/** A search box that hides the buttons without its text. Enter takes the first one. @param {HTMLElement[]} buttons */
export function searchBox(buttons, label = "Find a colour") {
  return h("input", {
    type: "search", placeholder: label, "aria-label": label, autocomplete: "off",
    oninput: ({ target }) => {
      const text = target.value.trim().toLowerCase();
      for (const button of buttons) button.hidden = !(button.textContent ?? "").toLowerCase().includes(text);
    },
    onkeydown: (event) => {
      if (event.key === "Enter") buttons.find((button) => !button.hidden)?.click();
      // Keys of the map have no meaning here. Escape closes the menu.
      if (event.key !== "Escape") event.stopPropagation();
    },
  });
}

/** @param {string} colour */
function mark(colour) {
  const element = h("i", { class: "hv-mark", "aria-hidden": "true" });
  element.style.background = colour;
  return element;
}

/** @param {number} count @param {number} maxCount @param {string} colour */
function lengthBar(count, maxCount, colour) {
  const length = h("i", {});
  length.style.width = `${Math.max((100 * count) / maxCount, count ? 4 : 0)}%`;
  length.style.background = colour;
  return h("span", { class: "hv-length", "aria-hidden": "true" }, length);
}
