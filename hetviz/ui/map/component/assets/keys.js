// Keys on the map: what they do, and the way from item to item.

import { howOf } from "./pointer.js";
import { TABS, togglePanel, turn } from "./panel.js";
import { nearest, neighbours, within } from "./pick.js";
import { proposed } from "./proposed.js";

export class Keys {
  constructor(map) {
    Object.assign(this, { map, walk: null, stop: new AbortController() });
    const { stage } = map;
    const { signal } = this.stop;
    stage.addEventListener("keydown", (event) => map.data && this.press(event), { signal });
    // A ring round the map is for those who came by keyboard.
    stage.addEventListener(
      "focus", () => stage.classList.toggle("hv-keyed", !map.hands.pressed), { signal },
    );
    stage.addEventListener("blur", () => stage.classList.remove("hv-keyed"), { signal });
  }

  press(event) {
    const { map } = this;
    if (map.data.mode !== "work" || event.target !== map.stage) return;
    if (!["Shift", "Control", "Alt", "Meta"].includes(event.key)) map.stage.classList.add("hv-keyed");
    const step = event.shiftKey ? 160 : 60;
    const command = event.ctrlKey || event.metaKey;
    const pan = (dx, dy) => () => {
      map.flight = null;
      map.view.pan(dx * step, dy * step);
      map.view.zoomed = true;
      map.wish({ view: true });
    };
    const actions = {
      ArrowLeft: pan(1, 0), ArrowRight: pan(-1, 0), ArrowUp: pan(0, 1), ArrowDown: pan(0, -1),
      "+": () => map.camera.zoomBy(1.5), "=": () => map.camera.zoomBy(1.5),
      "-": () => map.camera.zoomBy(1 / 1.5), _: () => map.camera.zoomBy(1 / 1.5),
      0: () => map.camera.fit(), Home: () => map.camera.fit(),
      v: () => map.setTool("move"), m: () => map.setTool("move"), l: () => map.setTool("lasso"), r: () => map.setTool("box"),
      d: () => map.setTool("drag"), a: () => map.acts.set("A"), b: () => map.acts.set("B"),
      t: () => map.acts.say("t"), x: () => map.acts.say("x"),
      c: () => map.acts.say("c"), g: () => map.acts.say("g"), k: () => map.acts.say("g"),
      f: () => document.querySelector(".st-key-only-linked button")?.click(),
      i: () => map.data.stage && togglePanel(),
      ...Object.fromEntries(TABS.map((tab, at) => [at + 1, () => map.data.stage && turn(tab)])),
      "/": () => map.bar.focusSearch(), "?": () => map.bar.keys(),
      n: () => this.step(1), "]": () => this.step(1),
      p: () => this.step(-1), "[": () => this.step(-1),
      Enter: () => this.enter(event), Escape: () => this.escape(),
    };
    const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    // While the panel asks about a pair, N answers.
    if (name === "n" && proposed().length) return;
    let action = actions[name];
    if (command) action = name === "a" ? () => this.selectSeen() : null;
    if (!action || (event.altKey && name !== "Enter")) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  }

  selectSeen() {
    const { pos, pass, view, selection } = this.map;
    const { x, y } = view.range;
    selection.select(within(pos, pass, { x, y }), "replace");
  }

  /** The item nearest to the middle of the map. */
  central() {
    const { map } = this;
    return nearest(map.pos, map.pass, map.view, map.view.W / 2, map.view.H / 2, 1e6);
  }

  /** Step through the selected items, or through those nearest to one item. */
  step(by) {
    const { map } = this;
    if (!this.walk) {
      const seen = map.pickedRows().filter((r) => map.pass[r]);
      let rows = seen;
      if (seen.length < 2) {
        const from = seen.length ? seen[0] : this.central();
        if (from < 0) return;
        rows = [from, ...neighbours(map.pos, map.pass, from, 60)];
      }
      this.walk = { rows, at: by > 0 ? -1 : 0 };
    }
    const { rows } = this.walk;
    this.walk.at = (this.walk.at + by + rows.length) % rows.length;
    this.place(rows[this.walk.at]);
  }

  place(row) {
    const { map } = this;
    map.cursor = row;
    const { view, pos } = map;
    const [x, y] = [view.x(pos[2 * row]), view.y(pos[2 * row + 1])];
    if (x < 30 || y < 30 || x > view.W - 30 || y > view.H - 30) {
      map.camera.fly({ ...view.at(), cx: pos[2 * row], cy: pos[2 * row + 1] }, 300);
    }
    map.tip.show(row);
    map.media.card(row).then(
      (card) => map.cursor === row && map.say(`${card.title}, ${card.dataset}`), () => {},
    );
    map.wish({ place: true });
  }

  enter(event) {
    const { map } = this;
    // What the bar is about to say is said, unless the keyboard stands on an item.
    const say = map.cursor < 0 && document.querySelector(".st-key-act-add button:not(:disabled)");
    if (say) {
      say.click();
      return;
    }
    const row = map.cursor >= 0 ? map.cursor : this.central();
    if (row < 0) return;
    const how = howOf(event);
    map.select([row], how === "add" && map.picked[row] ? "subtract" : how);
    this.place(row);
  }

  escape() {
    const { map } = this;
    if (map.hands.letGo() || map.bar.closeMenus()) return;
    if (map.acts.dropped) map.acts.send({ what: "forget" });
    else if (map.cursor >= 0) {
      map.cursor = -1;
      this.walk = null;
      map.tip.show(-1);
      map.wish({ place: true });
    } else if (map.acts.giveUp()) return;
    else if (map.count) map.selection.clear();
    else map.legend.showAll();
  }

  close() { this.stop.abort(); }
}
