// Keeps this browser's conversations: in localStorage only, bounded, by owner; they are never sent.
import { embedded } from "./api.js";
import { state } from "./state.js";

/** What is kept of one question and its answer; `passages` has, for each citation, the source's own words.
 * @typedef {{id: string, question: string, asked: number, state: string, answer?: string, translation?: string, outcome?: string, citations?: any[],
 *   passages?: any[], sources?: any[], related_docs?: any[], closest?: any[], draft?: string, confidence?: any, metadata?: any, feedback?: number,
 *   replaced?: boolean, alone?: boolean, numbers?: (number | null)[]}} Exchange
 * @typedef {{id: string, title: string, changed: number, exchanges: Exchange[], shared?: string}} Conversation */

export const MOST_CONVERSATIONS = 100;
export const MOST_EXCHANGES = 50;
export const TITLE_CHARACTERS = 120;

const prefix = () => `waypoint:${state.me?.user_id || "local"}:`;

/** Return an id that no other has. */
export const newId = () => Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Return a conversation without exchanges.
 * @returns {Conversation} */
export const newConversation = () => ({ id: newId(), title: "", changed: Date.now(), exchanges: [] });

/** Return the owner's conversations, the last one first; an entry that cannot be read is left out.
 * @returns {Conversation[]} */
export function conversations() {
  const found = keys().map((key) => read(key)).filter((one) => one !== null);
  return found.sort((one, other) => other.changed - one.changed);
}

/** Return a conversation, or null where this browser has none of this id.
 * @param {string} id */
export const find = (id) => read(prefix() + id);

/** Put a forgotten conversation back as it was. @param {Conversation} conversation */
export const restore = (conversation) => write(conversation);

/** Keep a conversation. The oldest ones make room where there are too many, or where the browser has no more.
 * @param {Conversation} conversation
 * @returns {boolean} Whether it is kept. */
export function keep(conversation) {
  conversation.title ||= Array.from(conversation.exchanges[0]?.question ?? "").slice(0, TITLE_CHARACTERS).join("");
  conversation.changed = Date.now();
  addFromOtherTabs(conversation);
  conversation.exchanges.splice(0, conversation.exchanges.length - MOST_EXCHANGES);
  if (embedded) return false;
  const others = conversations().filter(({ id }) => id !== conversation.id);
  for (const { id } of others.splice(MOST_CONVERSATIONS - 1)) forget(id);
  while (!write(conversation)) {
    const oldest = others.pop();
    if (!oldest) return false;
    forget(oldest.id);
  }
  return true;
}

/** Add what another tab has asked in the same conversation meanwhile. @param {Conversation} conversation */
function addFromOtherTabs({ id, exchanges }) {
  const known = new Set(exchanges.map((exchange) => exchange.id));
  const missing = find(id)?.exchanges.filter((exchange) => !known.has(exchange.id)) ?? [];
  const first = exchanges[0]?.asked ?? 0;
  exchanges.push(...missing.filter(({ asked }) => exchanges.length < MOST_EXCHANGES || asked > first));
  if (missing.length) exchanges.sort((one, other) => one.asked - other.asked);
}

/** Forget a conversation. @param {string} id */
export function forget(id) {
  try {
    localStorage.removeItem(prefix() + id);
  } catch {
    // There is no storage, so there is nothing to forget.
  }
}

/** Return the conversations that hold every word, in questions or answers.
 * @param {string} words */
export function search(words) {
  const wanted = words.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  return conversations().filter(({ exchanges }) => {
    const text = exchanges.map(({ question, answer }) => `${question} ${answer ?? ""}`).join(" ").toLocaleLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}

/** Return the questions of the owner, the last one first, each once.
 * @param {Conversation} current */
export function questions(current) {
  const kept = embedded ? [] : conversations().filter(({ id }) => id !== current.id);
  const asked = [current, ...kept].flatMap(({ exchanges }) => exchanges.map(({ question }) => question).reverse());
  return [...new Set(asked)];
}

/** @returns {string[]} */
function keys() {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(prefix()));
  } catch {
    return []; // The browser keeps nothing for this page.
  }
}

/** @param {string} key @returns {Conversation | null} */
function read(key) {
  try {
    const found = JSON.parse(localStorage.getItem(key) ?? "null");
    return found && typeof found.id === "string" && Array.isArray(found.exchanges) ? found : null;
  } catch {
    return null;
  }
}

/** @param {Conversation} conversation */
function write(conversation) {
  try {
    localStorage.setItem(prefix() + conversation.id, JSON.stringify(conversation));
    return true;
  } catch {
    return false; // No room, or no storage at all.
  }
}
