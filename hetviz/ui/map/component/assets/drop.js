// Files that are carried over the window may be let go anywhere: the box for them fills the window
// for as long as they are over it.

let inside = 0;

const carries = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
const mark = (over) => document.documentElement.toggleAttribute("data-hv-files", over);

export function watchDrops() {
  if (window.hetviz.watchesDrops) return;
  window.hetviz.watchesDrops = true;
  document.addEventListener("dragenter", (event) => {
    if (!carries(event)) return;
    inside += 1;
    mark(true);
  }, true);
  document.addEventListener("dragleave", (event) => {
    if (!carries(event)) return;
    inside = Math.max(inside - 1, 0);
    if (!inside || event.relatedTarget === null) end();
  }, true);
  // After the box itself has heard of it.
  for (const name of ["drop", "dragend"]) document.addEventListener(name, () => setTimeout(end), true);
}

function end() {
  inside = 0;
  mark(false);
}
