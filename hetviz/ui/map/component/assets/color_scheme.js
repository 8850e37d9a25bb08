// Light or dark scheme of the page. A change is drawn at once, without the server.

const SYSTEM_THEME_TIMEOUT_MS = 1500; // ms until Streamlit follows the system

const page = () => document.querySelector(".stApp") ?? document.body;

/** The scheme of a notebook: JupyterLab, Visual Studio Code, Colab. */
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

/** Set the scheme of the root, for menus, help and dialogs that Streamlit attaches to it. */
function setRootScheme(current) {
  if (document.querySelector(".stApp")) document.documentElement.style.colorScheme = current;
}

/** Whether the page follows the theme of the system. */
function followsSystem() {
  if (notebookScheme() || !document.querySelector(".stApp")) return false;
  try {
    return !Object.keys(localStorage).some((key) => key.startsWith("stActiveTheme") && !/system/i.test(localStorage[key]));
  } catch {
    return false;
  }
}

/** Watch for changes; returns a function that stops. */
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
  // Only the theme attribute of the root, since panel and legend change others often.
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["theme"] });
  const media = matchMedia("(prefers-color-scheme: dark)");
  const onSystemChange = () => {
    const next = media.matches ? "dark" : "light";
    if (next !== current && followsSystem()) {
      // Our elements change at once, Streamlit follows later.
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
