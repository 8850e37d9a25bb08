// Statements that show, on a click or with Enter, what they were computed from. Pages mark them with
// data-hv-show, the map calls showEvidence.

import { closest } from "./dom.js";
import { send } from "./page_change.js";

/** @import { Component } from "./messages.js" */

const STATEMENT = "[data-hv-show]";
const KEYS = ["Enter", " "];

/** @type {Component<object> | null} */
let listener = null;

/** Ask the server for the evidence of a key. @param {string} key */
export function showEvidence(key) {
  send(() => listener?.setTriggerValue("show", key));
}

/** @param {MouseEvent | KeyboardEvent} event */
function open(event) {
  const statement = closest(event, STATEMENT);
  if (!statement) return;
  // A statement may stand within a button or a list that reacts as well.
  event.preventDefault();
  event.stopPropagation();
  showEvidence(statement.dataset.hvShow ?? "");
}

/** @param {KeyboardEvent} event */
const onKey = (event) => KEYS.includes(event.key) && !event.ctrlKey && !event.metaKey && open(event);

export function mount(_root, component) {
  listener = component;
  document.addEventListener("click", open, true);
  document.addEventListener("keydown", onKey, true);
  return () => {
    document.removeEventListener("click", open, true);
    document.removeEventListener("keydown", onKey, true);
    if (listener === component) listener = null;
  };
}
