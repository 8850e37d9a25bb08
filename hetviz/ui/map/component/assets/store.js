// What outlives one mount of the map: arrays, pictures, titles, and where the user was. A page
// change unmounts the component; coming back must cost no request.

// This file is served as <root>/hv/asset/<version>/store.js.
export const ROOT = new URL("../../../", import.meta.url).href;

const ARRAY_BYTES = 256e6;
const arrays = new Map(); // address -> {promise, bytes}, oldest first
const memories = new Map(); // session -> what a remount needs

const TYPES = { f4: Float32Array, i4: Int32Array, i1: Int8Array, u1: Uint8Array };

export class Missing extends Error {}

/** Fetch an array once; the same promise for everyone who asks. */
export function array(session, key, type) {
  const address = `${ROOT}hv/array/${session}/${key}`;
  const kept = arrays.get(address);
  if (kept) {
    arrays.delete(address);
    arrays.set(address, kept);
    return kept.promise;
  }
  const entry = { bytes: 0 };
  entry.promise = fetch(address).then(async (answer) => {
    if (!answer.ok) throw new Missing(key);
    const buffer = await answer.arrayBuffer();
    entry.bytes = buffer.byteLength;
    trim();
    return new TYPES[type](buffer);
  });
  entry.promise.catch(() => arrays.delete(address));
  arrays.set(address, entry);
  return entry.promise;
}

function trim() {
  let total = 0;
  for (const entry of arrays.values()) total += entry.bytes;
  for (const [address, entry] of arrays) {
    if (total <= ARRAY_BYTES) return;
    total -= entry.bytes;
    arrays.delete(address);
  }
}

let plotly = null;

/** Load Plotly's script once for the page. */
export function loadPlotly(address) {
  if (window.Plotly) return Promise.resolve(window.Plotly);
  plotly ??= new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = new URL(address, ROOT).href;
    script.onload = () => done(window.Plotly);
    script.onerror = () => {
      plotly = null;
      script.remove();
      failed(new Error("the drawing library could not be loaded"));
    };
    document.head.append(script);
  });
  return plotly;
}

const sheets = new Map();

/** Put our style sheet on the page and wait until it holds. */
export function loadStyle() {
  const address = new URL("map.css", import.meta.url).href;
  if (!sheets.has(address)) {
    sheets.set(address, new Promise((done) => {
      const link = document.createElement("link");
      link.rel = "stylesheet";
      link.href = address;
      link.onload = link.onerror = done;
      document.head.append(link);
    }));
  }
  return sheets.get(address);
}

/** What is remembered of a session's map, by the name of the map on its page. */
export function memory(session, name) {
  const key = `${session}/${name}`;
  if (!memories.has(key)) memories.set(key, {});
  return memories.get(key);
}

/** A map that forgets its oldest entries. */
export class Kept extends Map {
  constructor(limit) {
    super();
    this.limit = limit;
  }

  set(key, value) {
    this.delete(key);
    super.set(key, value);
    if (this.size > this.limit) this.delete(this.keys().next().value);
    return this;
  }
}
