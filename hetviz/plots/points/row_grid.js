// Grid of rows. Only those in view are on the page, the head sorts, and the keys move between rows.

import { h, set } from "./dom.js";

const [ROW_PX, MORE_ROWS] = [28, 12];

/**
 * The rows of a dataset that are listed, in order. Those without a value come last either way.
 * @param {number} n rows of the dataset
 * @param {ArrayLike<number> | undefined} order all rows, those with a value first
 * @param {number} present rows with a value
 * @param {boolean} descending
 * @param {(row: number) => unknown} isListed
 */
export function listedRows(n, order, present, descending, isListed) {
  const rows = new Int32Array(n);
  let m = 0;
  for (let k = 0; k < n; k++) {
    const at = k < present && descending ? present - 1 - k : k;
    const row = order?.[at] ?? at;
    if (isListed(row)) rows[m++] = row;
  }
  return rows.subarray(0, m);
}

/** Copy a text, and return whether the browser did. @param {string} text */
export const copyText = async (text) => Boolean(navigator.clipboard) && navigator.clipboard.writeText(text).then(() => true, () => false);

/** Save a text as a file. @param {string} text @param {string} name */
export function saveText(text, name) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

/**
 * @typedef {object} Source Where the rows come from.
 * @property {(row: number) => string[] | undefined} texts Cells of a row, undefined until they are loaded.
 * @property {(row: number) => boolean} isSelected
 * @property {(column: string) => void} sort Called when another column gives the order.
 * @property {() => void} list Sets the rows, called when the direction changes.
 * @property {(row: number) => void} visit
 * @property {(rows: number[]) => void} [load] Called with the rows in view that have no cells.
 */

export class RowGrid {
  /** @param {Source} source */
  constructor(source) {
    this.source = source;
    /** @type {Int32Array} Places in the dataset of the listed rows, in order. */
    this.rows = new Int32Array(0);
    /** @type {Map<number, { row: number, texts: string[] | undefined, element: HTMLElement }>} Rows on the page. */
    this.drawn = new Map();
    this.maxHeight = 16e6; // px; browsers have no much larger elements
    this.head = h("div", { class: "hv-itemgrid-head", role: "row" });
    this.body = h("div", { class: "hv-itemgrid-body", role: "rowgroup" });
    this.element = h("div", {
      class: "hv-itemgrid", role: "grid", "aria-label": "Items", onscroll: () => this.draw(),
      onkeydown: (event) => this.key(event),
    }, h("div", { role: "rowgroup", class: "hv-itemgrid-top" }, this.head), this.body);
    this.column = ""; // of the order; empty for titles
    this.descending = false;
    /** @type {{ name: string, title: string, number: boolean }[] | null} */
    this.columns = null;
    this.title = "Title"; // name of the column of the titles
    this.focused = 0;
  }

  /** Begin with another dataset. */
  reset() {
    Object.assign(this, { column: "", descending: false, columns: null, title: "Title", focused: 0 });
    this.element.scrollTop = 0;
  }

  /** @param {string} column */
  sort(column) {
    const isSame = column === this.column;
    Object.assign(this, { column, descending: isSame && !this.descending });
    if (isSame) {
      this.source.list();
      this.draw();
    } else this.source.sort(column);
  }

  /** Height of the scrolled element, and how far the rows move for each pixel that it is scrolled. */
  get heights() {
    const whole = this.rows.length * ROW_PX;
    const height = Math.min(whole, this.maxHeight);
    const view = this.element.clientHeight - ROW_PX; // below the head
    return { height, scale: height > view ? (whole - view) / (height - view) : 1 };
  }

  /** Draw the rows in view. */
  draw() {
    const { element: grid, body, rows, source } = this;
    const { height, scale } = this.heights;
    body.style.height = `${height}px`;
    const top = grid.scrollTop * scale;
    const offset = grid.scrollTop - top;
    set(grid, { "aria-rowcount": rows.length + 1 });
    const first = Math.max(Math.floor(top / ROW_PX) - MORE_ROWS, 0);
    const last = Math.min(first + Math.ceil(grid.clientHeight / ROW_PX) + 2 * MORE_ROWS, rows.length);
    this.drawHead();
    const missing = [];
    const hadFocus = body.contains(document.activeElement);
    /** @type {typeof this.drawn} */
    const drawn = new Map();
    for (let at = first; at < last; at++) {
      const row = rows[at];
      const texts = source.texts(row);
      if (!texts) missing.push(row);
      const before = this.drawn.get(at);
      // A row that stays keeps its element, so that a click on it ends where it began.
      const element = before?.row === row && before.texts === texts ? before.element : this.drawRow(at, texts);
      element.style.top = `${at * ROW_PX + offset}px`;
      set(element, { tabindex: at === this.focused ? 0 : -1, "aria-selected": String(source.isSelected(row)) });
      drawn.set(at, { row, texts, element });
    }
    const elements = [...drawn.values()].map(({ element }) => element);
    this.drawn = drawn;
    if (elements.length !== body.children.length || elements.some((element, k) => element !== body.children[k])) body.replaceChildren(...elements);
    if (hadFocus) /** @type {HTMLElement | null} */ (body.querySelector('[tabindex="0"]'))?.focus({ preventScroll: true });
    if (missing.length) source.load?.(missing);
  }

  /** @param {number} at @param {string[] | undefined} texts */
  drawRow(at, texts) {
    return h("div", {
      class: "hv-itemgrid-row", role: "row", "aria-rowindex": at + 2, "data-at": at, onclick: () => this.visit(at),
    }, ...(texts ?? ["…"]).map((text, c) => h("span", {
      role: "gridcell", title: text, class: c && this.columns?.[c - 1]?.number ? "hv-number" : null,
    }, text)));
  }

  drawHead() {
    const { columns, column, descending, head } = this;
    const key = JSON.stringify([columns, column, descending, this.title]);
    if (key === this.headKey) return;
    this.headKey = key;
    const focused = head.contains(document.activeElement);
    const cell = (name, title, isNumber) => {
      const isSorted = name === column;
      return h("span", {
        role: "columnheader", class: isNumber ? "hv-number" : null, "aria-sort": isSorted ? (descending ? "descending" : "ascending") : null,
      }, h("button", { type: "button", "data-name": name, title: `Sort by ${title}`, onclick: () => this.sort(name) }, title, isSorted ? h("i", { "aria-hidden": "true" }, descending ? " ↓" : " ↑") : null));
    };
    head.replaceChildren(cell("", this.title, false), ...(columns ?? []).map(({ name, title, number }) => cell(name, title, number)));
    this.element.style.setProperty("--n-columns", String(columns?.length ?? 0));
    if (focused) /** @type {HTMLElement | undefined} */ ([...head.querySelectorAll("button")].find((button) => button.dataset.name === column))?.focus({ preventScroll: true });
  }

  /** Show the item of a row. @param {number} at */
  visit(at) {
    this.focused = at;
    this.source.visit(this.rows[at]);
  }

  /** Move between rows with the arrow keys; Enter shows the item. @param {KeyboardEvent} event */
  key(event) {
    const row = event.target instanceof HTMLElement ? event.target : null;
    if (!row?.matches(".hv-itemgrid-row")) return;
    const { element: grid, heights: { scale } } = this;
    const page = Math.max(Math.floor(grid.clientHeight / ROW_PX) - 2, 1);
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity }[event.key];
    if (event.key === "Enter") this.visit(this.focused);
    else if (step) {
      this.focused = Math.min(Math.max(this.focused + step, 0), this.rows.length - 1);
      const top = this.focused * ROW_PX;
      const height = grid.clientHeight - 2 * ROW_PX;
      const before = grid.scrollTop * scale;
      const after = Math.min(Math.max(before, top - height), top);
      if (after !== before) grid.scrollTop = after / scale;
      this.draw();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
