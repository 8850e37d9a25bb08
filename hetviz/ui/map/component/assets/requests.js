// Where arrays, cards and pictures are asked for: of the app's routes, or of a notebook's kernel.

// In a notebook the modules have no address of their own, and all that is asked goes through a door.
export const isNotebook = import.meta.url.startsWith("blob:");

// The app serves this file as <root>/hv/asset/<version>/ask.js.
export const ROOT = new URL(isNotebook ? "./" : "../../../", isNotebook ? document.baseURI : import.meta.url).href;

const handlers = new Map(); // session -> what answers in place of the app's routes

/** Let `answer(path, options)` answer for a session; returns how to stop. */
export function setRequestHandler(session, handler) {
  handlers.set(session, handler);
  return () => handlers.delete(session);
}

/** As `fetch`, of `hv/<what>/<session>...`, relative to the app's root. */
export function request(path, options = {}) {
  const handler = handlers.size ? handlers.get(decodeURIComponent(path.split(/[/?]/)[2] ?? "")) : null;
  return handler ? handler(path, options) : fetch(ROOT + path, options);
}

/** The address of one of our own files beside this one; null where none is served. */
export const assetUrl = (name) => (isNotebook ? null : new URL(name, import.meta.url).href);
