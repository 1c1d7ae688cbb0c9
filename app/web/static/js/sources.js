// The sources of an answer: one for each number in its text.
import { button, element, icon } from "./elements.js";
import { language, t } from "./words.js";

const MOST_LINKS = 3;

/** @typedef {{number: number, index: number, title: string, section: string | null, page: number | null, doc_id: string | null,
 *   audience: string | null, organisation: string | null, date: string | null, urls: string[]}} Source */

/** Return the sources by their numbers; `index` is the place of their first citation.
 * @param {import("./records.js").Exchange} exchange
 * @returns {Source[]} */
export function sourcesOf(exchange) {
  /** @type {Map<number, Source>} */
  const found = new Map();
  (exchange.citations ?? []).forEach((citation, index) => {
    const number = (exchange.numbers ?? [])[index] ?? citation.number;
    if (!citation.matched || !number) return;
    const passage = exchange.passages?.[index];
    const known = found.get(number);
    if (known) known.urls = [...new Set([...known.urls, ...safe(citation.source_urls)])];
    else {
      const { title, section, page, doc_id } = citation;
      const { organisation = null, date = null, audience = null } = passage ?? {};
      found.set(number, { number, index, title, section, page, doc_id, audience, organisation, date, urls: safe(citation.source_urls) });
    }
  });
  return [...found.values()].sort((one, other) => one.number - other.number);
}

/** Return the addresses that a browser may open: none that runs a script. @param {string[]} [urls] */
export function safe(urls = []) {
  return urls.filter((url) => /^https?:\/\//i.test(url) && URL.canParse(url));
}

/** Return links to addresses: one to each site, three at most; a button shows the others, by their paths.
 * @param {string[]} urls @returns {Node[]} */
export function links(urls) {
  const sites = new Map([...urls].reverse().map((url) => [hostOf(url), url]));
  const first = urls.filter((url) => sites.get(hostOf(url)) === url).slice(0, MOST_LINKS);
  const others = urls.filter((url) => !first.includes(url));
  const more = button(t("source.more", { count: others.length }), () => more.replaceWith(...others.map((url) => link(url, true))), { class: "quiet", does: "links" });
  return [...first.map((url) => link(url)), ...(others.length ? [more] : [])];
}

/** @param {string} url @param {boolean} [whole] Whether its path is shown */
function link(url, whole = false) {
  const name = hostOf(url) + (whole ? new URL(url).pathname.replace(/\/$/, "") : "");
  return element("a", { href: url, target: "_blank", rel: "noopener noreferrer", title: url }, name, icon("outside"), element("span", { class: "unseen", text: t("source.elsewhere") }));
}

/** @param {string} url */
const hostOf = (url) => new URL(url).hostname.replace(/^www\./, "");

/** Return title, section and page in one line. @param {{title: string, section?: string | null, page?: number | null}} source */
export function placeOf({ title, section, page }) {
  return [[title, section !== title && section].filter(Boolean).join(" › "), page && t("source.page", { page })].filter(Boolean).join(", ");
}

/** Return a date as its reader writes it. @param {string | null} date */
export function dateOf(date) {
  const when = new Date(date ?? "");
  if (!/^\d{4}-\d\d-\d\d/.test(date ?? "") || Number.isNaN(when.getTime())) return date ?? "";
  return new Intl.DateTimeFormat(language, { dateStyle: "medium", timeZone: "UTC" }).format(when);
}

/** Return a level of confidence as one of the names `high`, `medium`, `low` and `very_low`. @param {string} [level] */
export const levelOf = (level = "low") => level.toLowerCase().replace(/\W/g, "_");

/** Return whether a reply says something of the documents, sure or not; others have no confidence.
 * @param {import("./records.js").Exchange} exchange */
export const isAnswer = ({ outcome = "answered", citations }) => ["answered", "degraded"].includes(outcome) || (outcome === "unsure" && Boolean(citations?.length));

/** Return a date and time as its reader writes it. @param {number} [when] In milliseconds since 1970 */
export const timeOf = (when) => new Intl.DateTimeFormat(language, { dateStyle: "long", timeStyle: "short" }).format(when);
