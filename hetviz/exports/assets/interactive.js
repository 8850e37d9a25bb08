// A map that needs no server: everything it shows is in the page. Points are drawn and found by the
// modules that do so in the app, which Python puts into this script. Texts are only ever set as text.

import { FlatRenderer, MOST_DRAWN } from "./flat_renderer.js";
import { FOCUS, HIDDEN, Renderer, SELECTED, abilities, dotSize } from "./renderer.js";
import { View, calm, between, ease } from "./view.js";

const D = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const LISTED = 50; // matches that are listed
const NEAR = 10; // nearest items
const MANY = 50000; // items from which on a search waits for a pause in typing
const MARGIN = 24; // pixels about the whole map
const SETTLED = 130; // ms without a move before names are chosen anew
const FLIGHT = 350; // ms to an item

function numbers(text, Type) {
  const whole = atob(text);
  const bytes = new Uint8Array(whole.length);
  for (let k = 0; k < whole.length; k++) bytes[k] = whole.charCodeAt(k);
  return new Type(bytes.buffer);
}

const pos = numbers(D.at, Float32Array);
const code = numbers(D.code, Int16Array);
const value = D.value ? numbers(D.value, Uint8Array) : null;
const n = pos.length / 2;
const owner = new Uint8Array(n); // dataset of each item
const starts = [];
D.datasets.reduce((start, { drawn }, k) => {
  starts.push(start);
  owner.fill(k, start, start + drawn);
  return start + drawn;
}, 0);
const facts = D.facts.map((columns) => columns.map((column) => ({ ...column, at: numbers(column.at, Int32Array) })));

const over = $("map");
const ctx = over.getContext("2d");
const view = new View();
const off = new Set(); // datasets that are hidden
const offCode = new Set(); // categories that are
const state = new Uint8Array(n);
let drawer = null;
let dark = matchMedia("(prefers-color-scheme: dark)").matches;
let visible = n;
let hover = -1;
let picked = -1;
let found = null; // rows that the search finds
let written = []; // what stands on the map
let flight = null;
let frame = 0;
let settling = 0;
let searched = 0;
let lower = null;

function make(tag, text, more = {}) {
  const node = Object.assign(document.createElement(tag), more);
  if (text !== undefined) node.textContent = text;
  return node;
}
const title = (i) => D.titles[i] || id(i);
const id = (i) => D.ids[i] ?? D.titles[i];
const shown = (i) => !(state[i] & HIDDEN);
const palette = () => (dark ? D.dark : D.light);
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const thousands = (count) => count.toLocaleString("en");
const px = (i) => [view.x(pos[2 * i]), view.y(pos[2 * i + 1])];

// ------------------------------------------------------------------------------------ the points

function begin() {
  const told = { wish, worker: null };
  try {
    // One that is gone and does not come back is not waited for.
    const lost = () => {
      flat();
      tell();
      theme();
    };
    if (abilities().webgl2) drawer = new Renderer($("points"), { ...told, lost });
    else drawer = new FlatRenderer($("points"), told);
  } catch { // offered, and not given
    flat();
  }
  tell();
}

/** Draw on a plain canvas from now on: what had a card's context can have no other. */
function flat() {
  drawer?.close();
  const other = $("points").cloneNode();
  $("points").replaceWith(other);
  drawer = new FlatRenderer(other, { wish, worker: null });
}

/** Tell the drawer all that it draws. */
function tell() {
  if (drawer instanceof FlatRenderer && n > MOST_DRAWN) {
    $("note").textContent = `This browser offers no WebGL2: at most ${thousands(MOST_DRAWN)} of ${thousands(n)} items are drawn at a time. Zoom in to see the others; all are found.`;
    $("note").hidden = false;
  }
  drawer.shapes(D.datasets.map(({ shape, factor }) => ({ shape, size: factor })));
  drawer.layout(pos);
  const { colours } = palette();
  const colour = value ?? Uint8Array.from(code, (c) => (c < 0 ? 0 : 1 + (c % colours.length)));
  drawer.dye({ dataset: owner.map((k) => k % 8), colour });
  shade();
}

/** Tell the drawer what is hidden, found and selected. */
function shade() {
  visible = 0;
  for (let i = 0; i < n; i++) {
    const gone = off.has(owner[i]) || offCode.has(code[i]);
    state[i] = gone ? HIDDEN : i === picked && found ? SELECTED : 0;
    if (!gone) visible += 1;
  }
  if (found) for (const i of found) state[i] |= FOCUS;
  drawer.dye({ state: state.slice() });
  settle();
}

function wish() { frame ||= requestAnimationFrame(draw); }

function draw(now) {
  frame = 0;
  if (!drawer?.order) return;
  if (flight) fly(now);
  drawer.size = dotSize(visible || 1, view.s / view.fitted);
  const more = drawer.draw(view, 1, now);
  drawer.canvas.dataset.drawn = drawer.drawn;
  // The card is still busy with the frame before: names must not run ahead.
  if (!drawer.late) write();
  if (more || flight) wish();
}

function moved() {
  wish();
  settle();
}

function settle() {
  clearTimeout(settling);
  settling = setTimeout(choose, written.length ? SETTLED : 0);
}

// ------------------------------------------------------------------------------------- the camera

const whole = () => view.around({ x: [0, D.frame[0]], y: [0, D.frame[1]], stretch: 1 });

function resize() {
  const [w, h] = [over.clientWidth, over.clientHeight];
  if (!w || !h) return;
  const ratio = devicePixelRatio || 1;
  Object.assign(over, { width: Math.round(w * ratio), height: Math.round(h * ratio) });
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  const before = view.s / view.fitted;
  Object.assign(view, { W: w, H: h, clear: { left: MARGIN, top: MARGIN, right: MARGIN, bottom: MARGIN } });
  const all = whole();
  if (resize.known) view.s = before * all.s;
  else view.go(all);
  view.fitted = all.s;
  resize.known = true;
  moved();
}

function go(to) {
  if (calm()) {
    view.go(to);
    moved();
    return;
  }
  flight = { from: view.at(), to, begun: performance.now() };
  wish();
}

function fly(now) {
  const share = Math.min(Math.max((now - flight.begun) / FLIGHT, 0), 1);
  view.go(between(flight.from, flight.to, ease(share)));
  if (share === 1) {
    flight = null;
    settle();
  }
}

const see = (i) => go({ ...view.at(), cx: pos[2 * i], cy: pos[2 * i + 1], s: Math.max(view.s, 3 * view.fitted) });

function zoom(factor, x, y) {
  flight = null;
  view.zoom(factor, x, y);
  moved();
}

// ------------------------------------------------------------------------------ names and rings

// Whole characters: an emoji may take two units of a string.
function cut(text) {
  const all = [...text];
  return all.length > 22 ? all.slice(0, 21).join("").trimEnd() + "…" : text;
}

/** Choose what is written: names of groups first, then of items with many links, where there is room. */
function choose() {
  const [w, h, p] = [view.W, view.H, palette()];
  const boxes = [];
  written = [];
  const put = (text, at, lift, font, fill) => {
    ctx.font = font;
    const [x, y, wide] = [view.x(at[0]), view.y(at[1]) - lift, ctx.measureText(text).width];
    const box = [x - wide / 2 - 3, y - 9, x + wide / 2 + 3, y + 9];
    if (box[0] < 0 || box[1] < 0 || box[2] > w || box[3] > h) return false;
    if (boxes.some((b) => b[0] < box[2] && box[0] < b[2] && b[1] < box[3] && box[1] < b[3])) return false;
    boxes.push(box);
    written.push({ text, at, lift, font, fill });
    return true;
  };
  for (const name of D.names) {
    if (offCode.has(name.code)) continue;
    put(name.text, name.at, 0, "600 16px system-ui, sans-serif", p.texts[name.code % p.texts.length]);
  }
  let left = Math.round((w * h) / 15000 * Math.min(3, view.s / view.fitted));
  const mute = css("--mute");
  for (const i of D.order) {
    if (left <= 0) break;
    if (!shown(i)) continue;
    if (put(cut(D.titles[i]), [pos[2 * i], pos[2 * i + 1]], 11, "12.5px system-ui, sans-serif", mute)) left -= 1;
  }
  wish();
}

function write() {
  ctx.clearRect(0, 0, view.W, view.H);
  Object.assign(ctx, { textAlign: "center", textBaseline: "middle", lineJoin: "round", lineWidth: 4, strokeStyle: css("--bg") });
  for (const { text, at, lift, font, fill } of written) {
    const [x, y] = [view.x(at[0]), view.y(at[1]) - lift];
    ctx.font = font;
    ctx.strokeText(text, x, y);
    ctx.fillStyle = fill;
    ctx.fillText(text, x, y);
  }
  ctx.strokeStyle = css("--ink");
  for (const [i, width] of [[hover, 1.5], [picked, 2.5]]) {
    if (i < 0 || !shown(i)) continue;
    ctx.lineWidth = width;
    ctx.beginPath();
    ctx.arc(...px(i), drawer.size / 2 + 4, 0, 7);
    ctx.stroke();
  }
}

// -------------------------------------------------------------------------------------- an item

function kind(i) {
  const parts = [D.datasets[owner[i]].name];
  if (code[i] >= 0 && !value && !D.byDataset) parts.push(D.categories[code[i]]);
  return parts.join(" · ");
}

function picture(i) {
  const source = D.pictures[i];
  return source ? make("img", undefined, { src: source, alt: "" }) : null;
}

function tip(x, y) {
  const box = $("tip");
  box.hidden = hover < 0;
  if (hover < 0) return;
  const image = picture(hover);
  box.replaceChildren(...(image ? [image] : []), make("b", title(hover)), make("small", kind(hover)));
  box.style.left = `${Math.max(Math.min(x + 14, view.W - box.offsetWidth - 4), 0)}px`;
  box.style.top = `${Math.max(Math.min(y + 14, view.H - box.offsetHeight - 4), 0)}px`;
}

function point(x, y) {
  drawer.pick(view, x, y, 14, (i) => {
    const other = i !== hover;
    hover = i;
    tip(x, y);
    if (other) wish();
  });
}

function entry(i) {
  const button = make("button", title(i), { type: "button" });
  button.append(" ", make("small", kind(i)));
  button.onclick = () => pick(i, true);
  const item = make("li");
  item.append(button);
  return item;
}

/** The items nearest to one, nearest first. */
function nearest(i) {
  const best = [];
  for (let j = 0; j < n; j++) {
    if (j === i || !shown(j)) continue;
    const d = (pos[2 * j] - pos[2 * i]) ** 2 + (pos[2 * j + 1] - pos[2 * i + 1]) ** 2;
    if (best.length === NEAR && d >= best[NEAR - 1][0]) continue;
    let at = best.length;
    while (at && best[at - 1][0] > d) at -= 1;
    best.splice(at, 0, [d, j]);
    if (best.length > NEAR) best.pop();
  }
  return best.map(([, j]) => j);
}

function pick(i, fly = false) {
  picked = i;
  const panel = $("item");
  if (i < 0) panel.replaceChildren(make("h2", "Nothing is selected"), make("p", D.help));
  else {
    const [image, list, near] = [picture(i), make("dl"), make("ol")];
    for (const { name, words, at } of facts[owner[i]]) {
      const word = at[i - starts[owner[i]]];
      if (word >= 0) list.append(make("dt", name), make("dd", words[word]));
    }
    near.append(...nearest(i).map(entry));
    panel.replaceChildren(...(image ? [image] : []), make("h2", title(i)), make("p", `${kind(i)} · ${id(i)}`), list, make("h2", "Nearest items on the map"), near);
    $("said").textContent = `${title(i)}, ${kind(i)}`;
    if (fly) see(i);
  }
  shade();
}

// ---------------------------------------------------------------------------- search and legend

function search() {
  const words = $("search").value.trim().toLowerCase();
  found = null;
  $("matches").replaceChildren();
  if (words) {
    lower ??= D.titles.map((text, i) => (D.ids[i] === null ? text : `${text} ${D.ids[i]}`).toLowerCase());
    found = [];
    for (let i = 0; i < n; i++) {
      if (!off.has(owner[i]) && !offCode.has(code[i]) && lower[i].includes(words)) found.push(i);
    }
    $("matches").append(...found.slice(0, LISTED).map(entry));
  }
  const first = found?.length > LISTED ? `; the first ${LISTED} are listed` : "";
  $("count").textContent = found ? `${thousands(found.length)} found${first}` : "";
  shade();
}

function toggle(label, set, key, glyph, fill) {
  const button = make("button", undefined, { type: "button" });
  if (glyph) {
    const mark = make("span", `${glyph} `);
    if (fill) mark.style.color = fill;
    button.append(mark);
  }
  button.append(label);
  button.setAttribute("aria-pressed", String(!set.has(key)));
  button.onclick = () => {
    if (!set.delete(key)) set.add(key);
    button.setAttribute("aria-pressed", String(!set.has(key)));
    search();
  };
  return button;
}

function legend() {
  const p = palette();
  const of = (k) => p.colours[k % p.colours.length];
  const coloured = !D.byDataset && !value;
  $("legend").replaceChildren(
    ...D.datasets.map((d, k) => toggle(`${d.name} ${thousands(d.count)}`, off, k, d.glyph, D.byDataset ? of(k) : "")),
    ...(coloured ? D.categories.map((name, k) => toggle(name, offCode, k, "●", of(k))) : []),
    ...(coloured ? D.rest.map(([k, name]) => toggle(name, offCode, k, "●", p.ghost)) : []),
    ...(D.numbers ? [make("span", D.numbers)] : []));
}

function theme() {
  document.documentElement.classList.toggle("dark", dark);
  $("theme").textContent = dark ? "Light theme" : "Dark theme";
  const p = palette();
  drawer.ground = css("--bg");
  drawer.hatch = css("--mute");
  drawer.paint([p.ghost, ...(value ? p.scale : p.colours)]);
  legend();
  choose();
}

// -------------------------------------------------------------------------------- mouse and keys

const touches = new Map();
let travelled = 0;
over.onpointerdown = (e) => {
  over.setPointerCapture(e.pointerId);
  touches.set(e.pointerId, [e.offsetX, e.offsetY]);
  travelled = 0;
  flight = null;
  over.classList.add("moving");
};
over.onpointermove = (e) => {
  const at = [e.offsetX, e.offsetY];
  const last = touches.get(e.pointerId);
  if (!last) {
    point(...at);
    return;
  }
  if (touches.size === 2) {
    const other = [...touches].find(([key]) => key !== e.pointerId)[1];
    const gap = (a) => Math.hypot(a[0] - other[0], a[1] - other[1]);
    zoom(gap(at) / Math.max(gap(last), 1), (at[0] + other[0]) / 2, (at[1] + other[1]) / 2);
    travelled += 9;
  } else {
    view.pan(at[0] - last[0], at[1] - last[1]);
    travelled += Math.hypot(at[0] - last[0], at[1] - last[1]);
    if (hover >= 0 && travelled > 4) {
      hover = -1;
      tip(0, 0);
    }
    moved();
  }
  touches.set(e.pointerId, at);
};
over.onpointerup = (e) => {
  touches.delete(e.pointerId);
  over.classList.remove("moving");
  if (travelled < 4) drawer.pick(view, e.offsetX, e.offsetY, e.pointerType === "touch" ? 24 : 14, (i) => pick(i));
};
over.onpointercancel = (e) => {
  touches.delete(e.pointerId);
  over.classList.remove("moving");
};
over.onpointerleave = () => {
  hover = -1;
  tip(0, 0);
  wish();
};
over.addEventListener("wheel", (e) => {
  e.preventDefault();
  zoom(Math.exp(-e.deltaY * 0.0015), e.offsetX, e.offsetY);
}, { passive: false });
over.onkeydown = (e) => {
  const moves = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (moves[e.key]) {
    flight = null;
    view.pan(...moves[e.key]);
    moved();
  } else if (e.key === "+" || e.key === "=") zoom(1.4, view.W / 2, view.H / 2);
  else if (e.key === "-") zoom(1 / 1.4, view.W / 2, view.H / 2);
  else if (e.key === "0") go(whole());
  else if (e.key === "Enter") drawer.pick(view, view.W / 2, view.H / 2, 1e4, (i) => pick(i));
  else if (e.key === "Escape") pick(-1);
  else return;
  e.preventDefault();
};
$("search").oninput = () => {
  clearTimeout(searched);
  if (n > MANY) searched = setTimeout(search, 150);
  else search();
};
$("search").onkeydown = (e) => {
  if (e.key !== "Enter") return;
  clearTimeout(searched);
  search();
  if (found?.length) pick(found[0], true);
};
$("reset").onclick = () => go(whole());
$("theme").onclick = () => {
  dark = !dark;
  theme();
};
resize();
begin();
theme();
pick(-1);
new ResizeObserver(resize).observe(over);
