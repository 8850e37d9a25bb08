// Trust of the items, for the overlay on unreliable areas.

import { request } from "./requests.js";

/** @import { HetMap } from "./map.js" */

const RETRY_MS = 1500;

export class Trust {
  /** @param {HetMap} map */
  /** @param {HetMap} map */
  constructor(map) {
    this.map = map;
    this.scene = map.scene;
    /** @type {string | null} */
    this.key = null;
  }

  /** Forget the trust, since the items are others. */
  clear() {
    this.scene.trust = null;
    this.key = null;
  }

  /** Load the trust of the items if the overlay is on. */
  async load() {
    const { map, scene } = this;
    const { data } = scene;
    const key = `${data.geometry.id}-${data.fingerprint}`;
    if (!scene.switches.trust || data.live || this.key === key) return;
    this.key = key;
    scene.trust = null;
    try {
      const trust = await fetchTrust(data.session, key, () => !scene.isClosed && scene.switches.trust && this.key === key);
      if (this.key === key) scene.trust = trust?.length === scene.n ? trust : null;
      // A failed request is repeated with the next update.
      if (this.key === key && !scene.trust) this.key = null;
    } catch {
      this.key = null;
    }
    map.requestDraw({ paint: true });
  }
}

/**
 * The trust of each row; null if there is none or `isWanted` is false.
 * @param {string} session @param {string} key @param {() => boolean} isWanted
 */
async function fetchTrust(session, key, isWanted) {
  const path = `hv/trust/${session}?of=${key}`;
  let response = await request(path);
  while (response.status === 202) { // a worker computes it
    await new Promise((done) => setTimeout(done, RETRY_MS));
    if (!isWanted()) return null;
    response = await request(path);
  }
  return response.ok ? new Uint8Array(await response.arrayBuffer()) : null;
}
