// Tables as boxes, with lines between joined columns. A column is joined by dragging it onto
// another, or by choosing one and then the other. Python gets each action and returns the joins.

const MAX_COLUMNS_SHOWN = 5;
const MIN_TABLES_TO_SEARCH = 9;
const SVG = "http://www.w3.org/2000/svg";
const views = new WeakMap();

export default function (component) {
  const { parentElement, data, setTriggerValue } = component;
  const root = parentElement.querySelector(".hv-join-map");
  let view = views.get(root);
  if (!view) {
    view = new JoinMap(root);
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

const id = (table, column) => JSON.stringify([table, column]);

class JoinMap {
  constructor(root) {
    this.root = root;
    this.opened = new Set();
    this.find = "";
    this.chosen = "";
    /** @type {[string, string] | null} The column that waits for its partner. */
    this.from = null;
    /** The join that the next one replaces, or "". */
    this.replaced = "";
    this.boxes = h("div");
    this.svg = document.createElementNS(SVG, "svg");
    this.count = 0;
    /** @type {(act: Record<string, unknown>) => void} Set by `take`. */
    this.send = () => {};
    new ResizeObserver(() => this.lines()).observe(root);
    root.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.from) this.start(null);
      if (event.key.toLowerCase() === "z" && (event.ctrlKey || event.metaKey) && !event.shiftKey && event.target.tagName !== "INPUT") {
        event.preventDefault();
        event.stopPropagation();
        if (this.data.can_undo) this.send({ do: "undo" });
      }
    });
  }

  take(data, send) {
    this.data = data;
    this.send = (act) => send({ ...act, count: (this.count += 1) });
    this.draw();
  }

  start(end, replaced = "") {
    this.from = end;
    this.replaced = replaced;
    this.draw();
  }

  /** Choose a column as the first or second end of a join. */
  pick(table, column) {
    if (!this.from) this.start([table, column]);
    else this.join(this.from, [table, column]);
  }

  join(from, to) {
    const instead = this.replaced ? { instead_of: this.replaced } : {};
    this.from = null;
    this.replaced = "";
    if (id(...from) !== id(...to)) this.send({ do: "join", source: from[0], column: from[1], target: to[0], other: to[1], ...instead });
    this.draw();
  }

  draw() {
    const focus = /** @type {ShadowRoot | Document} */ (this.root.getRootNode()).activeElement?.getAttribute("data-focus");
    this.svg = document.createElementNS(SVG, "svg");
    this.svg.setAttribute("aria-hidden", "true");
    const words = this.find.toLowerCase();
    const tables = this.data.tables.filter((table) => !words || table.name.toLowerCase().includes(words) || table.columns.some(([, label]) => label.toLowerCase().includes(words)));
    this.boxes = h("div", { class: "boxes" }, this.svg, ...tables.map((table) => this.box(table, words)));
    const hint = this.from ? `Now choose the column that ${this.label(...this.from)} of ${this.from[0]} matches, or press Escape.` : "Drag a column onto another to join them, or choose one and then the other.";
    this.root.replaceChildren(
      h("div", { class: "bar" }, h("span", { role: "status" }, hint),
        this.data.tables.length >= MIN_TABLES_TO_SEARCH ? h("input", {
          type: "search", placeholder: "Find a table or column", "aria-label": "Find a table or column", "data-focus": "find", value: this.find,
          oninput: (event) => { this.find = event.target.value; this.draw(); },
        }) : null,
        !this.data.has_list && !this.data.can_undo ? null : h("button", { type: "button", "data-focus": "undo", disabled: !this.data.can_undo, onclick: () => this.send({ do: "undo" }) }, "Undo")),
      this.boxes, ...(this.data.has_list ? [this.list()] : []), ...this.panel());
    const again = [...this.root.querySelectorAll("[data-focus]")].find((element) => element.getAttribute("data-focus") === focus);
    if (focus && again) {
      again.focus();
      if (again.tagName === "INPUT") again.setSelectionRange(this.find.length, this.find.length);
    }
    this.lines();
  }

  label(table, column) {
    return this.data.tables.find(({ name }) => name === table)?.columns.find(([name]) => name === column)?.[1] ?? column;
  }

  box(table, words) {
    const joined = new Set(this.data.joins.flatMap((join) => [...(join.source === table.name ? join.columns : []), ...(join.target === table.name ? join.others : [])]));
    const isOpen = this.opened.has(table.name);
    const shown = table.columns.filter(([name, label, mark], at) => isOpen || mark || joined.has(name) || at < MAX_COLUMNS_SHOWN || (words && label.toLowerCase().includes(words)));
    const rest = table.columns.length - shown.length;
    return h("section", { "aria-label": table.name },
      h("h4", { title: table.name }, h("b", {}, table.name), h("small", {}, table.rows.toLocaleString("en"))),
      ...shown.map(([name, label, mark]) => h("button", {
        type: "button", class: ["column", joined.has(name) ? "key" : "", this.from && id(...this.from) === id(table.name, name) ? "from" : ""].join(" "),
        title: label, "data-end": id(table.name, name), "data-focus": `column-${id(table.name, name)}`,
        "aria-label": `${label} of ${table.name}${mark ? `, ${mark}` : ""}`, "aria-pressed": String(Boolean(this.from && id(...this.from) === id(table.name, name))),
        onclick: () => this.pick(table.name, name), onpointerdown: (event) => this.drag(event, table.name, name),
      }, h("span", {}, label), mark ? h("small", {}, mark) : null)),
      rest || isOpen ? h("button", {
        type: "button", class: "more", "data-focus": `more-${table.name}`,
        onclick: () => { if (!this.opened.delete(table.name)) this.opened.add(table.name); this.draw(); },
      }, rest ? `+ ${rest} more` : "fewer") : null);
  }

  /** Follow the mouse from a column to another one. Touch chooses columns one by one instead, so that it can scroll. */
  drag(event, table, column) {
    if (event.pointerType === "touch" || event.button) return;
    const begin = [event.clientX, event.clientY];
    const line = document.createElementNS(SVG, "path");
    line.setAttribute("class", "drag");
    const stop = new AbortController();
    /** @type {Element | null} */
    let target = null;
    const move = (moved) => {
      if (!line.isConnected && Math.hypot(moved.clientX - begin[0], moved.clientY - begin[1]) < 5) return;
      const frame = this.boxes.getBoundingClientRect();
      if (!line.isConnected) this.svg.append(line);
      line.setAttribute("d", `M${begin[0] - frame.left},${begin[1] - frame.top}L${moved.clientX - frame.left},${moved.clientY - frame.top}`);
      const over = /** @type {ShadowRoot | Document} */ (this.root.getRootNode()).elementFromPoint(moved.clientX, moved.clientY)?.closest("[data-end]") ?? null;
      if (over === target) return;
      target?.classList.remove("over");
      target = over;
      target?.classList.add("over");
    };
    const end = () => {
      stop.abort();
      if (!line.isConnected) return;
      line.remove();
      target?.classList.remove("over");
      const to = target?.getAttribute("data-end");
      if (to && to !== id(table, column)) this.join([table, column], JSON.parse(to));
    };
    window.addEventListener("pointermove", move, { signal: stop.signal });
    window.addEventListener("pointerup", end, { signal: stop.signal });
    window.addEventListener("pointercancel", () => { stop.abort(); line.remove(); }, { signal: stop.signal });
  }

  lines() {
    this.svg.replaceChildren();
    const frame = this.boxes.getBoundingClientRect();
    const ends = new Map([...this.boxes.querySelectorAll("[data-end]")].map((element) => [element.getAttribute("data-end"), element.getBoundingClientRect()]));
    for (const join of this.data.joins) {
      join.columns.forEach((column, at) => {
        const a = ends.get(id(join.source, column));
        const b = ends.get(id(join.target, join.others[at] ?? ""));
        if (!a || !b) return;
        const isRight = b.left > a.right, isLeft = b.right < a.left;
        const x = (isLeft ? a.left : a.right) - frame.left, X = (isRight ? b.left : b.right) - frame.left;
        const y = a.top + a.height / 2 - frame.top, Y = b.top + b.height / 2 - frame.top;
        const bend = isRight || isLeft ? Math.max(18, Math.abs(X - x) / 2) : 22;
        const d = `M${x},${y}C${x + (isLeft ? -bend : bend)},${y} ${X + (isRight ? -bend : bend)},${Y} ${X},${Y}`;
        for (const part of ["hit", "line"]) {
          const path = document.createElementNS(SVG, "path");
          path.setAttribute("d", d);
          path.setAttribute("class", [part, join.on ? "on" : "off", join.key === this.chosen ? "chosen" : ""].join(" "));
          if (part === "hit") path.addEventListener("click", () => this.touch(join));
          this.svg.append(path);
        }
      });
    }
  }

  /** A click accepts a join that is only proposed, and chooses any other. */
  touch(join) {
    this.chosen = join.key;
    if (!join.on) this.send({ do: "set", key: join.key, on: true });
    this.draw();
  }

  /** The joins as a list, for the keyboard and for narrow screens. */
  list() {
    return h("ul", { "aria-label": "Joins" }, ...this.data.joins.map((join) => h("li", {}, h("button", {
      type: "button", class: ["join", join.on ? "on" : "off"].join(" "), "aria-pressed": String(join.key === this.chosen), "data-focus": `join-${join.key}`,
      onclick: () => { this.chosen = join.key === this.chosen ? "" : join.key; this.draw(); },
    }, h("i"), h("span", {}, join.words), h("small", {}, join.declared ? "declared" : join.on ? "" : "proposed")))));
  }

  panel() {
    const join = this.data.joins.find(({ key }) => key === this.chosen);
    if (!join) return [];
    const button = (words, act) => h("button", { type: "button", "data-focus": `act-${words}`, onclick: () => this.send({ ...act, key: join.key }) }, words);
    return [h("div", { class: "panel", role: "group", "aria-label": join.words }, h("b", {}, join.words), h("p", {}, join.evidence),
      join.examples.length ? h("p", { class: "quiet" }, `Such as ${join.examples.join(" and ")}`) : null,
      h("div", { class: "acts" }, button(join.on ? "Leave out" : "Join", { do: "set", on: !join.on }),
        join.can_reverse ? h("button", { type: "button", "data-focus": "act-Change", onclick: () => this.start([join.source, join.columns[0]], join.key) }, "Change") : null,
        join.can_reverse ? button("Reverse", { do: "reverse" }) : null, join.drawn ? button("Remove", { do: "remove" }) : null))];
  }
}
