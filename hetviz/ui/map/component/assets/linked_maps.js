// Maps of one page that show the same items: one selection, one item pointed at, one camera.
//
// Python hears of a selection from the map it was made on only; the others take it over here, with
// its version, so that Python's answer changes nothing in them.

import { remember } from "./remember.js";

const groups = new Map(); // name -> {maps, camera}

const same = (a, b) => a && b && ["cx", "cy", "s", "k"].every((key) => a[key] === b[key]);

export class LinkedMaps {
  constructor(map) {
    this.map = map;
    this.name = null;
  }

  /** Be one of the maps of that name; without a name, be alone. */
  joinGroup(name) {
    this.map.root.toggleAttribute("data-together", Boolean(name));
    if (name === this.name) return;
    this.leave();
    if (!name) return;
    this.name = name;
    if (!groups.has(name)) groups.set(name, { maps: new Set(), camera: null });
    const group = groups.get(name);
    group.maps.add(this.map);
    // One that comes later looks where the others look.
    if (group.camera && group.maps.size > 1) this.setCamera(group.camera, true);
  }

  get others() {
    const { map } = this;
    const group = groups.get(this.name);
    return group ? [...group.maps].filter((other) => other !== map && other.n === map.n) : [];
  }

  onSelect() {
    const { picked, count, version } = this.map;
    for (const other of this.others) {
      Object.assign(other, { picked, count, version });
      other.selection.changed();
      remember(other);
      other.requestDraw({ paint: true, place: true });
    }
  }

  onHover(row) {
    for (const other of this.others) {
      other.hovered = row;
      other.requestDraw();
    }
  }

  /** Called at every move of the camera; the first map to move leads, and the rest stay behind it. */
  onMove() {
    const { map } = this;
    const group = groups.get(this.name);
    const camera = map.view.at();
    if (!group || same(camera, group.camera)) return;
    group.camera = camera;
    for (const other of this.others) other.linkedMaps.setCamera(camera, map.view.zoomed);
  }

  setCamera(camera, zoomed) {
    const { map } = this;
    map.flight = null;
    map.view.go(camera);
    map.view.zoomed = zoomed;
    map.requestDraw({ view: true });
  }

  leave() {
    const group = groups.get(this.name);
    group?.maps.delete(this.map);
    if (group && !group.maps.size) groups.delete(this.name);
    this.name = null;
  }
}
