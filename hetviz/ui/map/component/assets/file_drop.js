// Files that are carried over the window may be let go anywhere: the box for them fills the window
// for as long as they are over it.

let depth = 0;

const hasFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
const mark = (over) => document.documentElement.toggleAttribute("data-hv-files", over);

export function watchFileDrops() {
  if (window.hetviz.watchesFileDrops) return;
  window.hetviz.watchesFileDrops = true;
  document.addEventListener("dragenter", (event) => {
    if (!hasFiles(event)) return;
    depth += 1;
    mark(true);
  }, true);
  document.addEventListener("dragleave", (event) => {
    if (!hasFiles(event)) return;
    depth = Math.max(depth - 1, 0);
    if (!depth || event.relatedTarget === null) end();
  }, true);
  // After the box itself has heard of it.
  for (const name of ["drop", "dragend"]) document.addEventListener(name, () => setTimeout(end), true);
}

function end() {
  depth = 0;
  mark(false);
}
