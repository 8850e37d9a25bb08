// More items than can be drawn one by one: a picture of their density, painted by the server, lies
// under a sample of the points. It is stretched with the camera at once and replaced when it rests.

import { h } from "./dom.js";
import { ROOT } from "./store.js";

export class Density {
  constructor(map) {
    this.map = map;
    this.image = h("img", { class: "hv-density", alt: "", "aria-hidden": "true", hidden: true });
    map.stage.prepend(this.image);
  }

  /** Ask for the picture of what is seen now. */
  refresh(changed) {
    const { map } = this;
    if (!map.layers.dense) {
      this.image.hidden = true;
      this.address = null;
      return;
    }
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.fetch(), changed ? 0 : 180);
  }

  fetch() {
    const { data, view, hidden } = this.map;
    const { x, y } = view.range;
    // A margin, so that a small pan shows no edge.
    const [dx, dy] = [(x[1] - x[0]) * 0.15, (y[1] - y[0]) * 0.15];
    const rect = { x: [x[0] - dx, x[1] + dx], y: [y[0] - dy, y[1] + dy] };
    const query = new URLSearchParams({
      x0: rect.x[0], x1: rect.x[1], y0: rect.y[0], y1: rect.y[1],
      w: Math.round(view.W * 1.3), h: Math.round(view.H * 1.3),
      colour: data.colour?.key || "", mask: data.mask || "", theme: data.theme,
      hidden: hidden.join(","),
    });
    const address = `${ROOT}hv/density/${data.session}/${data.geometry}?${query}`;
    if (address === this.address) return;
    this.address = address;
    const next = new Image();
    next.onload = () => {
      if (this.address !== address) return;
      this.rect = rect;
      this.image.src = address;
      this.image.hidden = false;
      this.lay();
    };
    next.onerror = () => {
      if (this.address === address) this.address = null;
    };
    next.src = address;
  }

  lay() {
    if (!this.rect || this.image.hidden) return;
    const { view } = this.map;
    const { x, y } = this.rect;
    const left = view.x(x[0]);
    const top = view.y(y[1]);
    Object.assign(this.image.style, {
      transform: `translate(${left}px, ${top}px)`,
      width: `${view.x(x[1]) - left}px`, height: `${view.y(y[0]) - top}px`,
    });
  }

  close() {
    clearTimeout(this.timer);
    this.address = null;
  }
}
