// Undo and redo, one step per key press. The server undoes only the step that the button named when it
// was drawn, so a press that comes before the page is redrawn is queued.

import { closest } from "./dom.js";

const BUTTONS = { undo: ".st-key-undo button", redo: ".st-key-redo button" };
const PRESS_TIMEOUT_MS = 8000; // ms after which a press is assumed to have changed nothing
const shownStep = () => document.querySelector(".hv-steps")?.dataset.steps ?? "";

const queued = [];
/** @type {{ steps: string, at: number } | null} */
let pressed = null;

function isBusy() {
  return pressed !== null && pressed.steps === shownStep() && performance.now() - pressed.at < PRESS_TIMEOUT_MS;
}

/** Press the undo or redo button, like a click. @param {string} name */
export function pressStep(name) {
  if (isBusy()) queuePress(name);
  else document.querySelector(BUTTONS[name])?.click();
}

let frame = 0;
const observer = new MutationObserver(() => {
  // React may still update the buttons.
  frame ||= requestAnimationFrame(pressQueued);
});

/** @param {string} name */
function queuePress(name) {
  queued.push(name);
  observer.observe(document.body, { subtree: true, childList: true, attributes: true, attributeFilter: ["data-steps"] });
}

function pressQueued() {
  frame = 0;
  while (queued.length && !isBusy()) {
    const button = document.querySelector(BUTTONS[queued.shift()]);
    // The step does not exist any more.
    if (!button || button.disabled) queued.length = 0;
    else button.click();
  }
  if (!queued.length) observer.disconnect();
}

/** Queue each press until the one before is done. */
export function guardUndoRedo() {
  document.body.addEventListener("click", (event) => {
    const name = Object.keys(BUTTONS).find((key) => closest(event, BUTTONS[key]));
    if (!name) return;
    if (isBusy()) {
      event.stopPropagation();
      event.preventDefault();
      queuePress(name);
    } else pressed = { steps: shownStep(), at: performance.now() };
  }, { capture: true });
}
