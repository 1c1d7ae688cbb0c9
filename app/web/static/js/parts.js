// What stands below an answer: its sources, related documents, the confidence in it, and how it was made.
import { element, icon } from "./elements.js";
import { dateOf, domainOf, isUnanswered, levelOf, placeOf, sourcesOf } from "./sources.js";
import { language, t } from "./words.js";
import { openDocument } from "./open.js";

const CATEGORIES = ["regulatory", "carrier", "reference", "internal"];

/** Return the parts of an answer that there are.
 * @param {import("./records.js").Exchange} exchange
 * @param {boolean} withRelated Whether the related documents are among them
 * @returns {HTMLElement[]} */
export function parts(exchange, withRelated = true) {
  const found = [sources(exchange), withRelated && related(exchange), confidence(exchange)];
  return /** @type {HTMLElement[]} */ (found.filter(Boolean));
}

/** @param {import("./records.js").Exchange} exchange */
function sources(exchange) {
  const items = sourcesOf(exchange).map((source) => {
    const about = [source.organisation, source.date && dateOf(source.date)].filter(Boolean).join(" · ");
    const open = (/** @type {any} */ event) => openDocument(exchange, source.index, event.currentTarget);
    const name = element("button", { type: "button", class: "source-title", on: { click: open } }, placeOf(source));
    const links = source.urls.map((url) =>
      element("a", { href: url, target: "_blank", rel: "noopener noreferrer", title: url }, domainOf(url), icon("outside"), element("span", { class: "unseen", text: t("source.elsewhere") })),
    );
    const below = element("span", { class: "source-about" }, about && element("span", { text: about }), ...links);
    const number = element("span", { class: "number", text: String(source.number) });
    return element("li", { value: source.number }, number, element("div", {}, name, below));
  });
  return items.length ? part("sources", element("ol", {}, ...items)) : null;
}

/** @param {import("./records.js").Exchange} exchange */
function related(exchange) {
  const documents = exchange.related_docs ?? [];
  return documents.length ? part("related", documentChips(documents)) : null;
}

/** Return documents as chips in the colours of their categories.
 * @param {any[]} documents */
export function documentChips(documents) {
  const items = documents.filter(({ doc_id }) => doc_id).map(({ doc_id, title, category }) => {
    const known = CATEGORIES.includes(category);
    const open = (/** @type {any} */ event) => {
      const detail = { doc_id, title, from: event.currentTarget };
      document.dispatchEvent(new CustomEvent("open-document", { detail }));
    };
    const kind = element("span", { class: "kind", text: known ? t(`category.${category}`) : category || t("category.other") });
    const chip = element("button", { type: "button", class: "document-chip", data: { category: known ? category : "other" }, on: { click: open } }, kind, title);
    return element("li", {}, chip);
  });
  return element("ul", { class: "document-chips" }, ...items);
}

/** @param {import("./records.js").Exchange} exchange */
function confidence({ confidence: found, metadata, outcome }) {
  if (!found || isUnanswered(outcome)) return null; // The answer says so itself.
  const level = levelOf(found.level);
  const percent = Math.round(Math.max(0, Math.min(1, found.score)) * 100);
  const fill = element("span", { class: "fill" });
  fill.style.inlineSize = `${percent}%`;
  const label = t("confidence.score", { percent });
  const bar = element("span", { class: "bar", role: "meter", "aria-label": label, "aria-valuemin": "0", "aria-valuemax": "100", "aria-valuenow": percent, title: label }, fill);
  const badge = element("span", { class: "badge", text: t(`confidence.${level}`) });
  const reason = element("span", { class: "reason", lang: "en", text: found.reason });
  const row = element("div", { class: "confidence", data: { level } }, badge, bar, reason);
  return part("confidence", row, metadata && figures(metadata));
}

/** @param {any} metadata */
function figures({ chunks_retrieved, chunks_used, latency_ms, model, cache }) {
  const seconds = new Intl.NumberFormat(language, { maximumSignificantDigits: 2 }).format(latency_ms / 1000);
  const facts = [t("figures.retrieved", { count: chunks_retrieved }), t("figures.used", { count: chunks_used }), t("figures.seconds", { seconds }), cache && t("figures.cached")];
  return element("p", { class: "figures", title: model, text: facts.filter(Boolean).join(" · ") });
}

/** @param {string} name @param {...(Node | null | undefined | false)} children */
function part(name, ...children) {
  return element("div", { class: `part ${name}`, role: "group", "aria-label": t(`part.${name}`) }, element("h3", { text: t(`part.${name}`) }), ...children);
}
