// What stands around an answer: how many of its questions are answered, its translation, sources and related documents.
import { request } from "./api.js";
import { rating } from "./confidence.js";
import { element } from "./elements.js";
import { replace } from "./growing.js";
import { dateOf, links, placeOf, sourcesOf } from "./sources.js";
import { t } from "./words.js";
import { openDocument } from "./open.js";

const CATEGORIES = ["regulatory", "carrier", "reference", "internal"];
const MOST_RELATED = 4;
const OUTDATED = / \((?:[^()]*, )?(?:older version|not in force)\)$/; // How the service labels what a newer document replaces.

/** Return the sources of an answer; null where it has none.
 * @param {import("./records.js").Exchange} exchange */
export function sources(exchange) {
  const items = sourcesOf(exchange).map((source, at, all) => {
    const isAgain = all.slice(0, at).some(({ doc_id }) => doc_id === source.doc_id); // What its document is stands at the first.
    const about = isAgain ? "" : [source.organisation, source.date && dateOf(source.date)].filter(Boolean).join(" · ");
    const open = (/** @type {any} */ event) => openDocument(exchange, source.index, event.currentTarget);
    const name = element("button", { type: "button", class: "source-title", on: { click: open } }, placeOf(source));
    const below = element("span", { class: "source-about" }, about && element("span", { text: about }), ...(isAgain ? [] : links(source.urls)));
    const number = element("span", { class: "number", text: String(source.number) });
    return element("li", { value: source.number }, number, element("div", {}, name, below));
  });
  return items.length ? part("sources", element("ol", {}, ...items)) : null;
}

/** Return the documents that were found and are not named above; null where there are none.
 * @param {import("./records.js").Exchange} exchange */
export function related(exchange) {
  const named = new Set([...sourcesOf(exchange), ...(exchange.closest ?? [])].map(({ doc_id }) => doc_id));
  const documents = (exchange.related_docs ?? []).filter(({ doc_id }) => !named.has(doc_id));
  return documents.length ? part("related", documentChips(documents)) : null;
}

/** Return the first documents as chips in the colours of their categories; of two versions the newer one.
 * @param {any[]} documents */
export function documentChips(documents) {
  const current = documents.filter(({ doc_id, title }) => doc_id && !OUTDATED.test(title)).slice(0, MOST_RELATED);
  const items = current.map(({ doc_id, title, category }) => {
    const known = CATEGORIES.includes(category);
    const open = (/** @type {any} */ event) => {
      const detail = { doc_id, title, from: event.currentTarget };
      document.dispatchEvent(new CustomEvent("open-document", { detail }));
    };
    const data = { category: known ? category : "other" };
    return element("li", {}, element("button", { type: "button", class: "document-chip", title, data, on: { click: open } }, title));
  });
  return element("ul", { class: "document-chips" }, ...items);
}

/** Return one line on the parts of an answer to several questions: how many are answered, and which are not surely; each
 * gets its own badge.
 * @param {HTMLElement} answer As it is shown
 * @param {import("./records.js").Exchange} exchange */
export function partsSummary(answer, { confidence, metadata }) {
  const headings = [...answer.querySelectorAll("h3")];
  if (headings.length < 2) return null;
  (confidence?.parts ?? []).forEach((/** @type {any} */ part, /** @type {number} */ at) => {
    if (part.level !== "none") headings[at]?.after(rating(part, metadata));
  });
  const isAnswered = (/** @type {Element} */ heading) => {
    let next = heading.nextElementSibling;
    while (next && next.tagName !== "H3" && !next.querySelector(".chip:not([data-kind=unmatched])")) next = next.nextElementSibling;
    return next !== null && next.tagName !== "H3";
  };
  const isSure = (/** @type {number} */ at) => confidence?.parts?.[at]?.level !== "low";
  const open = headings.map((heading, at) => (isAnswered(heading) && isSure(at) ? 0 : at + 1)).filter(Boolean);
  const text = t(open.length ? "parts.some" : "parts.all", { count: headings.length, answered: headings.length - open.length, open: open.join(", ") });
  return element("p", { class: "parts-summary", text });
}

/** Return the answer in the language of the question; what it is stands above it.
 * @param {string} answer */
export async function translated(answer) {
  const { html } = await request("page/render", { method: "POST", body: { answer } });
  const words = element("div", { class: "words" });
  replace(words, html);
  return element("div", { class: "translation" }, element("p", { class: "searched", text: t("answer.translation") }), words);
}

/** @param {string} name @param {...(Node | null | undefined | false)} children */
function part(name, ...children) {
  return element("div", { class: `part ${name}`, role: "group", "aria-label": t(`part.${name}`) }, element("h3", { text: t(`part.${name}`) }), ...children);
}
