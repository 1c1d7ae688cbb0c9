// The conversation on the page: asks, follows up, asks again, and keeps what was said.
import { RequestError } from "./api.js";
import { byId, focusBox } from "./elements.js";
import { ExchangeView } from "./exchange.js";
import { showOutdated } from "./outdated.js";
import { closestOf, historyOf, passagesOf } from "./passages.js";
import { find, keep, newConversation, newId } from "./records.js";
import { change, state, subscribe } from "./state.js";
import { CutError, ask } from "./stream.js";
import { supportedWords, withoutUnsupported } from "./unsupported.js";

/** @typedef {import("./records.js").Conversation} Conversation
 * @typedef {import("./records.js").Exchange} Exchange */

const SMOOTH = matchMedia("(prefers-reduced-motion: no-preference)");

/** @type {AbortController | null} */
let running = null;

/** Begin with an empty conversation, and show each that the state names from now on. */
export function start() {
  change({ conversation: newConversation(), asking: false });
  subscribe((_, changed) => {
    if (changed.has("conversation")) show();
    if (!changed.has("conversation") && !changed.has("exchanges")) return;
    const begun = state.conversation.exchanges.length > 0;
    byId("welcome").hidden = begun;
    byId("conversation-title").hidden = !begun;
  });
}

/** Ask a question in this conversation. @param {string} question */
export async function askQuestion(question) {
  if (state.asking) return;
  change({ view: state.view === "document" ? "document" : "ask" });
  /** @type {Exchange} */
  const exchange = { id: newId(), question, asked: Date.now(), state: "searching" };
  state.conversation.exchanges.push(exchange);
  const view = add(exchange);
  change({ exchanges: (state.exchanges ?? 0) + 1 }); // What welcomes goes away before the place to scroll to is measured.
  view.article.scrollIntoView({ block: "start", behavior: SMOOTH.matches ? "smooth" : "auto" });
  await answer(state.conversation, view);
}

/** End the answer that is being written; the service ends the model's call. */
export const stop = () => running?.abort();

/** Begin an empty conversation; the one before stays in the list. */
export function begin() {
  leave();
  change({ view: "ask" });
  focusBox();
}

/** Show an empty conversation. */
export function leave() {
  stop();
  change({ conversation: newConversation() });
}

/** Open a conversation of this browser, at one of its answers; returns whether it is there.
 * @param {string} id @param {string | null} [answerId] */
export function open(id, answerId = null) {
  const found = state.conversation.id === id ? state.conversation : find(id);
  if (!found) return false;
  if (found !== state.conversation) stop();
  change({ conversation: found, view: "ask" });
  const article = answerId && byId(`a-${answerId}`);
  if (article) {
    article.scrollIntoView({ block: "start" });
    article.focus({ preventScroll: true });
  } else scrollTo({ top: document.body.scrollHeight });
  return true;
}

/** Return the address of an answer, with what a colleague's page finds it by. @param {Exchange} exchange */
function linkTo({ id, metadata }) {
  const trace = metadata?.trace_id ?? state.conversation.shared;
  return `${location.href.split("#")[0]}#c=${state.conversation.id}&a=${id}${trace ? `&t=${trace}` : ""}`;
}

/** Ask once more; `alone` asks the question's own words, and from then on the conversation begins with them.
 * @param {Conversation} conversation @param {ExchangeView} view @param {boolean} [alone] */
async function again(conversation, view, alone = view.exchange.alone) {
  if (state.asking) return;
  const { id, question } = view.exchange;
  for (const name of Object.keys(view.exchange)) delete (/** @type {any} */ (view.exchange)[name]);
  Object.assign(view.exchange, { id, question, alone, asked: Date.now(), state: "searching" });
  view.article.focus({ preventScroll: true }); // The button that was pressed goes away.
  await answer(conversation, view);
}

/** @param {Conversation} conversation @param {ExchangeView} view */
async function answer(conversation, view) {
  const { exchange } = view;
  const place = conversation.exchanges.indexOf(exchange);
  const first = conversation.exchanges.findLastIndex(({ alone }, at) => alone && at <= place);
  const before = conversation.exchanges.slice(Math.max(0, first), place);
  /** @type {Record<string, any>} */
  const whole = { answer: "", documents: [] };
  const controller = new AbortController();
  running = controller;
  change({ asking: true, exchanges: (state.exchanges ?? 0) + 1 });
  save(conversation);
  view.search();
  try {
    const history = historyOf(before, exchange.question);
    await ask(exchange.question, history, { signal: controller.signal, onPart: (part) => take(view, whole, part) });
    exchange.state = "done";
    settle(exchange, whole);
    await view.finish(true);
  } catch (error) {
    await broken(view, whole, error, controller.signal.aborted);
  } finally {
    if (running === controller) running = null;
    save(conversation);
    change({ asking: running !== null, exchanges: state.exchanges + 1 });
  }
}

/** @param {ExchangeView} view @param {Record<string, any>} whole @param {Record<string, any>} part */
function take(view, whole, part) {
  const { answer: words, ...others } = part;
  Object.assign(whole, others);
  if (others.documents) view.read(others.documents);
  if (!words) return;
  const said = supportedWords(words, Array.from(whole.answer).length, others.unsupported);
  if (!whole.answer.trim() && said.trim()) view.exchange.state = "writing";
  whole.answer += words;
  view.write(said);
}

/** Keep what the page needs of the answer object. @param {Exchange} exchange @param {Record<string, any>} whole */
function settle(exchange, whole) {
  const { outcome, sources, related_docs, closest, confidence, metadata, documents, replacement } = whole;
  const replaced = typeof replacement === "string" && whole.answer.trim() !== "" && outcome !== "unsure"; // Of an unsure answer the first line is translated.
  const written = typeof replacement === "string" ? replacement : whole.answer;
  const { answer, citations, sentences } = withoutUnsupported(written, whole.citations ?? [], whole.unsupported);
  const draft = [whole.draft, ...sentences].filter(Boolean).join("\n");
  const passages = passagesOf(citations, documents);
  const near = closestOf(closest ?? [], documents);
  Object.assign(exchange, { answer, translation: whole.answer_translation, draft, outcome, citations, passages, sources, related_docs, closest: near, confidence, metadata, replaced });
}

/** @param {ExchangeView} view @param {Record<string, any>} whole @param {unknown} error @param {boolean} stopped */
async function broken(view, whole, error, stopped) {
  const { exchange } = view;
  exchange.answer = whole.answer;
  const wrote = whole.answer.trim() !== "";
  if (stopped || (wrote && error instanceof RequestError)) {
    exchange.state = stopped ? "stopped" : "cut";
    return view.finish(true);
  }
  exchange.state = "failed";
  if (!(error instanceof RequestError)) console.error(error);
  view.fail(error instanceof RequestError ? error : new RequestError(500, ""));
}

/** @param {Conversation} conversation */
function save(conversation) {
  const kept = keep(conversation);
  change({ unkept: !kept });
}

async function show() {
  const conversation = /** @type {Conversation} */ (state.conversation);
  byId("exchanges").replaceChildren();
  const views = conversation.exchanges.map((exchange) => {
    // A page that was left while an answer was written has the question, and no more.
    if (exchange.state === "searching" || exchange.state === "writing") exchange.state = "cut";
    return add(exchange);
  });
  await Promise.all(views.map((view) => view.finish(false)));
  await showOutdated(views.filter((view) => view.exchange.state === "done"));
}

/** @param {Exchange} exchange */
function add(exchange) {
  const { conversation } = state;
  const view = new ExchangeView(exchange, {
    again: () => again(conversation, view),
    alone: conversation.exchanges[0] === exchange ? null : () => again(conversation, view, true),
    edit: () => document.dispatchEvent(new CustomEvent("edit-question", { detail: exchange.question })),
    begin,
    keep: () => save(conversation),
    link: () => linkTo(exchange),
  });
  byId("exchanges").append(view.article);
  return view;
}
