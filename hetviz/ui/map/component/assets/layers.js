// Which points are there: placed, past the filters, of a dataset that is shown.

import { tell } from "./journey.js";
import { countOf } from "./pick.js";

const told = (names) => JSON.stringify([...names].sort());

export class Layers {
  constructor(map) { Object.assign(this, { map, sent: [] }); }

  /** Python's hidden datasets, unless they are an echo of what we sent ourselves. */
  take(data) {
    const echo = this.sent.indexOf(told(data.hidden));
    if (echo >= 0) this.sent.splice(0, echo + 1);
    else if (!this.sent.length) this.map.hidden = data.hidden;
  }

  show() {
    const { map } = this;
    const { n, pos, mask, data } = map;
    const pass = new Uint8Array(n);
    for (const d of data.datasets) {
      if (map.hidden.includes(d.name)) continue;
      for (let r = d.start; r < d.stop; r++) {
        pass[r] = !Number.isNaN(pos[2 * r]) && !Number.isNaN(pos[2 * r + 1])
          && (!mask || mask[r]) ? 1 : 0;
      }
    }
    const { veiled } = map.legend;
    if (veiled.size) for (let r = 0; r < n; r++) if (veiled.has(map.slot[r] - 1)) pass[r] = 0;
    map.pass = pass;
    map.visible = countOf(pass);
  }

  /** Hide or show a dataset; `only` hides the others, and a second time shows all. */
  toggle(name, only = false) {
    const { map } = this;
    const all = map.data.datasets.map((d) => d.name);
    if (only) {
      const others = all.filter((other) => other !== name);
      const alone = others.every((other) => map.hidden.includes(other));
      map.hidden = alone ? [] : others;
    } else if (map.hidden.includes(name)) map.hidden = map.hidden.filter((other) => other !== name);
    else map.hidden = [...map.hidden, name];
    this.sent.push(told(map.hidden));
    tell(() => map.component.setStateValue("hidden", map.hidden));
    this.show();
    map.bar.update();
    map.legend.update();
    map.wish({ paint: true, place: true });
  }
}
