// The page's own words in the visitor's language: they stand as data in the page.

/** @type {Record<string, string>} */
const words = JSON.parse(document.getElementById("words")?.textContent || "{}");

/** The code of the language, for dates and numbers. */
export const language = document.documentElement.lang;

/** Return whether a key has a text. @param {string} key */
export function has(key) {
  return Object.hasOwn(words, key);
}

/** Return the text of a key with `{name}` replaced by the values; a key without text is shown itself.
 * @param {string} key
 * @param {Record<string, string | number>} [values] */
export function t(key, values = {}) {
  return (words[key] ?? key).replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
}
