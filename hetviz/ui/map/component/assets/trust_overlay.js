// Fog over the regions of the map that are not to be trusted: where, for the items around, too
// little of what is near here is near in the data. Hatched, so that it is seen without points too.

import { clear } from "./colour.js";
import { h, icon, set } from "./dom.js";
import { ROOT } from "./store.js";

const STEPS = 200; // the server's steps from 0 to 1; larger values: unknown
const BEGINS = 0.65; // shares that are right: fog begins below the first and is full at the second
const FULL = 0.35;
const DEEP = 0.75; // of the map's background over the points, where it is full
const CELL = 9; // pixels of the window to one cell of the field
const REACH = 2; // cells that an item's trust is spread over, three times
const MARGIN = 0.15; // around the window, so that a small pan shows no edge

export class Fog {
  constructor(map) {
    Object.assign(this, { map, on: false, scores: null, address: null });
    this.canvas = h("canvas", { class: "hv-fog", "aria-hidden": "true", hidden: true });
    map.stage.querySelector(".hv-over").before(this.canvas);
    const press = () => this.toggle();
    const title = "Fog where the map is not to be trusted";
    this.tool = h("button", {
      type: "button", class: "hv-tool hv-fog-tool", title, "aria-label": title, "aria-pressed": "false",
      onclick: press,
    }, icon("fog"));
    this.entry = h("button", { type: "button", "aria-pressed": "false", onclick: press },
      icon("fog"), "Fog where not to be trusted");
  }

  toggle() {
    this.on = !this.on;
    for (const button of [this.tool, this.entry]) set(button, { "aria-pressed": String(this.on) });
    this.refresh();
    this.map.say(this.on ? "Fog lies where the map is not to be trusted" : "Fog lifted");
  }

  /** Ask for the trust of the items where it is not known yet, and draw it. */
  refresh() {
    const { data, moving } = this.map;
    if (!this.on || data.mode !== "work" || data.live || moving) {
      this.canvas.hidden = true;
      return;
    }
    const address = `${ROOT}hv/fog/${data.session}?of=${data.geometry}-${data.fingerprint}`;
    if (address === this.address) {
      this.paint();
      return;
    }
    this.address = address;
    this.scores = null;
    this.canvas.hidden = true;
    set(this.tool, { "data-busy": true });
    fetch(address).then((answer) => (answer.ok ? answer.arrayBuffer() : null)).then((content) => {
      if (this.address !== address) return;
      set(this.tool, { "data-busy": null });
      if (!content) this.address = null;
      else {
        this.scores = new Uint8Array(content);
        this.paint();
      }
    }).catch(() => {
      if (this.address === address) this.address = null;
      set(this.tool, { "data-busy": null });
    });
  }

  paint() {
    const { view, tokens, n } = this.map;
    if (!this.scores || this.scores.length !== n) return;
    const { x, y } = view.range;
    const [dx, dy] = [(x[1] - x[0]) * MARGIN, (y[1] - y[0]) * MARGIN];
    this.rect = { x: [x[0] - dx, x[1] + dx], y: [y[0] - dy, y[1] + dy] };
    const [W, H] = [view.W * (1 + 2 * MARGIN), view.H * (1 + 2 * MARGIN)].map(Math.round);
    const [columns, rows] = [Math.ceil(W / CELL), Math.ceil(H / CELL)];
    const field = picture(this.depth(columns, rows), columns, rows, tokens.bg);
    this.canvas.width = W;
    this.canvas.height = H;
    const ctx = this.canvas.getContext("2d");
    ctx.imageSmoothingQuality = "high";
    hatch(ctx, W, H, clear(tokens.mute, 0.42));
    ctx.globalCompositeOperation = "destination-in";
    ctx.drawImage(field, 0, 0, W, H);
    ctx.globalCompositeOperation = "destination-over";
    ctx.globalAlpha = DEEP;
    ctx.drawImage(field, 0, 0, W, H);
    ctx.globalAlpha = 1;
    ctx.globalCompositeOperation = "source-over";
    this.canvas.hidden = false;
    this.lay();
  }

  /** How deep the fog is in each cell, 0 to 1: by the mean trust of the items around. */
  depth(columns, rows) {
    const { pos, pass, n } = this.map;
    const { x, y } = this.rect;
    const sum = new Float32Array(columns * rows);
    const count = new Float32Array(columns * rows);
    for (let r = 0; r < n; r++) {
      const score = this.scores[r];
      if (!pass[r] || score > STEPS) continue;
      const c = Math.floor(((pos[2 * r] - x[0]) / (x[1] - x[0])) * columns);
      const l = Math.floor(((y[1] - pos[2 * r + 1]) / (y[1] - y[0])) * rows);
      if (c < 0 || l < 0 || c >= columns || l >= rows) continue;
      sum[l * columns + c] += score / STEPS;
      count[l * columns + c] += 1;
    }
    for (const grid of [sum, count]) {
      for (let k = 0; k < 3; k++) spread(grid, columns, rows, REACH);
    }
    // About one item nearby is enough for fog; where there is none the map claims nothing.
    const enough = 1.2 / (2 * REACH + 1) ** 2;
    return sum.map((total, k) => {
      if (!count[k]) return 0;
      const share = Math.min(Math.max((BEGINS - total / count[k]) / (BEGINS - FULL), 0), 1);
      return share * Math.min(count[k] / enough, 1);
    });
  }

  lay() {
    if (this.canvas.hidden || !this.rect) return;
    const { view } = this.map;
    const { x, y } = this.rect;
    const [left, top] = [view.x(x[0]), view.y(y[1])];
    Object.assign(this.canvas.style, {
      transform: `translate(${left}px, ${top}px)`,
      width: `${view.x(x[1]) - left}px`, height: `${view.y(y[0]) - top}px`,
    });
  }

  close() { this.address = null; }
}

/** Replace each cell by the mean of the cells around it, along both directions. */
function spread(grid, columns, rows, reach) {
  const line = (start, step, length) => {
    const old = new Float32Array(length);
    for (let k = 0; k < length; k++) old[k] = grid[start + k * step];
    let total = 0;
    for (let k = 0; k < Math.min(reach, length); k++) total += old[k];
    for (let k = 0; k < length; k++) {
      if (k + reach < length) total += old[k + reach];
      if (k - reach - 1 >= 0) total -= old[k - reach - 1];
      grid[start + k * step] = Math.max(total, 0) / (2 * reach + 1);
    }
  };
  for (let l = 0; l < rows; l++) line(l * columns, 1, columns);
  for (let c = 0; c < columns; c++) line(c, columns, rows);
}

/** A small picture of the field in one colour. */
function picture(depth, columns, rows, colour) {
  const small = h("canvas", { width: columns, height: rows });
  const ctx = small.getContext("2d");
  const image = ctx.createImageData(columns, rows);
  const channels = [1, 3, 5].map((k) => parseInt(colour.slice(k, k + 2), 16));
  depth.forEach((share, k) => {
    for (let c = 0; c < 3; c++) image.data[4 * k + c] = channels[c];
    image.data[4 * k + 3] = Math.round(255 * share);
  });
  ctx.putImageData(image, 0, 0);
  return small;
}

function hatch(ctx, W, H, colour) {
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1;
  ctx.beginPath();
  for (let at = -H; at < W; at += 8) {
    ctx.moveTo(at, H);
    ctx.lineTo(at + H, 0);
  }
  ctx.stroke();
}
