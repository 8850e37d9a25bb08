// A click on a link to another page counts, whatever else asks the server for something.
//
// Streamlit puts requests that wait together and goes on with the page of the last of them. A
// selection told just after the click would keep the visitor where they are, or take them back, so
// what is to be told waits until they have arrived. Where something else came between, the link is
// clicked once more.

const [NOTHING_MS, REST_MS, TRIES] = [1500, 300, 3]; // nothing begins for so long; it rests so long
const PAGE_LINK = 'a[data-testid="stPageLink-NavLink"]';

let wanted = null;
let timer = 0;
const held = [];

const nameOf = (path) => path.split("/").pop();
const here = () => nameOf(location.pathname) === wanted.name;
const rests = (app) => app.dataset.testScriptState === "notRunning";

export function watchJourneys() {
  const app = document.querySelector('[data-testid="stApp"]');
  if (!app || window.hetviz.watchesJourneys) return;
  window.hetviz.watchesJourneys = true;
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.(PAGE_LINK);
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const [name] = (link.getAttribute("href") ?? "").split("?");
    if (wanted?.link !== link) wanted = { link, name: nameOf(name), tries: 0 };
    wait(app, NOTHING_MS);
  }, true);
  window.addEventListener("popstate", end);
  new MutationObserver(() => {
    if (!wanted) return;
    if (here()) release();
    wait(app, REST_MS);
  }).observe(app, { attributes: true, attributeFilter: ["data-test-script-state"] });
}

/** Tell the server something: at once, or where the visitor is on their way, once they are there. */
export function tell(act) {
  if (wanted && !here()) held.push(act);
  else act();
}

function wait(app, ms) {
  clearTimeout(timer);
  timer = setTimeout(() => {
    if (!wanted || !rests(app)) return;
    if (here() || wanted.tries >= TRIES || !wanted.link.isConnected) return end();
    wanted.tries += 1;
    wanted.link.click();
  }, ms);
}

function end() {
  wanted = null;
  release();
}

function release() {
  for (const act of held.splice(0)) act();
}
