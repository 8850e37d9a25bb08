// The panel at the right: its tabs, whether it is open, and how wide. Both the map and the tabs read
// and change it, so it is kept on the window. What a tab shows stays on the page behind the one that is
// looked at, as long as it would show the same; only a tab that is not there is asked for.

import { ask } from "./ask.js";
import { h, icon, set } from "./dom.js";
import { tell } from "./journey.js";
import { keepKeys } from "./typing.js";

export const TABS = ["Item", "Guidance", "Clusters", "Predict"];
// In the sheet of a narrow window the film is a tab too; the browser has all that it shows.
export const MAPS = "Maps";
const [STRIP, NARROW, MIDDLING] = [44, 860, 1100];
const STOPS = ["low", "half", "whole"];
const PATIENCE = 700; // ms until a tab is asked for that may be on its way

const store = (window.hetviz ??= {
  panel: { open: false, shut: false, tab: "Item", wide: false, stop: "half" }, watch: new Set(), tabs: null, waiting: [],
});

export const panel = store.panel;

keepKeys();

/** Be told when the panel changes; returns how to stop. */
export function watchPanel(told) {
  store.watch.add(told);
  return () => store.watch.delete(told);
}

/** Change the panel and tell everybody. */
export function change(what) {
  const before = JSON.stringify(panel);
  const { tab } = panel;
  Object.assign(panel, what);
  const { dataset } = document.documentElement;
  const body = panel.tab === tab ? null : document.querySelector(".st-key-panel-body");
  if (body) (store.scrolled ??= {})[tab] = body.scrollTop;
  dataset.hvTab = panel.tab;
  if (body) body.scrollTop = store.scrolled[panel.tab] ?? 0;
  const shape = panel.open ? (panel.wide ? "wide" : "open") : "closed";
  if (dataset.hvPanel && dataset.hvPanel !== shape) unseen(dataset);
  dataset.hvPanel = shape;
  dataset.hvSheet = panel.stop;
  if (JSON.stringify(panel) !== before) for (const told of store.watch) told(panel);
}

/** The tabs are elsewhere while it is closed: between both they are not seen for a frame, so that nothing moves. */
function unseen(dataset) {
  dataset.hvTurning = "";
  requestAnimationFrame(() => requestAnimationFrame(() => delete dataset.hvTurning));
}

/** Open the panel by itself, unless the reader closed it. */
export function offerPanel(tab) {
  change({ tab, wide: false, ...(panel.shut ? {} : { open: true }) });
}

/** The panel comes last; as something is selected it will be open, and the map leaves it its room. */
export function awaitPanel() {
  if (store.heard === undefined && !panel.shut) change({ open: true });
}

/** How many of 100 links a map keeps, where the panel has counted it. */
export const keptBy = (run) => store.kept?.[run] ?? null;

/** Be told when the panel has counted. */
export function watchKept(told) { store.counted = told; }

/** Turn to a tab as if it was clicked. */
export function turn(tab) { reach((tabs) => tabs.choose(tab)); }

/** Open or close it as its button does. */
export function togglePanel() { reach((tabs) => tabs.toggle()); }

/** A key may come before the panel, which is the last of the page: it is then done when that comes. */
function reach(act) {
  if (store.tabs) act(store.tabs);
  else store.waiting.push(act);
}

/** Its width on the screen, 44 while it is closed. */
export function panelWidth() {
  const element = document.querySelector(".st-key-panel");
  if (!element && panel.open && innerWidth > NARROW) return innerWidth < MIDDLING ? 300 : 340;
  // Closed, it keeps its room behind a clip, so that nothing shifts when it opens.
  if (element && !panel.open && innerWidth > NARROW) return STRIP;
  return element?.offsetParent === null && getComputedStyle(element).position !== "fixed" ? 0 : element?.offsetWidth ?? 0;
}

/** How far down the map is free of the sheet of a narrow window. */
export function panelTop(root) {
  const element = document.querySelector(".st-key-panel");
  const top = root.getBoundingClientRect().top;
  return element ? element.getBoundingClientRect().top - top : root.clientHeight;
}

/** The tabs, in the panel that Streamlit fills. */
export function mount(root, component) {
  root.hvTabs ??= new Tabs(root);
  root.hvTabs.take(component);
  return () => setTimeout(() => {
    if (!root.isConnected) root.hvTabs?.close();
  });
}

class Tabs {
  constructor(root) {
    this.tabs = [...TABS, MAPS].map((name) => h("button", {
      type: "button", role: "tab", "data-tab": name, onclick: () => this.choose(name),
    }, name));
    this.list = h("div", { role: "tablist", "aria-label": "Panel", onkeydown: (event) => this.key(event) }, ...this.tabs);
    const button = (name, act) => h("button", { type: "button", class: "hv-tool", onclick: act }, icon(name));
    this.widen = button("wide", () => this.say({ wide: !panel.wide, open: true }));
    this.close_ = button("shut", () => this.toggle());
    this.grip = h("button", {
      type: "button", class: "hv-grip", "aria-label": "Height of the panel",
      onclick: () => this.pull(1), onpointerdown: (event) => this.hold(event),
    });
    this.element = h("div", { class: "hv-tabs" }, this.grip, this.list, this.widen, this.close_);
    root.replaceChildren(this.element);
    this.stop = watchPanel(() => this.draw());
    this.wider = matchMedia(`(min-width: ${NARROW + 1}px)`);
    this.widened = () => this.wider.matches && panel.tab === MAPS && this.choose(TABS[0]);
    this.wider.addEventListener("change", this.widened);
  }

  /** Python's word counts where it is newer than what was chosen here. */
  take(component) {
    const { data } = component;
    this.component = component;
    if (data.kept) {
      store.kept = { ...store.kept, ...data.kept };
      store.counted?.();
    }
    if (data.turn !== store.heard) {
      const first = store.heard === undefined;
      store.heard = data.turn;
      const open = data.open || (first && data.chosen) ? { open: true } : {};
      // What was selected on the map turned to its tab here, and where one went since is newer.
      change({ wide: data.wide, ...open, ...(first || data.open ? { tab: data.tab } : {}) });
    }
    change({});
    clearTimeout(this.missing);
    if (panel.tab !== MAPS && !data.there.includes(panel.tab)) this.missing = setTimeout(() => this.want(), PATIENCE);
    this.draw();
    store.tabs = this;
    for (const act of store.waiting.splice(0)) act(this);
  }

  choose(tab) {
    if (tab !== panel.tab || !panel.open) this.say({ tab, open: true, shut: false });
  }

  say(what) {
    const { tab, wide } = panel;
    change(what);
    if (panel.wide !== wide) this.want();
    else if (panel.tab !== tab && panel.tab !== MAPS) {
      const { there, view } = this.component.data;
      if (!there.includes(panel.tab)) this.want();
      // So that the next run keeps it: nothing waits for this.
      else ask(`hv/tab/${view}/${panel.tab}`, { method: "POST", keepalive: true }).catch(() => {});
    }
  }

  /** Ask for what the tab shows. */
  want() {
    clearTimeout(this.missing);
    store.wanted = (store.wanted ?? 0) + 1;
    const view = { tab: panel.tab, wide: panel.wide, n: store.wanted };
    tell(() => this.component.setStateValue("view", view));
  }

  toggle() { change({ open: !panel.open, shut: panel.open }); }

  key(event) {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const tabs = this.tabs.filter((tab) => tab.offsetParent);
    const at = tabs.findIndex((tab) => tab.dataset.tab === panel.tab);
    const next = tabs[(at + step + tabs.length) % tabs.length];
    this.choose(next.dataset.tab);
    next.focus();
  }

  /** The sheet of a narrow window: one stop up, round to the lowest. */
  pull(by) {
    if (this.pulled) return;
    const at = STOPS.indexOf(panel.stop) + by;
    change({ open: true, stop: STOPS[(at + STOPS.length) % STOPS.length] });
  }

  hold(event) {
    const from = event.clientY;
    this.pulled = false;
    this.grip.setPointerCapture(event.pointerId);
    this.grip.onpointerup = (end) => {
      this.grip.onpointerup = null;
      const way = end.clientY - from;
      if (Math.abs(way) < 12) return;
      this.pulled = true;
      setTimeout(() => { this.pulled = false; }, 50);
      const at = STOPS.indexOf(panel.stop) + (way < 0 ? 1 : -1);
      change({ open: true, stop: STOPS[Math.min(Math.max(at, 0), STOPS.length - 1)] });
    };
  }

  draw() {
    this.tabs.forEach((button) => {
      const here = button.dataset.tab === panel.tab;
      set(button, { "aria-selected": String(here), tabindex: here ? 0 : -1 });
    });
    set(this.list, { "aria-orientation": panel.open ? "horizontal" : "vertical" });
    set(this.close_, { "aria-label": panel.open ? "Close the panel" : "Open the panel", title: panel.open ? "Close the panel (I)" : "Open the panel (I)" });
    set(this.widen, {
      "aria-label": panel.wide ? "Narrow the panel" : "Widen the panel", title: panel.wide ? "Narrow the panel" : "Widen the panel",
      "aria-pressed": String(panel.wide),
    });
  }

  close() {
    clearTimeout(this.missing);
    this.wider.removeEventListener("change", this.widened);
    this.stop();
    // Others may have come in their place before these went.
    if (store.tabs === this) store.tabs = null;
  }
}
