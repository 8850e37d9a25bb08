// Statements on the map: groups A, B and C with their rings, a preview of the pairs, and dragged items.
// Python decides what to do; this module draws and sends messages.

import { context2d, makeCanvas } from "./canvas.js";
import { withAlpha } from "./colors.js";
import { send } from "./page_change.js";
import { followDraft, panel } from "./panel.js";
import { pack } from "./pick.js";

/** @import { HetMap } from "./map.js" */

const DASH = { A: [], B: [5, 4], C: [1.5, 3.5] };
const MAX_ARROWS = 12;
const MAX_RINGED = 6; // members of a group with one ring each
const RIBBON_PX = 16;
const BAND_GAP_PX = 28; // px between the outer items and the band around them
const RESEND_MS = 1500; // ms without confirmation before messages are sent again
const MAX_TRIES = 8;
const MAX_RINGS = 400;
export const KINDS = {
  t: ["together", "together"], x: ["apart", "apart"], c: ["closer", "closer"], g: ["label", "name"],
};

/**
 * The corners of the convex hull of some places, in order.
 * @param {[x: number, y: number][]} places
 */
export function convexHull(places) {
  const sorted = [...places].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  /** @param {[x: number, y: number][]} way */
  const half = (way) => {
    /** @type {[x: number, y: number][]} */
    const corners = [];
    for (const p of way) {
      while (corners.length > 1) {
        const [a, b] = corners.slice(-2);
        if ((b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) > 0) break;
        corners.pop();
      }
      corners.push(p);
    }
    return corners.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.reverse())];
}

/** @param {number[][]} places @returns {number[]} */
const middleOf = (places) => [0, 1].map((axis) => places.reduce((sum, xy) => sum + xy[axis], 0) / places.length);

export class Statements {
  /** @param {HetMap} map */
  constructor(map) {
    this.map = map;
    this.scene = map.scene;
    this.groups = new Map();
    this.pairs = [];
    this.moves = [];
    this.count = "";
    /** @type {[row: number, x: number, y: number] | null} Item in a drag. */
    this.dragged = null;
    /** @type {[row: number, x: number, y: number] | null} Item that was dropped. */
    this.dropped = null;
    this.sheet = makeCanvas(1, 1);
    this.groupsKey = "";
    // Streamlit may deliver only the later of two messages, so each message contains all requests that
    // Python has not confirmed, and is sent again until it has. Python handles each number
    // once. The clock keeps numbers rising across reloads.
    this.unconfirmed = [];
    this.serial = Date.now();
  }

  /** Receive groups with their rows, and the preview, from Python. */
  receive(data, groups) {
    const draft = data.draft ?? {};
    this.pairs = draft.pairs ?? [];
    this.count = draft.count ?? "";
    this.moves = draft.moves ?? [];
    this.dropped = draft.dropped ?? null;
    this.unconfirmed = this.unconfirmed.filter((message) => message.number > (draft.acknowledged ?? 0));
    const groupsKey = JSON.stringify([draft.groups ?? {}, data.n]);
    if (groupsKey !== this.groupsKey) Object.assign(this, { groupsKey, groups });
    if (data.stage) followDraft(this.groups.size > 0);
  }

  /** Rows of all groups. */
  rows() { return [...new Set([...this.groups.values()].flat())]; }

  /** Whether links of an item are shown: of all before a statement is drafted, then of its first items until there are pairs. */
  showsLinksOf(row) { return !this.groups.size || (!this.pairs.length && Boolean(this.groups.get("A")?.includes(row))); }

  /** Make a group of the selected items, or of the item under the keyboard cursor. @param {string} name */
  set(name) {
    const { map, scene } = this;
    const rows = scene.count ? map.selection.rows() : scene.cursor >= 0 ? [scene.cursor] : [];
    if (!rows.length) {
      map.announce(`Select something first, then press ${name}`);
      return false;
    }
    this.setRows(name, rows);
    return true;
  }

  /** Make a group of these rows. @param {string} name @param {number[]} rows */
  setRows(name, rows) {
    const { map, scene } = this;
    const flags = new Uint8Array(scene.n);
    for (const r of rows) flags[r] = 1;
    this.groups = new Map(this.groups).set(name, [...rows]);
    this.groupsKey = "";
    this.send({ kind: "group", group: name, packed: pack(flags) });
    map.announce(`${name}: ${rows.length.toLocaleString("en")} ${rows.length === 1 ? "item" : "items"}`);
    map.requestDraw({ paint: true, place: true });
  }

  /** Remove the last group; returns whether there was one. */
  removeLastGroup() {
    const { map, scene } = this;
    const name = [..."CBA"].find((key) => this.groups.get(key)?.length);
    if (!name) return false;
    this.groups = new Map([...this.groups].filter(([key]) => key !== name));
    Object.assign(this, { groupsKey: "", pairs: [], moves: [] });
    this.send({ kind: "group", group: name, packed: pack(new Uint8Array(scene.n)) });
    map.announce(`${name} removed`);
    map.requestDraw({ paint: true, place: true });
    return true;
  }

  /** Choose the kind of statement; a second call adds it. */
  choose(key) {
    const [kind, word] = KINDS[key];
    const { map, scene } = this;
    if (kind === "closer" && scene.count && !this.isGroup(map.selection.rows())) this.set("C");
    this.send({ kind: "statement", statement: kind });
    map.announce(word);
  }

  /** @param {number[]} rows */
  isGroup(rows) {
    const key = JSON.stringify(rows);
    return [...this.groups.values()].some((group) => JSON.stringify(group) === key);
  }

  /**
   * Drop a dragged item, in units of the map: onto another item it says that both belong together.
   * @param {number} row @param {number} x @param {number} y @param {number} onto
   */
  dropItem(row, x, y, onto) {
    const { map } = this;
    if (onto < 0) {
      this.dropped = [row, x, y];
      this.send({ kind: "drop", row, x, y });
      map.announce("Now click what it belongs with, or choose in the bar");
      return;
    }
    this.dropped = null;
    this.groups = new Map([["A", [row]], ["B", [onto]]]);
    this.groupsKey = "";
    this.send({ kind: "drop", row, x, y, onto });
    map.announce("Belongs with this item. Move the map with Enter");
    map.requestDraw({ paint: true, place: true });
  }

  send(message) {
    this.map.selection.report();
    this.serial += 1;
    this.unconfirmed.push({ ...message, number: this.serial });
    this.deliver(MAX_TRIES);
  }

  /** @param {number} tries */
  deliver(tries) {
    const { map, scene } = this;
    clearTimeout(this.resendTimer);
    if (scene.isClosed || !this.unconfirmed.length) return;
    if (!tries) {
      this.unconfirmed = [];
      return;
    }
    send(() => map.component.setTriggerValue("requests", { requests: this.unconfirmed, fingerprint: scene.data.draft?.fingerprint }));
    this.resendTimer = setTimeout(() => this.deliver(tries - 1), RESEND_MS);
  }

  close() { clearTimeout(this.resendTimer); }

  /** @param {CanvasRenderingContext2D} ctx */
  draw(ctx) {
    // Another tab has pairs of its own.
    if (!panel.open || panel.tab === "Item") {
      this.drawPairs(ctx);
      if (!this.hasBand) for (const [name, rows] of this.groups) this.drawRings(ctx, name, rows);
      this.drawMoves(ctx);
    }
    this.drawDrag(ctx);
  }

  /** Draw the expected moves: a line to a ring. @param {CanvasRenderingContext2D} ctx */
  drawMoves(ctx) {
    const { overlay } = this.map;
    const { isShown, view, tokens } = this.scene;
    for (const [row, x, y] of this.moves) {
      if (!isShown[row]) continue;
      const [to, down] = [view.x(x), view.y(y)];
      ctx.beginPath();
      ctx.moveTo(...this.at(row));
      ctx.lineTo(to, down);
      ctx.lineWidth = 1.2;
      ctx.strokeStyle = withAlpha(tokens.accent, 0.45);
      ctx.stroke();
      overlay.ring(ctx, to, down, 3.5, 1);
    }
  }

  /**
   * Place of a row on the screen, with the offset of a moved item.
   * @param {number} row
   * @returns {[x: number, y: number]}
   */
  at(row) {
    const [dx, dy] = this.map.overlay.moved.get(row) ?? [0, 0];
    const [x, y] = this.scene.pixel(row);
    return [x + dx, y + dy];
  }

  /** Draw the pairs of a statement, thicker than existing links. @param {CanvasRenderingContext2D} ctx */
  drawPairs(ctx) {
    const { isShown, tokens } = this.scene;
    if (this.pairs.length > MAX_ARROWS) {
      if (this.hasBand) this.drawBand(ctx);
      else this.drawRibbon(ctx);
      return;
    }
    for (const [i, j, weight] of this.pairs) {
      if (!isShown[i] || !isShown[j]) continue;
      ctx.beginPath();
      ctx.moveTo(...this.at(i));
      ctx.lineTo(...this.at(j));
      ctx.lineWidth = 1.6;
      ctx.setLineDash(weight < 0 ? [2, 4] : [7, 4]);
      ctx.strokeStyle = withAlpha(weight < 0 ? tokens.minus : tokens.plus, 0.85);
      ctx.stroke();
      ctx.setLineDash([]);
      this.drawArrow(ctx, i, j, weight);
    }
  }

  /** Ends of the ribbon of many pairs between two groups, on the screen; null without one. */
  ribbon() {
    if (this.pairs.length <= MAX_ARROWS || this.hasBand) return null;
    const ends = ["A", "B"].map((name) => middleOf(this.placesOf(name)));
    return ends.flat().every(Number.isFinite) ? ends : null;
  }

  /** Draw many pairs as one ribbon between their groups, with their number. @param {CanvasRenderingContext2D} ctx */
  drawRibbon(ctx) {
    const ends = this.ribbon();
    if (!ends) return;
    const [from, to] = ends;
    const color = this.colour();
    ctx.lineCap = "round";
    ctx.lineWidth = RIBBON_PX;
    ctx.strokeStyle = withAlpha(color, 0.28);
    ctx.beginPath();
    ctx.moveTo(from[0], from[1]);
    ctx.lineTo(to[0], to[1]);
    ctx.stroke();
    ctx.lineCap = "butt";
    this.drawCount(ctx, [(from[0] + to[0]) / 2, (from[1] + to[1]) / 2]);
  }

  /** Draw many pairs among one group as one band around it, with their number. @param {CanvasRenderingContext2D} ctx */
  drawBand(ctx) {
    const places = this.placesOf("A");
    if (places.length < 2) return;
    const hull = convexHull(places);
    const [cx, cy] = middleOf(hull);
    ctx.beginPath();
    hull.forEach(([x, y], k) => {
      const length = Math.max(Math.hypot(x - cx, y - cy), 1);
      const away = 1 + BAND_GAP_PX / length;
      ctx[k ? "lineTo" : "moveTo"](cx + (x - cx) * away, cy + (y - cy) * away);
    });
    ctx.closePath();
    ctx.fillStyle = withAlpha(this.colour(), 0.06);
    ctx.fill();
    ctx.lineJoin = "round";
    ctx.lineWidth = RIBBON_PX;
    ctx.strokeStyle = withAlpha(this.colour(), 0.28);
    ctx.stroke();
    this.drawCount(ctx, [cx, Math.min(...hull.map(([, y]) => y)) - BAND_GAP_PX]);
  }

  /** Whether a band replaces the rings of the items: there are many pairs among one group. */
  get hasBand() { return this.pairs.length > MAX_ARROWS && !this.groups.get("B")?.length; }

  /** Colour of the pairs. */
  colour() {
    const { tokens } = this.scene;
    return this.pairs[0][2] < 0 ? tokens.minus : tokens.plus;
  }

  /** Places of the shown items of a group on the screen. @param {string} name */
  placesOf(name) { return (this.groups.get(name) ?? []).filter((r) => this.scene.isShown[r]).map((r) => this.at(r)); }

  /** Draw the number of pairs. @param {CanvasRenderingContext2D} ctx @param {number[]} place */
  drawCount(ctx, place) {
    const { tokens, family } = this.scene;
    const [x, y] = place;
    Object.assign(ctx, { font: `600 14px ${family}`, textAlign: "center", textBaseline: "middle" });
    const half = ctx.measureText(this.count).width / 2 + 9;
    ctx.beginPath();
    ctx.roundRect(x - half, y - 12, 2 * half, 24, 12);
    ctx.fillStyle = tokens.bg;
    ctx.fill();
    ctx.lineWidth = 1.5;
    ctx.strokeStyle = this.colour();
    ctx.stroke();
    ctx.fillStyle = tokens.ink;
    ctx.fillText(this.count, x, y + 0.5);
  }

  /**
   * Draw the direction in which a statement moves an item.
   * @param {CanvasRenderingContext2D} ctx @param {number} i @param {number} j @param {number} weight
   */
  drawArrow(ctx, i, j, weight) {
    const { tokens } = this.scene;
    const [[x0, y0], [x1, y1]] = [this.at(i), this.at(j)];
    const length = Math.hypot(x1 - x0, y1 - y0);
    if (length < 60) return;
    const sign = weight < 0 ? -1 : 1;
    const [ux, uy] = [((x1 - x0) / length) * sign, ((y1 - y0) / length) * sign];
    const reach = Math.min(Math.max(0.3 * length, 24), 44);
    const [sx, sy] = [x0 + ux * 25, y0 + uy * 25];
    const [ex, ey] = [sx + ux * reach, sy + uy * reach];
    for (const [width, colour] of [[6, tokens.bg], [2.4, weight < 0 ? tokens.minus : tokens.plus]]) {
      Object.assign(ctx, { lineWidth: width, strokeStyle: colour });
      ctx.beginPath();
      ctx.moveTo(sx, sy);
      ctx.lineTo(ex, ey);
      ctx.moveTo(ex - ux * 8 - uy * 5, ey - uy * 8 + ux * 5);
      ctx.lineTo(ex, ey);
      ctx.lineTo(ex - ux * 8 + uy * 5, ey - uy * 8 - ux * 5);
      ctx.stroke();
    }
  }

  /** Rows of the groups that are small enough to name each member. */
  namedRows() {
    const shown = [...this.groups.values()].map((rows) => rows.filter((r) => this.scene.isShown[r]));
    return shown.filter((rows) => rows.length <= MAX_RINGED).flat();
  }

  /** @param {CanvasRenderingContext2D} ctx @param {string} name @param {number[]} rows */
  drawRings(ctx, name, rows) {
    const { overlay } = this.map;
    const { isShown } = this.scene;
    const seen = rows.filter((r) => isShown[r]);
    if (!seen.length) return;
    const isSmall = seen.length <= MAX_RINGED;
    if (!isSmall) {
      this.drawOutline(ctx, seen, DASH[name]);
      return;
    }
    for (const row of seen) overlay.ring(ctx, ...this.at(row), 21, 2.2, DASH[name]);
  }

  /**
   * Draw one outline around a large group.
   * @param {CanvasRenderingContext2D} ctx @param {number[]} rows @param {number[]} dash
   */
  drawOutline(ctx, rows, dash) {
    const { view, tokens } = this.scene;
    const canvas = this.sheet;
    Object.assign(canvas, { width: view.W, height: view.H });
    const sheetCtx = context2d(canvas);
    const step = Math.max(1, Math.ceil(rows.length / MAX_RINGS));
    /** @param {number} radius */
    const discs = (radius) => {
      sheetCtx.beginPath();
      for (let k = 0; k < rows.length; k += step) {
        const [x, y] = this.at(rows[k]);
        sheetCtx.moveTo(x + radius, y);
        sheetCtx.arc(x, y, radius, 0, 7);
      }
      sheetCtx.fill();
    };
    sheetCtx.fillStyle = tokens.ink;
    discs(19);
    sheetCtx.globalCompositeOperation = "destination-out";
    discs(17.4);
    sheetCtx.globalCompositeOperation = "source-over";
    ctx.globalAlpha = dash.length ? 0.6 : 1;
    ctx.drawImage(canvas, 0, 0);
    ctx.globalAlpha = 1;
  }

  /**
   * Draw the line of an item that is dragged, or was dropped and awaits an answer.
   * @param {CanvasRenderingContext2D} ctx
   */
  drawDrag(ctx) {
    const { overlay } = this.map;
    const { view, tokens } = this.scene;
    const now = this.dragged ?? this.dropped;
    if (!now) return;
    const [row, x, y] = now;
    ctx.beginPath();
    ctx.moveTo(...this.at(row));
    ctx.lineTo(view.x(x), view.y(y));
    ctx.lineWidth = 1.6;
    ctx.setLineDash([4, 3]);
    ctx.strokeStyle = withAlpha(tokens.accent, 0.9);
    ctx.stroke();
    ctx.setLineDash([]);
    overlay.ring(ctx, view.x(x), view.y(y), 8, 2.2);
  }
}
