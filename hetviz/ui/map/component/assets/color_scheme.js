// Light or dark, as the page is now. A change is drawn at once; the server is not asked.

const SYSTEM_THEME_TIMEOUT_MS = 1500; // ms for Streamlit to follow the system

const page = () => document.querySelector(".stApp") ?? document.body;

/** What a notebook says of its own look: JupyterLab, Visual Studio Code, Colab. */
function notebookScheme() {
  const { jpThemeLight, vscodeThemeKind } = document.body.dataset;
  if (jpThemeLight) return jpThemeLight === "true" ? "light" : "dark";
  if (vscodeThemeKind) return vscodeThemeKind.endsWith("light") ? "light" : "dark";
  return document.documentElement.getAttribute("theme");
}

export function scheme() {
  const notebookChoice = notebookScheme();
  if (notebookChoice === "light" || notebookChoice === "dark") return notebookChoice;
  const pageScheme = getComputedStyle(page()).colorScheme;
  if (pageScheme.includes("dark") !== pageScheme.includes("light")) return pageScheme.includes("dark") ? "dark" : "light";
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/** What Streamlit opens beside the app (menus, help, dialogs) hangs below the root, and is of its theme. */
function setRootScheme(current) {
  if (document.querySelector(".stApp")) document.documentElement.style.colorScheme = current;
}

/** Whether the page takes the theme of the system: nobody has chosen another in its menu. */
function followsSystem() {
  if (notebookScheme() || !document.querySelector(".stApp")) return false;
  try {
    return !Object.keys(localStorage).some((key) => key.startsWith("stActiveTheme") && !/system/i.test(localStorage[key]));
  } catch {
    return false;
  }
}

/** Be told of a change; returns how to stop. */
export function watchScheme(onChange) {
  let timer = 0;
  let current = scheme();
  setRootScheme(current);
  const update = () => {
    const next = scheme();
    if (next === current) return;
    current = next;
    setRootScheme(next);
    onChange(next);
  };
  const observer = new MutationObserver(update);
  observer.observe(page(), { attributes: true, attributeFilter: ["class", "style", "data-jp-theme-light", "data-vscode-theme-kind"] });
  // Of the root only what notebooks say of their theme: the panel and the legend change others often.
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["theme"] });
  const media = matchMedia("(prefers-color-scheme: dark)");
  const onSystemChange = () => {
    const next = media.matches ? "dark" : "light";
    if (next !== current && followsSystem()) {
      // All that is ours changes at once; Streamlit says the same once it has drawn its own.
      page().style.colorScheme = next;
      update();
      clearTimeout(timer);
      timer = setTimeout(() => {
        page().style.removeProperty("color-scheme");
        update();
      }, SYSTEM_THEME_TIMEOUT_MS);
    } else requestAnimationFrame(update);
  };
  media.addEventListener("change", onSystemChange);
  return () => {
    clearTimeout(timer);
    observer.disconnect();
    media.removeEventListener("change", onSystemChange);
  };
}
