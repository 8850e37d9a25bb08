// Keyboard shortcuts on the map, and the walk from item to item.

import { selectionMode } from "./pointer.js";
import { TABS, togglePanel, openTab } from "./panel.js";
import { nearest, neighbours, within } from "./pick.js";
import { proposedPairs } from "./proposed_pairs.js";

/** @import { HetMap } from "./map.js" */

export class Keys {
  /** @param {HetMap} map */
  constructor(map) {
    this.map = map;
    this.scene = map.scene;
    this.walk = null;
    this.stop = new AbortController();
    const { stage } = map;
    const { signal } = this.stop;
    stage.addEventListener("keydown", (event) => this.scene.data && this.press(event), { signal });
    // Only keyboard users see the focus ring of the map.
    stage.addEventListener(
      "focus", () => stage.classList.toggle("hv-keyboard", !map.pointer.pressed), { signal },
    );
    stage.addEventListener("blur", () => stage.classList.remove("hv-keyboard"), { signal });
  }

  press(event) {
    const { map, scene } = this;
    if (scene.data.mode !== "work" || event.target !== map.stage) return;
    if (!["Shift", "Control", "Alt", "Meta"].includes(event.key)) map.stage.classList.add("hv-keyboard");
    const step = event.shiftKey ? 160 : 60;
    const command = event.ctrlKey || event.metaKey;
    /** @param {number} dx @param {number} dy */
    const pan = (dx, dy) => () => {
      scene.flight = null;
      scene.view.pan(dx * step, dy * step);
      scene.view.zoomed = true;
      map.requestDraw({ view: true });
    };
    const actions = {
      ArrowLeft: pan(1, 0), ArrowRight: pan(-1, 0), ArrowUp: pan(0, 1), ArrowDown: pan(0, -1),
      "+": () => map.camera.zoomBy(1.5), "=": () => map.camera.zoomBy(1.5),
      "-": () => map.camera.zoomBy(1 / 1.5), _: () => map.camera.zoomBy(1 / 1.5),
      0: () => map.camera.fit(), Home: () => map.camera.fit(),
      v: () => map.setTool("move"), m: () => map.setTool("move"), l: () => map.setTool("lasso"), r: () => map.setTool("box"),
      d: () => map.setTool("drag"), a: () => map.statements.set("A"), b: () => map.statements.set("B"),
      t: () => map.statements.choose("t"), x: () => map.statements.choose("x"),
      c: () => map.statements.choose("c"), g: () => map.statements.choose("g"), k: () => map.statements.choose("g"),
      f: () => document.querySelector(".st-key-only-linked button")?.click(),
      i: () => scene.data.stage && togglePanel(),
      ...Object.fromEntries(TABS.map((tab, at) => [at + 1, () => scene.data.stage && openTab(tab)])),
      "/": () => map.toolbar.focusSearch(), "?": () => map.toolbar.openHelp(),
      n: () => this.step(1), "]": () => this.step(1),
      p: () => this.step(-1), "[": () => this.step(-1),
      Enter: () => this.enter(event), Escape: () => this.escape(),
    };
    const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    // While the panel asks about a pair, N is an answer.
    if (name === "n" && proposedPairs().length) return;
    let action = actions[name];
    if (command) action = name === "a" ? () => this.selectSeen() : null;
    if (!action || (event.altKey && name !== "Enter")) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  }

  selectSeen() {
    const { selection } = this.map;
    const { pos, isShown, view } = this.scene;
    const { x, y } = view.range;
    selection.select(within(pos, isShown, { x, y }), "replace");
  }

  /** The item nearest to the centre of the view. */
  centralRow() {
    const { scene } = this;
    return nearest(scene.pos, scene.isShown, scene.view, scene.view.W / 2, scene.view.H / 2, 1e6);
  }

  /** Step through the selected items, or through those nearest to one item. @param {number} by */
  step(by) {
    const { map, scene } = this;
    if (!this.walk) {
      const shownRows = map.selection.rows().filter((r) => scene.isShown[r]);
      let rows = shownRows;
      if (shownRows.length < 2) {
        const from = shownRows.length ? shownRows[0] : this.centralRow();
        if (from < 0) return;
        rows = [from, ...neighbours(scene.pos, scene.isShown, from, 60)];
      }
      this.walk = { rows, at: by > 0 ? -1 : 0 };
    }
    const { rows } = this.walk;
    this.walk.at = (this.walk.at + by + rows.length) % rows.length;
    this.moveCursor(rows[this.walk.at]);
  }

  /** @param {number} row */
  moveCursor(row) {
    const { map, scene } = this;
    scene.cursor = row;
    const { view, pos } = scene;
    const [x, y] = scene.pixel(row);
    if (x < 30 || y < 30 || x > view.W - 30 || y > view.H - 30) {
      map.camera.fly({ ...view.at(), cx: pos[2 * row], cy: pos[2 * row + 1] }, 300);
    }
    map.tooltip.show(row);
    const said = map.liveRegion.textContent;
    map.media.card(row).then((card) => {
      const isNewest = scene.cursor === row && map.liveRegion.textContent === said;
      if (isNewest) map.announce(`${card.title}, ${card.dataset}`);
    }, () => {});
    map.requestDraw({ place: true });
  }

  enter(event) {
    const { map, scene } = this;
    // Enter adds the prepared statement, unless the keyboard cursor is on an item.
    const addButton = scene.cursor < 0 && document.querySelector(".st-key-add-statement button:not(:disabled)");
    if (addButton) {
      addButton.click();
      return;
    }
    const row = scene.cursor >= 0 ? scene.cursor : this.centralRow();
    if (row < 0) return;
    const mode = selectionMode(event);
    map.selection.select([row], mode === "add" && scene.picked[row] ? "subtract" : mode);
    this.moveCursor(row);
  }

  escape() {
    const { map, scene } = this;
    if (map.pointer.cancelDrag() || map.toolbar.closeMenus()) return;
    if (map.statements.dropped) map.statements.send({ kind: "cancel" });
    else if (scene.cursor >= 0) {
      scene.cursor = -1;
      this.walk = null;
      map.tooltip.show(-1);
      map.requestDraw({ place: true });
    } else if (map.statements.removeLastGroup()) return;
    else if (scene.count) map.selection.clear();
    else map.legend.showAll();
  }

  close() { this.stop.abort(); }
}
