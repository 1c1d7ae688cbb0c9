// The closest passages where there is no sure answer: the words that fit the question best, one click from their document.
import { withoutSigns } from "./chips.js";
import { element, icon } from "./elements.js";
import { openPlace } from "./open.js";
import { domainOf, placeOf, safe } from "./sources.js";
import { t } from "./words.js";

/** Return the passages as a part of an answer; null where there are none.
 * @param {import("./records.js").Exchange} exchange */
export function closest({ closest: found = [] }) {
  if (!found.length) return null;
  const title = element("h3", { text: t("part.closest") });
  return element("div", { class: "part closest", role: "group", "aria-label": t("part.closest") }, title, element("ol", {}, ...found.map(item)));
}

/** @param {any} passage */
function item(passage) {
  const open = (/** @type {any} */ event) => openPlace(passage, passage, event.currentTarget);
  const name = passage.doc_id ? element("button", { type: "button", class: "source-title", on: { click: open } }, placeOf(passage)) : element("span", {}, placeOf(passage));
  const words = element("blockquote", {}, ...withoutSigns(passage.before ?? ""), element("mark", {}, ...withoutSigns(passage.quote)), ...withoutSigns(passage.after ?? ""));
  const links = safe(passage.url ? [passage.url] : []).map((url) =>
    element("a", { href: url, target: "_blank", rel: "noopener noreferrer", title: url }, domainOf(url), icon("outside"), element("span", { class: "unseen", text: t("source.elsewhere") })),
  );
  return element("li", {}, name, element("span", { class: "source-about" }, ...links), passage.quote && words);
}
