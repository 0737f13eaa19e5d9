/** Drawing at most once in an animation frame, however often it is requested, and sharp canvases. */

const LARGEST_CANVAS = 16e6; // pixels; beyond it browsers refuse, so that a very tall canvas is drawn less finely

/**
 * Wrap a drawing function: any number of calls within a frame draw once, in the next one.
 * @param {() => void} draw
 * @returns {() => void}
 */
export function oncePerFrame(draw) {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      draw();
    });
  };
}

/**
 * Give a canvas a size in CSS pixels and return a cleared context whose unit is one of them.
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {number} height
 * @returns {CanvasRenderingContext2D}
 */
export function sharpContext(canvas, width, height) {
  const finest = Math.sqrt(LARGEST_CANVAS / Math.max(1, width * height));
  const ratio = Math.min(globalThis.devicePixelRatio || 1, finest);
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}
