// Spread of the positions: items whose position varies much over refits are faded.

import { array } from "./store.js";

/** @import { HetMap } from "./map.js" */

export class Spread {
  /** @param {HetMap} map */
  constructor(map) {
    this.map = map;
    this.scene = map.scene;
    /** @type {string | null} Key of the flags that are shown. */
    this.key = null;
    /** @type {string | null} Map whose spread was requested. */
    this.requested = null;
  }

  /** Forget the flags, since the items are others. */
  clear() {
    this.scene.unstable = null;
    this.key = null;
  }

  /** Whether unstable positions are to be faded: as soon as they are measured, unless switched off. */
  get isOn() { return this.scene.switches.spread ?? Boolean(this.scene.data.spread?.key); }

  /** Load the flags if the switch is on; request them if it was turned on before they were measured. */
  async load() {
    const { map, scene } = this;
    const { data } = scene;
    if (!scene.switches.spread) this.requested = null;
    const key = this.isOn ? data.spread?.key ?? null : null;
    map.toolbar.update();
    if (scene.switches.spread && data.spread && !key && !data.live && this.requested !== data.geometry.id) {
      this.requested = data.geometry.id;
      map.statements.send({ kind: "spread" });
      map.announce("Refits with resampled links begin");
    }
    if (key === this.key) return;
    this.key = key;
    const flags = key ? await array(data.session, key, "u1").catch(() => null) : null;
    if (this.key !== key) return;
    scene.unstable = flags?.length === scene.n ? flags : null;
    if (key && !scene.unstable) this.key = null;
    if (scene.unstable && data.spread) map.announce(data.spread.text);
    map.legend.update();
    map.requestDraw({ paint: true, place: true });
  }
}
