"use strict";
// A map that needs no server: everything it shows is in the page. Texts are only ever set as text.
const D = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const canvas = $("map"), ctx = canvas.getContext("2d");
const n = D.x.length, off = new Set(), offCode = new Set();
let view = { x: 0, y: 0, k: 1 }, hover = -1, picked = -1, found = new Set(), dirty = false;
let dark = matchMedia("(prefers-color-scheme: dark)").matches;

function make(tag, text, more = {}) {
  const node = Object.assign(document.createElement(tag), more);
  if (text !== undefined) node.textContent = text;
  return node;
}
const shown = (i) => !off.has(D.of[i]) && !offCode.has(D.code[i]);
const palette = () => (dark ? D.dark : D.light);
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function colour(i) {
  const p = palette();
  if (D.numbers) return D.value[i] === null ? p.ghost : p.scale[D.value[i]];
  return D.code[i] < 0 ? p.ghost : p.colours[D.code[i] % p.colours.length];
}
function size() { return { w: canvas.clientWidth, h: canvas.clientHeight }; }
function base() {
  const { w, h } = size();
  return Math.min((w - 40) / D.width, (h - 40) / D.height);
}
function px(i) {
  const { w, h } = size(), s = base() * view.k;
  return [w / 2 + (D.x[i] - D.width / 2 - view.x) * s, h / 2 - (D.y[i] - D.height / 2 - view.y) * s];
}
const SHAPES = {
  circle: (c, r) => c.arc(0, 0, r, 0, 7),
  square: (c, r) => c.rect(-r * .9, -r * .9, r * 1.8, r * 1.8),
  diamond: (c, r) => poly(c, [[0, -1.25], [1.25, 0], [0, 1.25], [-1.25, 0]], r),
  "triangle-up": (c, r) => poly(c, [[0, -1.2], [1.1, .8], [-1.1, .8]], r),
  "triangle-down": (c, r) => poly(c, [[0, 1.2], [1.1, -.8], [-1.1, -.8]], r),
  cross: (c, r) => poly(c, [[-.4, -1.2], [.4, -1.2], [.4, -.4], [1.2, -.4], [1.2, .4], [.4, .4], [.4, 1.2], [-.4, 1.2], [-.4, .4], [-1.2, .4], [-1.2, -.4], [-.4, -.4]], r),
  star: (c, r) => poly(c, [...Array(10).keys()].map((k) => { const a = k * Math.PI / 5, q = k % 2 ? .6 : 1.5; return [q * Math.sin(a), -q * Math.cos(a)]; }), r),
  hexagon: (c, r) => poly(c, [...Array(6).keys()].map((k) => [1.1 * Math.sin(k * Math.PI / 3), 1.1 * Math.cos(k * Math.PI / 3)]), r),
};
function poly(c, points, r) {
  points.forEach(([x, y], k) => (k ? c.lineTo(x * r, y * r) : c.moveTo(x * r, y * r)));
  c.closePath();
}
function draw() {
  dirty = false;
  const ratio = devicePixelRatio || 1, { w, h } = size();
  if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
    canvas.width = Math.round(w * ratio);
    canvas.height = Math.round(h * ratio);
  }
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, w, h);
  const radius = Math.max(1.6, Math.min(5, 3 * Math.pow(1500 / Math.max(n, 200), .25))) * Math.min(2, Math.pow(view.k, .25));
  const bg = css("--bg"), some = found.size > 0;
  for (let i = 0; i < n; i++) {
    if (!shown(i)) continue;
    const [x, y] = px(i);
    if (x < -9 || y < -9 || x > w + 9 || y > h + 9) continue;
    dot(x, y, D.datasets[D.of[i]].shape, radius, colour(i), some && !found.has(i) ? .18 : .88, bg);
  }
  names(w, h, bg);
  for (const [i, width] of [[hover, 1.5], [picked, 2.5]]) {
    if (i < 0 || !shown(i)) continue;
    const [x, y] = px(i);
    ctx.strokeStyle = css("--ink");
    ctx.lineWidth = width;
    ctx.beginPath(); ctx.arc(x, y, radius + 4, 0, 7); ctx.stroke();
  }
}
function dot(x, y, shape, r, fill, alpha, rim) {
  ctx.save();
  ctx.translate(x, y);
  ctx.globalAlpha = alpha;
  ctx.beginPath();
  SHAPES[shape](ctx, r);
  ctx.fillStyle = fill; ctx.fill();
  ctx.strokeStyle = rim; ctx.lineWidth = .6; ctx.stroke();
  ctx.restore();
}
// Whole characters: an emoji may take two units of a string.
function cut(text) {
  const all = [...text];
  return all.length > 22 ? all.slice(0, 21).join("").trimEnd() + "…" : text;
}
function names(w, h, bg) {
  const boxes = [], p = palette();
  const put = (text, x, y, font, fill) => {
    ctx.font = font;
    const wide = ctx.measureText(text).width, box = [x - wide / 2 - 3, y - 9, x + wide / 2 + 3, y + 9];
    if (box[0] < 0 || box[1] < 0 || box[2] > w || box[3] > h) return;
    if (boxes.some((b) => b[0] < box[2] && box[0] < b[2] && b[1] < box[3] && box[1] < b[3])) return;
    boxes.push(box);
    ctx.textAlign = "center"; ctx.textBaseline = "middle"; ctx.lineJoin = "round";
    ctx.strokeStyle = bg; ctx.lineWidth = 4; ctx.strokeText(text, x, y);
    ctx.fillStyle = fill; ctx.fillText(text, x, y);
  };
  const place = (at) => { const s = base() * view.k; return [w / 2 + (at[0] - D.width / 2 - view.x) * s, h / 2 - (at[1] - D.height / 2 - view.y) * s]; };
  for (const name of D.names) {
    if (offCode.has(name.code)) continue;
    const [x, y] = place(name.at);
    put(name.text, x, y, "600 16px system-ui, sans-serif", p.texts[name.code % p.texts.length]);
  }
  let left = Math.round(w * h / 15000 * Math.min(3, view.k));
  for (const i of D.order) {
    if (left <= 0) break;
    if (!shown(i) || !D.titles[i]) continue;
    const [x, y] = px(i);
    if (x < 0 || y < 0 || x > w || y > h) continue;
    const before = boxes.length;
    put(cut(D.titles[i]), x, y - 11, "12.5px system-ui, sans-serif", css("--mute"));
    if (boxes.length > before) left--;
  }
}
function redraw() { if (!dirty) { dirty = true; requestAnimationFrame(draw); } }
function nearest(x, y, reach = 14) {
  let best = -1, least = reach * reach;
  for (let i = 0; i < n; i++) {
    if (!shown(i)) continue;
    const [a, b] = px(i), d = (a - x) ** 2 + (b - y) ** 2;
    if (d < least) { least = d; best = i; }
  }
  return best;
}
function kind(i) {
  const parts = [D.datasets[D.of[i]].name];
  if (D.code[i] >= 0 && !D.numbers && !D.byDataset) parts.push(D.categories[D.code[i]]);
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
  box.replaceChildren(...(image ? [image] : []), make("b", D.titles[hover] || D.ids[hover]), make("small", kind(hover)));
  const { w, h } = size();
  box.style.left = Math.min(x + 14, w - box.offsetWidth - 4) + "px";
  box.style.top = Math.min(y + 14, h - box.offsetHeight - 4) + "px";
}
function entry(i) {
  const button = make("button", D.titles[i] || D.ids[i], { type: "button" });
  button.append(" ", make("small", kind(i)));
  button.onclick = () => pick(i, true);
  const item = make("li");
  item.append(button);
  return item;
}
function pick(i, go = false) {
  picked = i;
  const panel = $("item");
  if (i < 0) { panel.replaceChildren(make("h2", "Nothing is selected"), make("p", D.help)); redraw(); return; }
  const image = picture(i), list = make("dl");
  (D.facts[i] || []).forEach(([name, value]) => list.append(make("dt", name), make("dd", value)));
  const far = [];
  for (let j = 0; j < n; j++) if (j !== i && shown(j)) far.push([(D.x[j] - D.x[i]) ** 2 + (D.y[j] - D.y[i]) ** 2, j]);
  far.sort((a, b) => a[0] - b[0]);
  const near = make("ol");
  far.slice(0, 10).forEach(([, j]) => near.append(entry(j)));
  panel.replaceChildren(...(image ? [image] : []), make("h2", D.titles[i] || D.ids[i]), make("p", kind(i) + " · " + D.ids[i]), list, make("h2", "Nearest items on the map"), near);
  $("said").textContent = (D.titles[i] || D.ids[i]) + ", " + kind(i);
  if (go) { view.x = D.x[i] - D.width / 2; view.y = D.y[i] - D.height / 2; view.k = Math.max(view.k, 3); }
  redraw();
}
function search() {
  const words = $("search").value.trim().toLowerCase(), list = $("matches");
  found = new Set();
  list.replaceChildren();
  if (words) {
    for (let i = 0; i < n; i++) if (shown(i) && D.search[i].includes(words)) found.add(i);
    list.append(...[...found].slice(0, 50).map(entry));
  }
  $("count").textContent = words ? found.size.toLocaleString("en") + " found" + (found.size > 50 ? "; the first 50 are listed" : "") : "";
  redraw();
}
function toggle(label, set, key, glyph, fill) {
  const button = make("button", undefined, { type: "button" });
  if (glyph) { const mark = make("span", glyph + " "); if (fill) mark.style.color = fill; button.append(mark); }
  button.append(label);
  button.setAttribute("aria-pressed", String(!set.has(key)));
  button.onclick = () => {
    set.has(key) ? set.delete(key) : set.add(key);
    button.setAttribute("aria-pressed", String(!set.has(key)));
    search();
  };
  return button;
}
function legend() {
  const p = palette(), by = (k) => (D.byDataset ? p.colours[k % p.colours.length] : "");
  $("legend").replaceChildren(
    ...D.datasets.map((d, k) => toggle(d.name + " " + d.count.toLocaleString("en"), off, k, d.glyph, by(k))),
    ...(D.byDataset || D.numbers ? [] : D.categories.map((name, k) => toggle(name, offCode, k, "●", p.colours[k % p.colours.length]))),
    ...(D.numbers ? [make("span", D.numbers)] : []));
}
function theme() {
  document.documentElement.classList.toggle("dark", dark);
  $("theme").textContent = dark ? "Light theme" : "Dark theme";
  legend();
  redraw();
}
function zoom(factor, x, y) {
  const { w, h } = size(), s = base() * view.k;
  const ax = view.x + (x - w / 2) / s, ay = view.y - (y - h / 2) / s;
  view.k = Math.max(.5, Math.min(200, view.k * factor));
  const t = base() * view.k;
  view.x = ax - (x - w / 2) / t; view.y = ay + (y - h / 2) / t;
  redraw();
}
const touches = new Map();
let moved = 0;
canvas.onpointerdown = (e) => { canvas.setPointerCapture(e.pointerId); touches.set(e.pointerId, [e.offsetX, e.offsetY]); moved = 0; canvas.classList.add("moving"); };
canvas.onpointermove = (e) => {
  const at = [e.offsetX, e.offsetY], last = touches.get(e.pointerId);
  if (!last) { hover = nearest(...at); tip(...at); redraw(); return; }
  if (touches.size === 2) {
    const other = [...touches].find(([id]) => id !== e.pointerId)[1];
    const gap = (a) => Math.hypot(a[0] - other[0], a[1] - other[1]);
    zoom(gap(at) / Math.max(gap(last), 1), other[0], other[1]);
  } else {
    const s = base() * view.k;
    view.x -= (at[0] - last[0]) / s; view.y += (at[1] - last[1]) / s;
    moved += Math.hypot(at[0] - last[0], at[1] - last[1]);
  }
  touches.set(e.pointerId, at);
  redraw();
};
canvas.onpointerup = canvas.onpointercancel = (e) => {
  touches.delete(e.pointerId);
  canvas.classList.remove("moving");
  if (moved < 4 && e.type === "pointerup") pick(nearest(e.offsetX, e.offsetY));
};
canvas.onpointerleave = () => { hover = -1; tip(0, 0); redraw(); };
canvas.addEventListener("wheel", (e) => { e.preventDefault(); zoom(Math.exp(-e.deltaY * .0015), e.offsetX, e.offsetY); }, { passive: false });
canvas.onkeydown = (e) => {
  const { w, h } = size(), step = 60 / (base() * view.k);
  const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
  if (moves[e.key]) { view.x += moves[e.key][0]; view.y += moves[e.key][1]; }
  else if (e.key === "+" || e.key === "=") zoom(1.4, w / 2, h / 2);
  else if (e.key === "-") zoom(1 / 1.4, w / 2, h / 2);
  else if (e.key === "0") view = { x: 0, y: 0, k: 1 };
  else if (e.key === "Enter") pick(nearest(w / 2, h / 2, 1e4));
  else if (e.key === "Escape") pick(-1);
  else return;
  e.preventDefault();
  redraw();
};
$("search").oninput = search;
$("search").onkeydown = (e) => { if (e.key === "Enter" && found.size) pick([...found][0], true); };
$("reset").onclick = () => { view = { x: 0, y: 0, k: 1 }; redraw(); };
$("theme").onclick = () => { dark = !dark; theme(); search(); };
new ResizeObserver(redraw).observe(canvas);
theme();
pick(-1);
