// What the map shows: one typed object that all parts of the map share.

import { View } from "./view.js";

/** @import { MapSpec } from "./messages.js" */

/**
 * Row: number of an item over all datasets. Flags: one byte per row.
 *
 * @typedef {{ from: Float32Array, to: Float32Array, begun: number, ms: number, steady: boolean, share: number,
 *   seen?: number }} Motion points on their way to a new layout
 * @typedef {{ cx: number, cy: number, s: number, k: number }} Place centre, scale and stretch of a camera
 * @typedef {{ from: Place, to: Place, begun: number, ms: number }} Flight camera on its way
 * @typedef {[from: number, to: number, weight: number, kind: string]} Link
 */

export class Scene {
  constructor() {
    // From Python.
    /** @type {MapSpec} Description of the map; null before the first one has arrived. */
    this.data = /** @type {any} */ (null);
    /** Number of rows. */
    this.n = 0;
    /** @type {Int32Array | number[]} Rows by their claim to a text, the first ones first. */
    this.order = [];
    /** @type {Uint8Array | null} Flags of rows that pass the filters; null without filters. */
    this.mask = null;
    /** @type {Float32Array} Final positions, two numbers per row, NaN for none. */
    this.geometry = new Float32Array(0);

    // Items.
    /** @type {Float32Array} Positions on the screen now, in units of the map. */
    this.pos = new Float32Array(0);
    /** @type {Uint8Array} Flags of visible rows. */
    this.isShown = new Uint8Array(0);
    /** Number of visible rows. */
    this.visible = 0;
    /** @type {string[]} Names of hidden datasets. */
    this.hidden = [];
    /** @type {Uint8Array | null} Trust of each row, 0 to 200, above if unknown. */
    this.trust = null;
    /** @type {Uint8Array | null} Flags of items with an unstable position; null if they are not faded. */
    this.unstable = null;

    // Colours.
    /** @type {"light" | "dark"} */
    this.scheme = "light";
    /** @type {Record<string, any>} Colours of the scheme by name. */
    this.tokens = {};
    /** @type {Float32Array | Int8Array | null} Numbers or codes that give the colours. */
    this.values = null;
    this.pale = null; // flags of items with the colour of what they link to
    /** @type {Uint8Array} Slot of each row in the palette. */
    this.slot = new Uint8Array(0);
    /** @type {string[]} */
    this.palette = ["#999999"];
    /** Font family of texts. */
    this.family = "";

    // Selection.
    /** @type {Uint8Array} Flags of selected rows. */
    this.picked = new Uint8Array(0);
    /** Number of selected rows. */
    this.count = 0;
    /** Version of the selection; the newer one of browser and Python wins. */
    this.version = -1;
    /** @type {Link[]} Strongest links of the selection. */
    this.links = [];
    /** Number of all links of the selection. */
    this.linksTotal = 0;
    /** Row under the pointer, or -1. */
    this.hovered = -1;
    /** @type {{ row: number, links: Link[] } | null} Links of the hovered row. */
    this.hovering = null;
    /** @type {{ row: number, begun: number, ms: number } | null} Item that a finger rests on. */
    this.held = null;
    /** Row of the keyboard cursor, or -1. */
    this.cursor = -1;

    // Camera and movement.
    this.view = new View();
    /** @type {Flight | null} */
    this.flight = null;
    /** @type {Motion | null} */
    this.motion = null;
    /** Whether points move or a job may move them. */
    this.moving = false;
    /** @type {{ rows: number[], born: number, from: Float32Array } | null} Old positions that fade. */
    this.ghosts = null;
    /** Time until which points stand still for the user. */
    this.pausedUntil = 0;
    this.pointerDown = false;
    /** Whether items stand at their places on the earth. */
    this.isGeography = false;

    // Tools.
    /** @type {"move" | "lasso" | "box" | "drag"} */
    this.tool = "move";
    /** @type {Record<string, boolean>} Switches of the toolbar (see switches.js). */
    this.switches = {};
    /** @type {[number, number][] | null} Line of a lasso or box, in units of the map. */
    this.sketch = null;

    // Page.
    /** @type {number[][]} Boxes of the cards over the map, in pixels. */
    this.covered = [];
    /** Whether the page shows the map; undefined before the first description. */
    this.isOnPage = /** @type {boolean | undefined} */ (undefined);
    this.isClosed = false;
  }

  /** Whether a saved view is presented. */
  get isPresenting() { return typeof this.data?.story?.at === "number"; }

  /**
   * Position of a row on the screen, in pixels of the map.
   * @param {number} row
   * @returns {[x: number, y: number]}
   */
  pixel(row) { return [this.view.x(this.pos[2 * row]), this.view.y(this.pos[2 * row + 1])]; }

  /** Dataset of a row. @param {number} row */
  datasetOf(row) { return this.data.datasets.find((d) => row >= d.start && row < d.stop); }
}
