// Toolbar at the edge of the map: mouse tools, zoom to all, and a menu.

import { closest, h, icon, set } from "./dom.js";
import { openPopover } from "./popovers.js";
import { RovingFocus } from "./roving_focus.js";
import { Search } from "./search.js";
import { savePicture } from "./picture.js";
import { SWITCHES, isOn, toggleSwitch } from "./switches.js";

/** @import { HetMap } from "./map.js" */

const TOOLS = [["move", "Move", "V", "pointer"], ["lasso", "Lasso", "L", "lasso"], ["drag", "Drag", "D", "move"]];
export class Toolbar {
  /** @param {HetMap} map */
  constructor(map) {
    this.map = map;
    /** @type {{ element: HTMLElement, button: HTMLElement, content: HTMLElement }[]} */
    this.menus = [];
    this.scene = map.scene;
    this.tools = TOOLS.map(([name, label, key, iconName]) => h("button", {
      type: "button", "data-tool": name, title: `${label} (${key})`, onclick: () => { this.closeMenus(); map.setTool(name); },
    }, icon(iconName), label));
    this.search = new Search(map);
    const row = (name, label, act, more = {}) => h(
      "button", { type: "button", onclick: () => { this.closeMenus(); act(); }, ...more }, icon(name), label,
    );
    this.box = row("box", "Select in a box", () => map.setTool("box"), { "data-tool": "box", title: "Select in a box (R)" });
    this.switches = new Map(Object.entries(SWITCHES).map(([name, { label, icon: sign }]) => (
      [name, row(sign, label, () => toggleSwitch(map, name))])));
    this.stories = row("story", "Saved views", () => {
      map.stories.report();
      openPopover("stories", "stories-body", this.more.button);
    });
    this.newMap = row("layers", "New map", () => openPopover("new-map", "maker", this.more.button));
    this.mapPeriods = row("play", "Map each period", () => map.periods.openForm(this.more.button));
    this.more = this.menu("more", "Tools", h(
      "div", { class: "hv-menu" }, ...this.tools, this.box,
      row("fit", "Zoom to all", () => map.camera.fit(), { title: "Zoom to all (0)" }),
      row("plus", "Zoom in", () => map.camera.zoomBy(1.6), { title: "Zoom in (+)" }),
      row("minus", "Zoom out", () => map.camera.zoomBy(1 / 1.6), { title: "Zoom out (-)" }),
      ...this.switches.values(),
      this.stories,
      this.newMap,
      this.mapPeriods,
      row("image", "Save as PNG", () => savePicture(map)),
      row("help", "Help and keys", () => openPopover("help", "help-body", this.more.button), { title: "Help and keys (?)" }),
    ));
    this.element = h(
      "div", { class: "hv-bar hv-map-card", role: "toolbar", "aria-label": "Map tools" }, this.more.element,
    );
    this.rovingFocus = new RovingFocus(this.element, ":scope > .hv-tool, :scope > .hv-drop > .hv-tool");
    this.rovingFocus.setTabStop();
    this.stop = new AbortController();
    document.addEventListener("pointerdown", (event) => {
      if (!closest(event, ".hv-drop")) this.closeMenus();
    }, { signal: this.stop.signal, capture: true });
    map.root.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.closeMenus()) event.stopPropagation();
    }, { signal: this.stop.signal, capture: true });
  }

  /** A button that opens a menu. */
  menu(name, label, content) {
    const button = h("button", {
      type: "button", class: "hv-tool", title: label, "aria-label": label, "aria-expanded": "false",
    }, icon(name));
    return this.addMenu(button, content, h("div", { class: `hv-drop hv-drop-${name}` }, button, content));
  }

  addMenu(button, content, element) {
    const menu = { element, button, content };
    content.hidden = true;
    button.addEventListener("click", () => {
      const open = content.hidden;
      this.closeMenus();
      content.hidden = !open;
      set(button, { "aria-expanded": String(open) });
    });
    this.menus.push(menu);
    return menu;
  }

  closeMenus() {
    let closed = false;
    for (const { button, content } of this.menus) {
      closed = closed || !content.hidden;
      content.hidden = true;
      set(button, { "aria-expanded": "false" });
    }
    return closed;
  }

  /** Open the help, which lists the keys. */
  openHelp() {
    this.closeMenus();
    document.querySelector(".st-key-help button")?.click();
  }

  /** The buttons of the menu, with their keys. */
  commands() {
    return [...this.more.content.querySelectorAll("button")].filter((button) => !button.hidden).map((button) => ({
      title: button.textContent ?? "", keys: button.title.match(/\((.+)\)/)?.[1], run: () => button.click(),
    }));
  }

  focusSearch() { this.search.input.focus(); }

  update() {
    const { map, scene } = this;
    for (const button of [...this.tools, this.box]) {
      set(button, { "aria-pressed": String(button.dataset.tool === scene.tool) });
    }
    this.newMap.hidden = this.stories.hidden = !scene.data.stage;
    this.mapPeriods.hidden = !scene.data.periods?.offered;
    for (const [name, button] of this.switches) {
      set(button, { "aria-pressed": String(isOn(map, name)) });
      button.hidden = SWITCHES[name].isOffered?.(map) === false;
    }
    map.stage.dataset.tool = scene.tool;
    // The search box belongs in the top bar, if there is one.
    const host = (scene.data.stage && document.querySelector(".hv-find-host")) || map.root;
    if (!scene.data.linked_group && this.search.element.parentElement !== host) host.append(this.search.element);
  }

  close() {
    this.stop.abort();
    this.search.close();
    this.search.element.remove();
  }
}
