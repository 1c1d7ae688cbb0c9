// The closest passages where there is no sure answer: each whole, the best words marked, one click from its document.
import { element, icon } from "./elements.js";
import { openPlace } from "./open.js";
import { domainOf, placeOf, safe } from "./sources.js";
import { t } from "./words.js";

/** Return the passages as a part of an answer, those of one place together; null where there are none.
 * @param {import("./records.js").Exchange} exchange
 * @param {string[]} drawn The HTML of each, from the service, which has made it safe */
export function closest({ closest: found = [] }, drawn) {
  if (!found.length) return null;
  /** @type {Map<string, HTMLElement>} */
  const items = new Map();
  found.forEach((passage, at) => {
    const place = `${passage.doc_id} ${placeOf(passage)}`;
    const listed = items.get(place) ?? item(passage);
    items.set(place, listed);
    const words = element("blockquote", { class: "words" });
    words.innerHTML = drawn[at] ?? "";
    listed.append(words);
  });
  const title = element("h3", { text: t("part.closest") });
  return element("div", { class: "part closest", role: "group", "aria-label": t("part.closest") }, title, element("ol", {}, ...items.values()));
}

/** @param {any} passage */
function item(passage) {
  const open = (/** @type {any} */ event) => openPlace({ ...passage, quote: passage.marked || passage.quote }, passage, event.currentTarget);
  const name = passage.doc_id ? element("button", { type: "button", class: "source-title", on: { click: open } }, placeOf(passage)) : element("span", {}, placeOf(passage));
  const links = safe(passage.url ? [passage.url] : []).map((url) =>
    element("a", { href: url, target: "_blank", rel: "noopener noreferrer", title: url }, domainOf(url), icon("outside"), element("span", { class: "unseen", text: t("source.elsewhere") })),
  );
  return element("li", {}, name, element("span", { class: "source-about" }, ...links));
}
