// Selection, tool and camera of a map that leaves the page, by the name of the map.

import { memory } from "./store.js";

/** @import { Scene } from "./scene.js" */

/** @param {Scene} scene */
export function remember(scene) {
  const { data, picked, count, version, tool, view, n } = scene;
  Object.assign(memory(data.session, data.name ?? ""), {
    picked, count, version, tool, n, fingerprint: data.fingerprint, geometry: scene.isGeography ? null : data.geometry.id,
    range: view.range, zoomed: view.zoomed, k: view.k,
  });
}

/**
 * Remembered state of the map that `data` describes: of the open map, or of an earlier mount.
 * @param {Scene} scene
 */
export function remembered(scene, data) {
  if (scene.data) return { version: scene.data.n === data.n ? scene.version : -1 };
  const stored = memory(data.session, data.name ?? "");
  return stored.n === data.n && stored.fingerprint === data.fingerprint ? stored : { version: -1 };
}
