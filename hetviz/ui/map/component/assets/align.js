// Alignment of an old map with a new one by rotation, reflection, scale and shift, so that only real moves
// remain.

const MIN_EXPLAINED = 0.25; // minimum share of the variance of the new map that the aligned old one explains

/**
 * The old positions rotated, mirrored, scaled and shifted to fit the new ones by least squares; null
 * if the maps have too little in common.
 * @param {Uint8Array} shown
 */
export function aligned(from, to, shown) {
  const n = shown.length;
  /** @param {number} r */
  const both = (r) => shown[r] && from[2 * r] === from[2 * r] && to[2 * r] === to[2 * r];
  let count = 0;
  const mean = [0, 0, 0, 0];
  for (let r = 0; r < n; r++) {
    if (!both(r)) continue;
    count += 1;
    mean[0] += from[2 * r];
    mean[1] += from[2 * r + 1];
    mean[2] += to[2 * r];
    mean[3] += to[2 * r + 1];
  }
  if (count < 3) return null;
  for (let k = 0; k < 4; k++) mean[k] /= count;
  // Covariance of the positions as complex numbers, plain and mirrored.
  let [re, im, mirroredRe, mirroredIm, spreadFrom, spreadTo] = [0, 0, 0, 0, 0, 0];
  for (let r = 0; r < n; r++) {
    if (!both(r)) continue;
    const [x, y] = [from[2 * r] - mean[0], from[2 * r + 1] - mean[1]];
    const [u, v] = [to[2 * r] - mean[2], to[2 * r + 1] - mean[3]];
    re += u * x + v * y;
    im += v * x - u * y;
    mirroredRe += u * x - v * y;
    mirroredIm += v * x + u * y;
    spreadFrom += x * x + y * y;
    spreadTo += u * u + v * v;
  }
  const mirror = mirroredRe ** 2 + mirroredIm ** 2 > re ** 2 + im ** 2 ? -1 : 1;
  const [a, b] = mirror < 0 ? [mirroredRe, mirroredIm] : [re, im];
  if (!(a * a + b * b > MIN_EXPLAINED * spreadFrom * spreadTo)) return null;
  const turned = new Float32Array(2 * n);
  for (let r = 0; r < n; r++) {
    const [x, y] = [from[2 * r] - mean[0], mirror * (from[2 * r + 1] - mean[1])];
    turned[2 * r] = mean[2] + (a * x - b * y) / spreadFrom;
    turned[2 * r + 1] = mean[3] + (b * x + a * y) / spreadFrom;
  }
  return turned;
}
