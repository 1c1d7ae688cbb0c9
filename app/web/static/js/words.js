// The page's own words in the visitor's language: they stand as data in the page.

/** @type {Record<string, string>} */
const words = JSON.parse(document.getElementById("words")?.textContent || "{}");

/** The code of the language, for dates and numbers. */
export const language = document.documentElement.lang;

/** Return the text of a key with `{name}` replaced by the values; a key without text is shown itself.
 * @param {string} key
 * @param {Record<string, string | number>} [values] */
export function t(key, values = {}) {
  return (words[key] ?? key).replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
}

/** Return a sentence of the service in the visitor's language; "" where it has no words there. Its key is the sentence, with
 * `{name}` where that says what it is about.
 * @param {string} prefix What its key begins with
 * @param {string} english */
export function sentence(prefix, english) {
  for (const key of Object.keys(words).filter((key) => key.startsWith(prefix))) {
    const pattern = key.slice(prefix.length).replace(/[.?]/g, "\\$&").replace(/\{(\w+)\}/g, "(?<$1>.+)");
    const found = new RegExp(`^${pattern}$`, "s").exec(english);
    if (found) return t(key, found.groups);
  }
  return "";
}
