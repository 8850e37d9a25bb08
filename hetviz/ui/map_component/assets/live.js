// Partial layouts of a running job: fetched by a long poll beside Streamlit, drawn by interpolation.

import { ROOT } from "./store.js";

const OVER = ["done", "failed", "cancelled", "gone"];

/** The frame of the 0.6 to 99.4 % quantiles of the shown places, over at most 4,000 of them. */
export function frameOf(pos, shown, tail = 0.006, pad = 1.06) {
  const step = Math.max(1, Math.floor(shown.length / 4000));
  const xs = [];
  const ys = [];
  // All of a small choice of rows, a sample of a large one.
  const each = tail ? step : 1;
  for (let r = 0; r < shown.length; r += each) {
    if (!shown[r] || Number.isNaN(pos[2 * r])) continue;
    xs.push(pos[2 * r]);
    ys.push(pos[2 * r + 1]);
  }
  const ends = (values) => {
    if (!values.length) return [-1, 1];
    values.sort((a, b) => a - b);
    const at = (q) => values[Math.round(q * (values.length - 1))];
    const [low, high] = [at(tail), at(1 - tail)];
    const middle = (low + high) / 2;
    const half = Math.max(((high - low) / 2) * pad, 1e-9);
    return [middle - half, middle + half];
  };
  return { x: ends(xs), y: ends(ys) };
}

export class Live {
  constructor(map) {
    this.map = map;
    this.job = null;
  }

  /** Follow a job until it is over; null stops. */
  follow(live) {
    const job = live?.job ?? null;
    if (job === this.job) return;
    this.stop();
    this.job = job;
    if (job) this.poll(job);
  }

  stop() {
    this.job = null;
    this.abort?.abort();
  }

  async poll(job) {
    const { map } = this;
    this.abort = new AbortController();
    const { signal } = this.abort;
    let seq = 0;
    while (this.job === job) {
      let answer;
      try {
        answer = await fetch(
          `${ROOT}hv/frame/${map.data.session}/${job}?after=${seq}`, { signal, cache: "no-store" },
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
    map.move(layout, pause);
    map.motion.steady = true;
    if (!map.view.zoomed && !map.pointerDown) {
      const frame = frameOf(layout, map.pass);
      const place = map.view.around({ ...frame, stretch: map.view.k });
      map.view.fitted = place.s;
      map.fly(place, Math.max(pause, 300), false);
    }
  }
}
