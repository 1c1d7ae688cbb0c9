// What no document says: taken out of the answer, and shown folded below it, where no copy takes it along.
import { element } from "./elements.js";
import { t } from "./words.js";

const BARE_LINE = /^[ \t]*(?:[-*+]|\d+[.)])?[ \t]*$/;

/** Return an answer without its unsupported sentences, its citations at their new places, and the sentences.
 * @param {string} answer
 * @param {any[]} citations
 * @param {[number, number][]} [ranges] Places in the answer, in characters
 * @returns {{answer: string, citations: any[], sentences: string[]}} */
export function withoutUnsupported(answer, citations, ranges = []) {
  const letters = Array.from(answer);
  const cuts = ranges.map((range) => wholeLine(letters, range)).sort(([one], [other]) => one - other);
  const inside = (/** @type {number} */ place) => cuts.some(([start, end]) => start <= place && place < end);
  const moved = (/** @type {number} */ place) => place - cuts.reduce((sum, [start, end]) => sum + Math.max(0, Math.min(end, place) - start), 0);
  return {
    answer: letters.filter((_, place) => !inside(place)).join("").trimEnd(),
    citations: citations.filter(({ start }) => !inside(start)).map((one) => ({ ...one, start: moved(one.start), end: moved(one.end) })),
    sentences: ranges.map(([start, end]) => letters.slice(start, end).join("").trim()).filter(Boolean),
  };
}

/** Return a part of a streamed answer without the sentences that no document supports.
 * @param {string} words
 * @param {number} before How many characters of the answer came before
 * @param {[number, number][]} [ranges] Places in the whole answer, in characters */
export function supportedWords(words, before, ranges = []) {
  const inside = (/** @type {number} */ place) => ranges.some(([start, end]) => start <= place && place < end);
  return Array.from(words).filter((_, place) => !inside(before + place)).join("");
}

/** Return the range with the sign of its list item and the end of its line, where nothing else stands there.
 * @param {string[]} letters @param {[number, number]} range @returns {[number, number]} */
function wholeLine(letters, [start, end]) {
  const first = letters.lastIndexOf("\n", start - 1) + 1;
  const found = letters.indexOf("\n", end);
  const last = found < 0 ? letters.length : found + 1;
  const alone = start > 0 && BARE_LINE.test(letters.slice(first, start).join("")) && !letters.slice(end, last).join("").trim();
  return alone ? [first, last] : [start, end];
}

/** Return what no document says, folded; null where there is nothing.
 * @param {import("./records.js").Exchange} exchange */
export function unsupported({ draft }) {
  if (!draft) return null;
  return element("details", { class: "draft" }, element("summary", { text: t("draft.title") }), element("p", { text: draft }));
}
