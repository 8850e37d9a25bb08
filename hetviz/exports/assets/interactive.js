// Stand-alone interactive map: all data are in the page, no server is needed. Points are drawn by the
// modules of the app, which Python inserts into this script. Texts are only ever set as text.

import { context2d, drawPins } from "./canvas.js";
import { brushColumn } from "./charts_of_columns.js";
import { Crossfilter, codedColumn, columnLinks } from "./crossfilter.js";
import { h } from "./dom.js";
import { earthPaths, paintEarth } from "./earth.js";
import { FlatRenderer, MAX_DRAWN } from "./flat_renderer.js";
import { FOCUS, HIDDEN, Renderer, SELECTED, abilities, dotSize } from "./renderer.js";
import { Presenter } from "./presenter.js";
import { RowGrid, copyText, listedRows, saveText } from "./row_grid.js";
import { makeChart } from "./scatter_chart.js";
import { Terrain } from "./terrain.js";
import { NO_MATCH, folded, rank } from "./text_search.js";
import { View, prefersReducedMotion, interpolateCamera, ease } from "./view.js";

/** @type {any} */
const D = JSON.parse(document.getElementById("data")?.textContent ?? "");
/** @type {(id: string) => any} */
const $ = (id) => document.getElementById(id);
const MAX_LISTED = 50; // listed matches
const MIN_COLUMN_LETTERS = 2; // single letters are in most columns
const N_NEAREST = 10; // listed neighbours
const MANY_ITEMS = 50000; // items from which a search waits for a pause in typing
const MARGIN_PX = 24; // pixels around the whole map
const VIEWS_PX = 56; // pixels above the map for the switch of views
const SETTLED_MS = 130; // ms without movement before names are placed again
const FLIGHT_MS = 350; // ms to an item
const VIEW_MS = 900; // ms to a saved view
const MAX_NAMED = 12; // names of selected items of a view

function numbers(text, Type) {
  const fullView = atob(text);
  const bytes = new Uint8Array(fullView.length);
  for (let k = 0; k < fullView.length; k++) bytes[k] = fullView.charCodeAt(k);
  return new Type(bytes.buffer);
}

const onMap = numbers(D.at, Float32Array);
const onEarth = D.geography ? numbers(D.geography.at, Float32Array) : null;
const land = D.geography ? earthPaths(numbers(D.geography.outlines, Float32Array)) : [];
const links = D.links ? numbers(D.links, Int32Array) : new Int32Array(0); // pairs of items
let pos = onMap; // places of the items in this view
/** Flags of the items as text, null for an empty one. @param {string} text */
const flagsOf = (text) => (text ? numbers(text, Uint8Array) : null);
/** A colouring with its arrays: the page has its own, and views can have others. @param {any} part */
const decodeColours = (part) => ({
  ...part, code: numbers(part.code, Int16Array), pale: flagsOf(part.pale), borrowed: flagsOf(part.borrowed), value: flagsOf(part.value),
  named: part.named.map((text) => numbers(text, Int16Array)), // by level: the named group of each item
});
const colourings = [D, ...D.colourings].map(decodeColours);
let [colouring] = colourings;
const n = pos.length / 2;
const datasetOf = new Uint8Array(n); // dataset of each item
const starts = [];
D.datasets.reduce((start, { drawn }, k) => {
  starts.push(start);
  datasetOf.fill(k, start, start + drawn);
  return start + drawn;
}, 0);
const facts = D.facts.map((columns) => columns.map((column) => ({ ...column, at: numbers(column.at, Int32Array) })));

const canvas = $("map");
const ctx = context2d(canvas);
const view = new View();
const hiddenDatasets = new Set(); // hidden datasets
const hiddenCodes = new Set(); // hidden categories
const state = new Uint8Array(n);
// Paler items only take the colour of what they link to.
/** @param {number} i */
const isCodeHidden = (i) => !colouring.pale?.[i] && hiddenCodes.has(colouring.code[i]);
/** Whether the legend shows an item. @param {number} i */
const isDrawable = (i) => !Number.isNaN(pos[2 * i]) && (!story || story.shown[i] === 1) && !hiddenDatasets.has(datasetOf[i]) && !isCodeHidden(i);
/** @type {any} */
let drawer = null;
const terrain = new Terrain();
$("points").before(terrain.canvas);
let shownFlags = new Uint8Array(n);
let slots = new Uint8Array(n); // colour of each item
let dark = matchMedia("(prefers-color-scheme: dark)").matches;
let visible = n;
let hover = -1;
let selected = -1;
/** @type {number[] | null} */
let matches = null; // rows that match the search
/** @type {any[]} */
let labels = []; // names on the map
/** @type {any} */
let flight = null;
/** @type {any} */
let story = null; // the view that is presented, with its flags of items
let frame = 0;
let isFitted = false;
let placementTimer = 0;
let searchTimer = 0;
/** @type {string[] | null} */
let searchTexts = null;

function make(tag, text, more = {}) {
  const node = Object.assign(document.createElement(tag), more);
  if (text !== undefined) node.textContent = text;
  return node;
}
/** @param {number} i */
const title = (i) => D.titles[i] || id(i);
/** @param {number} i */
const id = (i) => D.ids[i] ?? D.titles[i];
/** @param {number} i */
const isShown = (i) => !(state[i] & HIDDEN);
const palette = () => (dark ? colouring.dark : colouring.light);
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
/** @param {number} count */
const thousands = (count) => count.toLocaleString("en");
/** @returns {[x: number, y: number]} @param {number} i */
const px = (i) => [view.x(pos[2 * i]), view.y(pos[2 * i + 1])];

// ---------------------------------------------------------------------------------------- points

function startRenderer() {
  const options = { requestDraw, worker: null };
  try {
    // If the context is lost for good, switch to the canvas renderer.
    const onContextLost = () => {
      useFlatRenderer();
      updateRenderer();
      theme();
    };
    if (abilities().webgl2) drawer = new Renderer($("points"), { ...options, onContextLost });
    else drawer = new FlatRenderer($("points"), { requestDraw });
  } catch { // no context available
    useFlatRenderer();
  }
  updateRenderer();
}

/** Switch to a new canvas, since a canvas can have only one kind of context. */
function useFlatRenderer() {
  drawer?.close();
  const other = $("points").cloneNode();
  $("points").replaceWith(other);
  drawer = new FlatRenderer(other, { requestDraw });
}

/** Send all data to the renderer. */
function updateRenderer() {
  if (drawer instanceof FlatRenderer && n > MAX_DRAWN) {
    $("note").textContent = `This browser offers no WebGL2: at most ${thousands(MAX_DRAWN)} of ${thousands(n)} items are drawn at a time. Zoom in to see the others. Search finds all items.`;
    $("note").hidden = false;
  }
  drawer.setShapes(D.datasets.map(({ shape, factor }) => ({ shape, size: factor })));
  drawer.layout(pos);
  const { colours } = palette();
  const { value, code, pale } = colouring;
  const colour = value?.slice() ?? Uint8Array.from(code, (c) => (c < 0 ? 0 : 1 + (c % colours.length)));
  const nColours = value ? palette().scale.length : colours.length;
  if (pale) colour.forEach((c, i) => { if (c && pale[i]) colour[i] = c + nColours; });
  drawer.setBytes({ dataset: datasetOf.map((k) => k % 8), colour });
  slots = colour;
  updateStates();
}

/** Send hidden, matching and selected rows to the renderer. */
function updateStates() {
  visible = 0;
  for (let i = 0; i < n; i++) {
    const isHidden = !isDrawable(i) || !charts.passes(i);
    state[i] = isHidden ? HIDDEN : (story ? story.selected?.[i] : i === selected && matches) ? SELECTED : 0;
    if (!isHidden) visible += 1;
    if (story?.lit?.[i]) state[i] |= FOCUS;
  }
  if (matches) for (const i of matches) state[i] |= FOCUS;
  drawer.setBytes({ state: state.slice() });
  shownFlags = state.map((s) => (s & HIDDEN ? 0 : 1));
  table.update();
  schedulePlacement();
}

/** Compute the terrain, or hide it. */
function drawTerrain() {
  if (!drawer?.order) return;
  if ($("terrain").getAttribute("aria-pressed") === "false") {
    terrain.hide();
    return;
  }
  const { colours, scale, ghost } = palette();
  const { value } = colouring;
  const listed = value ? scale : colours;
  terrain.draw({
    pos, ...drawer.sampleInView(), isShown: shownFlags, slot: slots, nColours: listed.length,
    isNumeric: Boolean(value), palette: [ghost, ...listed], isDark: dark, keys: [shownFlags, slots],
  }, view);
}

function requestDraw() { frame ||= requestAnimationFrame(draw); }

/** @param {number} now */
function draw(now) {
  frame = 0;
  if (!drawer?.order) return;
  if (flight) fly(now);
  drawer.size = dotSize(visible || 1, view.s / view.fitted);
  const more = drawer.draw(view, 1, now);
  terrain.follow(view);
  if (onEarth) drawEarth();
  drawer.canvas.dataset.drawn = drawer.drawn;
  // The card is still busy with the last frame, so names wait.
  if (!drawer.isLate) drawLabels();
  if (more || flight) requestDraw();
}

function moved() {
  requestDraw();
  schedulePlacement();
}

function schedulePlacement() {
  clearTimeout(placementTimer);
  placementTimer = setTimeout(placeLabels, labels.length ? SETTLED_MS : 0);
}

// ----------------------------------------------------------------------------------------- camera

const fullView = () => view.around({ ...(pos === onEarth ? D.geography.frame : { x: [0, D.frame[0]], y: [0, D.frame[1]] }), stretch: 1 });

/** Show the items on the map or at their places on the earth. @param {boolean} isEarth */
function showEarth(isEarth) {
  if (!onEarth || isEarth === (pos === onEarth)) return;
  flight = null;
  pos = isEarth ? onEarth : onMap;
  drawer.layout(pos);
  charts.recount();
  pick(selected);
  search();
  Object.assign(view, fullView());
  view.fitted = view.s;
  updateViews();
  moved();
}

function updateViews() {
  const isEarth = pos === onEarth;
  const [map, earth, note] = $("views").children;
  map.setAttribute("aria-pressed", String(!isEarth));
  earth.setAttribute("aria-pressed", String(isEarth));
  note.textContent = isEarth ? D.geography.note : "";
}

/** Draw the land, if items are at their places on the earth. */
function drawEarth() {
  const context = context2d($("earth"));
  context.setTransform(devicePixelRatio || 1, 0, 0, devicePixelRatio || 1, 0, 0);
  context.clearRect(0, 0, view.W, view.H);
  if (pos === onEarth) paintEarth(context, view, land, D.geography.perKm, { soft: css("--soft"), line: css("--line") });
}

function resize() {
  const [w, h] = [canvas.clientWidth, canvas.clientHeight];
  if (!w || !h) return;
  const ratio = devicePixelRatio || 1;
  for (const one of [canvas, $("earth")]) Object.assign(one, { width: Math.round(w * ratio), height: Math.round(h * ratio) });
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  const before = view.s / view.fitted;
  Object.assign(view, { W: w, H: h, clear: { left: MARGIN_PX, top: onEarth && !story ? VIEWS_PX : MARGIN_PX, right: MARGIN_PX, bottom: MARGIN_PX + (story ? presenter.element.offsetHeight + MARGIN_PX : 0) } });
  const all = fullView();
  if (isFitted) view.s = before * all.s;
  else view.go(all);
  view.fitted = all.s;
  isFitted = true;
  moved();
}

function moveCamera(to, ms = FLIGHT_MS) {
  if (prefersReducedMotion()) {
    view.go(to);
    moved();
    return;
  }
  flight = { from: view.at(), to, begun: performance.now(), ms };
  requestDraw();
}

/** @param {number} now */
function fly(now) {
  const share = Math.min(Math.max((now - flight.begun) / flight.ms, 0), 1);
  view.go(interpolateCamera(flight.from, flight.to, ease(share)));
  if (share === 1) {
    flight = null;
    schedulePlacement();
  }
}

/** @param {number} i */
const flyTo = (i) => moveCamera({ ...view.at(), cx: pos[2 * i], cy: pos[2 * i + 1], s: Math.max(view.s, 3 * view.fitted) });

/** @param {number} factor @param {number} x @param {number} y */
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

const heading = canvas.getAttribute("aria-label");

/** Whether an item is shown that a name is true of. */
function isHeld({ rank, of }) {
  const group = colouring.named[rank ?? 0];
  for (let i = 0; i < n; i++) if (group[i] === of && isShown(i)) return true;
  return false;
}

/** Place names of groups, then of items with many links, where there is room. */
function placeLabels() {
  drawTerrain();
  const [w, h, p] = [view.W, view.H, palette()];
  const boxes = [];
  labels = [];
  /** @param {number} lift @param {string} font */
  const put = (text, at, lift, font, fill) => {
    ctx.font = font;
    const [x, y, wide] = [view.x(at[0]), view.y(at[1]) - lift, ctx.measureText(text).width];
    const box = [x - wide / 2 - 3, y - 9, x + wide / 2 + 3, y + 9];
    if (box[0] < 0 || box[1] < 0 || box[2] > w || box[3] > h) return false;
    if (boxes.some((b) => b[0] < box[2] && box[0] < b[2] && b[1] < box[3] && box[1] < b[3])) return false;
    boxes.push(box);
    labels.push({ text, at, lift, font, fill });
    return true;
  };
  const drawn = [];
  for (const i of story?.named ?? []) put(cut(title(i)), [pos[2 * i], pos[2 * i + 1]], 13, "600 12.5px system-ui, sans-serif", css("--ink"));
  // Names of areas of the map are not true of the earth.
  for (const name of pos === onEarth ? [] : colouring.names) {
    if (hiddenCodes.has(name.code)) continue;
    const land = name.code === null ? css("--ink") : p.texts[name.code % p.texts.length];
    // Names of quarters are smaller and have no colour.
    const [font, fill] = name.rank ? ["500 12.5px system-ui, sans-serif", css("--mute")] : ['600 16px "Source Serif 4", Georgia, serif', land];
    if (isHeld(name) && name.at.some((at) => put(name.text, at, 0, font, fill))) drawn.push(name.text);
  }
  canvas.setAttribute("aria-label", [heading, ...new Set(drawn)].join(", "));
  let left = Math.round((w * h) / 15000 * Math.min(3, view.s / view.fitted));
  const mute = css("--mute");
  for (const i of D.order) {
    if (left <= 0) break;
    if (!isShown(i)) continue;
    if (put(cut(D.titles[i]), [pos[2 * i], pos[2 * i + 1]], 11, "12.5px system-ui, sans-serif", mute)) left -= 1;
  }
  requestDraw();
}

function drawLabels() {
  ctx.clearRect(0, 0, view.W, view.H);
  Object.assign(ctx, { textAlign: "center", textBaseline: "middle", lineJoin: "round", lineWidth: 4, strokeStyle: css("--bg") });
  for (const { text, at, lift, font, fill } of labels) {
    const [x, y] = [view.x(at[0]), view.y(at[1]) - lift];
    ctx.font = font;
    ctx.strokeText(text, x, y);
    ctx.fillStyle = fill;
    ctx.fillText(text, x, y);
  }
  ctx.strokeStyle = css("--ink");
  for (const [i, width] of [[hover, 1.5], ...(story ? story.named : [selected]).map((i) => [i, 2.5])]) {
    if (i < 0 || !isShown(i)) continue;
    ctx.lineWidth = width;
    ctx.beginPath();
    ctx.arc(...px(i), drawer.size / 2 + 4, 0, 7);
    ctx.stroke();
  }
  drawPins(ctx, D.pins.filter(isShown).map(px), D.pins.length, { bg: css("--bg"), ink: css("--ink") });
}

// ------------------------------------------------------------------------------------------ item

/** The category of an item, or "". @param {number} i */
function category(i) {
  const { code, value, byDataset, categories, borrowed } = colouring;
  if (code[i] < 0 || value || byDataset) return "";
  const name = categories[code[i]];
  return borrowed?.[i] ? `mostly ${name}, by links` : name;
}

/** @param {number} i */
const kind = (i) => [D.datasets[datasetOf[i]].name, category(i)].filter(Boolean).join(" · ");

/** @param {number} i */
function picture(i) {
  const source = D.pictures[i];
  return source ? make("img", undefined, { src: source, alt: "" }) : null;
}

/** @param {number} x @param {number} y */
function showTooltip(x, y) {
  const box = $("tip");
  box.hidden = hover < 0;
  if (hover < 0) return;
  const image = picture(hover);
  box.replaceChildren(...(image ? [image] : []), make("b", title(hover)), make("small", kind(hover)));
  box.style.left = `${Math.max(Math.min(x + 14, view.W - box.offsetWidth - 4), 0)}px`;
  box.style.top = `${Math.max(Math.min(y + 14, view.H - box.offsetHeight - 4), 0)}px`;
}

/** @param {number} x @param {number} y */
function point(x, y) {
  drawer.pick(view, x, y, 14, (i) => {
    const other = i !== hover;
    hover = i;
    showTooltip(x, y);
    if (other) requestDraw();
  });
}

/** A button that goes to an item. @param {number} i @param {string} about */
function listEntry(i, about = kind(i)) {
  const image = picture(i);
  const button = make("button", undefined, { type: "button" });
  button.append(...(image ? [image] : []), title(i), " ", make("small", about));
  button.onclick = () => pick(i, true);
  const item = make("li");
  item.append(button);
  return item;
}

/** The shown items that an item is linked to, the closest first. @param {number} i */
function linkedTo(i) {
  /** @type {[number, number][]} */
  const found = [];
  for (let k = 0; k < links.length; k += 2) {
    const j = links[k] === i ? links[k + 1] : links[k + 1] === i ? links[k] : -1;
    if (j >= 0 && isShown(j)) found.push([(pos[2 * j] - pos[2 * i]) ** 2 + (pos[2 * j + 1] - pos[2 * i + 1]) ** 2, j]);
  }
  return found.sort((a, b) => a[0] - b[0]).map(([, j]) => j);
}

/** The items nearest to an item, nearest first. @param {number} i */
function nearest(i) {
  const best = [];
  for (let j = 0; j < n; j++) {
    if (j === i || !isShown(j)) continue;
    const d = (pos[2 * j] - pos[2 * i]) ** 2 + (pos[2 * j + 1] - pos[2 * i + 1]) ** 2;
    if (best.length === N_NEAREST && d >= best[N_NEAREST - 1][0]) continue;
    let at = best.length;
    while (at && best[at - 1][0] > d) at -= 1;
    best.splice(at, 0, [d, j]);
    if (best.length > N_NEAREST) best.pop();
  }
  return best.map(([, j]) => j);
}

/** @param {number} i */
function pick(i, fly = false) {
  selected = i;
  const panel = $("item");
  if (i < 0) panel.replaceChildren(make("h2", "Nothing selected"), make("p", D.help));
  else {
    const [image, list, nearList] = [picture(i), make("dl"), make("ol")];
    for (const { name, words, at } of facts[datasetOf[i]]) {
      const word = at[i - starts[datasetOf[i]]];
      if (word >= 0) list.append(make("dt", name), make("dd", words[word]));
    }
    nearList.append(...nearest(i).map((j) => listEntry(j)));
    const linked = linkedTo(i);
    const more = linked.length > N_NEAREST ? `, the closest ${N_NEAREST}` : "";
    const linkedList = h("ul", {}, ...linked.slice(0, N_NEAREST).map((j) => listEntry(j)));
    panel.replaceChildren(...(image ? [image] : []), make("h2", title(i)), make("p", `${kind(i)} · ${id(i)}`), list,
      ...(linked.length ? [make("h2", `Linked to ${thousands(linked.length)} ${linked.length === 1 ? "item" : "items"}${more}`), linkedList] : []), make("h2", pos === onEarth ? "Closest items on the earth" : "Closest items on the map"), nearList);
    $("status").textContent = `${title(i)}, ${kind(i)}`;
    if (fly) flyTo(i);
  }
  updateStates();
}

// ---------------------------------------------------------------------------- search and legend

/**
 * Text of the first column of an item with the words of a query, or "". A query "COLUMN: WORDS" names the column.
 * @param {string} query
 */
function columnsWith(query) {
  const [before, after] = query.split(/: ?(.*)/);
  const isNamed = after !== undefined && facts.flat().some(({ name }) => folded(name).includes(before));
  const found = facts.map((columns) => columns.flatMap(({ name, words, at, number }) => {
    if (isNamed ? !folded(name).includes(before) : number || query.length < MIN_COLUMN_LETTERS) return [];
    const fits = words.map((word) => rank(folded(word), isNamed ? after : query) < NO_MATCH);
    return fits.includes(true) ? [{ name, words, at, fits }] : [];
  }));
  return (i) => {
    const row = i - starts[datasetOf[i]];
    const column = found[datasetOf[i]].find(({ at, fits }) => fits[at[row]]);
    return column ? `${column.name}: ${column.words[column.at[row]]}` : "";
  };
}

function search() {
  const query = folded($("search").value);
  matches = null;
  $("matches").replaceChildren();
  let nInColumns = 0;
  if (query) {
    const texts = searchTexts ??= D.titles.map((text, i) => folded(D.ids[i] === null ? text : `${text} ${D.ids[i]}`));
    const inColumn = columnsWith(query);
    const byRank = Array.from({ length: NO_MATCH + 1 }, () => /** @type {number[]} */ ([]));
    for (let i = 0; i < n; i++) {
      if (!isDrawable(i) || !charts.passes(i)) continue;
      const place = rank(texts[i], query);
      if (place < NO_MATCH || inColumn(i)) byRank[place].push(i);
    }
    // Names come first, the best and shortest first.
    for (const rows of byRank.slice(0, NO_MATCH)) rows.sort((a, b) => texts[a].length - texts[b].length);
    nInColumns = byRank[NO_MATCH].length;
    matches = byRank.flat();
    const nNamed = matches.length - nInColumns;
    // The dataset with the best match comes first.
    const named = new Set(matches.slice(0, nNamed));
    const places = [...new Set(matches.map((i) => datasetOf[i]))];
    const most = Math.ceil(MAX_LISTED / places.length);
    for (const k of places) {
      const found = matches.filter((i) => datasetOf[i] === k);
      const listed = found.length > most ? `first ${most} of ${thousands(found.length)}` : thousands(found.length);
      $("matches").append(h("b", {}, D.datasets[k].name, h("small", {}, listed)),
        h("ul", { "aria-label": D.datasets[k].name }, ...found.slice(0, most).map((i) => listEntry(i, [category(i), named.has(i) ? "" : inColumn(i)].filter(Boolean).join(", ")))));
    }
  }
  const inColumns = nInColumns ? `, ${thousands(nInColumns)} by their columns` : "";
  $("count").textContent = !matches ? "" : matches.length ? `${thousands(matches.length)} found${inColumns}`
    : "Nothing found in names and columns. Try fewer letters, or COLUMN: WORD.";
  updateStates();
}

/** A row of the legend: mark, name, and the number of items as a bar. */
function toggle(label, set, key, glyph, fill, count, most) {
  const mark = h("span", {}, glyph);
  const length = h("i", {});
  const bar = h("i", { "aria-hidden": "true" }, length);
  if (fill) mark.style.color = fill;
  Object.assign(length.style, { width: `${(100 * count) / Math.max(most, 1)}%`, background: fill || "" });
  const button = h("button", { type: "button" }, mark, h("span", {}, label), bar, h("small", {}, thousands(count)));
  button.setAttribute("aria-pressed", String(!set.has(key)));
  button.onclick = () => {
    if (!set.delete(key)) set.add(key);
    button.setAttribute("aria-pressed", String(!set.has(key)));
    charts.recount();
    search();
  };
  return button;
}

function legend() {
  const p = palette();
  /** @param {number} k */
  const of = (k) => p.colours[k % p.colours.length];
  const { byDataset, categories, rest, numbers, value, pale } = colouring;
  const coloured = !byDataset && !value;
  const codes = [...categories.keys(), ...rest.map(([k]) => k)];
  const counts = new Map(codes.map((k) => [k, 0]));
  if (coloured) colouring.code.forEach((k, i) => { if (!pale?.[i]) counts.set(k, (counts.get(k) ?? 0) + 1); });
  const [most, largest] = [Math.max(...counts.values()), Math.max(...D.datasets.map((d) => d.count))];
  $("legend").replaceChildren(
    h("p", {}, "Colour: ", h("b", {}, byDataset ? "dataset" : colouring.colour)),
    ...(coloured ? categories.map((name, k) => toggle(name, hiddenCodes, k, "●", of(k), counts.get(k), most)) : []),
    ...(coloured ? rest.map(([k, name]) => toggle(name, hiddenCodes, k, "●", p.ghost, counts.get(k), most)) : []),
    ...(numbers ? [make("span", numbers)] : []),
    ...(byDataset ? [] : [h("hr", {})]),
    ...D.datasets.map((d, k) => toggle(d.name, hiddenDatasets, k, d.glyph, byDataset ? of(k) : "", d.count, largest)),
    ...(pale?.includes(1) ? [make("span", "Paler: colour of what they link to")] : []));
}

function theme() {
  document.documentElement.classList.toggle("dark", dark);
  $("theme").textContent = dark ? "Light theme" : "Dark theme";
  const p = palette();
  const { value, pale } = colouring;
  drawer.ground = css("--bg");
  drawer.hatch = css("--mute");
  drawer.setColors([p.ghost, ...(value ? p.scale : p.colours), ...(pale ? p.pale : [])]);
  legend();
  charts.show();
  placeLabels();
}

// ----------------------------------------------------------------------------------------- charts

/** The charts of the app. Their brushes are the filters of the page. */
class Charts {
  constructor() {
    this.crossfilter = new Crossfilter(0);
    this.scene = { data: { datasets: D.datasets } };
    this.frame = 0;
    const rows = D.charts.length ? numbers(D.rows, Int32Array) : new Int32Array(0);
    const itemOf = new Map(Array.from(rows, (row, i) => [row, i]));
    this.cards = D.charts.map(({ chart, specs }) => makeChart(this, chart, specs.map((spec, k) => this.part(chart, spec, chart[k ? 3 : 1], rows, itemOf))));
    $("charts").hidden = !this.cards.length;
    $("chart-row").append(...this.cards.map(({ element }) => element));
    $("show-all").onclick = () => this.axes.forEach((axis) => this.brush(null, Object.assign(axis, axis.chosen ? { chosen: new Set() } : { range: null })));
    this.recount();
  }

  /** A column with the codes of the items on the page. */
  part([dataset, , of], spec, column, rows, itemOf) {
    const place = (name) => {
      const k = D.datasets.findIndex((d) => d.name === name);
      return { start: starts[k], stop: starts[k] + D.datasets[k].drawn };
    };
    const own = place(dataset);
    const bytes = (key) => {
      const all = numbers(D.arrays[key], Uint8Array);
      return Uint8Array.from(rows.subarray(own.start, own.stop), (row) => all[row - D.offsets[dataset]]);
    };
    const linked = () => {
      const [sources, targets] = spec.links.map((key) => numbers(D.arrays[key], Int32Array));
      const present = [...sources.keys()].filter((k) => itemOf.has(sources[k]) && itemOf.has(targets[k]));
      const [from, to] = [sources, targets].map((ends) => Int32Array.from(present, (k) => itemOf.get(ends[k])));
      return columnLinks(from, to, place(of), own);
    };
    const coded = codedColumn(JSON.stringify([dataset, column]), own.start, bytes(spec.key), spec.texts.length, spec.links && linked());
    return { spec, column: coded, places: spec.places ? bytes(spec.places) : null };
  }

  get axes() { return this.cards.flatMap(({ axes }) => axes); }

  /** @param {number} i */
  passes(i) { return story !== null || !this.cards.length || this.crossfilter.mask[i] === 1; }

  /** Count again after the legend has changed, with the same brushes. */
  recount() {
    if (!this.cards.length) return;
    const { crossfilter, cards, axes } = this;
    const columns = cards.flatMap((card) => card.columns);
    for (const column of columns) column.own = 0;
    crossfilter.reset(null, Uint8Array.from({ length: n }, (_, i) => Number(isDrawable(i))), columns);
    for (const { column, allowed } of axes) if (allowed) crossfilter.brush(column, allowed);
    this.show();
  }

  brush(_, brushed) {
    brushColumn(this.crossfilter, this.cards, brushed);
    this.cards.forEach((card) => card.place());
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      search();
      this.show();
    });
  }

  end(card) {
    for (const other of this.cards) if (other !== card) other.sort();
  }

  show() {
    for (const card of this.cards) card.draw();
    if (this.cards.length) $("shown").textContent = `${thousands(this.crossfilter.visible)} of ${thousands(n)} items`;
    $("show-all").hidden = this.axes.every(({ allowed }) => !allowed);
  }
}

// ------------------------------------------------------------------------------------------ table

const lowerTitles = () => (lowered ??= D.titles.map((text) => text.toLowerCase()));
/** @type {string[] | null} */
let lowered = null;

/** The order of the keys, and the rank of each. @param {any[]} keys */
function ranks(keys) {
  const order = Int32Array.from(keys.keys()).sort((a, b) => (keys[a] < keys[b] ? -1 : Number(keys[a] > keys[b])) || a - b);
  const rank = new Int32Array(keys.length);
  order.forEach((at, k) => { rank[at] = k; });
  return { order, rank };
}

/** A table of the items that are found or shown, with the columns that the page has. */
class ItemTable {
  constructor() {
    this.dataset = 0;
    this.order = { order: new Int32Array(0), present: 0 };
    this.grid = new RowGrid({
      texts: (row) => [title(starts[this.dataset] + row), ...facts[this.dataset].map(({ words, at }) => words[at[row]] ?? "")],
      isSelected: (row) => starts[this.dataset] + row === selected,
      sort: () => this.choose(this.dataset, this.grid.column),
      list: () => this.list(),
      visit: (row) => pick(starts[this.dataset] + row, true),
    });
    this.sets = h("div", { class: "hv-itemgrid-sets", role: "group", "aria-label": "Table of" });
    this.note = h("span", { class: "hv-itemgrid-note" });
    const tools = h("div", { class: "hv-itemgrid-tools" }, this.sets, this.note,
      h("button", { type: "button", onclick: () => this.copy() }, "Copy"),
      h("button", { type: "button", onclick: () => saveText(this.rowsAsText(","), `${D.datasets[this.dataset].name}.csv`) }, "Download CSV"));
    $("items").append(h("div", { class: "hv-itemgrid-card" }, tools, this.grid.element));
    $("table").onclick = () => this.toggle();
  }

  toggle() {
    const isOpen = $("items").hidden;
    $("items").hidden = !isOpen;
    $("chart-row").hidden = isOpen;
    $("charts").hidden = !isOpen && !charts.cards.length;
    $("table").textContent = isOpen ? "Hide table" : "Show table";
    $("table").setAttribute("aria-expanded", String(isOpen));
    if (isOpen && !this.grid.columns) this.choose(0);
    else this.update();
  }

  /** Show a dataset in the order of a column. @param {number} k @param {string} column */
  choose(k, column = k === this.dataset ? this.grid.column : "") {
    if (k !== this.dataset) this.grid.reset();
    this.dataset = k;
    Object.assign(this.grid, {
      columns: facts[k].map(({ name, number }) => ({ name, title: name, number })), title: D.datasets[k].title,
    });
    this.order = this.sorted(k, column);
    this.update();
  }

  /** All rows of a dataset by a column, those without a value last. @param {number} k @param {string} column */
  sorted(k, column) {
    const n = D.datasets[k].drawn;
    const found = facts[k].find(({ name }) => name === column);
    if (!found) return { order: ranks(lowerTitles().slice(starts[k], starts[k] + n)).order, present: n };
    const { words, at, number } = found;
    const { rank } = ranks(number ? words.map((word) => Number(word.replaceAll(",", ""))) : words.map((word) => word.toLowerCase()));
    const present = at.reduce((sum, word) => sum + Number(word >= 0), 0);
    const place = Int32Array.from(at, (word) => (word < 0 ? words.length : rank[word]));
    return { order: Int32Array.from(place.keys()).sort((a, b) => place[a] - place[b] || a - b), present };
  }

  list() {
    const start = starts[this.dataset];
    const found = matches && new Set(matches);
    const isListed = (row) => (found ? found.has(start + row) : isShown(start + row));
    this.grid.rows = listedRows(D.datasets[this.dataset].drawn, this.order.order, this.order.present, this.grid.descending, isListed);
  }

  /** The listed rows with their ids and the columns of the page. @param {string} separator */
  rowsAsText(separator) {
    const k = this.dataset;
    const cell = (text, isNumber = false) => {
      // Spreadsheets would run such a text as a formula.
      const plain = isNumber ? text.replaceAll(",", "") : text.replace(/^(?=\s*[=+\-@−])/u, "'");
      return separator === "," ? (/[",\n\r]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain) : plain.replace(/\s+/g, " ");
    };
    const line = (row) => [cell(id(starts[k] + row)), cell(title(starts[k] + row)),
      ...facts[k].map(({ words, at, number }) => cell(words[at[row]] ?? "", number))].join(separator);
    const head = ["id", D.datasets[k].title, ...facts[k].map(({ name }) => name)].map((name) => cell(name)).join(separator);
    return [head, ...Array.from(this.grid.rows, line), ""].join("\n");
  }

  async copy() {
    const message = await copyText(this.rowsAsText("\t")) ? `${thousands(this.grid.rows.length)} rows are copied` : "The browser refused to copy";
    this.note.textContent = message;
    $("status").textContent = message;
  }

  update() {
    if ($("items").hidden) return;
    const counts = D.datasets.map(() => 0);
    if (matches) for (const i of matches) counts[datasetOf[i]] += 1;
    else for (let i = 0; i < n; i++) counts[datasetOf[i]] += Number(isShown(i));
    this.sets.replaceChildren(...D.datasets.map(({ name }, k) => h("button", {
      type: "button", "aria-pressed": String(k === this.dataset), onclick: () => this.choose(k),
    }, name, h("small", {}, thousands(counts[k])))));
    const { columns } = D.datasets[this.dataset];
    const some = facts[this.dataset].length;
    this.note.textContent = `${matches ? "Found items" : "Items on the map"}${some < columns ? `, ${some} of ${columns} columns` : ""}`;
    this.list();
    this.grid.draw();
  }
}

// ---------------------------------------------------------------------------------- presentation

/** What a presentation changes, to show it again afterwards. @type {any} */
let before = null;
const presenter = new Presenter(present, endPresentation);

/** Show a saved view. @param {number} at */
function present(at) {
  const item = D.views[at];
  showEarth(false);
  before ??= { place: view.at(), hiddenDatasets: [...hiddenDatasets], hiddenCodes: [...hiddenCodes] };
  const [shown, picked, lit] = [item.shown, item.selected, item.lit].map(flagsOf);
  const rows = picked ? [...picked.keys()].filter((i) => picked[i] && shown?.[i]) : [];
  story = { shown, selected: picked, lit, named: rows.length <= MAX_NAMED ? rows : [] };
  matches = null;
  document.body.classList.add("presenting");
  setContent(item.colours, item.hidden, item.hiddenCodes);
  presenter.show({ at, n: D.views.length, text: item.text, facts: item.facts, notes: item.notes });
  resize();
  moveCamera(item.camera ? view.around({ ...item.camera, stretch: 1 }) : fullView(), VIEW_MS);
}

/** Show the page as it was before the presentation. */
function endPresentation() {
  story = null;
  document.body.classList.remove("presenting");
  setContent(0, before.hiddenDatasets, before.hiddenCodes);
  resize();
  moveCamera(before.place);
  before = null;
  search();
}

/** @param {number} colours colouring of the page or of a view @param {number[]} datasets @param {number[]} codes */
function setContent(colours, datasets, codes) {
  colouring = colourings[colours];
  hiddenDatasets.clear();
  hiddenCodes.clear();
  for (const key of datasets) hiddenDatasets.add(key);
  for (const key of codes) hiddenCodes.add(key);
  charts.recount();
  updateRenderer();
  theme();
}

// -------------------------------------------------------------------------------- mouse and keys

const touches = new Map();
let travelled = 0;
canvas.onpointerdown = (e) => {
  canvas.setPointerCapture(e.pointerId);
  touches.set(e.pointerId, [e.offsetX, e.offsetY]);
  travelled = 0;
  flight = null;
  canvas.classList.add("moving");
};
canvas.onpointermove = (e) => {
  const at = [e.offsetX, e.offsetY];
  const last = touches.get(e.pointerId);
  if (!last) {
    point(e.offsetX, e.offsetY);
    return;
  }
  if (touches.size === 2) {
    const [other] = [...touches].filter(([key]) => key !== e.pointerId).map(([, place]) => place);
    const gap = (a) => Math.hypot(a[0] - other[0], a[1] - other[1]);
    zoom(gap(at) / Math.max(gap(last), 1), (at[0] + other[0]) / 2, (at[1] + other[1]) / 2);
    travelled += 9;
  } else {
    view.pan(at[0] - last[0], at[1] - last[1]);
    travelled += Math.hypot(at[0] - last[0], at[1] - last[1]);
    if (hover >= 0 && travelled > 4) {
      hover = -1;
      showTooltip(0, 0);
    }
    moved();
  }
  touches.set(e.pointerId, at);
};
canvas.onpointerup = (e) => {
  touches.delete(e.pointerId);
  canvas.classList.remove("moving");
  if (travelled < 4) drawer.pick(view, e.offsetX, e.offsetY, e.pointerType === "touch" ? 24 : 14, (i) => pick(i));
};
canvas.onpointercancel = (e) => {
  touches.delete(e.pointerId);
  canvas.classList.remove("moving");
};
canvas.onpointerleave = () => {
  hover = -1;
  showTooltip(0, 0);
  requestDraw();
};
canvas.addEventListener("wheel", (e) => {
  e.preventDefault();
  zoom(Math.exp(-e.deltaY * 0.0015), e.offsetX, e.offsetY);
}, { passive: false });
canvas.onkeydown = (e) => {
  const moves = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (moves[e.key]) {
    flight = null;
    const [dx, dy] = moves[e.key];
    view.pan(dx, dy);
    moved();
  } else if (e.key === "+" || e.key === "=") zoom(1.4, view.W / 2, view.H / 2);
  else if (e.key === "-") zoom(1 / 1.4, view.W / 2, view.H / 2);
  else if (e.key === "0") moveCamera(fullView());
  else if (e.key === "Enter") drawer.pick(view, view.W / 2, view.H / 2, 1e4, (i) => pick(i));
  else if (e.key === "Escape") pick(-1);
  else return;
  e.preventDefault();
};
$("search").oninput = () => {
  clearTimeout(searchTimer);
  if (n > MANY_ITEMS) searchTimer = setTimeout(search, 150);
  else search();
};
$("search").onkeydown = (e) => {
  if (e.key !== "Enter") return;
  clearTimeout(searchTimer);
  search();
  if (matches?.length) pick(matches[0], true);
};
$("reset").onclick = () => moveCamera(fullView());
$("terrain").onclick = () => {
  const button = $("terrain");
  button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") === "false"));
  placeLabels();
};
if (D.views.length) {
  $("present").onclick = () => present(0);
  $("map").after(presenter.element);
}
$("views").hidden = !onEarth;
[...$("views").querySelectorAll("button")].forEach((button, k) => { button.onclick = () => showEarth(k === 1); });
$("theme").onclick = () => {
  dark = !dark;
  theme();
};
const charts = new Charts();
const table = new ItemTable();
resize();
startRenderer();
theme();
updateViews();
pick(-1);
new ResizeObserver(resize).observe(canvas);
