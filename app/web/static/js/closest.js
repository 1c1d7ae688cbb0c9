// The closest passages, where there is no sure answer. Below an unsure answer they are drawn, and the best words are marked.
// Otherwise each is one line that opens, with no marks, because none of them is an answer.
import { button, element } from "./elements.js";
import { openPlace } from "./open.js";
import { links, placeOf, safe } from "./sources.js";
import { t } from "./words.js";

/** @param {import("./records.js").Exchange} exchange */
export const isFolded = ({ outcome }) => outcome !== "unsure";

/** Return the passages as a part of an answer, those of one place together; null where there are none.
 * @param {import("./records.js").Exchange} exchange
 * @param {string[]} drawn The HTML of each, from the service, which has made it safe */
export function closest(exchange, drawn) {
  const { closest: passages = [] } = exchange;
  if (!passages.length) return null;
  /** @type {Map<string, HTMLElement>} */
  const items = new Map();
  passages.forEach((passage, at) => {
    const place = `${passage.doc_id} ${placeOf(passage)}`;
    const listed = items.get(place) ?? (isFolded(exchange) ? folded(passage) : open(passage));
    items.set(place, listed);
    const words = element("blockquote", { class: "words" });
    words.innerHTML = drawn[at] ?? "";
    listed.append(words);
  });
  const title = element("h3", { text: t("part.closest") });
  const list = element("ol", {}, ...[...items.values()].map((item) => element("li", {}, item)));
  return element("div", { class: "part closest", role: "group", "aria-label": t("part.closest") }, title, list);
}

/** @param {any} passage */
function open(passage) {
  const show = (/** @type {any} */ event) => openPlace({ ...passage, quote: passage.marked || passage.quote }, passage, event.currentTarget);
  const name = passage.doc_id ? element("button", { type: "button", class: "source-title", on: { click: show } }, placeOf(passage)) : element("span", {}, placeOf(passage));
  return element("div", {}, name, element("span", { class: "source-about" }, ...links(safe([passage.url ?? ""]))));
}

/** @param {any} passage */
function folded(passage) {
  const show = button(t("closest.open"), () => openPlace(passage, {}, show), { class: "source-title", does: "open" });
  return element("details", {}, element("summary", {}, placeOf(passage)), element("span", { class: "source-about" }, passage.doc_id && show, ...links(safe([passage.url ?? ""]))));
}
