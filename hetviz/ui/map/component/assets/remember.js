// What outlives a map that leaves the page: selection, tool and camera, by the map's name.

import { memory } from "./store.js";

export function remember(map) {
  const { data, picked, count, version, tool, view, n } = map;
  Object.assign(memory(data.session, data.name), {
    picked, count, version, tool, n, fingerprint: data.fingerprint, geometry: data.geometry.id,
    range: view.range, zoomed: view.zoomed, k: view.k,
  });
}

/** What is known of the map that `data` describes: by the map that is there, or by one before it. */
export function remembered(map, data) {
  if (map.data) return { version: map.data.n === data.n ? map.version : -1 };
  const stored = memory(data.session, data.name);
  return stored.n === data.n && stored.fingerprint === data.fingerprint ? stored : { version: -1 };
}
