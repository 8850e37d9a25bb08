// Intermediate layouts of a running job, fetched by long polling and drawn as an animation.

import { request } from "./requests.js";
import { frameOf } from "./view.js";

/** @import { HetMap } from "./map.js" */

const FINAL_STATES = ["done", "failed", "cancelled", "gone"];

export class LiveLayout {
  /** @param {HetMap} map */
  constructor(map) {
    this.map = map;
    this.scene = map.scene;
    this.job = null;
  }

  /** Follow a job until it ends; null stops. @param {string} session */
  follow(live, session) {
    const job = live?.job ?? null;
    if (job === this.job) return;
    this.stop();
    this.job = job;
    if (job) this.poll(job, session);
  }

  stop() {
    this.job = null;
    this.abort?.abort();
  }

  /** @param {string} session */
  async poll(job, session) {
    const { map } = this;
    this.abort = new AbortController();
    const { signal } = this.abort;
    let seq = 0;
    while (this.job === job) {
      let response;
      try {
        response = await request(
          `hv/frame/${session}/${job}?after=${seq}`, { signal, cache: "no-store" },
        );
        map.stats.polls += 1;
        if (response.status !== 200 && response.status !== 204) throw new Error(response.statusText);
        seq = Math.max(seq, Number(response.headers.get("X-Seq")) || 0);
        if (response.status === 200) this.showLayout(new Float32Array(await response.arrayBuffer()));
      } catch {
        if (signal.aborted) return;
        await new Promise((done) => setTimeout(done, 1500));
        continue;
      }
      if (FINAL_STATES.includes(response.headers.get("X-State"))) return;
      // A hidden tab draws nothing, so it polls less often.
      if (document.hidden) await new Promise((done) => setTimeout(done, 1000));
    }
  }

  showLayout(layout) {
    const { map, scene } = this;
    if (layout.length !== 2 * scene.n || !this.job) return;
    const now = performance.now();
    map.stats.frames += 1;
    const pause = Math.min(Math.max(now - (this.last ?? now - 250), 120), 400);
    this.last = now;
    map.transition.move(layout, pause, true);
    if (!scene.view.zoomed && !scene.pointerDown) {
      const frame = frameOf(layout, scene.isShown);
      const place = scene.view.around({ ...frame, stretch: scene.view.k });
      scene.view.fitted = place.s;
      map.camera.fly(place, Math.max(pause, 300), false);
    }
  }
}
