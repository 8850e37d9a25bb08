// The row of tools above the map: what the mouse does, datasets, search, zoom, picture, keys.

import { h, icon, set, thousands } from "./dom.js";
import { Search } from "./search.js";
import { savePicture } from "./picture.js";

const TOOLS = [["move", "Move", "M"], ["lasso", "Lasso", "L"], ["box", "Box", "R"], ["drag", "Drag", "D"]];
const KEYS = [
  ["M, L, R, D", "move, lasso, box, drag an item"],
  ["Click", "select an item; on nothing: clear"],
  ["Shift or Ctrl", "add to the selection"],
  ["Alt", "take out of the selection; drag an item"],
  ["A, B", "make a group of what is selected"],
  ["T, X", "the groups: together, apart; again: add"],
  ["C", "A closer to B than to what is selected"],
  ["G", "name group A"],
  ["Shift + drag", "lasso, from any tool"],
  ["Arrows", "move the map"],
  ["+ and −", "zoom"],
  ["0 or double click", "all of the map"],
  ["/", "find an item"],
  ["N and P", "step through selected or near items"],
  ["Enter", "select the item stepped to, or in the middle"],
  ["Ctrl + A", "select all that is seen"],
  ["Esc", "clear"],
];
const LEVELS = 5;

export class Bar {
  constructor(map) {
    this.map = map;
    this.tools = TOOLS.map(([name, label, key]) => h(
      "button", {
        type: "button", "data-tool": name, title: `${label} (${key})`, "aria-label": label,
        onclick: () => map.setTool(name),
      }, icon(name), h("span", {}, label),
    ));
    this.chips = h("div", { class: "hv-chips", role: "group", "aria-label": "Datasets shown" });
    this.layers = this.menu("layers", "Datasets", h("div", { class: "hv-menu" }));
    this.search = new Search(map);
    const button = (name, label, action) => h(
      "button", { type: "button", class: "hv-tool", title: label, "aria-label": label, onclick: action },
      icon(name),
    );
    const picture = () => savePicture(map);
    const haze = "Haze where the map is not to be trusted";
    this.hazes = [
      button("fog", haze, () => map.toggleHaze()),
      h("button", { type: "button", onclick: () => map.toggleHaze() }, icon("fog"), "Haze where not to be trusted"),
    ];
    const keys = () => this.keys();
    this.more = this.menu("more", "More", h(
      "div", { class: "hv-menu" },
      h("button", { type: "button", onclick: picture }, icon("image"), "Save as PNG"),
      h("button", { type: "button", onclick: keys }, icon("help"), "Keys"),
      this.hazes[1],
    ));
    this.element = h(
      "div", { class: "hv-bar", role: "toolbar", "aria-label": "Map tools" },
      h("div", { class: "hv-segment", role: "group", "aria-label": "What the mouse does" }, ...this.tools),
      this.chips, this.layers.element, this.search.element, h("span", { class: "hv-gap" }),
      h(
        "div", { class: "hv-set", role: "group", "aria-label": "Zoom" },
        button("minus", "Zoom out (−)", () => map.camera.zoomBy(1 / 1.6)),
        button("plus", "Zoom in (+)", () => map.camera.zoomBy(1.6)),
        button("fit", "Show all (0)", () => map.camera.fit()),
      ),
      h(
        "div", { class: "hv-set hv-extras" },
        this.hazes[0],
        button("image", "Save as PNG", picture), button("help", "Keys (?)", keys),
      ),
      this.more.element,
    );
    this.stop = new AbortController();
    document.addEventListener("pointerdown", (event) => {
      if (!event.target.closest?.(".hv-drop, .hv-keys")) this.closeMenus();
    }, { signal: this.stop.signal, capture: true });
    this.element.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.closeMenus()) event.stopPropagation();
    });
  }

  menu(name, label, content) {
    const button = h("button", {
      type: "button", class: "hv-tool", title: label, "aria-label": label, "aria-expanded": "false",
    }, icon(name));
    const element = h("div", { class: `hv-drop hv-drop-${name}` }, button, content);
    content.hidden = true;
    button.addEventListener("click", () => {
      const open = content.hidden;
      this.closeMenus();
      content.hidden = !open;
      set(button, { "aria-expanded": String(open) });
    });
    return { element, button, content };
  }

  closeMenus() {
    let closed = false;
    for (const { button, content } of [this.layers, this.more]) {
      closed = closed || !content.hidden;
      content.hidden = true;
      set(button, { "aria-expanded": "false" });
    }
    if (this.help) {
      this.help.remove();
      this.help = null;
      closed = true;
      this.map.stage.focus({ preventScroll: true });
    }
    return closed;
  }

  /** Show or hide the list of keys. */
  keys() {
    const open = Boolean(this.help);
    this.closeMenus();
    if (open) return;
    const list = h("dl", {});
    for (const [key, meaning] of KEYS) list.append(h("dt", {}, key), h("dd", {}, meaning));
    const close = h("button", {
      type: "button", class: "hv-tool", "aria-label": "Close", onclick: () => this.closeMenus(),
    }, icon("close"));
    this.help = h("div", { class: "hv-keys", role: "dialog", "aria-label": "Keys and mouse" },
      h("strong", {}, "Keys and mouse"), close, list);
    this.help.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      this.closeMenus();
    });
    this.map.stage.append(this.help);
    close.focus();
  }

  focusSearch() { this.search.input.focus(); }

  update() {
    const { map } = this;
    for (const button of this.tools) {
      set(button, { "aria-pressed": String(button.dataset.tool === map.tool) });
    }
    for (const haze of this.hazes) set(haze, { "aria-pressed": String(map.haze) });
    map.stage.dataset.tool = map.tool;
    const { datasets } = map.data;
    const told = JSON.stringify([datasets, map.hidden]);
    if (told !== this.told) {
      this.told = told;
      this.chips.replaceChildren(...datasets.map((d) => this.chip(d)));
      this.layers.content.replaceChildren(...datasets.map((d) => this.chip(d)));
    }
    this.fit();
  }

  chip(d) {
    const { map } = this;
    const shown = !map.hidden.includes(d.name);
    const count = d.count ?? d.stop - d.start;
    return h("button", {
      type: "button", class: "hv-chip", "aria-pressed": String(shown), "data-name": d.name,
      title: `${shown ? "Hide" : "Show"} ${d.name}; with Alt: only these`,
      onclick: (event) => map.layers.toggle(d.name, event.altKey),
    }, h("span", { class: "hv-glyph" }, d.glyph), h("span", { class: "hv-name" }, d.name),
    h("span", { class: "hv-count" }, thousands(count)));
  }

  /** The fullest form of the row that fits its width. */
  fit() {
    for (let level = 0; level <= LEVELS; level++) {
      this.element.dataset.level = level;
      if (this.element.scrollWidth <= this.element.clientWidth + 1) break;
    }
  }

  close() {
    this.stop.abort();
    this.search.close();
  }
}
