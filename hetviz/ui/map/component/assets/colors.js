// Colours of codes and values, and mixes of two colours.

/** @param {string} hex */
const channels = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));

/** @param {number} share */
export const mix = (a, b, share) => {
  const [x, y] = [channels(a), channels(b)];
  return `#${x.map((v, k) => Math.round(v * (1 - share) + y[k] * share)
    .toString(16).padStart(2, "0")).join("")}`;
};

/** @param {string} hex */
export const withAlpha = (hex, alpha) => `rgba(${channels(hex).join(",")},${alpha})`;

/** Relative luminance of WCAG. @param {string} hex */
function luminance(hex) {
  const [r, g, b] = channels(hex).map((k) => k / 255).map((k) => (k <= 0.04045 ? k / 12.92 : ((k + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Contrast of two colours by WCAG, 1 to 21. @param {string} a @param {string} b */
export function contrast(a, b) {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

const STEPS = 96;

const PALE_SHARE = 0.55; // as in palette.py

/**
 * A palette and the slot of each row in it. Slot 0 is for no value and others. Paler colours follow the
 * others, for items that take the colour of what they link to.
 * @param {number} n
 */
export function colourSlots(colour, values, pale, n, scheme, ground) {
  const own = ownSlots(colour, values, n, scheme);
  if (!pale) return own;
  const { slot, palette } = own;
  const colours = palette.slice(1);
  for (let i = 0; i < n; i++) if (pale[i] && slot[i]) slot[i] += colours.length;
  return { slot, palette: [...palette, ...colours.map((c) => mix(c, ground, PALE_SHARE))] };
}

/** @param {number} n */
function ownSlots(colour, values, n, scheme) {
  const slot = new Uint8Array(n);
  if (!colour || !values) return { slot, palette: [colour?.ghost[scheme] || "#999999"] };
  if (colour.kind === "numbers") {
    const span = colour.high - colour.low || 1;
    for (let i = 0; i < n; i++) {
      const v = values[i];
      if (!Number.isFinite(v)) continue;
      const t = Math.min(Math.max((v - colour.low) / span, 0), 1);
      slot[i] = 1 + Math.round(t * (STEPS - 1));
    }
    const palette = [colour.ghost[scheme]];
    for (let k = 0; k < STEPS; k++) palette.push(sample(colour.scale[scheme], k / (STEPS - 1)));
    return { slot, palette };
  }
  for (let i = 0; i < n; i++) slot[i] = Math.max(values[i] + 1, 0);
  return { slot, palette: [colour.ghost[scheme], ...colour.palette[scheme]] };
}

/** @param {number} t */
export function sample(scale, t) {
  const at = t * (scale.length - 1);
  const k = Math.min(Math.floor(at), scale.length - 2);
  return mix(scale[k], scale[k + 1], at - k);
}

const LARGE_UNITS = /** @type {const} */ ([[1e12, "tn"], [1e9, "bn"], [1e6, "M"]]);

export const formatNumber = (value) => {
  const size = Math.abs(value);
  const [unit, name] = LARGE_UNITS.find(([least]) => size >= least) ?? [1, ""];
  if (size >= 1e15 || (size > 0 && size < 1e-3)) return value.toExponential(2);
  if (name) return `${Number((value / unit).toPrecision(3))} ${name}`;
  // Numbers of four digits have no separator, since they may be years.
  return value.toLocaleString("en", { useGrouping: size >= 1e4, maximumFractionDigits: size >= 100 ? 0 : size >= 1 ? 2 : 3 });
};
