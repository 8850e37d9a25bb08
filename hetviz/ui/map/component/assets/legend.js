// The line under the map: what the colours mean, and what is selected.

import { spoken } from "./colour.js";
import { h, icon, set, thousands } from "./dom.js";

export class Legend {
  constructor(map) {
    this.map = map;
    this.colours = h("div", { class: "hv-colours", role: "group", "aria-label": "Colours" });
    this.status = h("div", { class: "hv-status" });
    this.element = h("div", { class: "hv-legend" }, this.colours, this.status);
  }

  update() {
    const { data } = this.map;
    if (data.mode !== "work") return;
    const told = JSON.stringify([data.colour, data.theme]);
    if (told !== this.told) {
      this.told = told;
      this.colours.replaceChildren(...this.meaning(data.colour));
    }
    this.counts();
    this.fit();
  }

  meaning(colour) {
    if (!colour) return [];
    const title = h("span", { class: "hv-title" }, colour.title);
    if (colour.kind === "numbers") {
      const bar = h("span", { class: "hv-ramp" });
      bar.style.background = `linear-gradient(90deg, ${colour.scale.join(", ")})`;
      return [title, h("span", { class: "hv-end" }, spoken(colour.low)), bar,
        h("span", { class: "hv-end" }, spoken(colour.high))];
    }
    const swatches = colour.categories.map((name, code) => this.swatch(name, code, colour.palette[code]));
    const others = colour.counts?.other;
    if (others) {
      const rest = h("span", { class: "hv-swatch" }, h("i", {}), `${thousands(others)} others`);
      rest.firstChild.style.background = colour.ghost;
      swatches.push(rest);
    }
    return [title, ...swatches];
  }

  swatch(name, code, colour) {
    const mark = h("i", { "aria-hidden": "true" });
    mark.style.background = colour;
    return h("button", {
      type: "button", class: "hv-swatch", title: `Select ${name}`, "data-code": code,
      onclick: (event) => this.choose(code, event),
    }, mark, name);
  }

  rowsOf(code) {
    const { slot, pass } = this.map;
    const rows = [];
    for (let r = 0; r < slot.length; r++) if (pass[r] && slot[r] === code + 1) rows.push(r);
    return rows;
  }

  /** Select a group; a second time takes it back. */
  choose(code, event) {
    const { map } = this;
    const rows = this.rowsOf(code);
    const all = rows.length > 0 && rows.every((r) => map.picked[r]);
    const add = event.shiftKey || event.ctrlKey || event.metaKey;
    map.select(rows, all || event.altKey ? "subtract" : add ? "add" : "replace");
  }

  counts() {
    const { map } = this;
    const parts = [];
    const { n } = map;
    if (map.visible < n) parts.push(h("span", {}, `${thousands(map.visible)} of ${thousands(n)} shown`));
    if (map.linksTotal > map.links.length) {
      parts.push(h("span", {}, `${thousands(map.links.length)} of ${thousands(map.linksTotal)} links`));
    }
    if (map.count) {
      parts.push(h("button", {
        type: "button", class: "hv-picked", title: "Fly to the selection",
        onclick: () => map.camera.flyToAll(map.pickedRows()),
      }, `${thousands(map.count)} selected`));
      parts.push(h("button", {
        type: "button", class: "hv-tool hv-small", title: "Clear the selection (Esc)",
        "aria-label": "Clear the selection", onclick: () => map.selection.clear(),
      }, icon("close")));
    }
    this.status.replaceChildren(...parts);
  }

  /** A row that is wider than its place fades out at the right, and can be scrolled. */
  fit() {
    const { colours } = this;
    set(colours, { "data-more": null });
    set(colours, { "data-more": colours.scrollWidth > colours.clientWidth + 1 });
  }
}
