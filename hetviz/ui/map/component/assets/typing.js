// Keys that belong to what has the focus. Streamlit hears the shortcuts of its buttons on the whole
// document, and leaves out only text fields: arrows in a table or a list would press them as well.
// A notebook's own lists and menus are left as they are. Find and Help have a key on all places.

import { alone } from "./ask.js";
import { keepSteps, pressStep } from "./steps.js";

const OWNERS = [
  '[data-testid="stDataFrame"]', "#portal", "[role=dialog]",
  ...["grid", "tablist", "radiogroup", "listbox", "combobox", "menu", "slider"].map((role) => `[role=${role}]`),
].join();
const PLACES = { "?": ".st-key-help button", "/": ".hv-find-host input" };
const MOMENT = 1500; // ms

// The parts of the screen that F6 leads to, each by what takes the focus there.
const AREAS = [
  [".st-key-top", "a"], [".hv-bar", '[tabindex="0"]'], [".hv-stage", null],
  [".st-key-panel", '[role="tab"][aria-selected="true"]'], [".st-key-page", "button, a, input"],
];

// How Streamlit writes the key of a button's shortcut on it.
const WRITTEN = { ArrowLeft: "←", ArrowRight: "→" };

/** Buttons of the panel that a key presses, in tabs that are looked at and in those that are not. */
function pressedBy(key) {
  const written = WRITTEN[key] ?? key.toUpperCase();
  return [...document.querySelectorAll(".st-key-panel button kbd")]
    .filter((word) => word.textContent === written).map((word) => word.closest("button"));
}

function onward(by) {
  const there = AREAS.map(([place, within]) => {
    const area = document.querySelector(place);
    return { area, to: within ? area?.querySelector(within) : area };
  }).filter(({ to }) => to?.checkVisibility({ visibilityProperty: true }));
  // The rail and the map's cards lie within the map.
  const at = there.findLastIndex(({ area }) => area.contains(document.activeElement));
  there[(at + by + there.length) % there.length]?.to.focus({ preventScroll: true });
}

/** Keep plain keys from the document while the focus is where they have a meaning of their own. */
export function keepKeys() {
  if (alone || window.hetviz.keepsKeys) return;
  window.hetviz.keepsKeys = true;
  keepSteps();
  // A table takes a click a moment later; what is typed in between is meant for it too.
  let pressed = -Infinity;
  document.body.addEventListener("pointerdown", (event) => {
    pressed = event.target.closest?.(OWNERS) ? performance.now() : -Infinity;
  }, { capture: true });
  const owned = (target) => target.closest?.(OWNERS)
    || (target === document.body && performance.now() - pressed < MOMENT);
  // Below the document, above everything that React listens on.
  document.body.addEventListener("keydown", (event) => {
    const command = event.ctrlKey || event.metaKey || event.altKey;
    if (event.key === "F6" && !command) {
      event.preventDefault();
      onward(event.shiftKey ? -1 : 1);
      return;
    }
    const written = event.target.closest?.("input, textarea, [contenteditable=true]");
    const place = !command && !written && !event.target.closest?.(".hv-stage") && PLACES[event.key];
    if (place) {
      const there = document.querySelector(place);
      event.preventDefault();
      if (there?.matches("input")) there.focus();
      else there?.click();
      return;
    }
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !written && !owned(event.target) && event.key.toLowerCase() === "z") {
      event.preventDefault();
      pressStep(event.shiftKey ? "redo" : "undo");
      return;
    }
    if (command || written) return;
    const asked = owned(event.target) ? [] : pressedBy(event.key);
    const seen = asked.filter((button) => button.checkVisibility());
    if (seen.length < asked.length) {
      // Streamlit would press those of the other tabs too.
      event.stopPropagation();
      event.preventDefault();
      seen.find((button) => !button.disabled)?.click();
      return;
    }
    if (event.key !== "Escape" && owned(event.target)) event.stopPropagation();
  });
}
