// How far an answer can be trusted: a badge at its top, and a card with the reason and with how the answer was made.
import { explain } from "./chips.js";
import { element } from "./elements.js";
import { isAnswer, levelOf } from "./sources.js";
import { language, sentence, t } from "./words.js";

/** Return how far an answer can be trusted, or of a decline what no source mentions; null where there is nothing to say.
 * @param {import("./records.js").Exchange} exchange */
export function confidence(exchange) {
  const { confidence: found, metadata, outcome } = exchange;
  const lacking = outcome === "declined" && found?.reason.split(". ").slice(1).join(". ");
  if (lacking) return element("p", { class: "confidence" }, element("span", { class: "reason", ...reason(lacking) }));
  return found && isAnswer(exchange) ? rating(outcome === "degraded" ? { ...found, reason: "" } : found, metadata) : null;
}

/** Return the badge, and beside it what to check where the answer is not sure. @param {any} found @param {any} metadata */
export function rating(found, metadata) {
  const level = levelOf(found.level);
  const badge = element("button", { type: "button", class: "badge", text: t(`confidence.${level}`) });
  explain(badge, () => card(found, metadata));
  return element("p", { class: "confidence", data: { level } }, badge, level !== "high" && found.reason && element("span", { class: "reason", ...reason(found.reason) }));
}

/** @param {any} found @param {any} metadata */
function card(found, metadata) {
  const percent = Math.round(Math.max(0, Math.min(1, found.score)) * 100);
  return [
    element("p", { class: "card-title", text: t("confidence.score", { percent }) }),
    ...(found.reason ? [element("p", reason(found.reason))] : []),
    ...(metadata ? [element("p", { class: "card-about figures", text: figures(metadata) })] : []),
  ];
}

/** Return the reason in the visitor's language where all its sentences have words there, else in English. @param {string} english */
function reason(english) {
  const parts = english.split(/(; (?=the words are quoted)|\. )/);
  const sentences = parts.map((part, place) => (place % 2 ? part : sentence("reason.", part)));
  const text = sentences.every(Boolean) ? sentences.join("") : sentence("reason.", english); // A name in it may have a full stop.
  return text ? { text } : { lang: "en", text: english };
}

/** @param {any} metadata */
function figures({ chunks_retrieved, chunks_used, latency_ms, model, cache }) {
  const seconds = new Intl.NumberFormat(language, { maximumSignificantDigits: 2 }).format(latency_ms / 1000);
  const facts = [t("figures.retrieved", { count: chunks_retrieved }), t("figures.used", { count: chunks_used }), t("figures.seconds", { seconds }), cache && t("figures.cached"), model];
  return facts.filter(Boolean).join(" · ");
}
