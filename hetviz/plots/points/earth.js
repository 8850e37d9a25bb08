// The land below items at their places on the earth.

/** @import { View } from "./view.js" */

// Kilometres across the window at which the outline has faded, and from which it is drawn in full: it is
// made for maps of the world, and wrong by more than 10 km in places.
const FADED_KM = [500, 1100];

/**
 * Edge of the projection, and land.
 * @param {Float32Array} outlines rings, each with NaN at its end
 */
export function earthPaths(outlines) {
  const [edge, land] = [new Path2D(), new Path2D()];
  let path = edge;
  let isFirst = true;
  for (let k = 0; k < outlines.length; k += 2) {
    if (Number.isNaN(outlines[k])) {
      path.closePath();
      path = land;
      isFirst = true;
    } else {
      path[isFirst ? "moveTo" : "lineTo"](outlines[k], outlines[k + 1]);
      isFirst = false;
    }
  }
  return [edge, land];
}

/**
 * Draw the land into a context of the size of the map.
 * @param {CanvasRenderingContext2D} ctx @param {View} view @param {Path2D[]} paths @param {number} perKm
 * @param {Record<string, string>} colours
 */
export function paintEarth(ctx, view, [edge, land], perKm, { soft, line }) {
  const km = view.W / view.s / perKm;
  const alpha = Math.min(Math.max((km - FADED_KM[0]) / (FADED_KM[1] - FADED_KM[0]), 0), 1);
  if (!alpha) return;
  ctx.save();
  ctx.globalAlpha = alpha;
  ctx.translate(view.x(0), view.y(0));
  ctx.scale(view.s, -view.s / view.k);
  ctx.fillStyle = soft;
  ctx.fill(land);
  ctx.strokeStyle = line;
  ctx.lineWidth = 1 / view.s;
  ctx.stroke(edge);
  ctx.stroke(land);
  ctx.restore();
}
