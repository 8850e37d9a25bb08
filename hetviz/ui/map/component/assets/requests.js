// Requests for arrays, cards and pictures, to the routes of the app or to the kernel of a notebook.

// In a notebook the modules have no address, and requests go to a handler.
export const isNotebook = import.meta.url.startsWith("blob:");

// The app serves this file as <root>/hv/asset/<version>/requests.js.
export const ROOT = new URL(isNotebook ? "./" : "../../../", isNotebook ? document.baseURI : import.meta.url).href;

const handlers = new Map(); // session -> handler in place of the routes of the app

/** Set the request handler of a session; returns a function that removes it. @param {string} session */
export function setRequestHandler(session, handler) {
  handlers.set(session, handler);
  return () => handlers.delete(session);
}

/** Like `fetch`, for `hv/<request>/<session>...`, relative to the root of the app. */
export function request(path, options = {}) {
  const handler = handlers.size ? handlers.get(decodeURIComponent(path.split(/[/?]/)[2] ?? "")) : null;
  return handler ? handler(path, options) : fetch(ROOT + path, options);
}

/** The address of one of our files; null in a notebook. */
export const assetUrl = (name) => (isNotebook ? null : new URL(name, import.meta.url).href);
