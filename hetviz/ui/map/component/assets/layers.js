// Visible rows: items with a position that pass the filters and belong to a shown dataset.

import { send } from "./page_change.js";
import { countOf } from "./pick.js";

/** @import { HetMap } from "./map.js" */
/** @import { MapSpec } from "./messages.js" */

const keyOf = (names) => JSON.stringify([...names].sort());

export class Layers {
  /** @param {HetMap} map */
  constructor(map) {
    this.map = map;
    this.scene = map.scene;
    this.sent = [];
  }

  /** Apply the hidden datasets of Python, unless they echo what this map sent. @param {MapSpec} data */
  receive(data) {
    const echo = this.sent.indexOf(keyOf(data.hidden));
    if (echo >= 0) this.sent.splice(0, echo + 1);
    else if (!this.sent.length) this.scene.hidden = data.hidden;
  }

  update() {
    const { map, scene } = this;
    const { n, mask } = scene;
    const isShown = this.drawable();
    if (mask) for (let r = 0; r < n; r++) isShown[r] &= mask[r];
    scene.isShown = isShown;
    scene.visible = countOf(isShown);
    map.dock.recount();
  }

  /** Flags of the items that the map shows if they pass the filters. */
  drawable() {
    const { n, pos, data, hidden, slot } = this.scene;
    const flags = new Uint8Array(n);
    for (const d of data.datasets) {
      if (hidden.includes(d.name)) continue;
      for (let r = d.start; r < d.stop; r++) flags[r] = Number.isNaN(pos[2 * r]) || Number.isNaN(pos[2 * r + 1]) ? 0 : 1;
    }
    const { hiddenCodes } = this.map.legend;
    if (hiddenCodes.size) for (let r = 0; r < n; r++) if (hiddenCodes.has(slot[r] - 1)) flags[r] = 0;
    return flags;
  }

  /** Hide or show a dataset; `only` hides the others, and a second call shows all. @param {string} name */
  toggle(name, only = false) {
    const { map, scene } = this;
    const all = scene.data.datasets.map((d) => d.name);
    if (only) {
      const others = all.filter((other) => other !== name);
      const isOnly = others.every((other) => scene.hidden.includes(other));
      scene.hidden = isOnly ? [] : others;
    } else if (scene.hidden.includes(name)) scene.hidden = scene.hidden.filter((other) => other !== name);
    else scene.hidden = [...scene.hidden, name];
    this.sent.push(keyOf(scene.hidden));
    send(() => map.component.setStateValue("hidden", scene.hidden));
    this.update();
    map.toolbar.update();
    map.legend.update();
    map.requestDraw({ paint: true, place: true });
  }
}
