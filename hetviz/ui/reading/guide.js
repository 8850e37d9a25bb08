// Moves the keyboard focus to the question of a step that begins, since the pressed button is gone.
export default function ({ data, parentElement }) {
  const mark = parentElement.querySelector("i");
  if (mark.dataset.step === data.step) return;
  mark.dataset.step = data.step;
  /** @type {HTMLElement | null} */
  const heading = document.querySelector(".st-key-guide-head h1");
  heading?.setAttribute("tabindex", "-1");
  heading?.focus();
}
