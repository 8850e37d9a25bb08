// Export of the visible map as a picture file.

const SCALE = 2;

export function compose(map) {
  const { view, tokens } = map;
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(view.W * SCALE);
  canvas.height = Math.round(view.H * SCALE);
  const ctx = canvas.getContext("2d");
  ctx.scale(SCALE, SCALE);
  ctx.fillStyle = tokens.bg;
  ctx.fillRect(0, 0, view.W, view.H);
  ctx.drawImage(map.points.picture(SCALE), 0, 0, view.W, view.H);
  map.overlay.render(ctx, true);
  return canvas;
}

export function savePicture(map) {
  compose(map).toBlob((blob) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    const name = map.data.title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "");
    link.download = `${name || "map"}.png`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    map.announce("Picture saved");
  }, "image/png");
}
