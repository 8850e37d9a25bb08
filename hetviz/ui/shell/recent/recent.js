// The visitor's projects, kept by this browser alone (localStorage) and never sent anywhere.
const STORE = "hetviz-projects";
const MOST = 40;
const ID = /^[A-Za-z0-9_-]{22}$/;

function read() {
  try {
    const kept = JSON.parse(localStorage.getItem(STORE) || "[]");
    return Array.isArray(kept)
      ? kept.filter((one) => one && ID.test(one.id) && typeof one.title === "string")
      : [];
  } catch {
    return [];
  }
}

function write(projects) {
  try {
    localStorage.setItem(STORE, JSON.stringify(projects.slice(0, MOST)));
  } catch {
    // Private windows may refuse; the address of the page still opens the project.
  }
}

function remember(here) {
  const others = read().filter((one) => one.id !== here.id);
  write([{ id: here.id, title: here.title, seen: Date.now() }, ...others]);
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

// What was taken off, where it stood, and whether its files are about to be deleted.
let off = null;

function button(words, label, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = words;
  made.setAttribute("aria-label", label);
  made.addEventListener("click", act);
  return made;
}

function entry(one, here, redraw) {
  const line = document.createElement("li");
  const name = document.createElement(one.id === here ? "b" : "a");
  if (one.id !== here) {
    name.href = address(one.id);
    name.target = "_self";
  }
  name.className = "name";
  name.textContent = one.title;
  name.title = one.title;
  const when = document.createElement("span");
  when.textContent = one.id === here ? "open now" : day(one.seen);
  const gone = button("×", `Take ${one.title} off this list`, () => {
    const projects = read();
    off = { one, at: projects.findIndex((other) => other.id === one.id), sure: false };
    write(projects.filter((other) => other.id !== one.id));
    redraw("Put back");
  });
  gone.className = "off";
  gone.title = "Take off this list; it can be put back, or its files deleted";
  line.append(name, when, gone);
  return line;
}

function taken(redraw, tell) {
  const { one, sure } = off;
  const line = document.createElement("li");
  line.className = "taken";
  line.setAttribute("role", "status");
  const words = document.createElement("span");
  words.textContent = sure
    ? `Delete “${one.title}” for good, with its data and maps?`
    : `“${one.title}” is off this list; its files stay.`;
  const put = button(sure ? "Keep" : "Put back", `Put ${one.title} back on this list`, () => {
    const projects = read();
    projects.splice(off.at, 0, one);
    write(projects);
    off = null;
    redraw();
  });
  const files = button(
    sure ? "Delete for good" : "Delete its files",
    sure ? `Delete ${one.title} for good` : `Delete the files of ${one.title}`,
    () => {
      if (sure) {
        tell("gone", one.id);
        off = null;
      } else {
        off.sure = true;
      }
      redraw("Keep");
    },
  );
  line.append(words, put, files);
  return line;
}

// The address named no project, as with /map typed by hand: the page gets the one open last.
function named(here, tell) {
  const last = read()[0];
  if (!last || last.id === here.id) return false;
  tell("last", last.id);
  return true;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const moves = data.asks && named(data, setTriggerValue);
  // What was taken off and is open stays off until it can be put back no more.
  const away = data.show && off && off.one.id === data.id;
  if (!moves && !away && data.record && ID.test(data.id)) remember(data);
  const list = parentElement.querySelector(".hv-projects");
  const empty = parentElement.querySelector(".hv-none");
  const draw = (focused) => {
    const projects = data.show ? read() : [];
    const lines = projects.map((one) => entry(one, data.id, draw));
    if (off && data.show) lines.splice(off.at, 0, taken(draw, setTriggerValue));
    list.replaceChildren(...lines);
    empty.hidden = !data.show || lines.length > 0;
    // What was pressed is gone; whoever works by keys goes on beside it.
    const next = [...list.querySelectorAll(".taken button")];
    next.find((one) => one.textContent === focused)?.focus();
  };
  draw();
}
