// Menu next to a mark of the legend that changes the colour of a category: the colours of the palette,
// any other colour, or the usual one.

import { contrast } from "./colors.js";
import { h, set } from "./dom.js";
import { RovingFocus } from "./roving_focus.js";

/** @import { HetMap } from "./map.js" */
/** @import { ColourSpec } from "./messages.js" */

const [MARGIN, GAP] = [8, 6]; // px to the edge of the window and to the mark
const MIN_CONTRAST = 3; // WCAG: parts of graphics against their background

export class ColorChooser {
  /**
   * @param {HetMap} map
   * @param {{ onPreview: (code: number, colour: string) => void, onChoose: (code: number, colour: string) => void }} handlers
   */
  constructor(map, { onPreview, onChoose }) {
    this.map = map;
    this.onChoose = onChoose;
    /** Category whose colour is chosen. */
    this.code = 0;
    /** @type {HTMLElement | null} */
    this.row = null;
    this.picker = h("input", {
      type: "color", class: "hv-picker", tabindex: -1,
      oninput: () => onPreview(this.code, this.picker.value), onchange: () => this.choose(this.picker.value),
    });
    this.choices = h("div", { class: "hv-choices" });
    this.element = h("div", {
      class: "hv-chooser", popover: "auto", role: "dialog",
      // Keys of the map have no meaning here.
      onkeydown: (event) => event.stopPropagation(),
    },
    this.choices,
    h("label", { class: "hv-other-colour" }, "Other colour", this.picker),
    h("button", { type: "button", onclick: () => this.choose("") }, "Usual colour"));
    this.rovingFocus = new RovingFocus(this.choices, "button");
  }

  /** Open it for a category. @param {number} code @param {string} name @param {HTMLElement} row */
  open(code, name, row) {
    const { colour } = this.map.scene.data;
    const { scheme } = this.map.scene;
    Object.assign(this, { code, row });
    const current = colour.palette[scheme][code];
    set(this.element, { "aria-label": `Colour of ${name}` });
    set(this.picker, { "aria-label": `Other colour of ${name}` });
    this.picker.value = current;
    this.choices.replaceChildren(...colour.choices[scheme].map((choice, k) => {
      const owner = colour.palette[scheme].indexOf(choice);
      const used = owner >= 0 ? `, the colour of ${colour.categories[owner]}` : "";
      const button = h("button", {
        type: "button", title: `Colour ${k + 1}${used}`, "aria-label": `Colour ${k + 1}${used}`, "aria-pressed": String(choice === current),
        onclick: () => this.choose(choice),
      });
      button.style.background = choice;
      return button;
    }));
    this.element.showPopover();
    this.place(row);
    const buttons = this.rovingFocus.buttons;
    const start = buttons.find((button) => button.getAttribute("aria-pressed") === "true") ?? buttons[0];
    this.rovingFocus.setTabStop(start);
    start.focus();
  }

  /** Stand below the row, or above it where the window ends. @param {HTMLElement} row */
  place(row) {
    const at = row.getBoundingClientRect();
    const { offsetWidth, offsetHeight, style } = this.element;
    const below = at.bottom + GAP;
    const top = below + offsetHeight + MARGIN <= innerHeight ? below : Math.max(at.top - GAP - offsetHeight, MARGIN);
    style.left = `${Math.min(at.left, innerWidth - offsetWidth - MARGIN)}px`;
    style.top = `${top}px`;
  }

  /** @param {string} colour Empty for the usual one. */
  choose(colour) {
    this.element.hidePopover();
    this.onChoose(this.code, colour);
  }
}

/** Whether a colour is hard to see. @param {string} colour @param {string} ground */
export const isFaint = (colour, ground) => contrast(colour, ground) < MIN_CONTRAST;

/** Categories that are hard to see in the colour that was chosen for them. @param {ColourSpec} colour @param {string} scheme @param {string} ground */
export const faintCategories = (colour, scheme, ground) => (colour?.swatches ?? [])
  .filter((code) => isFaint(colour.palette[scheme][code], ground)).map((code) => colour.categories[code]);
