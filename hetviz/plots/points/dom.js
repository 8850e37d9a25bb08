// Helpers that create elements without HTML strings: texts of users are only ever set as text.

/**
 * Make an element.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag @param {Record<string, any>} props @param {(Node | string | null | undefined)[]} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  set(element, props);
  for (const child of children) if (child !== null && child !== undefined) element.append(child);
  return element;
}

export function set(element, props) {
  for (const [name, value] of Object.entries(props)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === null || value === undefined || value === false) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? "" : value);
  }
}

/** The element around the target of an event that matches a selector. @param {Event} event @param {string} selector */
export const closest = ({ target }, selector) => (target instanceof Element ? target.closest(selector) : null);

/** @type {Record<string, string>} */
const PATHS = {
  move: "M12 3v18M3 12h18M12 3 9.5 5.5M12 3l2.5 2.5M12 21l-2.5-2.5M12 21l2.5-2.5M3 12l2.5-2.5M3 12l2.5 2.5M21 12l-2.5-2.5M21 12l-2.5 2.5",
  lasso: "M7 16.5C4.6 15.4 3 13.5 3 11.2 3 7.5 7 4.5 12 4.5s9 3 9 6.7-4 6.7-9 6.7c-.9 0-1.7-.1-2.5-.3M7 16.5a2 2 0 1 0 2.5 1.1A2 2 0 0 0 7 16.5Zm.5 3.5c.2 1-.3 1.800-1.300 2.200",
  box: "M4 8V5.500A1.500 1.500 0 0 1 5.500 4H8M16 4h2.500A1.500 1.500 0 0 1 20 5.500V8M20 16v2.500a1.500 1.500 0 0 1-1.500 1.500H16M8 20H5.500A1.500 1.500 0 0 1 4 18.500V16M11 4h2M11 20h2M4 11v2M20 11v2",
  drag: "M9 11V5.500a1.500 1.500 0 0 1 3 0V11M12 10V4.500a1.500 1.500 0 0 1 3 0V11M15 10.500V6.500a1.500 1.500 0 0 1 3 0V15a6 6 0 0 1-6 6c-3 0-4.500-1.500-6-4.500L4.500 13.500a1.500 1.500 0 0 1 2.600-1.500L9 14V7.500",
  plus: "M12 5v14M5 12h14",
  minus: "M5 12h14",
  fit: "M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5",
  image: "M12 4v11M7.500 11 12 15.500 16.500 11M4.500 19.500h15",
  help: "M9.200 9.300a2.900 2.900 0 1 1 4.300 2.600c-1 .6-1.500 1.100-1.500 2.300M12 17.300v.2M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Z",
  search: "M10.500 17a6.500 6.500 0 1 0 0-13 6.500 6.500 0 0 0 0 13ZM15.500 15.500 20.500 20.500",
  layers: "m12 4 9 4.800-9 4.800-9-4.800ZM4 13.300l8 4.300 8-4.300",
  pointer: "M5.500 4 18 11.200 12.200 12.800 9 18Z",
  shut: "M4 5h16v14H4ZM14 5v14M8 9.500 10.500 12 8 14.500",
  wide: "M9 6 3.500 12 9 18M15 6l5.500 6L15 18",
  down: "M7 10l5 5 5-5",
  more: "M6 12h.01M12 12h.01M18 12h.01",
  terrain: "M3 19 9.500 8l4 6.500 2.500-4L21 19Z",
  waves: "M4 8.500c2-1.500 4-1.500 6 0s4 1.500 6 0 3-1.200 4-.8M4 13c2-1.500 4-1.500 6 0s4 1.500 6 0 3-1.200 4-.8M4 17.500c2-1.500 4-1.500 6 0s4 1.500 6 0 3-1.200 4-.8",
  people: "M9 10.500a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM3.500 19a5.500 5.500 0 0 1 11 0M16 10.500a2.500 2.500 0 1 0 0-5M17 13.700a5 5 0 0 1 3.500 5.300",
  fade: "M7 15.500a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7ZM14 9.500l.8-.6M17.500 9v.01M19.500 12v.01M17.500 15v.01M14 14.500l.8.6",
  charts: "M4 20h16M6.500 17v-5M11 17V5M15.500 17v-8M20 17v-3",
  story: "M4 5h16v11H4ZM10.500 8v5l4-2.500ZM9 20h6",
  play: "M8 5.500v13l11-6.500Z",
  pause: "M8.500 6v12M15.500 6v12",
  earlier: "M15 6l-6 6 6 6",
  later: "M9 6l6 6-6 6",
  close: "M6 6l12 12M18 6 6 18",
};

/** A line icon of 18 pixels. @param {string} name */
export function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  set(svg, { viewBox: "0 0 24 24", class: `hv-icon hv-icon-${name}`, "aria-hidden": "true" });
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}

/** @param {number} n */
export const thousands = (n) => n.toLocaleString("en");

/**
 * Text cut to `length` characters before an ending in parentheses, which tells items with equal titles apart.
 * @param {string} text @param {number} length
 */
export function shorten(text, length) {
  if (text.length <= length) return text;
  const ending = text.match(/ \([^()]+\)$/)?.[0] ?? "";
  const tail = ending.length > length / 2 ? "" : ending;
  return `${text.slice(0, length - 1 - tail.length).trimEnd()}…${tail}`;
}
