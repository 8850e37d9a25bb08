// Light or dark, as the page is now. A change is drawn at once; the server is not asked.

const page = () => document.querySelector(".stApp") ?? document.body;

/** What a notebook says of its own look: JupyterLab, Visual Studio Code, Colab. */
function notebook() {
  const { jpThemeLight, vscodeThemeKind } = document.body.dataset;
  if (jpThemeLight) return jpThemeLight === "true" ? "light" : "dark";
  if (vscodeThemeKind) return vscodeThemeKind.endsWith("light") ? "light" : "dark";
  return document.documentElement.getAttribute("theme");
}

export function scheme() {
  const told = notebook();
  if (told === "light" || told === "dark") return told;
  const said = getComputedStyle(page()).colorScheme;
  if (said.includes("dark") !== said.includes("light")) return said.includes("dark") ? "dark" : "light";
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/** What Streamlit opens beside the app (menus, help, dialogs) hangs below the root, and is of its theme. */
function tellRoot(now) {
  if (document.querySelector(".stApp")) document.documentElement.style.colorScheme = now;
}

/** Be told of a change; returns how to stop. */
export function watchScheme(told) {
  let now = scheme();
  tellRoot(now);
  const look = () => {
    const next = scheme();
    if (next === now) return;
    now = next;
    tellRoot(next);
    told(next);
  };
  const observer = new MutationObserver(look);
  observer.observe(page(), { attributes: true, attributeFilter: ["class", "style", "data-jp-theme-light", "data-vscode-theme-kind"] });
  observer.observe(document.documentElement, { attributes: true });
  const media = matchMedia("(prefers-color-scheme: dark)");
  const later = () => requestAnimationFrame(look);
  media.addEventListener("change", later);
  return () => {
    observer.disconnect();
    media.removeEventListener("change", later);
  };
}
