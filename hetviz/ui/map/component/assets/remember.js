// Selection, tool and camera of a map that leaves the page, by the name of the map.

import { memory } from "./store.js";

export function remember(map) {
  const { data, picked, count, version, tool, view, n } = map;
  Object.assign(memory(data.session, data.name), {
    picked, count, version, tool, n, fingerprint: data.fingerprint, geometry: data.geometry.id,
    range: view.range, zoomed: view.zoomed, k: view.k,
  });
}

/** Remembered state of the map that `data` describes: of the open map, or of an earlier mount. */
export function remembered(map, data) {
  if (map.data) return { version: map.data.n === data.n ? map.version : -1 };
  const stored = memory(data.session, data.name);
  return stored.n === data.n && stored.fingerprint === data.fingerprint ? stored : { version: -1 };
}
