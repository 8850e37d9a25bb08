// Linked maps that show the same items on one page: shared selection, hover and camera.
//
// Python is notified only by the map on which the selection was made. The other maps copy it with its
// version, so the response of Python changes nothing in them.

import { remember } from "./remember.js";

/** @import { HetMap } from "./map.js" */

const groups = new Map(); // name -> {maps, camera}

/** Whether two maps have the same coordinates, so that a camera means the same on both. @param {HetMap} a @param {HetMap} b */
const sameFrame = (a, b) => JSON.stringify(a.scene.data?.frame) === JSON.stringify(b.scene.data?.frame);

const same = (a, b) => a && b && ["cx", "cy", "s", "k"].every((key) => a[key] === b[key]);

export class LinkedMaps {
  /** @param {HetMap} map */
  constructor(map) {
    this.map = map;
    this.scene = map.scene;
    this.name = null;
  }

  /** Join the group of that name; without a name, leave it. @param {string | undefined} name */
  joinGroup(name) {
    this.map.root.toggleAttribute("data-together", Boolean(name));
    if (name === this.name) return;
    this.leave();
    if (!name) return;
    this.name = name;
    if (!groups.has(name)) groups.set(name, { maps: new Set(), camera: null });
    const group = groups.get(name);
    group.maps.add(this.map);
    // A map that joins later gets the camera of the others.
    const other = this.others.find((map) => sameFrame(map, this.map));
    if (other) this.setCamera(other.scene.view.at(), other.scene.view.zoomed);
  }

  get others() {
    const { map, scene } = this;
    const group = groups.get(this.name);
    return group ? [...group.maps].filter((other) => other !== map && other.scene.n === scene.n) : [];
  }

  onSelect() {
    const { picked, count, version } = this.scene;
    for (const other of this.others) {
      Object.assign(other.scene, { picked, count, version });
      other.selection.changed();
      remember(other.scene);
      other.requestDraw({ paint: true, place: true });
    }
  }

  /** @param {number} row */
  onHover(row) {
    for (const other of this.others) {
      other.scene.hovered = row;
      other.requestDraw();
    }
  }

  /** Copy each camera move to the other maps of the group. */
  onMove() {
    const { scene } = this;
    const group = groups.get(this.name);
    const camera = scene.view.at();
    if (!group || same(camera, group.camera)) return;
    group.camera = camera;
    for (const other of this.others) {
      if (sameFrame(other, this.map)) other.linkedMaps.setCamera(camera, scene.view.zoomed);
    }
  }

  /** @param {boolean} zoomed */
  setCamera(camera, zoomed) {
    const { map, scene } = this;
    scene.flight = null;
    scene.view.go(camera);
    scene.view.zoomed = zoomed;
    map.requestDraw({ view: true });
  }

  leave() {
    const group = groups.get(this.name);
    group?.maps.delete(this.map);
    if (group && !group.maps.size) groups.delete(this.name);
    this.name = null;
  }
}
