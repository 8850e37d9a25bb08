// Counts of charts that filter each other. Each row has one bit for each filter that it fails, so a chart can
// count the rows that pass all filters but its own. A brush changes only the rows that enter or leave it.

/** Bit of rows that the map does not show for another reason than a filter. */
export const OFF = 1 << 30;
const [FIRST_BIT, LAST_BIT] = [24, 29]; // bits of brushes that Python has not applied yet
const NO_CODE = 255;

/**
 * Links from rows to the rows of a column, each also in the order of its ends: those of row r are at
 * `byRow.order[k]` for k from `byRow.begins[r - first]`.
 * @typedef {{ first: number, begins: Int32Array, order: Int32Array }} Ends
 * @typedef {{ rows: Int32Array, targets: Int32Array, byRow: Ends, byTarget: Ends }} ColumnLinks
 */

/**
 * A column of a chart. Codes at `n` are those of rows without a value. With links it counts links of shown rows
 * of another dataset instead of its own rows.
 * @typedef {object} CodedColumn
 * @property {string} key charts of the same column share their filters
 * @property {ColumnLinks | null} links
 * @property {number} total number of rows or links
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

/**
 * Positions in the order of their groups, and where each group begins.
 * @param {ArrayLike<number>} groups @param {number} n number of groups
 */
function sortByGroup(groups, n) {
  const m = groups.length;
  const begins = new Int32Array(n + 1);
  for (let k = 0; k < m; k++) begins[groups[k] + 1] += 1;
  for (let group = 0; group < n; group++) begins[group + 1] += begins[group];
  const order = new Int32Array(m);
  const next = begins.slice();
  for (let k = 0; k < m; k++) order[next[groups[k]]++] = k;
  return { begins, order };
}

/**
 * @returns {CodedColumn} @param {string} key @param {number} start @param {Uint8Array} codes @param {number} n
 * @param {ColumnLinks | null} links
 */
export function codedColumn(key, start, codes, n, links = null) {
  const m = codes.length;
  const own = new Uint8Array(m);
  for (let k = 0; k < m; k++) own[k] = codes[k] === NO_CODE || codes[k] > n ? n : codes[k];
  const { begins, order } = sortByGroup(own, n + 1);
  const whole = new Int32Array(n + 1);
  if (links) for (const j of links.targets) whole[own[j - start]] += 1;
  else for (const code of own) whole[code] += 1;
  return {
    key, links, total: links ? links.rows.length : own.length, start, codes: own, n, own: 0,
    counts: new Int32Array(n + 1), whole, rows: start ? order.map((k) => start + k) : order, begins, blocked: null,
  };
}

/**
 * @returns {ColumnLinks} @param {Int32Array} rows @param {Int32Array} targets
 * @param {{ start: number, stop: number }} of rows of the dataset that the links begin in
 * @param {{ start: number, stop: number }} to
 */
export function columnLinks(rows, targets, of, to) {
  const ends = (all, { start, stop }) => ({ first: start, ...sortByGroup(all.map((r) => r - start), stop - start) });
  return { rows, targets, byRow: ends(rows, of), byTarget: ends(targets, to) };
}

export class Crossfilter {
  /** @param {number} firstBit first bit of brushes; those before are of filters that are applied */
  constructor(firstBit = FIRST_BIT) {
    this.firstBit = firstBit;
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
    const { start, codes, counts, own, links } = column;
    const { failed } = this;
    counts.fill(0);
    if (links) {
      const { rows, targets } = links;
      for (let k = 0; k < rows.length; k++) if (failed[rows[k]] === 0 && (failed[targets[k]] & ~own) === 0) counts[codes[targets[k] - start]] += 1;
    } else for (let k = 0; k < codes.length; k++) if ((failed[start + k] & ~own) === 0) counts[codes[k]] += 1;
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
    let bit = this.firstBit;
    while (bit < LAST_BIT && this.columns.some((other) => other.own & (1 << bit))) bit += 1;
    const blocked = new Uint8Array(column.n + 1);
    for (const other of this.columns) if (other.key === column.key) Object.assign(other, { own: 1 << bit, blocked });
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
      if (column.links) {
        this.flipLinks(column, rows, set, clear);
        continue;
      }
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

  /**
   * Update the counts of links before the bits of rows change.
   * @param {CodedColumn} column @param {Int32Array} rows @param {number} set @param {number} clear
   */
  flipLinks({ start, codes, counts, own, links }, rows, set, clear) {
    const { failed } = this;
    const { rows: sources, targets, byRow, byTarget } = /** @type {ColumnLinks} */ (links);
    const isTarget = rows[0] >= start && rows[0] < start + codes.length;
    const { first, begins, order } = isTarget ? byTarget : byRow;
    if (rows[0] < first || rows[0] >= first + begins.length - 1) return;
    const ignored = isTarget ? ~own : -1;
    for (const r of rows) {
      const change = (((((failed[r] | set) & ~clear) & ignored) === 0) ? 1 : 0) - ((failed[r] & ignored) === 0 ? 1 : 0);
      if (!change) continue;
      for (let k = begins[r - first]; k < begins[r - first + 1]; k++) {
        const link = order[k];
        const isCounted = isTarget ? failed[sources[link]] === 0 : (failed[targets[link]] & ~own) === 0;
        if (isCounted) counts[codes[targets[link] - start]] += change;
      }
    }
  }
}
