// Demonstration on the start page: a ribbon is drawn from an item to another, the map moves as after that
// statement, and moves back. Selection and data do not change.

import { withAlpha } from "./colors.js";
import { h } from "./dom.js";
import { array } from "./store.js";
import { MORPH_MS, TRAIL_MS } from "./transition.js";
import { ease, prefersReducedMotion } from "./view.js";

/** @import { HetMap } from "./map.js" */
/** @import { DemoSpec, MapSpec } from "./messages.js" */

const [WAIT_MS, DRAW_MS] = [2500, 1500];
const RIBBON_PX = 12;
const PICTURE_PX = 34;
let hasPlayed = false; // Once per visit, then on request.

export class Demo {
  /** @param {HetMap} map */
  constructor(map) {
    this.map = map;
    /** @type {DemoSpec | null} */
    this.spec = null;
    /** @type {Float32Array | null} */
    this.target = null;
    /** @type {"ribbon" | "moved" | "still" | null} */
    this.phase = null;
    this.begun = 0;
    this.text = h("span");
    this.button = h("button", { type: "button", onclick: () => (this.phase ? this.stop() : this.play()) });
    this.element = h("div", { class: "hv-demo", hidden: true }, this.text, this.button);
  }

  /** @param {MapSpec} data */
  receive(data) {
    const spec = data.demo ?? null;
    if (spec?.key === this.spec?.key) return;
    this.stop();
    this.spec = spec;
    this.target = null;
    this.element.hidden = !spec;
    if (!spec) return;
    this.text.textContent = spec.text;
    this.update();
    if (!hasPlayed) this.timer = setTimeout(() => this.playWhenSeen(), WAIT_MS);
  }

  /** Play once the map is in view. */
  playWhenSeen() {
    const isSeen = !document.hidden && this.map.root.checkVisibility({ visibilityProperty: true });
    if (isSeen) this.play();
    else if (this.spec) this.timer = setTimeout(() => this.playWhenSeen(), WAIT_MS);
  }

  async play() {
    const { map, spec } = this;
    if (!spec) return;
    clearTimeout(this.timer);
    hasPlayed = true;
    const { session } = map.scene.data;
    map.media.askPictures([spec.item, spec.other]);
    this.target ??= await array(session, spec.key, "f4").catch(() => null);
    if (this.spec !== spec || !this.target) return;
    if (prefersReducedMotion()) this.setPhase(this.phase ? null : "still");
    else {
      this.setPhase("ribbon");
      this.timer = setTimeout(() => this.move(), DRAW_MS);
    }
  }

  move() {
    const { map, target, spec } = this;
    const { scene } = map;
    if (!spec || !target) return;
    const rows = map.transition.movers(scene.geometry, target);
    scene.ghosts = {
      rows, born: performance.now(),
      from: Float32Array.from(rows.flatMap((r) => [scene.geometry[2 * r], scene.geometry[2 * r + 1]])),
    };
    this.setPhase("moved");
    map.transition.move(target, MORPH_MS);
    this.timer = setTimeout(() => this.stop(), MORPH_MS + TRAIL_MS);
  }

  /** Move back, and offer to play again. */
  stop() {
    clearTimeout(this.timer);
    const { map } = this;
    if (this.phase === "moved") map.transition.move(map.scene.geometry, MORPH_MS);
    this.setPhase(null);
  }

  /** @param {Demo["phase"]} phase */
  setPhase(phase) {
    this.phase = phase;
    this.begun = performance.now();
    this.update();
    this.map.requestDraw({ place: true });
  }

  update() {
    const isStill = prefersReducedMotion();
    this.button.textContent = this.phase ? (isStill ? "Hide" : "Stop") : isStill ? "Show" : hasPlayed ? "Play again" : "Play";
  }

  /** Draw the statement; returns whether the ribbon still grows. @param {CanvasRenderingContext2D} ctx */
  draw(ctx) {
    const { map, phase, spec, target } = this;
    if (!phase || !spec || !target) return false;
    const { scene } = map;
    const [from, to] = [scene.pixel(spec.item), scene.pixel(spec.other)];
    const share = phase === "ribbon" ? ease(Math.min((performance.now() - this.begun) / DRAW_MS, 1)) : 1;
    ctx.lineCap = "round";
    ctx.lineWidth = RIBBON_PX;
    ctx.strokeStyle = withAlpha(scene.tokens.plus, 0.3);
    ctx.beginPath();
    ctx.moveTo(from[0], from[1]);
    ctx.lineTo(from[0] + share * (to[0] - from[0]), from[1] + share * (to[1] - from[1]));
    ctx.stroke();
    ctx.lineCap = "butt";
    if (phase === "still") {
      // The place after the statement.
      const [x, y] = [scene.view.x(target[2 * spec.item]), scene.view.y(target[2 * spec.item + 1])];
      map.overlay.ring(ctx, x, y, 0.5 * PICTURE_PX, 1.5, [3, 3]);
    }
    for (const [row, [x, y]] of /** @type {[number, number[]][]} */ ([[spec.other, to], [spec.item, from]])) {
      if (map.media.picture(row)) map.overlay.picture(ctx, { row, size: PICTURE_PX }, x, y, 1, true);
      else map.overlay.ring(ctx, x, y, 0.5 * PICTURE_PX, 2);
    }
    ctx.globalAlpha = 1;
    return share < 1;
  }

  close() {
    clearTimeout(this.timer);
    this.spec = null;
  }
}
