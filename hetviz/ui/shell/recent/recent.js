// The visitor's projects, kept by this browser alone (localStorage) and never sent anywhere.
const STORE = "hetviz-projects";
// Set when the first project of own files was made, or its guide was skipped.
const GUIDED = "hetviz-guided";
// The name under which the visitor's statements are recorded.
const NAME = "hetviz-name";
const MAX_PROJECTS = 40;
const MAX_TITLE = 80;
const ID = /^[A-Za-z0-9_-]{22}$/;

function read() {
  try {
    const stored = JSON.parse(localStorage.getItem(STORE) || "[]");
    return Array.isArray(stored)
      ? stored.filter((project) => project && ID.test(project.id) && typeof project.title === "string")
      : [];
  } catch {
    return [];
  }
}

function write(projects) {
  try {
    localStorage.setItem(STORE, JSON.stringify(projects.slice(0, MAX_PROJECTS)));
  } catch {
    // Private windows may refuse. The address of the page still opens the project.
  }
}

function remember(here) {
  const others = read().filter((project) => project.id !== here.id);
  write([{ id: here.id, title: here.title, seen: Date.now(), sample: here.sample }, ...others]);
  if (!here.sample) endGuide();
}

function endGuide() {
  try {
    localStorage.setItem(GUIDED, "1");
  } catch {
    // Without storage no project is guided, see `isFirstProject`.
  }
}

// Send the stored name once, or store the one that the visitor has chosen since.
let nameSent = false;

function shareName(name, send) {
  try {
    const stored = localStorage.getItem(NAME);
    if (name !== null) localStorage.setItem(NAME, name);
    else if (stored && !nameSent) send("name", stored);
    nameSent = true;
  } catch {
    // Without storage the name is kept until the page is closed.
  }
}

function isFirstProject() {
  try {
    return !localStorage.getItem(GUIDED) && read().every((project) => project.sample);
  } catch {
    return false;
  }
}

// Tell the server whether the next project is the first of own files, if it assumes otherwise.
function sendFirst(assumed, send) {
  if (assumed.is_over) endGuide();
  const isNew = isFirstProject();
  if (isNew !== assumed.is_new) send("first", isNew);
}

// A title with a number that no other project has, or null if the title is free.
function freeTitle(here) {
  const taken = new Set(read().filter((project) => project.id !== here.id).map((project) => project.title));
  if (!taken.has(here.title)) return null;
  const base = [...here.title.replace(/ \(\d+\)$/, "")];
  for (let number = 2; ; number++) {
    const end = ` (${number})`;
    const title = base.slice(0, MAX_TITLE - end.length).join("") + end;
    if (!taken.has(title)) return title;
  }
}

// The project and title for which another title was sent, so that it is sent once.
let renamed = "";

function sendFreeTitle(here, send) {
  const title = freeTitle(here);
  const asked = `${here.id} ${here.title}`;
  if (!here.renames || title === null || renamed === asked) return;
  renamed = asked;
  send("title", title);
}

function day(seen) {
  const then = new Date(seen);
  if (Number.isNaN(then.getTime())) return "";
  const now = new Date();
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
  const clock = then.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  if (seen >= midnight) return clock;
  if (seen >= midnight - 86400000) return `yesterday, ${clock}`;
  const year = then.getFullYear() === now.getFullYear() ? undefined : "numeric";
  return then.toLocaleDateString([], { day: "numeric", month: "long", year });
}

function address(id) {
  const to = new URL(window.location.href);
  to.search = `?s=${id}`;
  to.hash = "";
  return to.href;
}

// The project removed last, its position, and whether deleting its files waits for confirmation.
/** @type {{ project: any, at: number, confirming: boolean } | null} */
let removed = null;

function button(text, label, act) {
  const element = document.createElement("button");
  element.type = "button";
  element.textContent = text;
  element.setAttribute("aria-label", label);
  element.addEventListener("click", act);
  return element;
}

function projectLine(project, here, redraw) {
  const line = document.createElement("li");
  const link = Object.assign(document.createElement("a"), { href: address(project.id), target: "_self" });
  const name = project.id === here ? document.createElement("b") : link;
  name.className = "name";
  name.textContent = project.title;
  name.title = project.title;
  const when = document.createElement("span");
  when.textContent = project.id === here ? "open now" : day(project.seen);
  const remove = button("×", `Remove ${project.title} from this list`, () => {
    const projects = read();
    removed = { project, at: projects.findIndex((other) => other.id === project.id), confirming: false };
    write(projects.filter((other) => other.id !== project.id));
    redraw("Undo");
  });
  remove.className = "off";
  remove.title = "Remove from this list. You can undo this or delete the files.";
  line.append(name, when, remove);
  return line;
}

function removedLine({ project, at, confirming }, redraw, send) {
  const line = document.createElement("li");
  line.className = "removed";
  line.setAttribute("role", "status");
  const text = document.createElement("span");
  text.textContent = confirming
    ? `Delete “${project.title}” for good, with its data and maps?`
    : `“${project.title}” was removed from this list. Its files are still stored.`;
  const undo = button(confirming ? "Keep" : "Undo", `Put ${project.title} back on this list`, () => {
    const projects = read();
    projects.splice(at, 0, project);
    write(projects);
    removed = null;
    redraw();
  });
  const files = button(
    confirming ? "Delete for good" : "Delete its files",
    confirming ? `Delete ${project.title} for good` : `Delete the files of ${project.title}`,
    () => {
      if (confirming) {
        send("gone", project.id);
        removed = null;
      } else {
        removed = { project, at, confirming: true };
      }
      redraw("Keep");
    },
  );
  line.append(text, undo, files);
  return line;
}

// Whether the project opened last was looked up. Later, it may be that of another tab, which must
// not take over a page in use.
let lookedUp = false;

// Without a project in the address, such as /map typed by hand, send the project opened last.
function sendLast(here, send) {
  if (lookedUp) return false;
  lookedUp = true;
  const last = read()[0];
  if (!last || last.id === here.id) return false;
  send("last", last.id);
  return true;
}

export default function ({ data, parentElement, setTriggerValue }) {
  if (data.elsewhere) {
    location.replace(address(data.elsewhere));
    return;
  }
  if (data.first) {
    sendFirst(data.first, setTriggerValue);
    parentElement.querySelector(".hv-projects").dataset.first = String(data.first.is_new);
    parentElement.querySelector(".hv-none").hidden = true;
    return;
  }
  shareName(data.name, setTriggerValue);
  const moves = data.asks && sendLast(data, setTriggerValue);
  // An open project that was removed stays off the list while this can be undone.
  const isRemoved = data.show && removed && removed.project.id === data.id;
  if (!moves && !isRemoved && data.record && ID.test(data.id)) {
    remember(data);
    sendFreeTitle(data, setTriggerValue);
  }
  const list = parentElement.querySelector(".hv-projects");
  const empty = parentElement.querySelector(".hv-none");
  const draw = (focused) => {
    const projects = data.show ? read() : [];
    const lines = projects.map((project) => projectLine(project, data.id, draw));
    if (removed && data.show) lines.splice(removed.at, 0, removedLine(removed, draw, setTriggerValue));
    list.replaceChildren(...lines);
    empty.hidden = !data.show || lines.length > 0;
    // The pressed button is gone, so move the keyboard focus to the next one.
    const buttons = [...list.querySelectorAll(".removed button")];
    buttons.find((other) => other.textContent === focused)?.focus();
  };
  draw();
}
