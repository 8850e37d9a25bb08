// Mouse and touch input on the map.
//
// The line of a lasso is stored in units of the map and tested once, at pointer-up, against the
// positions on the screen. Points do not move while the pointer is down.

import { showEvidence } from "./show_me.js";

/** @import { HetMap } from "./map.js" */
/** @import { Scene } from "./scene.js" */

const REACH_PX = 12;
const TOUCH_REACH_PX = 22;
const DROP_REACH_PX = 8; // an item between others is dropped beside them all
const DRAG_PX = 4;
const TOUCH_DRAG_PX = 10; // a finger that rests moves a little
const HOLD_MS = 500;
const [DOUBLE_TAP_MS, DOUBLE_TAP_PX, TAP_ZOOM] = [300, 30, 2];
const WHEEL_REST_MS = 400;

/** Selection mode of a press. */
export const selectionMode = (event) => (event.altKey ? "subtract"
  : event.shiftKey || event.ctrlKey || event.metaKey ? "add" : "replace");

/**
 * @typedef {object} Drag
 * @property {Scene["tool"] | "carry"} tool
 * @property {number} row
 * @property {number} x
 * @property {number} y
 * @property {number} lastX
 * @property {number} lastY
 * @property {boolean} isMoving
 * @property {string} mode
 * @property {boolean} isTouch
 * @property {boolean} isHeld whether a finger has rested on the item for long
 */

export class PointerInput {
  /** @param {HetMap} map */
  constructor(map) {
    this.map = map;
    this.scene = map.scene;
    /** @type {Map<number, [number, number]>} */
    this.pointers = new Map();
    /** @type {Drag | null} */
    this.drag = null;
    /** @type {{ x: number, y: number, d: number } | null} */
    this.pinch = null;
    /** @type {[number, number] | null} Place of the pointer for the next frame. */
    this.spot = null;
    this.waiting = 0;
    this.isTouch = false;
    /** @type {{ x: number, y: number, at: number } | null} The last tap, which a second one makes a double tap. */
    this.tap = null;
    const { stage } = map;
    this.stop = new AbortController();
    const on = (target, name, handler, options = {}) => target.addEventListener(
      name, (event) => this.scene.data && handler.call(this, event), { signal: this.stop.signal, ...options },
    );
    on(stage, "pointerdown", this.down);
    on(stage, "pointermove", this.moved);
    on(stage, "pointerup", this.up);
    on(stage, "pointercancel", this.cancel);
    on(stage, "pointerleave", () => this.setHovered(-1));
    on(stage, "wheel", this.wheel, { passive: false });
    on(stage, "dblclick", this.doubleClick);
    // A finger that is lifted would also click what has come under it, such as the panel.
    on(stage, "touchend", (event) => event.cancelable && !event.target.closest("button, a, .hv-keys") && event.preventDefault(), { passive: false });
    // A finger that rests selects; the menu of the browser would end that.
    on(stage, "contextmenu", (event) => event.pointerType === "touch" && event.preventDefault());
    stage.dataset.tool = this.scene.tool;
  }

  at(event) {
    const box = this.map.stage.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  down(event) {
    const { map, scene } = this;
    if (event.target.closest(".hv-keys")) return;
    if (scene.data.mode !== "work" || event.button > 1) return;
    this.pressed = true;
    map.stage.focus({ preventScroll: true });
    this.pressed = false;
    map.stage.setPointerCapture(event.pointerId);
    const [x, y] = this.at(event);
    this.pointers.set(event.pointerId, [x, y]);
    scene.pointerDown = true;
    scene.flight = null;
    this.setHovered(-1);
    this.isTouch = event.pointerType === "touch";
    clearTimeout(this.clearTimer);
    if (this.pointers.size >= 2) {
      this.drag = null;
      this.endHold();
      scene.sketch = null;
      this.pinch = this.pinchState();
      return;
    }
    const quick = scene.tool === "move" && event.shiftKey && event.button === 0;
    const named = scene.tool === "drag" ? "move" : scene.tool;
    const tool = event.button === 1 ? "move" : quick ? "lasso" : named;
    /** @type {Drag} */
    const drag = { tool, row: -1, x, y, lastX: x, lastY: y, isMoving: false, mode: selectionMode(event), isTouch: this.isTouch, isHeld: false };
    this.drag = drag;
    if (drag.isTouch) this.startHold(drag);
    // The answer comes before the pointer has moved far enough for a drag.
    if (this.isItemDrag(event)) {
      this.rowAt(x, y, REACH_PX, (row) => row >= 0 && !drag.isMoving && Object.assign(drag, { tool: "carry", row }));
    }
    if (event.button === 1) event.preventDefault();
  }

  /** A finger that rests on an item selects it when it is lifted, and drags it when it moves. @param {Drag} drag */
  startHold(drag) {
    const { map, scene } = this;
    this.rowAt(drag.x, drag.y, TOUCH_REACH_PX, (row) => {
      if (row < 0 || this.drag !== drag || drag.isMoving) return;
      scene.held = { row, begun: performance.now(), ms: HOLD_MS };
      map.requestDraw();
      this.holdTimer = setTimeout(() => {
        Object.assign(drag, { tool: scene.isGeography ? drag.tool : "carry", row, isHeld: true });
        navigator.vibrate?.(12);
        map.requestDraw();
      }, HOLD_MS);
    });
  }

  endHold() {
    clearTimeout(this.holdTimer);
    this.scene.held = null;
  }

  /** Whether a press drags the item under it. */
  isItemDrag(event) {
    const { tool, isGeography } = this.scene;
    return !isGeography && event.button === 0 && (tool === "drag" || (tool === "move" && event.altKey));
  }

  moved(event) {
    const { map, drag, scene } = this;
    const [x, y] = this.at(event);
    if (!this.pointers.has(event.pointerId)) {
      if (event.pointerType !== "touch") this.hover(x, y);
      return;
    }
    this.pointers.set(event.pointerId, [x, y]);
    if (this.pinch) {
      this.onPinch();
      return;
    }
    if (!drag) return;
    if (!drag.isMoving && Math.hypot(x - drag.x, y - drag.y) < (drag.isTouch ? TOUCH_DRAG_PX : DRAG_PX)) return;
    const { view } = scene;
    if (!drag.isMoving) {
      this.endHold();
      drag.isMoving = true;
      map.stage.classList.add("hv-dragging");
      if (drag.tool === "lasso") scene.sketch = [[view.dataX(drag.x), view.dataY(drag.y)]];
    }
    if (drag.tool === "move") {
      view.pan(x - drag.lastX, y - drag.lastY);
      view.zoomed = true;
      map.keys.walk = null;
      map.requestDraw({ view: true });
    } else if (drag.tool === "carry") {
      map.statements.dragged = [drag.row, view.dataX(x), view.dataY(y)];
      this.otherRowAt(drag.row, x, y, (row) => {
        if (!map.statements.dragged || row === scene.hovered) return;
        scene.hovered = row;
        map.tooltip.show(row);
        map.requestDraw();
      });
      map.requestDraw();
    } else if (drag.tool === "lasso") {
      if (Math.hypot(x - drag.lastX, y - drag.lastY) < 2) return;
      scene.sketch?.push([view.dataX(x), view.dataY(y)]);
      map.requestDraw();
    } else {
      const [x0, x1] = [view.dataX(drag.x), view.dataX(x)];
      const [y0, y1] = [view.dataY(drag.y), view.dataY(y)];
      scene.sketch = [[x0, y0], [x1, y0], [x1, y1], [x0, y1]];
      map.requestDraw();
    }
    drag.lastX = x;
    drag.lastY = y;
  }

  up(event) {
    const { map, drag, scene } = this;
    if (!this.pointers.delete(event.pointerId)) return;
    if (this.pinch) {
      if (this.pointers.size === 1) this.continueWithOneFinger();
      else this.pinch = this.pinchState();
      return;
    }
    this.drag = null;
    const polygon = scene.sketch;
    const { dragged } = map.statements;
    this.release();
    if (!drag) return;
    if (drag.isHeld && !drag.isMoving) map.selection.select([drag.row], scene.picked[drag.row] ? "subtract" : "add");
    else if (!drag.isMoving) this.click(event, drag);
    else if (dragged) this.drop(dragged);
    else if (polygon) {
      map.stats.releasedAt = performance.now();
      map.points.inside(polygon, (rows) => !scene.isClosed && map.selection.select(rows, drag.mode));
    }
  }

  /** Drop a dragged item onto another, or onto an empty place. @param {[row: number, x: number, y: number]} dragged */
  drop(dragged) {
    const { map, scene } = this;
    const [row, x, y] = dragged;
    this.otherRowAt(row, scene.view.x(x), scene.view.y(y), (onto) => {
      this.setHovered(-1);
      map.statements.dropItem(...dragged, onto);
    });
  }

  /** Pass the row at a pixel to `callback`, or -1 if it is the dragged one. */
  otherRowAt(dragged, x, y, callback) {
    this.rowAt(x, y, DROP_REACH_PX, (row) => callback(row === dragged ? -1 : row));
  }

  /** After a pinch the finger that stays pans. */
  continueWithOneFinger() {
    const [[x, y]] = [...this.pointers.values()];
    this.pinch = null;
    this.drag = { tool: "move", row: -1, x, y, lastX: x, lastY: y, isMoving: true, mode: "replace", isTouch: true, isHeld: false };
  }

  cancel(event) {
    this.pointers.delete(event.pointerId);
    this.drag = null;
    this.pinch = null;
    this.release();
  }

  release() {
    const { map, scene } = this;
    scene.pointerDown = this.pointers.size > 0;
    scene.sketch = null;
    this.endHold();
    map.statements.dragged = null;
    map.stage.classList.remove("hv-dragging");
    map.requestDraw({ view: true });
  }

  click(event, drag) {
    const { map, scene } = this;
    map.keys.walk = null;
    scene.cursor = -1;
    const touch = drag.isTouch;
    if (touch && this.isSecondTap(event, drag)) {
      map.camera.zoomBy(TAP_ZOOM, drag.x, drag.y);
      return;
    }
    this.rowAt(drag.x, drag.y, touch ? TOUCH_REACH_PX : REACH_PX, (row) => {
      if (row < 0) {
        const region = map.overlay.regionAt(drag.x, drag.y);
        if (region) showEvidence(`region/${region.level}/${region.region}`);
        // A double tap keeps the selection.
        else if (touch) this.clearTimer = setTimeout(() => map.selection.clear(), DOUBLE_TAP_MS);
        else if (drag.mode === "replace") map.selection.clear();
        return;
      }
      // A second click with Shift deselects an item.
      map.selection.select([row], drag.mode === "add" && scene.picked[row] ? "subtract" : drag.mode);
      if (touch) map.tooltip.show(row);
    });
  }

  /** Whether a tap is the second of a double tap. */
  isSecondTap(event, { x, y }) {
    const { tap } = this;
    const isSecond = tap !== null && event.timeStamp - tap.at < DOUBLE_TAP_MS && Math.hypot(x - tap.x, y - tap.y) < DOUBLE_TAP_PX;
    this.tap = isSecond ? null : { x, y, at: event.timeStamp };
    return isSecond;
  }

  /** Pass the row at a pixel to `callback`, or -1. @param {number} x @param {number} y @param {number} reach */
  rowAt(x, y, reach, callback) {
    const { map, scene } = this;
    const labelRow = map.overlay.rowAt(x, y);
    if (labelRow >= 0) callback(labelRow);
    else map.points.pick(x, y, reach, (row) => !scene.isClosed && callback(row));
  }

  /** @param {number} x @param {number} y */
  hover(x, y) {
    this.spot = [x, y];
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      if (this.scene.isClosed || this.scene.pointerDown) return;
      if (!this.spot) return;
      const [px, py] = this.spot;
      const region = this.map.overlay.regionAt(px, py);
      this.map.stage.classList.toggle("hv-on-name", Boolean(region));
      if (region) {
        this.setHovered(-1);
        this.map.tooltip.say(region.account, px, py);
        return;
      }
      this.rowAt(px, py, REACH_PX, (row) => (
        !this.scene.pointerDown && this.spot?.[0] === px && this.spot[1] === py && this.setHovered(row)));
    });
  }

  /** @param {number} row */
  setHovered(row) {
    const { map, scene } = this;
    if (row < 0) {
      this.spot = null;
      cancelAnimationFrame(this.waiting);
      this.waiting = 0;
    }
    map.tooltip.show(row);
    if (row === scene.hovered) return;
    scene.hovered = row;
    map.linkedMaps.onHover(row);
    map.stage.classList.toggle("hv-on-item", row >= 0);
    map.selection.loadHoverLinks(row);
    map.requestDraw();
  }

  pinchState() {
    const [[ax, ay], [bx, by]] = [...this.pointers.values()];
    return { x: (ax + bx) / 2, y: (ay + by) / 2, d: Math.max(Math.hypot(ax - bx, ay - by), 10) };
  }

  onPinch() {
    const { map, scene, pinch } = this;
    if (!pinch) return;
    const next = this.pinchState();
    scene.view.pan(next.x - pinch.x, next.y - pinch.y);
    scene.view.zoom(map.camera.limitZoom(next.d / pinch.d), next.x, next.y);
    scene.view.zoomed = true;
    this.pinch = next;
    map.requestDraw({ view: true });
  }

  wheel(event) {
    const { map, scene } = this;
    if (scene.data.mode !== "work") return;
    // In a row of maps the wheel scrolls the page.
    if (scene.data.linked_group && !event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
    const delta = Math.max(-300, Math.min(300, event.deltaY * lines));
    scene.flight = null;
    scene.pausedUntil = performance.now() + WHEEL_REST_MS;
    scene.view.zoom(map.camera.limitZoom(Math.exp(-delta * (event.ctrlKey ? 0.008 : 0.0018))), ...this.at(event));
    scene.view.zoomed = true;
    map.tooltip.show(-1);
    map.requestDraw({ view: true });
  }

  doubleClick(event) {
    const { map, scene } = this;
    if (scene.data.mode !== "work" || this.isTouch || event.target.closest(".hv-keys")) return;
    const [x, y] = this.at(event);
    this.rowAt(x, y, REACH_PX, (row) => row < 0 && map.camera.fit());
  }

  /** Cancel the drag; returns whether there was one. */
  cancelDrag() {
    if (!this.drag) return false;
    this.drag = null;
    this.release();
    return true;
  }

  close() {
    this.stop.abort();
    clearTimeout(this.clearTimer);
    this.endHold();
    cancelAnimationFrame(this.waiting);
  }
}
