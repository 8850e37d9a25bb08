// Search box that hides the rows of the help that do not contain the words.

import { h } from "./dom.js";

export function mount(root, component) {
  if (root.hvFinder) return () => {};
  root.hvFinder = true;
  const status = h("span", { role: "status", class: "hv-match-count" });
  const box = h("input", {
    type: "search", class: "hv-help-input", placeholder: "Search help", "aria-label": "Search help",
    autocomplete: "off", spellcheck: "false",
    oninput: () => filterHelp(root.closest(`.st-key-${component.data.within}`), box.value, status),
    // Letters must not trigger shortcuts of buttons.
    onkeydown: (event) => event.key !== "Escape" && event.stopPropagation(),
  });
  root.replaceChildren(box, status);
  return () => {};
}

function filterHelp(container, text, status) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  let nFound = 0;
  for (const part of container.querySelectorAll(".hv-help")) {
    const title = part.querySelector("h3").textContent.toLowerCase();
    let nSeen = 0;
    for (const row of part.querySelectorAll(".hv-help-row")) {
      const content = `${title} ${row.textContent.toLowerCase()}`;
      row.hidden = !words.every((word) => content.includes(word));
      nSeen += row.hidden ? 0 : 1;
    }
    part.hidden = !nSeen;
    nFound += nSeen;
  }
  status.textContent = words.length ? (nFound ? `${nFound} found` : "Nothing found") : "";
}
