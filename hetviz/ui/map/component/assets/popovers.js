// Popovers of Streamlit that menus of the map open. Their own buttons are hidden.

import { set } from "./dom.js";

const [RETRY_MS, MAX_TRIES] = [100, 100];

/**
 * Open a popover and move the focus into it; when it closes, the focus returns to its opener.
 * @param {string} key key of the popover or of its container
 * @param {string} content key of what it contains
 * @param {HTMLElement} opener
 * @param {(content: HTMLElement) => void} fill
 */
export function openPopover(key, content, opener, fill = () => {}, tries = MAX_TRIES) {
  const button = document.querySelector(`.st-key-${key} [data-testid="stPopoverButton"]`);
  // The page draws it after the map.
  if (!(button instanceof HTMLElement)) {
    if (tries) setTimeout(() => openPopover(key, content, opener, fill, tries - 1), RETRY_MS);
    return;
  }
  // After the click on the opener, which would count as one outside the popover.
  setTimeout(() => {
    if (button.getAttribute("aria-expanded") !== "true") button.click();
    showContent(content, fill);
  });
  // The button of a menu shows the state of its menu.
  const mark = (open) => opener.ariaHasPopup && set(opener, { "aria-expanded": String(open) });
  mark(true);
  const observer = new MutationObserver(() => {
    if (button.getAttribute("aria-expanded") === "true") return;
    observer.disconnect();
    mark(false);
    const { activeElement } = document;
    if (activeElement === document.body || activeElement?.closest(`.st-key-${content}`)) opener.focus({ preventScroll: true });
  });
  observer.observe(button, { attributes: true, attributeFilter: ["aria-expanded"] });
}

/** @param {string} key */
export function closePopover(key) {
  document.querySelector(`.st-key-${key} [data-testid="stPopoverButton"][aria-expanded="true"]`)?.click();
}

/** @param {string} key @param {(content: HTMLElement) => void} fill */
function showContent(key, fill, tries = MAX_TRIES) {
  const content = document.querySelector(`.st-key-${key}`);
  if (content instanceof HTMLElement) {
    fill(content);
    // Not a field, which would open the keyboard of a phone.
    content.tabIndex = -1;
    content.focus({ preventScroll: true });
  } else if (tries) setTimeout(() => showContent(key, fill, tries - 1), RETRY_MS);
}
