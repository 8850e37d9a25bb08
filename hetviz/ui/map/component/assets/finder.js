// A box that leaves only those rows of Help in sight that hold the words written into it.

import { h } from "./dom.js";

export function mount(root, component) {
  if (root.hvFinder) return () => {};
  root.hvFinder = true;
  const told = h("span", { role: "status", class: "hv-sifted" });
  const box = h("input", {
    type: "search", class: "hv-sift", placeholder: "Search help", "aria-label": "Search help",
    autocomplete: "off", spellcheck: "false",
    oninput: () => sift(root.closest(`.st-key-${component.data.within}`), box.value, told),
    // A letter belongs to the box, not to a button that has it for a shortcut.
    onkeydown: (event) => event.key !== "Escape" && event.stopPropagation(),
  });
  root.replaceChildren(box, told);
  return () => {};
}

function sift(place, text, told) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  let found = 0;
  for (const part of place.querySelectorAll(".hv-help")) {
    const title = part.querySelector("h3").textContent.toLowerCase();
    let seen = 0;
    for (const row of part.querySelectorAll(".hv-found-row")) {
      const said = `${title} ${row.textContent.toLowerCase()}`;
      row.hidden = !words.every((word) => said.includes(word));
      seen += row.hidden ? 0 : 1;
    }
    part.hidden = !seen;
    found += seen;
  }
  told.textContent = words.length ? (found ? `${found} found` : "Nothing found") : "";
}
