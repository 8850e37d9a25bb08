// Undo and Redo, one step a press. The server takes back only what the button named when it was drawn,
// so a press that comes while the page is still at the one before is kept here until it is drawn anew.

const BUTTONS = { undo: ".st-key-undo button", redo: ".st-key-redo button" };
const PATIENCE = 8000; // ms after which a press is taken for one that changed nothing
const drawn = () => document.querySelector(".hv-steps")?.dataset.steps ?? "";

const held = [];
let sent = null;

function busy() {
  return sent !== null && sent.steps === drawn() && performance.now() - sent.at < PATIENCE;
}

/** Press the button of a step as a click does. */
export function pressStep(name) {
  if (busy()) hold(name);
  else document.querySelector(BUTTONS[name])?.click();
}

let looks = 0;
const watch = new MutationObserver(() => {
  // React may still be at the buttons.
  looks ||= requestAnimationFrame(onward);
});

function hold(name) {
  held.push(name);
  watch.observe(document.body, { subtree: true, childList: true, attributes: true, attributeFilter: ["data-steps"] });
}

function onward() {
  looks = 0;
  while (held.length && !busy()) {
    const button = document.querySelector(BUTTONS[held.shift()]);
    // There is no such step any more.
    if (!button || button.disabled) held.length = 0;
    else button.click();
  }
  if (!held.length) watch.disconnect();
}

/** See to it that no press is sent before the one before is done. */
export function keepSteps() {
  document.body.addEventListener("click", (event) => {
    const name = Object.keys(BUTTONS).find((one) => event.target.closest?.(BUTTONS[one]));
    if (!name) return;
    if (busy()) {
      event.stopPropagation();
      event.preventDefault();
      hold(name);
    } else sent = { steps: drawn(), at: performance.now() };
  }, { capture: true });
}
