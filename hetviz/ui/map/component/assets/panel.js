// Panel on the right: its tabs, whether it is open, and its width. Both the map and the tabs read and
// change it, so it is stored on the window. Contents of tabs stay on the page while they are up to date.
// Only a missing tab is requested.

import { request } from "./requests.js";
import { h, icon, set } from "./dom.js";
import { send } from "./page_change.js";
import { guardShortcuts } from "./shortcuts.js";

export const TABS = ["Item", "Guidance", "Clusters", "Predict"];
// In the sheet of a narrow window the film strip is a tab, drawn by the browser.
export const MAPS = "Maps";
const [STRIP_PX, NARROW_PX, MEDIUM_PX] = [44, 860, 1100];
const STOPS = ["low", "half", "whole"];
const TAB_REQUEST_DELAY_MS = 700; // ms until a missing tab is requested

/** @import { MapSpec } from "./messages.js" */

/**
 * @typedef {{ open: boolean, shut: boolean, tab: string, wide: boolean, stop: string }} PanelState
 * @typedef {object} PageState
 * @property {PanelState} panel
 * @property {Set<(panel: PanelState) => void>} watch
 * @property {Tabs | null} tabs
 * @property {((tabs: Tabs) => void)[]} waiting actions for when the tabs are loaded
 * @property {Record<string, number>} [scrolled]
 * @property {Record<string, string>} [closeTexts] shares of close links in words
 * @property {string} [bestClose]
 * @property {string} [raisedStop] height of the sheet before a draft lowered it
 * @property {() => void} [onCounted]
 * @property {number} [lastVersion]
 * @property {number} [nRequests]
 * @property {boolean} [guardsShortcuts]
 * @property {boolean} [watchesPageChanges]
 * @property {boolean} [watchesFileDrops]
 */

const store = (window.hetviz ??= {
  panel: { open: false, shut: false, tab: "Item", wide: false, stop: "half" }, watch: new Set(), tabs: null, waiting: [],
});

export const panel = store.panel;

guardShortcuts();

/** Call a listener when the panel changes; returns a function that removes it. */
export function watchPanel(listener) {
  store.watch.add(listener);
  return () => store.watch.delete(listener);
}

/** Change the panel and notify all listeners. */
export function change(changes) {
  const before = JSON.stringify(panel);
  const { tab } = panel;
  Object.assign(panel, changes);
  const { dataset } = document.documentElement;
  const body = panel.tab === tab ? null : document.querySelector(".st-key-panel-body");
  const scrolled = store.scrolled ??= {};
  if (body) scrolled[tab] = body.scrollTop;
  dataset.hvTab = panel.tab;
  if (body) body.scrollTop = scrolled[panel.tab] ?? 0;
  const shape = panel.open ? (panel.wide ? "wide" : "open") : "closed";
  if (dataset.hvPanel && dataset.hvPanel !== shape) hideTabsBriefly(dataset);
  dataset.hvPanel = shape;
  dataset.hvSheet = panel.stop;
  if (JSON.stringify(panel) !== before) for (const listener of store.watch) listener(panel);
}

/** Hide the tabs for a frame while they change their place, so nothing jumps. */
function hideTabsBriefly(dataset) {
  dataset.hvTurning = "";
  requestAnimationFrame(() => requestAnimationFrame(() => delete dataset.hvTurning));
}

/** Open the panel, unless the user closed it. @param {string} tab */
export function offerPanel(tab) {
  change({ tab, wide: false, ...(panel.shut ? {} : { open: true }) });
}

/** In a narrow window, lower the sheet while a statement is drafted, and raise it again. */
export function followDraft(isDrafting) {
  if (isDrafting === (store.raisedStop !== undefined) || (isDrafting && innerWidth > NARROW_PX)) return;
  const raised = store.raisedStop;
  store.raisedStop = isDrafting ? panel.stop : undefined;
  // A sheet that was pulled meanwhile stays.
  if (isDrafting) change({ stop: "low" });
  else if (panel.stop === "low") change({ stop: raised });
}

/** In a narrow window, lower the sheet off the charts. */
export function uncoverCharts() {
  if (innerWidth > NARROW_PX) return;
  if (store.raisedStop !== undefined) store.raisedStop = "low";
  change({ stop: "low" });
}

/**
 * Reserve room for the panel, which loads last and opens with a selection or by the page.
 * @param {MapSpec} data
 */
export function awaitPanel({ selection, opens_panel }) {
  const isFirst = store.lastVersion === undefined && !panel.shut && Boolean(selection.count);
  if (isFirst || (opens_panel && opens_panel !== store.lastVersion)) change({ open: true });
}

/** Share of close links of a map in words, if the panel has counted it. */
export const closeText = (run) => store.closeTexts?.[run] ?? null;

/** Share of close links of the best map in words, or "". */
export const bestCloseText = () => store.bestClose ?? "";

/** Set the listener for counted shares. */
export function watchCloseTexts(onCounted) { store.onCounted = onCounted; }

/** Open a tab, like a click on it. @param {string} tab */
export function openTab(tab) { withTabs((tabs) => tabs.choose(tab)); }

/** Open or close the panel, like its button. */
export function togglePanel() { withTabs((tabs) => tabs.toggle()); }

/** Run an action on the tabs, once they are loaded. */
function withTabs(action) {
  if (store.tabs) action(store.tabs);
  else store.waiting.push(action);
}

/** Width of the panel on the screen, 44 while it is closed. */
export function panelWidth() {
  const element = document.querySelector(".st-key-panel");
  if (!element && panel.open && innerWidth > NARROW_PX) return innerWidth < MEDIUM_PX ? 300 : 340;
  // The closed panel keeps its width behind a clip, so nothing shifts when it opens.
  if (element && !panel.open && innerWidth > NARROW_PX) return STRIP_PX;
  return element?.offsetParent === null && getComputedStyle(element).position !== "fixed" ? 0 : element?.offsetWidth ?? 0;
}

/** Height of the map above the sheet of a narrow window. */
export function panelTop(root) {
  const element = document.querySelector(".st-key-panel");
  const top = root.getBoundingClientRect().top;
  return element ? element.getBoundingClientRect().top - top : root.clientHeight;
}

/** Mount the tabs in the panel that Streamlit fills. */
export function mount(root, component) {
  root.hvTabs ??= new Tabs(root);
  root.hvTabs.receive(component);
  return () => setTimeout(() => {
    if (!root.isConnected) root.hvTabs?.close();
  });
}

export class Tabs {
  constructor(root) {
    this.tabs = [...TABS, MAPS].map((name) => h("button", {
      type: "button", role: "tab", "data-tab": name, onclick: () => this.choose(name),
    }, name));
    this.list = h("div", { role: "tablist", "aria-label": "Panel", onkeydown: (event) => this.key(event) }, ...this.tabs);
    const button = (name, action) => h("button", { type: "button", class: "hv-tool", onclick: action }, icon(name));
    this.widenButton = button("wide", () => this.update({ wide: !panel.wide, open: true }));
    this.closeButton = button("shut", () => this.toggle());
    // Without a mouse or a finger, a tab opens a closed sheet.
    this.heightButton = h("button", { type: "button", "aria-label": "Height of the panel" });
    this.grip = h("div", {
      class: "hv-sheet-handle", onclick: () => this.pull(1), onpointerdown: (event) => this.hold(event),
    }, this.heightButton);
    this.element = h("div", { class: "hv-tabs" }, this.grip, this.list, this.widenButton, this.closeButton);
    root.replaceChildren(this.element);
    this.stop = watchPanel(() => this.draw());
    this.wider = matchMedia(`(min-width: ${NARROW_PX + 1}px)`);
    this.onWidth = () => {
      if (this.wider.matches && panel.tab === MAPS) this.choose(TABS[0]);
      else if (document.documentElement.dataset.hvDock) uncoverCharts();
    };
    this.wider.addEventListener("change", this.onWidth);
  }

  /** Apply the state of Python if it is newer than the choices in the browser. */
  receive(component) {
    const { data } = component;
    this.component = component;
    if (data.close_texts) {
      store.closeTexts = { ...store.closeTexts, ...data.close_texts };
      store.bestClose = data.best_close;
      store.onCounted?.();
    }
    if (data.version !== store.lastVersion) {
      const first = store.lastVersion === undefined;
      store.lastVersion = data.version;
      const open = data.open || (first && data.has_selection) ? { open: true } : {};
      // A selection on the map opened its tab here, and later choices are newer.
      change({ wide: data.wide, ...open, ...(first || data.open ? { tab: data.tab } : {}) });
    }
    change({});
    clearTimeout(this.missing);
    if (panel.tab !== MAPS && !data.loaded.includes(panel.tab)) this.missing = setTimeout(() => this.requestTab(), TAB_REQUEST_DELAY_MS);
    this.draw();
    store.tabs = this;
    for (const action of store.waiting.splice(0)) action(this);
  }

  /** @param {string} tab */
  choose(tab) {
    // Only the tab that was widened is wide.
    const wide = panel.wide && tab === panel.tab;
    if (tab !== panel.tab || !panel.open) this.update({ tab, wide, open: true, shut: false });
  }

  update(changes) {
    const { tab, wide } = panel;
    change(changes);
    if (panel.wide !== wide) this.requestTab();
    else if (panel.tab !== tab && panel.tab !== MAPS) {
      const { loaded, view } = this.component.data;
      if (!loaded.includes(panel.tab)) this.requestTab();
      // The next run of the page keeps it; nothing waits for this request.
      else request(`hv/tab/${view}/${panel.tab}`, { method: "POST", keepalive: true }).catch(() => {});
    }
  }

  /** Request the content of the tab. */
  requestTab() {
    clearTimeout(this.missing);
    store.nRequests = (store.nRequests ?? 0) + 1;
    const view = { tab: panel.tab, wide: panel.wide, n: store.nRequests };
    send(() => this.component.setStateValue("view", view));
  }

  toggle() { change({ open: !panel.open, shut: panel.open }); }

  key(event) {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const tabs = this.tabs.filter((tab) => tab.offsetParent);
    const at = tabs.findIndex((tab) => tab.dataset.tab === panel.tab);
    const next = tabs[(at + step + tabs.length) % tabs.length];
    this.choose(next.dataset.tab ?? TABS[0]);
    next.focus();
  }

  /** Move the sheet of a narrow window by one stop, cyclically. @param {number} by */
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
      const dy = end.clientY - from;
      if (Math.abs(dy) < 12) return;
      this.pulled = true;
      setTimeout(() => { this.pulled = false; }, 50);
      const at = STOPS.indexOf(panel.stop) + (dy < 0 ? 1 : -1);
      change({ open: true, stop: STOPS[Math.min(Math.max(at, 0), STOPS.length - 1)] });
    };
  }

  draw() {
    this.tabs.forEach((button) => {
      const isSelected = button.dataset.tab === panel.tab;
      set(button, { "aria-selected": String(isSelected), tabindex: isSelected ? 0 : -1 });
    });
    this.heightButton.hidden = !panel.open;
    set(this.list, { "aria-orientation": panel.open ? "horizontal" : "vertical" });
    set(this.closeButton, { "aria-label": panel.open ? "Close the panel" : "Open the panel", title: panel.open ? "Close the panel (I)" : "Open the panel (I)" });
    set(this.widenButton, {
      "aria-label": panel.wide ? "Narrow the panel" : "Widen the panel", title: panel.wide ? "Narrow the panel" : "Widen the panel",
      "aria-pressed": String(panel.wide),
    });
  }

  close() {
    clearTimeout(this.missing);
    this.wider.removeEventListener("change", this.onWidth);
    this.stop();
    // New tabs may already have replaced these.
    if (store.tabs === this) store.tabs = null;
  }
}
