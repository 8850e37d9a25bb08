// Export of the visible map as a picture file.

import { context2d, makeCanvas } from "./canvas.js";

/** @import { HetMap } from "./map.js" */

const SCALE = 2;

export function compose({ scene, points, overlay, geography }) {
  const { view, tokens } = scene;
  const canvas = makeCanvas(view.W * SCALE, view.H * SCALE);
  const ctx = context2d(canvas);
  ctx.scale(SCALE, SCALE);
  ctx.fillStyle = tokens.bg;
  ctx.fillRect(0, 0, view.W, view.H);
  geography.paint(ctx);
  points.terrain.paint(ctx, view);
  ctx.drawImage(points.picture(SCALE), 0, 0, view.W, view.H);
  overlay.render(ctx, true);
  return canvas;
}

/** @param {HetMap} map */
export function savePicture(map) {
  compose(map).toBlob((blob) => {
    if (!blob) return;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    const name = map.scene.data.title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "");
    link.download = `${name || "map"}.png`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    map.announce("Picture saved");
  }, "image/png");
}
