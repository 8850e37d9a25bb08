// Partial layouts of a running job: fetched by a long poll beside Streamlit, drawn by interpolation.

import { ask } from "./ask.js";
import { frameOf } from "./view.js";

const OVER = ["done", "failed", "cancelled", "gone"];

export class Live {
  constructor(map) {
    this.map = map;
    this.job = null;
  }

  /** Follow a job until it is over; null stops. */
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

  async poll(job, session) {
    const { map } = this;
    this.abort = new AbortController();
    const { signal } = this.abort;
    let seq = 0;
    while (this.job === job) {
      let answer;
      try {
        answer = await ask(
          `hv/frame/${session}/${job}?after=${seq}`, { signal, cache: "no-store" },
        );
        map.stats.polls += 1;
        if (answer.status !== 200 && answer.status !== 204) throw new Error(answer.statusText);
        seq = Math.max(seq, Number(answer.headers.get("X-Seq")) || 0);
        if (answer.status === 200) this.show(new Float32Array(await answer.arrayBuffer()));
      } catch {
        if (signal.aborted) return;
        await new Promise((done) => setTimeout(done, 1500));
        continue;
      }
      if (OVER.includes(answer.headers.get("X-State"))) return;
      // A hidden tab draws nothing, so it need not hurry.
      if (document.hidden) await new Promise((done) => setTimeout(done, 1000));
    }
  }

  show(layout) {
    const { map } = this;
    if (layout.length !== 2 * map.n || !this.job) return;
    const now = performance.now();
    map.stats.frames += 1;
    const pause = Math.min(Math.max(now - (this.last ?? now - 250), 120), 400);
    this.last = now;
    map.travel.move(layout, pause, true);
    if (!map.view.zoomed && !map.pointerDown) {
      const frame = frameOf(layout, map.pass);
      const place = map.view.around({ ...frame, stretch: map.view.k });
      map.view.fitted = place.s;
      map.camera.fly(place, Math.max(pause, 300), false);
    }
  }
}
