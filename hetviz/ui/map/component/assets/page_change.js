// Reliable page changes while messages are sent to the server.
//
// Streamlit merges waiting requests and continues with the page of the last one. A selection sent just
// after a click on a page link would cancel the page change, so messages wait until the new page is
// open. If another message got in between, the link is clicked again.

import { closest } from "./dom.js";

const [START_MS, REST_MS, MAX_TRIES] = [1500, 300, 3]; // ms until the app starts, ms of rest, clicks
const OPEN_MENU = '[data-testid="stPopoverButton"][aria-expanded="true"]';
const PAGE_LINK = 'a[data-testid="stPageLink-NavLink"]';

/** @type {{ link: HTMLElement, name: string, tries: number } | null} */
let target = null;
let timer = 0;
const queued = [];

const nameOf = (path) => path.split("/").pop();
const hasArrived = () => nameOf(location.pathname) === target?.name;
const isIdle = (app) => app.dataset.testScriptState === "notRunning";

export function watchPageChanges() {
  const app = document.querySelector('[data-testid="stApp"]');
  if (!app || window.hetviz.watchesPageChanges) return;
  window.hetviz.watchesPageChanges = true;
  document.addEventListener("click", (event) => {
    const link = closest(event, PAGE_LINK);
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const [name] = (link.getAttribute("href") ?? "").split("?");
    if (target?.link !== link) target = { link, name: nameOf(name), tries: 0 };
    wait(app, START_MS);
  }, true);
  window.addEventListener("popstate", finish);
  new MutationObserver(() => {
    if (!target) return;
    if (hasArrived()) sendQueued();
    wait(app, REST_MS);
  }).observe(app, { attributes: true, attributeFilter: ["data-test-script-state"] });
}

/** Send something to the server, after a page change in progress. */
export function send(action) {
  if (target && !hasArrived()) queued.push(action);
  else action();
}

/** @param {number} ms */
function wait(app, ms) {
  clearTimeout(timer);
  timer = setTimeout(() => {
    if (!target || !isIdle(app)) return;
    if (hasArrived() || target.tries >= MAX_TRIES || !target.link.isConnected) return finish();
    target.tries += 1;
    target.link.click();
  }, ms);
}

function finish() {
  // The menu that held the link would stay open on the new page.
  const menu = target?.link.closest('[data-testid="stPopoverBody"]') && document.querySelector(OPEN_MENU);
  if (menu instanceof HTMLElement) menu.click();
  target = null;
  sendQueued();
}

function sendQueued() {
  for (const action of queued.splice(0)) action();
}
