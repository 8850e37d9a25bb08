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
  const gone = document.createElement("button");
  gone.type = "button";
  gone.textContent = "×";
  gone.title = "Take off this list; the project itself stays";
  gone.setAttribute("aria-label", `Take ${one.title} off this list`);
  gone.addEventListener("click", () => {
    write(read().filter((other) => other.id !== one.id));
    redraw();
  });
  line.append(name, when, gone);
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
  if (!moves && data.record && ID.test(data.id)) remember(data);
  const list = parentElement.querySelector(".hv-projects");
  const empty = parentElement.querySelector(".hv-none");
  const draw = () => {
    const projects = data.show ? read() : [];
    list.replaceChildren(...projects.map((one) => entry(one, data.id, draw)));
    empty.hidden = !data.show || projects.length > 0;
  };
  draw();
}
