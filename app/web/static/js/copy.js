// An answer to take along: as text with numbered sources, for a customer, as markdown, as an e-mail, or as a link.
import { dateOf, placeOf, sourcesOf } from "./sources.js";
import { t } from "./words.js";

const LONGEST_MAILTO = 1900; // Some mail programs cut longer addresses.
const BLOCKS = /^(P|DIV|H\d|UL|OL|LI|TR|TABLE|PRE|BLOCKQUOTE|HR)$/;

/** Return an answer's words without the numbers of its sources. @param {HTMLElement} shown The answer as it is shown */
export function wordsOf(shown) {
  const bare = /** @type {HTMLElement} */ (shown.cloneNode(true));
  for (const chip of bare.querySelectorAll(".chip")) chip.remove();
  return tidy(textOf(bare)).replace(/ +(?=[.,;:!?])/g, "");
}

/** Return the answer for a customer: without numbers and internal titles, with the public documents, their dates and links.
 * @param {import("./records.js").Exchange} exchange
 * @param {HTMLElement} shown The answer as it is shown */
export function forCustomer(exchange, shown) {
  /** @type {Map<string | null, string>} */
  const lines = new Map();
  for (const { doc_id, audience, title, date, urls } of sourcesOf(exchange)) {
    if (audience !== "public") continue;
    const about = [title, date && t("source.date", { date: dateOf(date) })].filter(Boolean).join(", ");
    lines.set(doc_id, [`- ${about}`, ...urls].join("\n  "));
  }
  return joined(wordsOf(shown), [...lines.values()]);
}

/** Return whether an answer rests on a document that is not known to be public.
 * @param {import("./records.js").Exchange} exchange */
export const isInternal = (exchange) => sourcesOf(exchange).some(({ audience }) => audience !== "public");

/** Return the answer as text, with its sources by number.
 * @param {import("./records.js").Exchange} exchange
 * @param {HTMLElement} shown The answer as it is shown */
export function asText(exchange, shown) {
  return joined(tidy(textOf(shown)), sourcesOf(exchange).map((source) => `[${source.number}] ${cited(source)}${source.urls[0] ? ` ${source.urls[0]}` : ""}`));
}

/** Return the answer as markdown, with its sources by number.
 * @param {import("./records.js").Exchange} exchange */
export function asMarkdown(exchange) {
  const letters = Array.from(exchange.answer ?? "");
  const marked = (exchange.citations ?? []).map((citation, index) => ({ ...citation, known: exchange.numbers?.[index] ?? citation.number }));
  let until = letters.length;
  for (const { start, end, attributed, matched, known } of marked.sort((one, other) => other.end - one.end)) {
    if (end > until) continue; // It overlaps another one.
    const number = matched && known ? `[${known}]` : "";
    let from = start;
    if (attributed) {
      from = end;
      while (from > 0 && /[ \t\n|]/.test(letters[from - 1])) from -= 1;
    }
    letters.splice(from, attributed ? 0 : end - start, attributed ? ` ${number}` : number);
    until = from;
  }
  const sources = sourcesOf(exchange).map((source) => `${source.number}. ${source.urls[0] ? `[${cited(source)}](<${source.urls[0]}>)` : cited(source)}`);
  return joined(letters.join("").trim(), sources);
}

/** Return subject and text of an e-mail to a customer.
 * @param {import("./records.js").Exchange} exchange
 * @param {HTMLElement} shown */
export function asMail(exchange, shown) {
  return { subject: exchange.question.replace(/\s+/g, " "), text: forCustomer(exchange, shown) };
}

/** Open the user's mail program, or copy the e-mail where it is too long for that; returns whether it was copied.
 * @param {{subject: string, text: string}} mail */
export async function sendMail({ subject, text }) {
  const address = `mailto:?subject=${encodeURIComponent(subject)}&body=${encodeURIComponent(text.replace(/\n/g, "\r\n"))}`;
  if (address.length > LONGEST_MAILTO) {
    await copy(text);
    return true;
  }
  location.href = address;
  return false;
}

/** Put a text into the clipboard, where the browser lets a page do so.
 * @param {string} text */
export async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = document.createElement("textarea"); // A page without https has no clipboard but this.
  const before = document.activeElement;
  field.value = text;
  field.className = "unseen";
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
  if (before instanceof HTMLElement) before.focus();
}

/** @param {string} text */
const tidy = (text) => text.replace(/[ \t]+$/gm, "").replace(/\n{3,}/g, "\n\n").trim();

/** @param {import("./sources.js").Source} source */
const cited = (source) => [placeOf(source), source.organisation].filter(Boolean).join(", ");

/** @param {string} answer @param {string[]} sources */
const joined = (answer, sources) => (sources.length ? `${answer}\n\n${t("part.sources")}:\n${sources.join("\n")}` : answer);

/** Return an element's text: lists with their signs, cells apart, citations as numbers in brackets.
 * @param {Node} node
 * @returns {string} */
function textOf(node) {
  if (node.nodeType === Node.TEXT_NODE) return (node.textContent ?? "").replace(/\s+/g, " ");
  if (!(node instanceof HTMLElement)) return "";
  if (node.classList.contains("chip")) return node.dataset.kind === "unmatched" ? "" : ` [${node.textContent}]`;
  if (node.tagName === "BR") return "\n";
  if (node.tagName === "PRE") return `\n${node.textContent}\n`;
  const inner = [...node.childNodes].map(textOf).join(node.tagName === "TR" ? " | " : "").replace(/ +\[/g, " [");
  if (node.tagName === "LI") return `\n${sign(node)} ${inner.trim()}`;
  if (node.tagName === "TR") return `\n${inner.replace(/^[\s|]+|[\s|]+$/g, "")}`;
  const blank = /^(P|H\d|UL|OL|TABLE)$/.test(node.tagName) && node.parentElement?.tagName !== "LI" ? "\n\n" : "\n";
  return BLOCKS.test(node.tagName) ? `${blank}${inner.trim()}${blank}` : inner;
}

/** @param {HTMLElement} item */
function sign(item) {
  const list = item.parentElement;
  if (!(list instanceof HTMLOListElement)) return "-";
  return `${list.start + [...list.children].indexOf(item)}.`;
}
