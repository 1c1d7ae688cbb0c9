// An answer that a colleague has sent a link to: the service shows it to those who may see it.
import { request } from "./api.js";
import { newId } from "./records.js";

/** Return a conversation with the answer of a trace.
 * @param {string} trace
 * @param {string} id Of the conversation that the link names
 * @param {string | null} answerId
 * @throws {import("./api.js").RequestError} Its message says why the visitor does not see it.
 * @returns {Promise<import("./records.js").Conversation>} */
export async function sharedConversation(trace, id, answerId) {
  const { question, answer, outcome, asked_at, level, score, citations } = await request(`api/answers/${encodeURIComponent(trace)}`);
  const asked = asked_at * 1000;
  const passages = citations.map((/** @type {any} */ { quote, place: [start, end] }) => ({ before: "", quote, after: "", start, end }));
  const confidence = level && { level, score: score ?? 0, reason: "" };
  const exchange = { id: answerId ?? newId(), question, asked, state: "done", answer, outcome, citations, passages, confidence };
  return { id, title: question, changed: asked, exchanges: [exchange], shared: trace };
}
