// Keyboard focus and shortcuts of the app. Streamlit handles shortcuts of its buttons on the whole document
// and excludes only text fields, so arrow keys in a table or list would trigger them. Lists and menus of a
// notebook are not changed. Search and Help have a key on all pages.

import { closest } from "./dom.js";
import { isNotebook } from "./requests.js";
import { guardUndoRedo, pressStep } from "./undo_redo.js";

const KEY_OWNERS = [
  '[data-testid="stDataFrame"]', "#portal", "[role=dialog]",
  ...["grid", "tablist", "radiogroup", "listbox", "combobox", "menu", "slider"].map((role) => `[role=${role}]`),
].join();
const KEY_TARGETS = { "?": ".st-key-help button", "/": ".hv-find-host input" };
const FOCUS_DELAY_MS = 1500; // ms

// Parts of the screen that F6 visits, with the element that gets the focus.
/** @type {[selector: string, within: string | null][]} */
const AREAS = [
  [".st-key-top", "button"], [".hv-bar", '[tabindex="0"]'], [".hv-stage", null], [".hv-dock", "button:not([hidden])"],
  [".st-key-panel", '[role="tab"][aria-selected="true"]'], [".st-key-page", "button, a, input"],
];

// Symbols of keys on buttons of Streamlit.
/** @type {Record<string, string>} */
const KEY_SYMBOLS = { ArrowLeft: "←", ArrowRight: "→" };

/** Buttons of the panel with this shortcut, in visible and hidden tabs. @param {string} key */
function pressedBy(key) {
  const symbol = KEY_SYMBOLS[key] ?? key.toUpperCase();
  return [...document.querySelectorAll(".st-key-panel button kbd")]
    .filter((word) => word.textContent === symbol).map((word) => /** @type {HTMLButtonElement | null} */ (word.closest("button")));
}

/** @param {number} by */
function focusNextArea(by) {
  const areas = AREAS.map(([selector, within]) => {
    const area = document.querySelector(selector);
    return { area, to: within ? area?.querySelector(within) : area };
  }).filter(({ to }) => to?.checkVisibility({ visibilityProperty: true }));
  // Toolbar and cards are elements of the map.
  const at = areas.findLastIndex(({ area }) => area?.contains(document.activeElement));
  areas[(at + by + areas.length) % areas.length]?.to?.focus({ preventScroll: true });
}

/** Keep plain keys from the document while the focused element uses them itself. */
export function guardShortcuts() {
  if (isNotebook || window.hetviz.guardsShortcuts) return;
  window.hetviz.guardsShortcuts = true;
  guardUndoRedo();
  // A table gets its click a moment later; keys typed in between belong to it too.
  let pressed = -Infinity;
  document.body.addEventListener("pointerdown", (event) => {
    pressed = closest(event, KEY_OWNERS) ? performance.now() : -Infinity;
  }, { capture: true });
  const keepsKeys = (target) => target.closest?.(KEY_OWNERS)
    || (target === document.body && performance.now() - pressed < FOCUS_DELAY_MS);
  // Below the document, above all listeners of React.
  document.body.addEventListener("keydown", (event) => {
    const command = event.ctrlKey || event.metaKey || event.altKey;
    if (event.key === "F6" && !command) {
      event.preventDefault();
      focusNextArea(event.shiftKey ? -1 : 1);
      return;
    }
    const inTextField = closest(event, "input, textarea, [contenteditable=true]");
    const isSearch = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k";
    const selector = isSearch ? KEY_TARGETS["/"] : !command && !inTextField && !closest(event, ".hv-stage") && KEY_TARGETS[event.key];
    if (selector) {
      const target = document.querySelector(selector);
      event.preventDefault();
      if (target?.matches("input")) target.focus();
      else target?.click();
      return;
    }
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !inTextField && !keepsKeys(event.target) && event.key.toLowerCase() === "z") {
      event.preventDefault();
      pressStep(event.shiftKey ? "redo" : "undo");
      return;
    }
    if (command || inTextField) return;
    const buttons = keepsKeys(event.target) ? [] : pressedBy(event.key);
    const visible = buttons.filter((button) => button?.checkVisibility());
    if (visible.length < buttons.length) {
      // Streamlit would press those of hidden tabs too.
      event.stopPropagation();
      event.preventDefault();
      visible.find((button) => button && !button.disabled)?.click();
      return;
    }
    if (event.key !== "Escape" && keepsKeys(event.target)) event.stopPropagation();
  });
}
