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

const PIN_PX = 11; // height of the head of a pin above its item
const PIN_RADIUS = 4.5;
const MANY_PINS = 20; // more pins are drawn smaller

/**
 * Draw a pin with its point at each place.
 * @param {CanvasRenderingContext2D} ctx @param {[x: number, y: number][]} places @param {number} n all pins of the map
 * @param {{ bg: string, ink: string }} colours
 */
export function drawPins(ctx, places, n, { bg, ink }) {
  const scale = n > MANY_PINS ? 0.7 : 1;
  const [height, radius] = [scale * PIN_PX, scale * PIN_RADIUS];
  ctx.lineJoin = "round";
  for (const [x, y] of places) {
    ctx.beginPath();
    ctx.moveTo(x, y);
    ctx.arc(x, y - height, radius, 0.8 * Math.PI, 0.2 * Math.PI);
    ctx.closePath();
    ctx.lineWidth = 2.5;
    ctx.strokeStyle = bg;
    ctx.stroke();
    ctx.fillStyle = ink;
    ctx.fill();
    ctx.beginPath();
    ctx.arc(x, y - height, radius / 3, 0, 7);
    ctx.fillStyle = bg;
    ctx.fill();
  }
}
