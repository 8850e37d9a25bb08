// A toolbar or a list is one stop of the Tab key; the arrow keys walk inside it.

const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

export class RovingFocus {
  /** Buttons in `box` that match `which` and are seen belong together. */
  constructor(box, selector) {
    Object.assign(this, { box, selector });
    box.addEventListener("keydown", (event) => this.key(event));
    box.addEventListener("focusin", (event) => this.buttons.includes(event.target) && this.setTabStop(event.target));
  }

  get buttons() { return [...this.box.querySelectorAll(this.selector)]; }

  /** Let one of them be reached by Tab: the given one, else the one that was, else the first. */
  setTabStop(preferred) {
    const { buttons } = this;
    const stop = preferred ?? buttons.find((button) => button.hasAttribute("data-stop")) ?? buttons[0];
    for (const button of buttons) {
      button.tabIndex = button === stop ? 0 : -1;
      button.toggleAttribute("data-stop", button === stop);
    }
  }

  /** Make the buttons anew; the focus, and the place of the one stop, stay where they were. */
  redraw(rebuild) {
    const before = this.buttons;
    const at = before.findIndex((button) => button.hasAttribute("data-stop"));
    const focused = this.box.contains(document.activeElement) ? before.indexOf(document.activeElement) : -1;
    rebuild();
    const { buttons } = this;
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
