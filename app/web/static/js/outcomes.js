// What an answer is where it is no plain answer, and what to do next: each outcome has its own look.
import { button, element, icon } from "./elements.js";
import { documentChips } from "./parts.js";
import { language, t } from "./words.js";

/** @typedef {{again: () => void, edit: () => void, alone: (() => void) | null}} Steps */

/** The outcomes that need words above them. The others say themselves what they are: a decline is said once. */
const EXPLAINED = ["degraded", "blocked"];
/** What each outcome offers beside its words. */
const OFFERS = /** @type {Record<string, string[]>} */ ({
  degraded: ["again"],
  unsure: ["team", "documents", "edit"],
  redirected: ["team"],
  declined: ["team", "documents", "edit"],
  no_results: ["edit", "team", "browse"],
  ungrounded: ["documents", "team", "again"],
  blocked: ["edit"],
});

/** Return what says which personal data was taken out of the question; null where none was.
 * @param {import("./records.js").Exchange} exchange */
export function removed({ metadata }) {
  /** @type {string[]} */
  const kinds = (metadata?.safety?.redacted ?? []).map((/** @type {string} */ kind) => t(`redacted.${kind}`));
  const listed = new Intl.ListFormat(language, { type: "unit" }).format(kinds);
  return kinds.length ? element("p", { class: "removed", text: t("redacted.title", { kinds: listed }) }) : null;
}

/** Return what the documents were searched for where the conversation or a translation added words to the question, and
 * the button that asks its own words alone; null where nothing was added.
 * @param {import("./records.js").Exchange} exchange @param {Steps} steps */
export function searched({ metadata, alone: isAlone }, { alone }) {
  const query = metadata?.search_query ?? "";
  if (!query || metadata.query.includes(query)) return null;
  const back = !isAlone && alone && button(t("searched.alone"), alone, { class: "quiet", does: "alone" });
  return element("p", { class: "searched" }, element("span", {}, `${t("searched.title")} `, ...withTaken(query, metadata.query)), back);
}

/** Return the query with the words emphasized that are not in the question; a query that was rewritten is quoted.
 * @param {string} query @param {string} question @returns {(Node | string)[]} */
function withTaken(query, question) {
  const wordsOf = (/** @type {string} */ text) => text.toLocaleLowerCase(language).match(/[\p{L}\p{N}]+/gu) ?? [];
  const own = new Set(wordsOf(question));
  /** @type {{isOwn: boolean, words: string[]}[]} */
  const runs = [];
  for (const word of query.split(/\s+/)) {
    const isOwn = word.length < SHORTEST_WORD ? (runs.at(-1)?.isOwn ?? false) : wordsOf(word).every((part) => own.has(part));
    if (runs.at(-1)?.isOwn !== isOwn) runs.push({ isOwn, words: [] });
    runs.at(-1)?.words.push(word);
  }
  if (runs.length > 2) return [`“${query}”`];
  return runs.flatMap(({ isOwn, words }, at) => [at ? " + " : "", element(isOwn ? "span" : "em", { text: words.join(" ") })]);
}

/** @param {import("./records.js").Exchange} exchange */
export const isExplained = ({ outcome = "answered" }) => EXPLAINED.includes(outcome);

/** Return what stands above an answer that is none, or none that is whole; null above others. What a moderator flagged is
 * answered with words that need none.
 * @param {import("./records.js").Exchange} exchange */
export function banner(exchange) {
  const { outcome, replaced, metadata } = exchange;
  const withdrawn = replaced && element("p", { class: "replaced", text: t("outcome.replaced") });
  if (!isExplained(exchange) || metadata?.safety?.reason === "moderation") return withdrawn || null;
  return element("div", { class: "banner" }, icon(outcome === "degraded" ? "warning" : "stop"),
    element("div", {}, element("p", { class: "banner-title", text: t(`outcome.${outcome}`) }), element("p", { text: t(`outcome.${outcome}.text`) }), withdrawn));
}

/** Return whether the next steps name the related documents, as the nearest ones.
 * @param {import("./records.js").Exchange} exchange */
export function offersDocuments({ outcome = "", related_docs, closest }) {
  return Boolean(OFFERS[outcome]?.includes("documents") && related_docs?.length && !closest?.length);
}

/** Return the next steps that fit the outcome; null where there is nothing to do but read.
 * @param {import("./records.js").Exchange} exchange
 * @param {Steps} steps */
export function nextSteps(exchange, steps) {
  const offers = OFFERS[exchange.outcome ?? ""] ?? [];
  const documents = offersDocuments(exchange) ? (exchange.related_docs ?? []) : [];
  const buttons = [
    offers.includes("again") && button(t("next.again"), steps.again, { icon: "again", does: "again" }),
    offers.includes("edit") && button(t("next.edit"), steps.edit, { icon: "edit", does: "edit" }),
    (offers.includes("browse") || (offers.includes("documents") && !exchange.related_docs?.length)) &&
      button(t("next.browse"), () => document.dispatchEvent(new CustomEvent("open-documents")), { icon: "list", does: "browse" }),
  ];
  const shown = [
    offers.includes("team") && teamOf(exchange),
    documents.length > 0 && element("div", { class: "nearest" }, element("h3", { text: t("next.documents") }), documentChips(documents)),
    buttons.some(Boolean) && element("div", { class: "buttons-row" }, .../** @type {Node[]} */ (buttons.filter(Boolean))),
  ];
  return offers.length ? element("div", { class: "next", role: "group", "aria-label": t("next.title") }, ...shown) : null;
}

const SHORTEST_WORD = 4; // Shorter ones stand in any question, and belong to those beside them.
const PLACEHOLDER = /@example\.(?:com|net|org)$/i; // Nobody reads mail there.

/** @type {Record<string, {name: string, contact?: string}>} */
const teams = JSON.parse(document.getElementById("teams")?.textContent || "{}");

/** Return whom to ask: the team of the question's intent, else that of the nearest document's category, else the one for
 * everything else. A redirection names its own team, so that only one of its intent is shown.
 * @param {import("./records.js").Exchange} exchange */
function teamOf({ outcome, metadata, related_docs, question }) {
  const known = teams[metadata?.intent];
  const team = outcome === "redirected" ? known : (known ?? teams[related_docs?.[0]?.category] ?? teams.other);
  if (!team) return null;
  const { name } = team;
  const contact = PLACEHOLDER.test(team.contact ?? "") ? "" : team.contact;
  const mail = contact?.includes("@") && `mailto:${contact}?subject=${encodeURIComponent(question)}`;
  const shown = mail ? element("a", { href: mail }, contact) : contact;
  return element("p", { class: "team" }, `${t("next.team")} `, element("strong", { text: name }), shown ? " · " : "", shown ?? "");
}
