// Light or dark, as the page is now. A change is drawn at once; the server is not asked.

const PATIENCE = 1500; // ms for Streamlit to follow the system

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

/** Whether the page takes the theme of the system: nobody has chosen another in its menu. */
function follows() {
  if (notebook() || !document.querySelector(".stApp")) return false;
  try {
    return !Object.keys(localStorage).some((key) => key.startsWith("stActiveTheme") && !/system/i.test(localStorage[key]));
  } catch {
    return false;
  }
}

/** Be told of a change; returns how to stop. */
export function watchScheme(told) {
  let lasting = 0;
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
  // Of the root only what notebooks say of their theme: the panel and the legend change others often.
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["theme"] });
  const media = matchMedia("(prefers-color-scheme: dark)");
  const later = () => {
    const next = media.matches ? "dark" : "light";
    if (next !== now && follows()) {
      // All that is ours changes at once; Streamlit says the same once it has drawn its own.
      page().style.colorScheme = next;
      look();
      clearTimeout(lasting);
      lasting = setTimeout(() => {
        page().style.removeProperty("color-scheme");
        look();
      }, PATIENCE);
    } else requestAnimationFrame(look);
  };
  media.addEventListener("change", later);
  return () => {
    clearTimeout(lasting);
    observer.disconnect();
    media.removeEventListener("change", later);
  };
}
