// Visible rows: items with a position that pass the filters and belong to a shown dataset.

import { send } from "./page_change.js";
import { countOf } from "./pick.js";

const keyOf = (names) => JSON.stringify([...names].sort());

export class Layers {
  constructor(map) { Object.assign(this, { map, sent: [] }); }

  /** Apply the hidden datasets of Python, unless they echo what this map sent. */
  receive(data) {
    const echo = this.sent.indexOf(keyOf(data.hidden));
    if (echo >= 0) this.sent.splice(0, echo + 1);
    else if (!this.sent.length) this.map.hidden = data.hidden;
  }

  update() {
    const { map } = this;
    const { n, pos, mask, data } = map;
    const isShown = new Uint8Array(n);
    for (const d of data.datasets) {
      if (map.hidden.includes(d.name)) continue;
      for (let r = d.start; r < d.stop; r++) {
        isShown[r] = !Number.isNaN(pos[2 * r]) && !Number.isNaN(pos[2 * r + 1])
          && (!mask || mask[r]) ? 1 : 0;
      }
    }
    const { hiddenCodes } = map.legend;
    if (hiddenCodes.size) for (let r = 0; r < n; r++) if (hiddenCodes.has(map.slot[r] - 1)) isShown[r] = 0;
    map.isShown = isShown;
    map.visible = countOf(isShown);
  }

  /** Hide or show a dataset; `only` hides the others, and a second call shows all. */
  toggle(name, only = false) {
    const { map } = this;
    const all = map.data.datasets.map((d) => d.name);
    if (only) {
      const others = all.filter((other) => other !== name);
      const isOnly = others.every((other) => map.hidden.includes(other));
      map.hidden = isOnly ? [] : others;
    } else if (map.hidden.includes(name)) map.hidden = map.hidden.filter((other) => other !== name);
    else map.hidden = [...map.hidden, name];
    this.sent.push(keyOf(map.hidden));
    send(() => map.component.setStateValue("hidden", map.hidden));
    this.update();
    map.toolbar.update();
    map.legend.update();
    map.requestDraw({ paint: true, place: true });
  }
}
