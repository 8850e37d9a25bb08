// Canvas above the points: links, pictures, rings, texts and the line of a lasso.

import { Boxes, shift } from "./boxes.js";
import { context2d, drawPins } from "./canvas.js";
import { withAlpha, mix } from "./colors.js";
import { drawProposedPairs, drawProposedNames, proposedBoxes, proposedFlags } from "./proposed_pairs.js";
import { drawEnds, drawLines } from "./linked_items.js";
import { placeTexts } from "./text_placement.js";
import { MORPH_MS, TRAIL_MS } from "./transition.js";
import { prefersReducedMotion } from "./view.js";

/** @import { HetMap } from "./map.js" */

/** Lands have the colour of their category, mixed with ink so that they can be read. */
const nameColour = ({ palette, tokens }, { level, code }) => {
  if (level) return tokens.mute;
  return code >= 0 && palette[code + 1] ? mix(palette[code + 1], tokens.ink, 0.38) : tokens.ink;
};

const FADE_MS = 150;
const GROW_MS = 220; // ms in which a link grows from the selected item
const RINGED_PX = 8; // radius of the ring of a selected item
const HELD_PX = 34; // radius that a finger does not cover

export class Overlay {
  /** @param {HTMLCanvasElement} canvas @param {HetMap} map */
  constructor(canvas, map) {
    this.canvas = canvas;
    this.map = map;
    this.scene = map.scene;
    /** @type {any[]} Texts and pictures with their places (see text_placement.js). */
    this.pieces = [];
    this.detailed = false;
    this.ringEach = false;
    this.placedAt = 0;
    // By row: offset in pixels of an item that is moved to avoid overlap.
    /** @type {Map<number, [number, number]>} */
    this.moved = new Map();
    this.ctx = context2d(canvas);
    this.since = new Map();
  }

  /** @param {number} W @param {number} H */
  resize(W, H) {
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(W * ratio);
    this.canvas.height = Math.round(H * ratio);
    this.canvas.style.width = `${W}px`;
    this.canvas.style.height = `${H}px`;
  }

  /** Place texts and pictures, and request missing ones. */
  place() {
    const { map, scene } = this;
    const begun = performance.now();
    this.moved = new Map();
    const { pieces, missing, detailed, ringEach } = placeTexts(map, this.ctx);
    const since = new Map();
    for (const piece of pieces) {
      // A line is drawn once its end has a name.
      const isDrawn = piece.kind !== "linked" || piece.align !== null;
      piece.key = piece.row === undefined ? `n${piece.text}` : `${isDrawn ? piece.kind[0] : "-"}${piece.row}`;
      since.set(piece.key, this.since.get(piece.key) ?? begun);
    }
    Object.assign(this, { pieces, detailed, ringEach, since, placedAt: scene.view.s });
    map.media.askTitles(missing.titles);
    map.media.askPictures(missing.pictures);
    map.stats.placeMs = performance.now() - begun;
    map.stats.written = {
      names: pieces.filter((p) => p.kind === "name").length,
      words: pieces.filter((p) => p.kind === "word").length,
      pictures: pieces.filter((p) => p.kind === "picture" && map.media.picture(p.row)).length,
    };
  }

  /** Boxes of all texts and pictures on the screen. */
  boxes() {
    const { view, pos } = this.scene;
    return this.pieces.map((p) => ({
      ...p,
      at: p.row === undefined ? shift(p.box, view.x(p.x), view.y(p.y))
        : shift(p.box, view.x(pos[2 * p.row]), view.y(pos[2 * p.row + 1])),
    }));
  }

  /** The row of the picture or word under a pixel, or -1. @param {number} px @param {number} py */
  rowAt(px, py) {
    const { media } = this.map;
    const { view, pos } = this.scene;
    for (const p of this.pieces) {
      if (p.row === undefined || (p.kind === "picture" && !media.picture(p.row))) continue;
      const dx = px - view.x(pos[2 * p.row]);
      const dy = py - view.y(pos[2 * p.row + 1]);
      if (p.kind === "linked" && Math.hypot(dx - p.off[0], dy - p.off[1]) < p.disc) return p.row;
      if (p.kind === "picture" ? Math.hypot(dx, dy) < p.size * 0.6
        : dx > p.box[0] && dx < p.box[2] && dy > p.box[1] && dy < p.box[3]) return p.row;
    }
    return -1;
  }

  /** The name of a region under a pixel. @param {number} px @param {number} py */
  regionAt(px, py) {
    const { view } = this.scene;
    return this.pieces.find((p) => {
      const [x, y] = [px - view.x(p.x), py - view.y(p.y)];
      return p.account && x > p.box[0] && x < p.box[2] && y > p.box[1] && y < p.box[3];
    });
  }

  draw() {
    const ratio = window.devicePixelRatio || 1;
    const { ctx } = this;
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.clearRect(0, 0, this.scene.view.W, this.scene.view.H);
    if (this.render(ctx, false)) this.map.requestDraw();
  }

  /**
   * Draw into any context of the size of the map; returns whether something still fades.
   * @param {CanvasRenderingContext2D} ctx @param {boolean} isStatic
   */
  render(ctx, isStatic) {
    const { map, scene } = this;
    const { view, pos, tokens } = scene;
    const now = performance.now();
    const noFade = isStatic || prefersReducedMotion();
    const focus = scene.count > 0 || map.statements.groups.size > 0;
    // Items hovered or asked about in the panel. Only dimmed names of regions stay besides.
    const focusFlags = map.outline.focus() ?? (focus || map.legend.partial ? null : proposedFlags(scene.n));
    let fading = false;
    if (!isStatic) fading = this.ghosts(ctx, now) || fading;
    if (!isStatic) map.outline.draw(this, ctx);
    map.periods.drawTrails(ctx);
    drawProposedPairs(this, ctx);
    this.hairlines(ctx);
    /** @param {{ key: string }} piece */
    const grown = ({ key }) => (noFade ? 1 : Math.min((now - (this.since.get(key) ?? 0)) / GROW_MS, 1));
    fading = drawLines(ctx, scene, this.pieces, grown) || fading;
    // Between two placements a zoom may cause overlaps, then the later piece is dropped.
    const crowded = view.s < this.placedAt * 0.999 || scene.moving ? new Boxes(view.W, view.H) : null;
    const texts = [];
    const askedBoxes = proposedBoxes(this, ctx);
    const ringed = new Set();
    for (const p of this.pieces) {
      if (p.kind === "linked" || p.kind === "bundle") {
        ringed.add(p.row);
        continue;
      }
      const x = p.kind === "name" ? view.x(p.x) : view.x(pos[2 * p.row]);
      const y = p.kind === "name" ? view.y(p.y) : view.y(pos[2 * p.row + 1]);
      if (focusFlags && p.row !== undefined && !(focusFlags[p.row] && p.kind === "picture")) continue;
      // A missing picture must not keep the canvas drawing.
      if (p.kind === "picture" && !map.media.picture(p.row)) continue;
      if (!(x > -300 && y > -60 && x < view.W + 300 && y < view.H + 60)) continue;
      const box = shift(p.box, x, y);
      if (askedBoxes.some((a) => a[0] < box[2] && box[0] < a[2] && a[1] < box[3] && box[1] < a[3])) continue;
      if (crowded && !crowded.tryReserve(box)) continue;
      let alpha = 1;
      if (!noFade) {
        const born = Math.max(
          this.since.get(p.key) ?? 0,
          p.kind === "picture" ? map.media.picture(p.row).when : 0,
        );
        alpha = Math.min((now - born) / FADE_MS, 1);
        if (alpha < 1) fading = true;
      }
      if (p.kind !== "picture") {
        texts.push([p, x, y, alpha]);
        continue;
      }
      const chosen = scene.picked[p.row];
      if ((focus && !focusFlags && !chosen) || (scene.unstable?.[p.row] && !chosen)) alpha *= 0.4;
      this.picture(ctx, p, x, y, alpha, chosen && this.ringEach && !map.statements.hasBand);
      ringed.add(p.row);
    }
    ctx.globalAlpha = 1;
    this.rings(ctx, ringed);
    this.pins(ctx);
    map.statements.draw(ctx);
    if (!isStatic) fading = map.demo.draw(ctx) || fading;
    /** @param {number} x @param {number} y */
    const outlined = (p, x, y) => (
      focusFlags && (p.text === map.outline.name || map.outline.covers(shift(p.box, x, y)))
    );
    for (const [p, x, y, alpha] of texts) {
      if (outlined(p, x, y)) continue;
      const strong = p.kind === "name" || p.strong;
      ctx.globalAlpha = alpha * ((focus || focusFlags) && !p.strong ? (p.kind === "name" ? 0.72 : 0.55) : 1);
      const colour = p.kind === "name" ? nameColour(scene, p) : strong ? tokens.ink : tokens.mute;
      const align = p.kind === "name" ? "center" : p.dx > 0 ? "left" : "right";
      this.text(ctx, p.label ?? p.text, x + p.dx, y + p.dy, p.font, colour, align);
    }
    ctx.globalAlpha = 1;
    drawProposedNames(this, ctx);
    drawEnds(ctx, this, this.pieces);
    map.periods.drawNames(this, ctx);
    if (!isStatic) {
      map.sharedSelections.draw(ctx);
      this.stroke(ctx);
      fading = this.hold(ctx, now) || fading;
    }
    return fading;
  }

  /** @param {CanvasRenderingContext2D} ctx @param {string} text @param {number} x @param {number} y @param {string} font @param {string} colour */
  text(ctx, text, x, y, font, colour, align) {
    ctx.font = font;
    ctx.textAlign = align;
    ctx.textBaseline = "middle";
    ctx.lineJoin = "round";
    ctx.lineWidth = 4.5;
    ctx.strokeStyle = withAlpha(this.scene.tokens.bg, 0.92);
    ctx.strokeText(text, x, y);
    ctx.fillStyle = colour;
    ctx.fillText(text, x, y);
  }

  /** @param {CanvasRenderingContext2D} ctx @param {number} x @param {number} y */
  picture(ctx, p, x, y, alpha, ring) {
    const { map, scene } = this;
    const picture = map.media.picture(p.row);
    /** @param {number} radius */
    const disc = (radius, fill) => {
      ctx.beginPath();
      ctx.arc(x, y, radius, 0, 7);
      ctx.fillStyle = fill;
      ctx.fill();
    };
    // The disc stays opaque while the picture is dimmed, so dots below do not show through.
    ctx.globalAlpha = Math.min(alpha * 2.2, 1);
    disc(p.size * 0.68, scene.tokens.bg);
    ctx.globalAlpha = 0.8 * alpha;
    ctx.lineWidth = 1;
    ctx.strokeStyle = scene.palette[scene.slot[p.row]];
    ctx.stroke();
    ctx.globalAlpha = alpha;
    ctx.imageSmoothingQuality = "high";
    ctx.drawImage(
      picture.strip, picture.x, 0, picture.cell, picture.cell, x - p.size / 2, y - p.size / 2, p.size, p.size,
    );
    if (ring) this.ring(ctx, x, y, p.size * 0.72, 2.5);
  }

  /** @param {CanvasRenderingContext2D} ctx @param {number} x @param {number} y @param {number} radius @param {number} width @param {number[]} dash @param {string} colour */
  ring(ctx, x, y, radius, width, dash = [], colour = this.scene.tokens.ink) {
    ctx.globalAlpha = 1;
    ctx.beginPath();
    ctx.arc(x, y, radius, 0, 7);
    ctx.lineWidth = width;
    ctx.setLineDash(dash);
    ctx.strokeStyle = colour;
    ctx.stroke();
    ctx.setLineDash([]);
  }

  /** Draw rings around selected and hovered items and the keyboard cursor. @param {CanvasRenderingContext2D} ctx */
  rings(ctx, done) {
    const { map, scene } = this;
    const { isShown } = scene;
    if (this.ringEach && !map.statements.hasBand) {
      for (const r of map.selection.rows()) {
        if (isShown[r] && !done.has(r)) this.ring(ctx, ...scene.pixel(r), 7, 2.2);
      }
    }
    if (scene.hovered >= 0 && isShown[scene.hovered] && !done.has(scene.hovered)) {
      this.ring(ctx, ...scene.pixel(scene.hovered), 7.5, 1.4);
    }
    if (scene.cursor >= 0 && isShown[scene.cursor]) this.ring(ctx, ...scene.pixel(scene.cursor), 12, 2, [3, 3]);
  }

  /** Draw a pin at each pinned item, but not on the earth, where items have other places. @param {CanvasRenderingContext2D} ctx */
  pins(ctx) {
    const { data, isGeography, isShown, picked, tokens } = this.scene;
    const rows = isGeography ? [] : data.pins;
    const places = rows.filter((r) => isShown[r]).map((r) => {
      const [x, y] = this.scene.pixel(r);
      return /** @type {[number, number]} */ ([x, y - (picked[r] ? RINGED_PX : 0)]);
    });
    drawPins(ctx, places, rows.length, { bg: tokens.bg, ink: tokens.ink });
  }

  /** Draw a ring that closes around the item under a resting finger. @param {CanvasRenderingContext2D} ctx @param {number} now */
  hold(ctx, now) {
    const { held, tokens } = this.scene;
    if (!held) return false;
    const share = prefersReducedMotion() ? 1 : Math.min((now - held.begun) / held.ms, 1);
    const [x, y] = this.scene.pixel(held.row);
    ctx.beginPath();
    ctx.arc(x, y, HELD_PX, -Math.PI / 2, (2 * share - 0.5) * Math.PI);
    ctx.lineWidth = 4;
    ctx.strokeStyle = tokens.accent;
    ctx.stroke();
    return share < 1;
  }

  /** Draw the links of the hovered item. @param {CanvasRenderingContext2D} ctx */
  hairlines(ctx) {
    const { hovered, hovering, view, pos, isShown, tokens } = this.scene;
    if (hovered < 0 || hovering?.row !== hovered) return;
    ctx.lineWidth = 1;
    for (const [i, j, weight] of hovering.links) {
      if (!isShown[i] || !isShown[j]) continue;
      ctx.beginPath();
      ctx.moveTo(view.x(pos[2 * i]), view.y(pos[2 * i + 1]));
      ctx.lineTo(view.x(pos[2 * j]), view.y(pos[2 * j + 1]));
      ctx.strokeStyle = withAlpha(weight < 0 ? tokens.minus : tokens.accent, 0.6);
      ctx.stroke();
    }
  }

  /**
   * Draw the fading old positions of points that moved most.
   * @param {CanvasRenderingContext2D} ctx @param {number} now
   */
  ghosts(ctx, now) {
    const { scene } = this;
    if (!scene.ghosts) return false;
    const age = now - scene.ghosts.born;
    if (age > MORPH_MS + TRAIL_MS) {
      scene.ghosts = null;
      return false;
    }
    const { view, pos, isShown } = scene;
    const share = prefersReducedMotion() ? 1 : Math.min(1, (MORPH_MS + TRAIL_MS - age) / TRAIL_MS);
    const { rows, from } = scene.ghosts;
    ctx.strokeStyle = withAlpha(scene.tokens.mute, 0.28 * share);
    ctx.lineWidth = 1;
    ctx.beginPath();
    rows.forEach((r, k) => {
      if (!isShown[r]) return;
      ctx.moveTo(view.x(from[2 * k]), view.y(from[2 * k + 1]));
      ctx.lineTo(view.x(pos[2 * r]), view.y(pos[2 * r + 1]));
    });
    ctx.stroke();
    rows.forEach((r, k) => {
      if (!isShown[r]) return;
      ctx.beginPath();
      ctx.arc(view.x(from[2 * k]), view.y(from[2 * k + 1]), 2.4, 0, 7);
      ctx.fillStyle = withAlpha(scene.palette[scene.slot[r]], 0.4 * share);
      ctx.fill();
    });
    return true;
  }

  /** Draw the lasso or box in progress. @param {CanvasRenderingContext2D} ctx */
  stroke(ctx) {
    const { sketch, view, tokens } = this.scene;
    if (!sketch || sketch.length < 2) return;
    ctx.beginPath();
    sketch.forEach(([x, y], k) => ctx[k ? "lineTo" : "moveTo"](view.x(x), view.y(y)));
    ctx.closePath();
    ctx.fillStyle = withAlpha(tokens.accent, 0.08);
    ctx.fill();
    ctx.lineWidth = 1.6;
    ctx.setLineDash([4, 3]);
    ctx.strokeStyle = mix(tokens.accent, tokens.ink, 0.2);
    ctx.stroke();
    ctx.setLineDash([]);
  }
}
