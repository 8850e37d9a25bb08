// Roving focus: a toolbar or list is one stop of the Tab key, arrow keys move inside it.

const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

export class RovingFocus {
  /** Manage the visible elements in `box` that match `selector`. @param {string} selector */
  constructor(box, selector) {
    this.box = box;
    this.selector = selector;
    box.addEventListener("keydown", (event) => this.key(event));
    box.addEventListener("focusin", (event) => this.buttons.includes(event.target) && this.setTabStop(event.target));
  }

  get buttons() { return [...this.box.querySelectorAll(this.selector)]; }

  /** Make one of them the Tab stop: the given one, else the last stop, else the first. */
  setTabStop(preferred) {
    const { buttons } = this;
    const stop = preferred ?? buttons.find((button) => button.hasAttribute("data-stop")) ?? buttons[0];
    for (const button of buttons) {
      button.tabIndex = button === stop ? 0 : -1;
      button.toggleAttribute("data-stop", button === stop);
    }
  }

  /** Rebuild the buttons and restore focus and Tab stop. */
  redraw(rebuild) {
    const before = this.buttons;
    const at = before.findIndex((button) => button.hasAttribute("data-stop"));
    const focused = this.box.contains(document.activeElement) ? before.indexOf(document.activeElement) : -1;
    rebuild();
    const { buttons } = this;
    /** @param {number} k */
    const nearest = (k) => buttons[Math.min(k, buttons.length - 1)];
    this.setTabStop(at >= 0 ? nearest(at) : undefined);
    if (focused >= 0 && !this.box.contains(document.activeElement)) nearest(focused)?.focus({ preventScroll: true });
  }

  key(event) {
    const { buttons } = this;
    const from = buttons.indexOf(event.target);
    if (from < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const visible = buttons.filter((button) => button.checkVisibility());
    const at = visible.indexOf(event.target);
    const to = event.key === "Home" ? 0 : event.key === "End" ? visible.length - 1
      : STEPS[event.key] ? (at + STEPS[event.key] + visible.length) % visible.length : -1;
    if (to < 0) return;
    event.preventDefault();
    event.stopPropagation();
    this.setTabStop(visible[to]);
    visible[to].focus();
  }
}
