// The address of what is shown: Back and Forward go through conversations, documents and pages, and a reload shows the same again.
// It stands behind "#", which browsers do not send. An embedded page has none, because its history is that of the page around it.
import { embedded } from "./api.js";
import { leave, open } from "./conversation.js";
import { byId } from "./elements.js";
import { sharedConversation } from "./shared.js";
import { dateOf } from "./sources.js";
import { change, state, subscribe } from "./state.js";
import { t } from "./words.js";

const SHOWN = ["conversation", "exchanges", "view", "document"];

/** The address of what is shown now. */
let current = "";
let waiting = false;

/** Follow what is shown, as soon as `restore` has been called, and what Back and Forward ask for. */
export function start() {
  if (embedded) return;
  subscribe((_, changed) => {
    if (!state.restored || waiting || !SHOWN.some((name) => changed.has(name))) return;
    waiting = true;
    queueMicrotask(follow); // What changes together is one step.
  });
  addEventListener("popstate", () => state.restored && (isNamed() || !location.hash) && apply());
}

/** Show what the address names; without one, what `otherwise` opens. @param {() => void} otherwise */
export function restore(otherwise) {
  // A quick user has asked already: that was a step, and Back leads to the empty page.
  const step = state.conversation.exchanges.length ? "pushState" : "replaceState";
  if (isNamed()) apply();
  else otherwise();
  current = address();
  if (!isNamed() && current) history[step](state.document, "", current);
  change({ restored: true });
}

function follow() {
  waiting = false;
  const now = address();
  if (now === current) return;
  current = now;
  // Where the quoted words stand is no part of the address; the browser keeps it beside it.
  history.pushState(state.document, "", now || location.pathname + location.search);
}

/** Return whether the address names something to show: the link that leads to the box does not. */
const isNamed = () => location.hash.includes("=");

function address() {
  const { conversation, view, document: shown } = state;
  const named = Object.entries({ c: conversation.exchanges.length && conversation.id, t: conversation.shared, view: view === "documents" && view, doc: shown?.doc_id, page: shown?.page });
  const words = new URLSearchParams(named.filter(([, value]) => value).map(([name, value]) => [name, String(value)]));
  return words.size ? `#${words}` : "";
}

function apply() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  const [id, answer, view] = [wanted.get("c"), wanted.get("a"), wanted.get("view") === "documents" ? "documents" : "ask"];
  if (id && (id !== state.conversation.id || answer)) {
    const [found, trace] = [open(id, answer), wanted.get("t")];
    if (!found) leave();
    tell(found || trace ? "" : t("conversations.elsewhere"));
    if (!found && trace) showShared(trace, id, answer);
  } else if (!id && state.conversation.exchanges.length) leave();
  change({ view });
  showDocument(wanted.get("doc"), wanted.get("page"));
  current = address();
}

/** Show a colleague's answer, or say why not. @param {string} trace @param {string} id @param {string | null} answer */
async function showShared(trace, id, answer) {
  const asked = location.hash;
  try {
    const conversation = await sharedConversation(trace, id, answer);
    if (location.hash !== asked) return;
    change({ conversation });
    current = address();
    tell(t("shared.from", { date: dateOf(new Date(conversation.changed).toISOString()) }));
  } catch (error) {
    if (!error.message || location.hash !== asked) throw error;
    if (error.status === 401) document.dispatchEvent(new CustomEvent("sign-in-needed"));
    tell(error.status === 401 ? t("shared.sign-in") : error.message);
  }
}

/** @param {string | null} doc_id @param {string | null} page */
function showDocument(doc_id, page) {
  if (!doc_id) {
    document.dispatchEvent(new CustomEvent("close-document"));
    return;
  }
  const kept = history.state?.doc_id === doc_id ? history.state : {};
  const known = state.document?.doc_id === doc_id ? state.document : {};
  const place = { ...known, ...kept, doc_id, page: Number(page) || null };
  if (state.document?.doc_id !== doc_id || state.document.page !== place.page) document.dispatchEvent(new CustomEvent("open-document", { detail: place }));
}

/** @param {string} text */
function tell(text) {
  byId("notice").textContent = text;
  byId("notice").hidden = !text;
}
