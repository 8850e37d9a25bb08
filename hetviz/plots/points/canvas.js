// Canvases in memory and their contexts.

/** Context of a canvas. @param {HTMLCanvasElement} canvas @param {CanvasRenderingContext2DSettings} options */
export function context2d(canvas, options = {}) {
  // Null only if the canvas has a context of another kind.
  return /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", options));
}

/** Canvas of a size in pixels, rounded. @param {number} width @param {number} height */
export function makeCanvas(width, height) {
  return Object.assign(document.createElement("canvas"), { width: Math.round(width), height: Math.round(height) });
}
