// Keys that belong to what has the focus. Streamlit hears the shortcuts of its buttons on the whole
// document, and leaves out only text fields: arrows in a table or a list would press them as well.
// A notebook's own lists and menus are left as they are. Find and Help have a key on all places.

import { isNotebook } from "./requests.js";
import { guardUndoRedo, pressStep } from "./undo_redo.js";

const KEY_OWNERS = [
  '[data-testid="stDataFrame"]', "#portal", "[role=dialog]",
  ...["grid", "tablist", "radiogroup", "listbox", "combobox", "menu", "slider"].map((role) => `[role=${role}]`),
].join();
const KEY_TARGETS = { "?": ".st-key-help button", "/": ".hv-find-host input" };
const FOCUS_DELAY_MS = 1500; // ms

// The parts of the screen that F6 leads to, each by what takes the focus there.
const AREAS = [
  [".st-key-top", "a"], [".hv-bar", '[tabindex="0"]'], [".hv-stage", null],
  [".st-key-panel", '[role="tab"][aria-selected="true"]'], [".st-key-page", "button, a, input"],
];

// How Streamlit writes the key of a button's shortcut on it.
const KEY_SYMBOLS = { ArrowLeft: "←", ArrowRight: "→" };

/** Buttons of the panel that a key presses, in tabs that are looked at and in those that are not. */
function pressedBy(key) {
  const symbol = KEY_SYMBOLS[key] ?? key.toUpperCase();
  return [...document.querySelectorAll(".st-key-panel button kbd")]
    .filter((word) => word.textContent === symbol).map((word) => word.closest("button"));
}

function focusNextArea(by) {
  const areas = AREAS.map(([selector, within]) => {
    const area = document.querySelector(selector);
    return { area, to: within ? area?.querySelector(within) : area };
  }).filter(({ to }) => to?.checkVisibility({ visibilityProperty: true }));
  // The rail and the map's cards lie within the map.
  const at = areas.findLastIndex(({ area }) => area.contains(document.activeElement));
  areas[(at + by + areas.length) % areas.length]?.to.focus({ preventScroll: true });
}

/** Keep plain keys from the document while the focus is where they have a meaning of their own. */
export function guardShortcuts() {
  if (isNotebook || window.hetviz.guardsShortcuts) return;
  window.hetviz.guardsShortcuts = true;
  guardUndoRedo();
  // A table takes a click a moment later; what is typed in between is meant for it too.
  let pressed = -Infinity;
  document.body.addEventListener("pointerdown", (event) => {
    pressed = event.target.closest?.(KEY_OWNERS) ? performance.now() : -Infinity;
  }, { capture: true });
  const keepsKeys = (target) => target.closest?.(KEY_OWNERS)
    || (target === document.body && performance.now() - pressed < FOCUS_DELAY_MS);
  // Below the document, above everything that React listens on.
  document.body.addEventListener("keydown", (event) => {
    const command = event.ctrlKey || event.metaKey || event.altKey;
    if (event.key === "F6" && !command) {
      event.preventDefault();
      focusNextArea(event.shiftKey ? -1 : 1);
      return;
    }
    const inTextField = event.target.closest?.("input, textarea, [contenteditable=true]");
    const selector = !command && !inTextField && !event.target.closest?.(".hv-stage") && KEY_TARGETS[event.key];
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
    const visible = buttons.filter((button) => button.checkVisibility());
    if (visible.length < buttons.length) {
      // Streamlit would press those of the other tabs too.
      event.stopPropagation();
      event.preventDefault();
      visible.find((button) => !button.disabled)?.click();
      return;
    }
    if (event.key !== "Escape" && keepsKeys(event.target)) event.stopPropagation();
  });
}
