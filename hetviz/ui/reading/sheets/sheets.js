// Tables of dropped files, as raw rows and as they are read. A click on a row sets its role, a list
// over each column sets the column's type. Python gets each action and returns the new tables.
// Tables of an open project are read-only.

const MARKS = [["names", "Names"], ["units", "Units"], ["first", "First row"], ["last", "Last row"]];
const MAX_ROWS_SHOWN = 12;
const COLUMNS_PER_PAGE = 60;
const views = new WeakMap();

export default function (component) {
  const { parentElement, data, setTriggerValue } = component;
  const root = parentElement.querySelector(".hv-sheets");
  let view = views.get(root);
  if (!view) {
    view = new Sheets(root);
    views.set(root, view);
  }
  view.take(data, (act) => setTriggerValue("act", act));
}

function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

const thousands = (n) => n.toLocaleString("en");

function size(value) {
  if (Math.abs(value) >= 1e9 || (value && Math.abs(value) < 1e-3)) return value.toPrecision(3);
  // Whole numbers of up to four digits have no separator, as they may be years.
  if (Number.isInteger(value) && Math.abs(value) < 1e4) return String(value);
  return thousands(Number(value.toPrecision(Math.abs(value) >= 1e4 ? 9 : 4)));
}

class Sheets {
  constructor(root) {
    this.root = root;
    this.at = "";
    this.mode = "names";
    this.whole = new Set();
    this.from = new Map();
    this.count = 0;
    /** @type {(act: Record<string, unknown>) => void} Set by `take`. */
    this.send = () => {};
  }

  take(data, send) {
    this.data = data;
    this.send = (act) => {
      this.root.setAttribute("aria-busy", "true");
      send({ ...act, count: (this.count += 1) });
    };
    this.root.removeAttribute("aria-busy");
    if (!data.sheets.some((sheet) => sheet.key === this.at)) this.at = data.sheets[0]?.key ?? "";
    this.draw();
  }

  /** The sheet with only the columns that are shown. */
  part(sheet) {
    const from = Math.min(this.from.get(sheet.key) ?? 0, Math.max(0, sheet.columns.length - 1));
    const cut = (list) => list.slice(from, from + COLUMNS_PER_PAGE);
    const rows = (list) => list.map(([line, cells, ...rest]) => [line, cut(cells), ...rest]);
    return sheet.columns.length <= COLUMNS_PER_PAGE ? sheet : {
      ...sheet, columns: cut(sheet.columns), above: rows(sheet.above), below: rows(sheet.below), preview: rows(sheet.preview ?? []),
    };
  }

  /** Paging buttons and a search field for the columns of a wide table. */
  pages(sheet) {
    const n = sheet.columns.length;
    if (n <= COLUMNS_PER_PAGE) return [];
    const from = this.from.get(sheet.key) ?? 0;
    const go = (to) => { this.from.set(sheet.key, Math.max(0, Math.min(to, n - 1))); this.draw(); };
    const button = (words, to, off) => h("button", {
      type: "button", "aria-label": words, title: words, disabled: off, "data-focus": words, onclick: () => go(to),
    }, to < from ? "‹" : "›");
    const find = (text) => {
      const query = text.trim().toLowerCase();
      const names = sheet.columns.map((column) => column.name.toLowerCase());
      const rawNames = sheet.columns.map((column) => (column.raw ?? column.name).toLowerCase());
      const exact = names.includes(query) ? names.indexOf(query) : rawNames.indexOf(query);
      const at = exact >= 0 ? exact : names.findIndex((name, k) => name.includes(query) || rawNames[k].includes(query));
      note.textContent = query && at < 0 ? "no such column" : "";
      if (!query || at < 0) return;
      go(Math.floor(at / COLUMNS_PER_PAGE) * COLUMNS_PER_PAGE);
      this.show(sheet.columns[at].name);
    };
    const note = h("small", { role: "status" });
    const more = sheet.n_columns > n ? `, the first ${thousands(n)} ${sheet.opened ? "are shown" : "can be changed"} here` : "";
    return [h("div", { class: "pages" },
      button("Previous columns", from - COLUMNS_PER_PAGE, from === 0),
      h("span", {}, `Columns ${thousands(from + 1)} to ${thousands(Math.min(from + COLUMNS_PER_PAGE, n))} of ${thousands(sheet.n_columns)}${more}`),
      button("Next columns", from + COLUMNS_PER_PAGE, from + COLUMNS_PER_PAGE >= n),
      h("input", {
        type: "search", placeholder: "Find a column", "aria-label": "Find a column", "data-focus": "find-column",
        onchange: (event) => find(event.target.value),
      }), note)];
  }

  /** Scroll a column into view and focus its list. */
  show(name) {
    const grid = this.root.querySelector(".grid");
    const list = grid?.querySelector(`[data-focus="${CSS.escape(`type-${name}`)}"]`);
    if (!list) return;
    const head = grid.querySelector("thead th.mark").getBoundingClientRect();
    grid.scrollLeft += list.closest("th").getBoundingClientRect().left - head.right;
    list.focus({ preventScroll: true });
  }

  get sheet() { return this.data.sheets.find((sheet) => sheet.key === this.at); }

  draw() {
    const old = this.root.querySelector(".grid");
    const [left, top] = old && this.drawn === this.at ? [old.scrollLeft, old.scrollTop] : [0, 0];
    const focus = this.root.getRootNode().activeElement?.dataset?.focus;
    this.drawn = this.at;
    const { sheet } = this;
    this.root.replaceChildren(...(sheet ? [this.tabs(), ...this.pages(sheet), this.grid(this.part(sheet)), ...(sheet.opened ? [] : [...this.orders(sheet), this.foot(sheet)])] : []));
    const grid = this.root.querySelector(".grid");
    if (grid) grid.scrollTo(left, top);
    if (focus) this.root.querySelector(`[data-focus="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
  }

  tabs() {
    const { sheets } = this.data;
    const choose = (at) => {
      this.at = sheets[(at + sheets.length) % sheets.length].key;
      this.draw();
      this.root.querySelector('[role="tab"][aria-selected="true"]').focus();
    };
    return h("div", { class: "tabs", role: "tablist", "aria-label": "Tables" }, ...sheets.map((sheet, at) => {
      const on = sheet.key === this.at;
      return h("button", {
        type: "button", role: "tab", "aria-selected": on ? "true" : "false", tabindex: on ? 0 : -1,
        "aria-controls": "hv-sheet", id: `hv-sheet-tab-${at}`, "data-focus": `tab-${sheet.key}`,
        onclick: () => choose(at),
        onkeydown: (event) => {
          const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
          if (by) { event.preventDefault(); choose(at + by); }
        },
      }, h("b", {}, sheet.glyph ? h("i", { "aria-hidden": "true" }, sheet.glyph) : null, sheet.title), h("span", {}, sheet.size), h("small", {}, sheet.note));
    }));
  }

  grid(sheet) {
    const at = this.data.sheets.findIndex((other) => other.key === sheet.key);
    const table = h("table", {}, this.head(sheet), this.body(sheet), sheet.opened ? null : this.read(sheet));
    return h("div", {
      class: sheet.opened ? "grid opened" : "grid", id: "hv-sheet", role: "tabpanel", tabindex: "0", "aria-labelledby": `hv-sheet-tab-${at}`,
    }, table);
  }

  head(sheet) {
    const note = h("small", {}, sheet.rows_note);
    const cells = sheet.columns.map((column) => h("th", { scope: "col", class: column.type === "leave out" ? "out" : null },
      named(column.name, column.raw),
      sheet.opened ? h("em", { tabindex: -1, "data-focus": `type-${column.name}` }, column.short) : this.types(sheet, column),
      chart(column),
      h("small", { class: column.why ? "why" : null, title: column.why || null }, facts(column)),
    ));
    return h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "mark" }, h("b", {}, `${thousands(sheet.n_columns)} ${sheet.n_columns === 1 ? "column" : "columns"}`), note), ...cells));
  }

  types(sheet, column) {
    return h("select", {
      "aria-label": `Type of ${column.name}`, title: column.meaning, "data-focus": `type-${column.name}`,
      class: column.is_chosen ? "chosen" : null,
      onchange: (event) => this.send({ do: "type", key: sheet.key, column: column.name, type: event.target.value }),
    }, ...this.data.types.map(([type, meaning]) => h("option", {
      value: type, title: meaning, selected: type === column.type,
    }, type === "number with the rest missing" ? "number, rest missing" : type)));
  }

  body(sheet) {
    if (sheet.opened) return this.shown(sheet);
    const marks = new Map([
      ...(sheet.last === null ? [] : [[sheet.last, "Last row"]]), [sheet.first, "First row"],
      ...(sheet.units === null ? [] : [[sheet.units, "Units"]]), ...sheet.header.map((line) => [line, "Names"]),
    ]);
    const { above, below, between } = sheet;
    const whole = this.whole.has(sheet.key);
    const upper = whole ? above : above.slice(0, Math.max(MAX_ROWS_SHOWN, sheet.first_at + 6));
    const hidden = above.length - upper.length;
    this.tabbable = upper.find(([line]) => marks.has(line))?.[0] ?? upper[0]?.[0];
    const row = (entry) => this.row(sheet, entry, marks);
    const rest = between + hidden;
    const gap = rest ? h("tr", { class: "gap" }, h("th", { scope: "row", class: "mark" }, "⋮"), h("td", { colspan: sheet.columns.length },
      `${thousands(rest)} more rows`,
      hidden ? h("button", {
        type: "button", "data-focus": "more", onclick: () => { this.whole.add(sheet.key); this.draw(); },
      }, `Show ${thousands(hidden)}`) : null)) : null;
    return h("tbody", {}, ...upper.map(row), gap, ...below.map(row));
  }

  /** Rows of a project: the first and the last. */
  shown(sheet) {
    const row = ([line, cells, face]) => h("tr", {},
      h("th", { scope: "row", class: "mark" }, h("span", { class: "n" }, thousands(line + 1)), face ? h("img", { src: face, alt: "", loading: "lazy" }) : null),
      ...cells.map((text) => text === null ? h("td", { class: "none" }, "missing") : h("td", { title: text.length > 18 ? text : null }, text)));
    const gap = sheet.between ? h("tr", { class: "gap" }, h("th", { scope: "row", class: "mark" }, "⋮"),
      h("td", { colspan: sheet.columns.length }, `${thousands(sheet.between)} more rows`)) : null;
    return h("tbody", {}, ...sheet.above.map(row), gap, ...sheet.below.map(row));
  }

  row(sheet, [line, cells], marks) {
    const mark = marks.get(line);
    const header = sheet.header.includes(line);
    const inside = line >= sheet.first && !header && line !== sheet.units && (sheet.last === null || line <= sheet.last);
    const kind = header ? "names" : line === sheet.units ? "units" : inside ? null : "passed";
    const say = () => this.send({ do: "mark", key: sheet.key, mark: this.mode, line });
    const words = MARKS.find(([mode]) => mode === this.mode)?.[1];
    const number = h("span", { class: "n" }, thousands(line + 1));
    const head = sheet.has_rows ? h("button", {
      type: "button", tabindex: line === this.tabbable ? 0 : -1, "data-line": line, "data-focus": `row-${line}`,
      class: mark ? "on" : null, title: `Row ${line + 1}: ${mark ?? (inside ? "data" : "skipped")}. Click to mark it as ${words}.`,
      "aria-label": `Row ${line + 1}, ${mark ?? (inside ? "data" : "skipped")}. Mark as ${words}`,
      onclick: (event) => { event.stopPropagation(); say(); },
      onkeydown: (event) => this.step(event),
    }, mark ?? "·") : null;
    return h("tr", { class: kind, onclick: sheet.has_rows ? say : null },
      h("th", { scope: "row", class: "mark" }, number, head),
      // A title or remark spans all columns.
      ...(kind === "passed" && cells.filter(Boolean).length === 1 ? [h("td", { colspan: sheet.columns.length, class: "wide" }, cells.find(Boolean))]
      : sheet.columns.map((column, at) => {
        const text = cells[at] ?? "";
        return h("td", { class: column.type === "leave out" ? "out" : null, title: text.length > 18 ? text : null }, text);
      })));
  }

  step(event) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const all = [...this.root.querySelectorAll("tbody button[data-line]")];
    const next = all[all.indexOf(event.currentTarget) + by];
    if (!next) return;
    for (const button of all) button.tabIndex = button === next ? 0 : -1;
    next.focus();
  }

  read(sheet) {
    if (!sheet.preview.length) return h("tfoot");
    const title = h("tr", { class: "title" }, h("th", { scope: "row", class: "mark" }, "Read as"),
      ...sheet.columns.map((column) => h("td", {}, column.type === "leave out" && column.is_chosen ? "" : column.short)));
    return h("tfoot", {}, title, ...sheet.preview.map(([line, cells]) => h("tr", {},
      h("th", { scope: "row", class: "mark" }, h("span", { class: "n" }, thousands(line + 1))),
      ...cells.map((text) => text === null ? h("td", { class: "out" }, "not read")
        : text === "" ? h("td", { class: "none" }, "missing") : h("td", { title: text.length > 18 ? text : null }, text)))));
  }

  /** The values of each ordered category, the lowest first, to move. */
  orders(sheet) {
    return sheet.columns.filter((column) => column.order.length).map((column) => {
      const move = (at, by) => {
        const order = [...column.order];
        order.splice(at + by, 0, ...order.splice(at, 1));
        this.send({ do: "order", key: sheet.key, column: column.name, order });
      };
      const turn = () => this.send({ do: "order", key: sheet.key, column: column.name, order: [...column.order].reverse() });
      const button = (words, sign, at, by) => h("button", {
        type: "button", "aria-label": words, title: words, disabled: at + by < 0 || at + by >= column.order.length,
        "data-focus": `order-${column.name}-${column.order[at]}-${by}`, onclick: () => move(at, by),
      }, sign);
      return h("div", { class: "order", role: "group", "aria-label": `Order of ${column.name}` },
        h("b", {}, column.name), h("small", {}, "lowest"),
        h("ol", {}, ...column.order.map((value, at) => h("li", {},
          button(`${value}: one place lower`, "‹", at, -1), h("span", { title: value }, value), button(`${value}: one place higher`, "›", at, 1)))),
        h("small", {}, "highest"),
        h("button", { type: "button", class: "turn", "data-focus": `turn-${column.name}`, onclick: turn }, "Reverse"));
    });
  }

  foot(sheet) {
    const modes = sheet.has_rows ? h("div", { class: "modes", role: "radiogroup", "aria-label": "Role set by a click on a row" },
      h("span", {}, "Click a row to mark it as"),
      ...MARKS.map(([mode, words]) => h("label", { class: this.mode === mode ? "on" : null },
        h("input", {
          type: "radio", name: "hv-sheet-mode", value: mode, checked: this.mode === mode, "data-focus": `mode-${mode}`,
          onchange: () => { this.mode = mode; this.draw(); },
        }), words))) : null;
    const now = JSON.stringify(sheet.id);
    const options = [{ columns: [], words: `row numbers: unique in all ${thousands(sheet.n_data)} rows`, fits: true }, ...sheet.ids];
    const ids = !sheet.items ? null : sheet.has_id ? h("span", { class: "ids" }, `Each row is identified by ${sheet.id.join(" + ")}, as declared in the file`) : h("label", { class: "ids" }, h("span", {}, "Each row is identified by"), h("select", {
      "data-focus": "ids", onchange: (event) => this.send({ do: "ids", key: sheet.key, columns: JSON.parse(event.target.value) }),
    }, ...options.map(({ columns, words, fits }) => h("option", {
      value: JSON.stringify(columns), selected: JSON.stringify(columns) === now, disabled: !fits,
    }, words))));
    const button = (act, words, off) => h("button", {
      type: "button", disabled: off, "data-focus": act, onclick: () => this.send({ do: act, key: sheet.key }),
    }, words);
    return h("div", { class: "foot" }, modes, ids, h("div", { class: "acts" },
      button("undo", "Undo", !this.data.can_undo), button("reset", "Reset", !sheet.changed)));
  }
}

/** A name whose groups stand above it, as in "Measured / Nitrate". */
function named(name, raw = name) {
  const cut = name.lastIndexOf(" / ");
  return h("span", { class: "name", title: raw }, h("small", {}, cut > 0 ? name.slice(0, cut) : "\u00a0"), cut > 0 ? name.slice(cut + 3) : name);
}

function facts(column) {
  if (column.why) return column.why;
  const share = column.n ? (100 * column.missing) / column.n : 0;
  const empty = column.missing ? `${share < 1 ? "<1" : Math.round(share)} % missing` : "";
  const values = column.range ? `${size(column.range[0])} to ${size(column.range[1])}${column.unit ? ` ${column.unit}` : ""}` : column.distinct > 1 && column.distinct === column.n ? "all unique" : `${thousands(column.distinct)} ${column.distinct === 1 ? "value" : "values"}`;
  return [values, empty].filter(Boolean).join(", ");
}

function chart(column) {
  const wide = 92, high = 26, space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  // Unique values have no counts to compare.
  const bars = column.bars && column.distinct > 1 && column.distinct === column.n - column.missing ? [] : column.counts.slice(0, 12);
  const maxCount = Math.max(1, ...bars);
  const step = wide / Math.max(bars.length, column.bars ? 8 : 1);
  const words = column.bars
    ? column.top.map((value, at) => `${value}: ${thousands(column.counts[at])}`).join("\n")
    : `${thousands(column.n - column.missing)} numbers`;
  svg.setAttribute("viewBox", `0 0 ${wide} ${high}`);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `${column.name}: ${words.replaceAll("\n", ", ")}`);
  const title = document.createElementNS(space, "title");
  title.textContent = words;
  svg.append(title);
  bars.forEach((count, at) => {
    const bar = document.createElementNS(space, "rect");
    const tall = count ? Math.max(1, (high * count) / maxCount) : 0;
    for (const [name, value] of Object.entries({ x: at * step, y: high - tall, width: Math.max(1, step - 1.5), height: tall, class: column.bars ? "bar" : "bin" })) bar.setAttribute(name, String(value));
    svg.append(bar);
  });
  return svg;
}
