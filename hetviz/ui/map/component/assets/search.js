// Find an item by its title, fly to it and select it.

import { h, icon, set } from "./dom.js";
import { alone, ask } from "./ask.js";
import { turn } from "./panel.js";

const PAUSE = 140;
let serial = 0;

const press = (selector) => document.querySelector(selector)?.click();
const to = (place) => () => press(`.st-key-place-${place} a`);

/** Turn to a tab beside the map, on whatever page one is. */
function beside(tab, tries = 50) {
  if (document.querySelector(".hv-at-map") && window.hetviz.tabs) turn(tab);
  else if (tries) {
    if (tries === 50) to("map")();
    setTimeout(() => beside(tab, tries - 1), 100);
  }
}

const COMMANDS = [
  ["Data", to("data")], ["Map", to("map")], ["Compare", to("compare")], ["Export", to("export")],
  ...["Guidance", "Clusters", "Predict"].map((tab) => [tab, () => beside(tab)]),
  ["New map", () => press(".st-key-new-map button")], ["Undo", () => press(".st-key-undo button")],
  ["Help and keys", () => press(".st-key-help button")],
];

export class Search {
  constructor(map) {
    Object.assign(this, { map, found: [], at: -1, asked: 0 });
    const id = `hv-found-${++serial}`;
    this.list = h("ul", { class: "hv-found", role: "listbox", id, "aria-label": "Items found" });
    this.list.hidden = true;
    // In a notebook there is nothing to do but on the map.
    const what = alone ? "Find an item" : "Find an item, or do something";
    this.input = h("input", {
      type: "text", placeholder: what, "aria-label": what, role: "combobox",
      "aria-expanded": "false", "aria-controls": id, "aria-autocomplete": "list",
      autocomplete: "off", spellcheck: "false",
    });
    this.element = h("div", { class: "hv-search" }, icon("search"), this.input, this.list);
    this.input.addEventListener("input", () => this.later());
    // What was looked for before gives way to what is written next.
    this.input.addEventListener("focus", () => {
      this.input.select();
      if (this.input.value) this.later();
    });
    this.input.addEventListener("blur", () => setTimeout(() => this.hide(), 150));
    this.input.addEventListener("keydown", (event) => this.key(event));
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(), PAUSE);
  }

  async ask() {
    const text = this.input.value.trim();
    const asked = ++this.asked;
    if (!text) {
      this.hide();
      return;
    }
    try {
      const answer = await ask(
        `hv/search/${this.map.data.session}?q=${encodeURIComponent(text)}`,
      );
      const found = answer.ok ? await answer.json() : [];
      if (asked === this.asked && !this.map.dead) this.show(found);
    } catch {
      this.hide();
    }
  }

  show(found) {
    const said = this.input.value.trim().toLowerCase();
    // A map in a notebook has no places around it.
    const commands = (document.querySelector(".st-key-top") ? COMMANDS : []).filter(([name]) => name.toLowerCase().startsWith(said)).map(([title, run]) => ({ title, run }));
    this.found = [...found, ...commands];
    this.at = this.found.length ? 0 : -1;
    this.list.replaceChildren(...this.found.map((item, k) => this.option(item, k)));
    if (!this.found.length) {
      this.list.append(h("li", { class: "hv-none", role: "option", "aria-disabled": "true" }, "Nothing found"));
    }
    this.list.hidden = false;
    this.map.say(`${this.found.length} found`);
    this.mark();
  }

  option(item, k) {
    const { map } = this;
    if (item.run) {
      return h("li", {
        role: "option", id: `${this.list.id}-${k}`, "aria-selected": "false",
        onpointerdown: (event) => {
          event.preventDefault();
          this.take(k);
        },
      }, h("span", { class: "hv-name" }, item.title), h("small", {}, "go there"));
    }
    const dataset = map.data.datasets.find((d) => item.row >= d.start && item.row < d.stop);
    const glyph = h("span", { class: "hv-glyph" }, dataset?.glyph ?? "");
    glyph.style.color = map.palette[map.slot[item.row]] ?? "";
    return h("li", {
      role: "option", id: `${this.list.id}-${k}`, "aria-selected": "false",
      "aria-disabled": item.placed ? null : "true",
      onpointerdown: (event) => {
        event.preventDefault();
        this.take(k);
      },
    }, glyph, h("span", { class: "hv-name" }, item.title),
    h("small", {}, item.placed ? item.dataset : "not on this map"));
  }

  mark() {
    [...this.list.children].forEach((option, k) => {
      const here = k === this.at;
      set(option, { "aria-selected": String(here) });
      if (here) option.scrollIntoView({ block: "nearest" });
    });
    set(this.input, {
      "aria-expanded": String(!this.list.hidden),
      "aria-activedescendant": this.at >= 0 ? `${this.list.id}-${this.at}` : null,
    });
  }

  hide() {
    this.list.hidden = true;
    this.at = -1;
    this.mark();
  }

  key(event) {
    event.stopPropagation();
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const by = event.key === "ArrowDown" ? 1 : -1;
      if (this.found.length) this.at = (this.at + by + this.found.length) % this.found.length;
      this.mark();
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (!this.list.hidden && this.at >= 0) this.take(this.at);
    } else if (event.key === "Escape") {
      if (this.list.hidden) {
        this.input.value = "";
        this.map.stage.focus({ preventScroll: true });
      } else this.hide();
    }
  }

  take(k) {
    const { map } = this;
    const item = this.found[k];
    this.hide();
    if (!item) return;
    if (item.run) {
      this.input.value = "";
      item.run();
      return;
    }
    this.input.value = item.title;
    const there = item.placed && !Number.isNaN(map.pos[2 * item.row]);
    if (!there) {
      map.say(`${item.title} has no place on this map`);
      return;
    }
    const dataset = map.data.datasets.find((d) => item.row >= d.start && item.row < d.stop);
    if (dataset && map.hidden.includes(dataset.name)) map.layers.toggle(dataset.name);
    map.select([item.row]);
    map.camera.flyTo(item.row);
    map.stage.focus({ preventScroll: true });
  }

  close() {
    clearTimeout(this.timer);
    this.asked += 1;
  }
}
