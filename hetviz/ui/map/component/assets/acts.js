// What is said on the map: groups A, B and C with their rings, the pairs a statement would make,
// and an item that is carried elsewhere. Python decides; here it is drawn, and wishes are sent.

import { clear } from "./colour.js";
import { tell } from "./journey.js";
import { pack } from "./pick.js";

const DASH = { A: [], B: [5, 4], C: [1.5, 3.5] };
const FEW = 12;
const BADGED = 6; // so many members have a badge each
const PATIENCE = 1500; // ms without an answer before a wish is sent again
const MOST_TRIES = 8;
const MOST_RINGS = 400;
export const WORDS = {
  t: ["together", "together"], x: ["apart", "apart"], c: ["closer", "closer"], g: ["label", "name"],
};

export class Acts {
  constructor(map) {
    Object.assign(this, { map, groups: new Map(), preview: [], ghosts: [], carried: null, told: "" });
    // Of two messages in a row Streamlit may deliver only the later, so each carries all wishes that
    // Python has not been heard to have got, and is sent again until it has. Python does each number
    // once; the clock keeps them rising over a reload.
    Object.assign(this, { wishes: [], serial: Date.now() });
  }

  /** What Python says of groups, with their rows, and of the preview. */
  take(data, groups) {
    const acts = data.acts ?? {};
    this.preview = acts.preview ?? [];
    this.ghosts = acts.ghosts ?? [];
    this.dropped = acts.dropped ?? null;
    this.wishes = this.wishes.filter((wish) => wish.n > (acts.heard ?? 0));
    const told = JSON.stringify([acts.groups ?? {}, data.n]);
    if (told !== this.told) Object.assign(this, { told, groups });
  }

  /** Rows of all groups. */
  rows() { return [...new Set([...this.groups.values()].flat())]; }

  /** Make a group of what is selected, or of the item under the keyboard's cursor. */
  set(name) {
    const { map } = this;
    const rows = map.count ? map.pickedRows() : map.cursor >= 0 ? [map.cursor] : [];
    if (!rows.length) {
      map.say(`Select something first, then press ${name}`);
      return false;
    }
    const flags = new Uint8Array(map.n);
    for (const r of rows) flags[r] = 1;
    this.groups = new Map(this.groups).set(name, [...rows]);
    this.told = "";
    this.send({ what: "group", group: name, packed: pack(flags) });
    map.say(`${name}: ${rows.length.toLocaleString("en")} ${rows.length === 1 ? "item" : "items"}`);
    map.wish({ paint: true, place: true });
    return true;
  }

  /** Give up the group that was made last; returns whether there was one. */
  giveUp() {
    const { map } = this;
    const name = [..."CBA"].find((one) => this.groups.get(one)?.length);
    if (!name) return false;
    this.groups = new Map([...this.groups].filter(([one]) => one !== name));
    Object.assign(this, { told: "", preview: [], ghosts: [] });
    this.send({ what: "group", group: name, packed: pack(new Uint8Array(map.n)) });
    map.say(`${name} is given up`);
    map.wish({ paint: true, place: true });
    return true;
  }

  /** Choose what to say of the groups; a second time says it. */
  say(key) {
    const [how, word] = WORDS[key];
    const { map } = this;
    if (how === "closer" && map.count && !this.same(map.pickedRows())) this.set("C");
    this.send({ what: "say", how });
    map.say(word);
  }

  same(rows) {
    const told = JSON.stringify(rows);
    return [...this.groups.values()].some((group) => JSON.stringify(group) === told);
  }

  /** Let an item go elsewhere, in the map's own units. */
  drop(row, x, y) {
    this.dropped = [row, x, y];
    this.send({ what: "drop", row, x, y });
    this.map.say("With respect to what? Choose in the bar on the map");
  }

  send(wish) {
    this.serial += 1;
    this.wishes.push({ ...wish, n: this.serial });
    this.deliver(MOST_TRIES);
  }

  deliver(tries) {
    const { map } = this;
    clearTimeout(this.again);
    if (map.dead || !this.wishes.length) return;
    if (!tries) {
      this.wishes = [];
      return;
    }
    tell(() => map.component.setTriggerValue("act", { wishes: this.wishes, rows: map.data.acts?.rows }));
    this.again = setTimeout(() => this.deliver(tries - 1), PATIENCE);
  }

  close() { clearTimeout(this.again); }

  draw(ctx) {
    this.pairs(ctx);
    for (const [name, rows] of this.groups) this.rings(ctx, name, rows);
    this.foreseen(ctx);
    this.carry(ctx);
  }

  /** Where what would move would lie: a way to a hollow place. */
  foreseen(ctx) {
    const { pass, view, overlay, tokens } = this.map;
    for (const [row, x, y] of this.ghosts) {
      if (!pass[row]) continue;
      const [to, down] = [view.x(x), view.y(y)];
      ctx.beginPath();
      ctx.moveTo(...this.at(row));
      ctx.lineTo(to, down);
      ctx.lineWidth = 1.2;
      ctx.strokeStyle = clear(tokens.accent, 0.45);
      ctx.stroke();
      overlay.ring(ctx, to, down, 3.5, 1);
    }
  }

  at(row) {
    const { view, pos, overlay } = this.map;
    const [x, y] = overlay.moved.get(row) ?? [0, 0];
    return [view.x(pos[2 * row]) + x, view.y(pos[2 * row + 1]) + y];
  }

  /** The pairs a statement would make: heavier than links that are there. */
  pairs(ctx) {
    const { pass, tokens } = this.map;
    const many = this.preview.length > 12;
    for (const [i, j, weight] of this.preview) {
      if (!pass[i] || !pass[j]) continue;
      ctx.beginPath();
      ctx.moveTo(...this.at(i));
      ctx.lineTo(...this.at(j));
      ctx.lineWidth = many ? 0.8 : 1.6;
      ctx.setLineDash(weight < 0 ? [2, 4] : [7, 4]);
      ctx.strokeStyle = clear(weight < 0 ? tokens.minus : tokens.plus, many ? Math.max(0.16, 6 / this.preview.length) : 0.85);
      ctx.stroke();
      ctx.setLineDash([]);
      if (!many) this.arrow(ctx, i, j, weight);
    }
  }

  /** Where a statement would move an item: towards the other, or away from it. */
  arrow(ctx, i, j, weight) {
    const { tokens } = this.map;
    const [[x0, y0], [x1, y1]] = [this.at(i), this.at(j)];
    const length = Math.hypot(x1 - x0, y1 - y0);
    if (length < 60) return;
    const way = weight < 0 ? -1 : 1;
    const [ux, uy] = [((x1 - x0) / length) * way, ((y1 - y0) / length) * way];
    const far = Math.min(Math.max(0.3 * length, 24), 44);
    const [sx, sy] = [x0 + ux * 25, y0 + uy * 25];
    const [ex, ey] = [sx + ux * far, sy + uy * far];
    for (const [wide, colour] of [[6, tokens.bg], [2.4, weight < 0 ? tokens.minus : tokens.plus]]) {
      Object.assign(ctx, { lineWidth: wide, strokeStyle: colour });
      ctx.beginPath();
      ctx.moveTo(sx, sy);
      ctx.lineTo(ex, ey);
      ctx.moveTo(ex - ux * 8 - uy * 5, ey - uy * 8 + ux * 5);
      ctx.lineTo(ex, ey);
      ctx.lineTo(ex - ux * 8 + uy * 5, ey - uy * 8 - ux * 5);
      ctx.stroke();
    }
  }

  /** Small groups: a badge at each member; large ones: one for all. */
  badges() {
    const found = [];
    for (const [name, rows] of this.groups) {
      const seen = rows.filter((r) => this.map.pass[r]);
      for (const row of seen.length <= BADGED ? seen : seen.slice(0, 1)) {
        let [x, y] = this.at(row);
        if (seen.length > BADGED) [x, y] = seen.map((r) => this.at(r)).reduce((a, b) => (b[1] < a[1] ? b : a));
        else if (name === "B" && this.groups.get("A")?.includes(row)) x += 38;
        const away = seen.length <= BADGED ? 19 : 15;
        found.push({ name, row, few: seen.length <= BADGED, x: x - away, y: y - away, box: [x - away - 11, y - away - 11, x - away + 11, y - away + 11] });
      }
    }
    return found;
  }

  drawBadges(ctx) {
    const { tokens, family } = this.map;
    for (const { name, x, y } of this.badges()) {
      ctx.beginPath();
      ctx.arc(x, y, 9.5, 0, 7);
      ctx.fillStyle = tokens.bg;
      ctx.fill();
      ctx.lineWidth = 2.2;
      ctx.strokeStyle = tokens.ink;
      ctx.setLineDash(name === "A" ? [] : [3, 2.4]);
      ctx.stroke();
      ctx.setLineDash([]);
      ctx.font = `700 12px ${family}`;
      ctx.textAlign = "center";
      ctx.textBaseline = "middle";
      ctx.fillStyle = tokens.ink;
      ctx.fillText(name, x, y + 0.5);
    }
  }

  rings(ctx, name, rows) {
    const { pass, overlay } = this.map;
    const seen = rows.filter((r) => pass[r]);
    if (!seen.length) return;
    const few = seen.length <= BADGED;
    if (!few) {
      this.outline(ctx, seen, DASH[name]);
      return;
    }
    for (const row of seen) overlay.ring(ctx, ...this.at(row), 21, 2.2, DASH[name]);
  }

  /** One outline round all of a large group. */
  outline(ctx, rows, dash) {
    const { view, tokens } = this.map;
    const canvas = (this.sheet ??= document.createElement("canvas"));
    Object.assign(canvas, { width: view.W, height: view.H });
    const flat = canvas.getContext("2d");
    const step = Math.max(1, Math.ceil(rows.length / MOST_RINGS));
    const discs = (radius) => {
      flat.beginPath();
      for (let k = 0; k < rows.length; k += step) {
        const [x, y] = this.at(rows[k]);
        flat.moveTo(x + radius, y);
        flat.arc(x, y, radius, 0, 7);
      }
      flat.fill();
    };
    flat.fillStyle = tokens.ink;
    discs(19);
    flat.globalCompositeOperation = "destination-out";
    discs(17.4);
    flat.globalCompositeOperation = "source-over";
    ctx.globalAlpha = dash.length ? 0.6 : 1;
    ctx.drawImage(canvas, 0, 0);
    ctx.globalAlpha = 1;
  }

  /** The way of an item that is carried, or was dropped and waits for an answer. */
  carry(ctx) {
    const { view, overlay, tokens } = this.map;
    const now = this.carried ?? this.dropped;
    if (!now) return;
    const [row, x, y] = now;
    ctx.beginPath();
    ctx.moveTo(...this.at(row));
    ctx.lineTo(view.x(x), view.y(y));
    ctx.lineWidth = 1.6;
    ctx.setLineDash([4, 3]);
    ctx.strokeStyle = clear(tokens.accent, 0.9);
    ctx.stroke();
    ctx.setLineDash([]);
    overlay.ring(ctx, view.x(x), view.y(y), 8, 2.2);
  }
}
