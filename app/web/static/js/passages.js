// Finds what an answer is based on: the source's own words around each quote, and the turns that a next question follows.

/** The source's words around a quote, and where they come from.
 * @typedef {{before: string, quote: string, after: string, organisation: string | null, date: string | null, category: string | null, audience: string | null,
 *   chunk: number | null, start: number | null, end: number | null}} Shown
 */

const AROUND_CHARACTERS = 180;
const MOST_TURNS = 20;
const MOST_CHARACTERS = 8000;
const LONGEST_TURN = 3000;
// A request has at most 32 kB; what is not history or question in it takes less than 200 bytes.
const MOST_BYTES = 32000;

/** Return the source's words for each citation: null where nothing was found.
 * @param {any[]} citations
 * @param {any[]} documents What was retrieved
 * @returns {(Shown | null)[]} */
export function passagesOf(citations, documents) {
  return citations.map((citation) => {
    const same = documents.filter(({ metadata }) => metadata.doc_id === citation.doc_id);
    const holding = same.filter(({ content }) => citation.quote && content.includes(citation.quote));
    const found = holding.find(({ metadata }) => metadata.section === citation.section) ?? holding[0] ?? same[0];
    return citation.matched && found ? shownOf(citation.quote, found) : null;
  });
}

/** Return the closest passages with the places of their best words in the documents.
 * @param {any[]} closest
 * @param {any[]} documents What was retrieved */
export function closestOf(closest, documents) {
  const words = passagesOf(closest.map((one) => ({ ...one, quote: one.marked || one.quote, matched: true })), documents);
  return closest.map((one, index) => ({ ...one, ...words[index], quote: one.quote }));
}

/** @param {string} quote @param {{content: string, metadata: any}} document @returns {Shown} */
function shownOf(quote, { content, metadata }) {
  const at = quote ? content.indexOf(quote) : -1;
  const [before, after] = at < 0 ? ["", content] : [content.slice(0, at), content.slice(at + quote.length)];
  const start = at < 0 || metadata.start_char === undefined ? null : metadata.start_char + Array.from(before).length;
  return {
    before: ending(before),
    quote: at < 0 ? "" : quote,
    after: beginning(after),
    organisation: metadata.source_org ?? null,
    date: metadata.last_updated ?? null,
    category: metadata.category ?? null,
    audience: metadata.audience ?? null,
    chunk: metadata.chunk_index ?? null,
    start,
    end: start === null ? null : start + Array.from(quote).length,
  };
}

/** @param {string} text */
function ending(text) {
  if (text.length <= AROUND_CHARACTERS) return text.trimStart();
  return `… ${text.slice(-AROUND_CHARACTERS).replace(/^\S*\s*/, "")}`;
}

/** @param {string} text */
function beginning(text) {
  if (text.length <= AROUND_CHARACTERS) return text.trimEnd();
  return `${text.slice(0, AROUND_CHARACTERS).replace(/\s*\S*$/, "")} …`;
}

/** Return the last turns of a conversation that a question may follow: as many as the service takes.
 * @param {{question: string, answer?: string, state: string}[]} exchanges
 * @param {string} question
 * @returns {import("./stream.js").Turn[]} */
export function historyOf(exchanges, question) {
  /** @type {import("./stream.js").Turn[]} */
  let turns = [];
  let [characters, bytes] = [0, size(question)];
  for (const exchange of [...exchanges].reverse()) {
    if (exchange.state !== "done" || !exchange.answer) continue;
    const answer = Array.from(exchange.answer).slice(0, LONGEST_TURN).join("");
    const pair = /** @type {import("./stream.js").Turn[]} */ ([
      { role: "user", content: exchange.question },
      { role: "assistant", content: answer },
    ]);
    characters += Array.from(exchange.question + answer).length;
    bytes += size(pair);
    if (turns.length + 2 > MOST_TURNS || characters > MOST_CHARACTERS || bytes > MOST_BYTES) break;
    turns = [...pair, ...turns];
  }
  return turns;
}

/** @param {unknown} value */
const size = (value) => new TextEncoder().encode(JSON.stringify(value)).length;
