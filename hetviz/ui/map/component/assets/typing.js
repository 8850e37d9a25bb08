// Keys that belong to what has the focus. Streamlit hears the shortcuts of its buttons on the whole
// document, and leaves out only text fields: arrows in a table or a list would press them as well.
// A notebook's own lists and menus are left as they are.

import { alone } from "./ask.js";

const OWNERS = [
  '[data-testid="stDataFrame"]', "#portal", "[role=dialog]",
  ...["grid", "tablist", "radiogroup", "listbox", "combobox", "menu", "slider"].map((role) => `[role=${role}]`),
].join();

/** Keep plain keys from the document while the focus is where they have a meaning of their own. */
export function keepKeys() {
  if (alone || window.hetviz.keepsKeys) return;
  window.hetviz.keepsKeys = true;
  // Below the document, above everything that React listens on.
  document.body.addEventListener("keydown", (event) => {
    const command = event.ctrlKey || event.metaKey || event.altKey;
    if (!command && event.key !== "Escape" && event.target.closest?.(OWNERS)) event.stopPropagation();
  });
}
