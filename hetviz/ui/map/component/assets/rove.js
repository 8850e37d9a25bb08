// A toolbar or a list is one stop of the Tab key; the arrow keys walk inside it.

const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

export class Rove {
  /** Buttons in `box` that match `which` and are seen belong together. */
  constructor(box, which) {
    Object.assign(this, { box, which });
    box.addEventListener("keydown", (event) => this.key(event));
    box.addEventListener("focusin", (event) => this.all.includes(event.target) && this.settle(event.target));
  }

  get all() { return [...this.box.querySelectorAll(this.which)]; }

  /** Let one of them be reached by Tab: the given one, else the one that was, else the first. */
  settle(wanted) {
    const { all } = this;
    const stop = wanted ?? all.find((one) => one.hasAttribute("data-stop")) ?? all[0];
    for (const one of all) {
      one.tabIndex = one === stop ? 0 : -1;
      one.toggleAttribute("data-stop", one === stop);
    }
  }

  /** Make the buttons anew; the focus, and the place of the one stop, stay where they were. */
  redraw(make) {
    const before = this.all;
    const at = before.findIndex((one) => one.hasAttribute("data-stop"));
    const held = this.box.contains(document.activeElement) ? before.indexOf(document.activeElement) : -1;
    make();
    const { all } = this;
    const near = (k) => all[Math.min(k, all.length - 1)];
    this.settle(at >= 0 ? near(at) : undefined);
    if (held >= 0 && !this.box.contains(document.activeElement)) near(held)?.focus({ preventScroll: true });
  }

  key(event) {
    const { all } = this;
    const from = all.indexOf(event.target);
    if (from < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const seen = all.filter((one) => one.checkVisibility());
    const at = seen.indexOf(event.target);
    const to = event.key === "Home" ? 0 : event.key === "End" ? seen.length - 1
      : STEPS[event.key] ? (at + STEPS[event.key] + seen.length) % seen.length : -1;
    if (to < 0) return;
    event.preventDefault();
    event.stopPropagation();
    this.settle(seen[to]);
    seen[to].focus();
  }
}
