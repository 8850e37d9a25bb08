// The tools at the edge of the map: what the mouse does, all of the map, and more; the list of keys.

import { h, icon, set } from "./dom.js";
import { Rove } from "./rove.js";
import { Search } from "./search.js";
import { savePicture } from "./picture.js";

const TOOLS = [["move", "Move", "V", "pointer"], ["lasso", "Lasso", "L", "lasso"], ["drag", "Drag", "D", "move"]];
const KEYS = [
  ["V, L, R, D", "move, lasso, box, drag an item"],
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

export class Bar {
  constructor(map) {
    this.map = map;
    this.tools = TOOLS.map(([name, label, key, look]) => h("button", {
      type: "button", class: "hv-tool", "data-tool": name, title: `${label} (${key})`, "aria-label": label,
      onclick: () => map.setTool(name),
    }, icon(look)));
    this.search = new Search(map);
    const row = (name, label, act, more = {}) => h(
      "button", { type: "button", onclick: () => { this.closeMenus(); act(); }, ...more }, icon(name), label,
    );
    this.box = row("box", "Select in a box", () => map.setTool("box"), { "data-tool": "box" });
    this.haze = row("fog", "Haze where the map is not to be trusted", () => map.toggleHaze());
    this.more = this.menu("more", "More tools", h(
      "div", { class: "hv-menu" }, this.box,
      row("plus", "Zoom in", () => map.camera.zoomBy(1.6)),
      row("minus", "Zoom out", () => map.camera.zoomBy(1 / 1.6)),
      this.haze,
      row("image", "Save as PNG", () => savePicture(map)),
      row("help", "Keys", () => this.keys()),
    ));
    this.element = h(
      "div", { class: "hv-bar hv-float", role: "toolbar", "aria-label": "Map tools" },
      ...this.tools, h("hr"),
      h("button", {
        type: "button", class: "hv-tool", title: "See all (0)", "aria-label": "See all", onclick: () => map.camera.fit(),
      }, icon("fit")),
      this.more.element,
    );
    this.rove = new Rove(this.element, ":scope > .hv-tool, :scope > .hv-drop > .hv-tool");
    this.rove.settle();
    this.stop = new AbortController();
    document.addEventListener("pointerdown", (event) => {
      if (!event.target.closest?.(".hv-drop, .hv-keys")) this.closeMenus();
    }, { signal: this.stop.signal, capture: true });
    map.root.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.closeMenus()) event.stopPropagation();
    }, { signal: this.stop.signal, capture: true });
  }

  /** A button with a menu that it opens. */
  menu(name, label, content) {
    const button = h("button", {
      type: "button", class: "hv-tool", title: label, "aria-label": label, "aria-expanded": "false",
    }, icon(name));
    return this.opens(button, content, h("div", { class: `hv-drop hv-drop-${name}` }, button, content));
  }

  opens(button, content, element) {
    const menu = { element, button, content };
    content.hidden = true;
    button.addEventListener("click", () => {
      const open = content.hidden;
      this.closeMenus();
      content.hidden = !open;
      set(button, { "aria-expanded": String(open) });
    });
    (this.menus ??= []).push(menu);
    return menu;
  }

  closeMenus() {
    let closed = false;
    for (const { button, content } of this.menus) {
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
    for (const button of [...this.tools, this.box]) {
      set(button, { "aria-pressed": String(button.dataset.tool === map.tool) });
    }
    set(this.haze, { "aria-pressed": String(map.haze) });
    map.stage.dataset.tool = map.tool;
    // Find belongs to the bar above all places, where there is one.
    const host = (map.data.stage && document.querySelector(".hv-find-host")) || map.root;
    if (!map.data.together && this.search.element.parentElement !== host) host.append(this.search.element);
  }

  close() {
    this.stop.abort();
    this.search.close();
    this.search.element.remove();
  }
}
