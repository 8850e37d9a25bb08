// Text search in the browser, by the same rules as in Python (hetviz/data/queries/search.py).

/** Text without case and accents, with single spaces. @param {string} text */
export const folded = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replace(/\s+/g, " ").trim();

export const NO_MATCH = 4;

/**
 * How well a folded text fits: 0 equal, 1 begins with the query, 2 a word does, 3 contains all words, or `NO_MATCH`.
 * @param {string} text @param {string} query
 */
export function rank(text, query) {
  if (text === query) return 0;
  if (text.startsWith(query)) return 1;
  if (text.includes(` ${query}`)) return 2;
  return query.split(" ").every((word) => text.includes(word)) ? 3 : NO_MATCH;
}
