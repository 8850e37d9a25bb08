// Switches in the menu of the toolbar. A new one is an entry here, its icon in dom.js, and a module that
// draws by `scene.switches`.

import { send } from "./page_change.js";

/** @import { HetMap } from "./map.js" */

/**
 * @typedef {object} Switch
 * @property {string} label
 * @property {string} icon
 * @property {[on: string, off: string]} announcements texts for screen readers
 * @property {boolean} [isStored] whether the project keeps it
 * @property {(map: HetMap) => void} [toggle] turns it on or off, in place of `scene.switches`
 * @property {(map: HetMap) => Promise<void>} [load] loads what it shows
 * @property {(map: HetMap) => boolean} [isOffered] always without it
 * @property {(map: HetMap) => boolean} [isOn] by `scene.switches` without it
 */

/** @type {Record<string, Switch>} */
export const SWITCHES = {
  terrain: {
    label: "Show terrain",
    icon: "terrain",
    announcements: ["The terrain is shown", "The terrain is hidden"],
    isStored: true,
  },
  charts: {
    label: "Charts",
    icon: "charts",
    announcements: ["The charts are shown", "The charts are hidden"],
    toggle: (map) => map.dock.toggle(),
    isOffered: (map) => Boolean(map.scene.data.charts),
    isOn: (map) => map.dock.isOpen,
  },
  share: {
    label: "Show my selection to others",
    icon: "people",
    announcements: ["Others see your selection", "Others do not see your selection"],
    toggle: (map) => map.sharedSelections.toggle(),
    isOffered: (map) => map.sharedSelections.isOffered,
    isOn: (map) => map.sharedSelections.isSharing,
  },
  trust: {
    label: "Mark unreliable areas",
    icon: "waves",
    announcements: ["Unreliable areas are marked", "Unreliable areas are not marked"],
    load: (map) => map.trust.load(),
    isOffered: (map) => !map.scene.isGeography,
  },
  spread: {
    label: "Fade unstable positions",
    icon: "fade",
    announcements: ["Unstable positions are faded", "Unstable positions are not faded"],
    load: (map) => map.spread.load(),
    isOffered: (map) => Boolean(map.scene.data.spread),
    isOn: (map) => map.spread.isOn,
  },
};

/** Whether a switch is on. @param {HetMap} map @param {string} name */
export function isOn(map, name) {
  return SWITCHES[name].isOn?.(map) ?? Boolean(map.scene.switches[name]);
}

/** Turn a switch on or off. @param {HetMap} map @param {string} name */
export async function toggleSwitch(map, name) {
  const { switches } = map.scene;
  const { announcements, isStored, toggle, load } = SWITCHES[name];
  if (toggle) toggle(map);
  else switches[name] = !isOn(map, name);
  if (isStored) send(() => map.component.setStateValue(name, switches[name]));
  map.toolbar.update();
  map.announce(announcements[isOn(map, name) ? 0 : 1]);
  await load?.(map);
  map.requestDraw({ paint: true, place: true });
}
