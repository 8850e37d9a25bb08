// Counts of charts that filter each other. Each row has one bit for each filter that it fails, so a chart can
// count the rows that pass all filters but its own. A brush changes only the rows that enter or leave it.

/** Bit of rows that the map does not show for another reason than a filter. */
export const OFF = 1 << 30;
const [FIRST_BIT, LAST_BIT] = [24, 29]; // bits of brushes that Python has not applied yet
const NO_CODE = 255;

/**
 * A column of a chart. Codes at `n` are those of rows without a value.
 * @typedef {object} CodedColumn
 * @property {number} start first row
 * @property {Uint8Array} codes code of each row
 * @property {number} n number of codes
 * @property {number} own bits of the filters of the column
 * @property {Int32Array} counts rows of each code that pass the other filters
 * @property {Int32Array} whole rows of each code
 * @property {Int32Array} rows rows in order of their codes
 * @property {Int32Array} begins first position of each code in `rows`
 * @property {Uint8Array | null} blocked codes that the brush of the chart excludes; null without a brush
 */

/** @returns {CodedColumn} @param {number} start @param {Uint8Array} codes @param {number} n */
export function codedColumn(start, codes, n) {
  const m = codes.length;
  const whole = new Int32Array(n + 1);
  const own = Uint8Array.from(codes, (code) => (code === NO_CODE ? n : Math.min(code, n)));
  for (let k = 0; k < m; k++) whole[own[k]] += 1;
  const begins = new Int32Array(n + 2);
  for (let code = 0; code <= n; code++) begins[code + 1] = begins[code] + whole[code];
  const rows = new Int32Array(m);
  const next = begins.slice();
  for (let k = 0; k < m; k++) rows[next[own[k]]++] = start + k;
  return { start, codes: own, n, own: 0, counts: new Int32Array(n + 1), whole, rows, begins, blocked: null };
}

export class Crossfilter {
  constructor() {
    /** @type {Int32Array} Bits of the filters that each row fails. */
    this.failed = new Int32Array(0);
    /** @type {CodedColumn[]} */
    this.columns = [];
    /** @type {Uint8Array} Flags of rows that pass all filters. */
    this.mask = new Uint8Array(0);
    /** @type {Uint8Array} Flags of rows that are also shown otherwise. */
    this.shown = new Uint8Array(0);
    /** Number of shown rows. */
    this.visible = 0;
  }

  /**
   * Start from the filters of Python. The columns keep no brush.
   * @param {Int32Array | null} failed @param {Uint8Array} drawable @param {CodedColumn[]} columns
   */
  reset(failed, drawable, columns) {
    const n = drawable.length;
    this.failed = failed?.length === n ? failed.slice() : new Int32Array(n);
    this.mask = new Uint8Array(n);
    this.shown = new Uint8Array(n);
    this.visible = 0;
    for (let r = 0; r < n; r++) {
      const passes = this.failed[r] === 0;
      if (passes) this.mask[r] = 1;
      if (!drawable[r]) this.failed[r] |= OFF;
      else if (passes) {
        this.shown[r] = 1;
        this.visible += 1;
      }
    }
    this.columns = columns;
    for (const column of columns) {
      column.blocked = null;
      this.count(column);
    }
  }

  /** Count the rows of a column. @param {CodedColumn} column */
  count(column) {
    const { start, codes, counts, own } = column;
    counts.fill(0);
    for (let k = 0; k < codes.length; k++) if ((this.failed[start + k] & ~own) === 0) counts[codes[k]] += 1;
  }

  /**
   * Let a column pass only some codes, or all for null.
   * @param {CodedColumn} column @param {Uint8Array | null} allowed flags of codes
   */
  brush(column, allowed) {
    if (!column.blocked) this.begin(column);
    const { begins, rows, own, n } = column;
    const blocked = /** @type {Uint8Array} */ (column.blocked);
    for (let code = 0; code <= n; code++) {
      const isBlocked = allowed && !allowed[code] ? 1 : 0;
      if (isBlocked === blocked[code]) continue;
      blocked[code] = isBlocked;
      this.flip(rows.subarray(begins[code], begins[code + 1]), isBlocked ? own : 0, isBlocked ? 0 : own);
    }
  }

  /** Replace the filters of a column by a bit of its own. @param {CodedColumn} column */
  begin(column) {
    if (column.own) {
      const rows = column.rows.filter((r) => this.failed[r] & column.own);
      this.flip(rows, 0, column.own);
    }
    let bit = FIRST_BIT;
    while (bit < LAST_BIT && this.columns.some((other) => other.own & (1 << bit))) bit += 1;
    column.own = 1 << bit;
    column.blocked = new Uint8Array(column.n + 1);
  }

  /**
   * Set and clear bits of rows, and update all counts. Rows are those of one dataset.
   * @param {Int32Array} rows @param {number} set @param {number} clear
   */
  flip(rows, set, clear) {
    const { failed, mask, shown } = this;
    const m = rows.length;
    if (!m) return;
    for (const column of this.columns) {
      const { start, codes, counts, own } = column;
      // Columns of other datasets count other rows, and the own filters of a column do not count there.
      if (rows[0] < start || rows[0] >= start + codes.length || ((set | clear) & ~own) === 0) continue;
      for (let k = 0; k < m; k++) {
        const before = failed[rows[k]];
        const after = (before | set) & ~clear;
        const change = ((after & ~own) === 0 ? 1 : 0) - ((before & ~own) === 0 ? 1 : 0);
        if (change) counts[codes[rows[k] - start]] += change;
      }
    }
    for (let k = 0; k < m; k++) {
      const r = rows[k];
      const after = (failed[r] | set) & ~clear;
      failed[r] = after;
      mask[r] = (after & ~OFF) === 0 ? 1 : 0;
      const isShown = after === 0 ? 1 : 0;
      this.visible += isShown - shown[r];
      shown[r] = isShown;
    }
  }
}
