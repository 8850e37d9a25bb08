// File drop anywhere in the window: while files are dragged over it, the drop zone fills the window.

let depth = 0;

const hasFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
const mark = (over) => document.documentElement.toggleAttribute("data-hv-files", over);

/** Streamlit calls its drop zone, which has a name and can have the focus, a presentation. */
function groupDropZones() {
  const zones = document.querySelectorAll('[data-testid="stFileUploaderDropzone"][role="presentation"]');
  for (const zone of zones) zone.setAttribute("role", "group");
}

export function watchFileDrops() {
  if (window.hetviz.watchesFileDrops) return;
  window.hetviz.watchesFileDrops = true;
  groupDropZones();
  new MutationObserver(groupDropZones).observe(document.body, { childList: true, subtree: true });
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
  // After the handlers of the drop zone.
  for (const name of ["drop", "dragend"]) document.addEventListener(name, () => setTimeout(end), true);
}

function end() {
  depth = 0;
  mark(false);
}
