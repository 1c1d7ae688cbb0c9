// The list of this browser's conversations: search, open, delete with a way back, and which one a tab or a link shows.
import { embedded } from "./api.js";
import { begin, open } from "./conversation.js";
import * as earlier from "./earlier.js";
import { button, byId, element } from "./elements.js";
import { restore } from "./navigation.js";
import * as records from "./records.js";
import { change, state, subscribe } from "./state.js";
import { saveTranscript } from "./transcript.js";
import { language, t } from "./words.js";

const TAB = "waypoint:conversation";

/** @type {string | null | undefined} */
let owner;
/** @type {records.Conversation | null} */
let deleted = null;

/** Make the list, and open what the address or this tab names as soon as it is known whose conversations these are. */
export function start() {
  if (embedded) return;
  subscribe((_, changed) => {
    if (changed.has("me")) own();
    if (changed.has("conversation") || changed.has("exchanges")) byId("notice").hidden = true;
    if (changed.has("conversation") || changed.has("exchanges")) remember();
    if (["me", "conversation", "exchanges", "unkept"].some((name) => changed.has(name))) list();
  });
  addEventListener("storage", list);
  byId("open-conversations").addEventListener("click", toggle);
  byId("conversations").addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Escape") close();
  });
}

/** Take over the conversations of whoever the visitor is now. */
function own() {
  const now = state.me?.user_id ?? null;
  const before = owner;
  owner = now;
  if (before === now) return;
  earlier.load(now).then(list);
  if (before) return begin(); // Somebody else's conversation is not shown to the next one.
  if (state.conversation.exchanges.length) records.keep(state.conversation);
  restore(() => state.conversation.exchanges.length || open(kept() ?? ""));
}

function remember() {
  try {
    sessionStorage.setItem(TAB, state.conversation.id);
  } catch {
    // The browser keeps nothing; the conversation lasts as long as the page.
  }
}

function kept() {
  try {
    return sessionStorage.getItem(TAB);
  } catch {
    return null;
  }
}

function list() {
  if (owner === undefined) return;
  const place = byId("conversations");
  const words = place.querySelector("input")?.value ?? "";
  const all = records.conversations();
  const elsewhere = words.trim() ? [] : earlier.items(when, close);
  const isEmpty = !all.length && !elsewhere.length && !deleted;
  byId("open-conversations").hidden = isEmpty;
  if (isEmpty) return place.replaceChildren();
  if (!place.querySelector("input")) place.replaceChildren(...frame());
  const found = words.trim() ? records.search(words) : all;
  const items = found.map(item);
  if (deleted) items.unshift(element("li", { class: "undo" }, element("span", { text: t("conversations.deleted") }), button(t("feedback.undo"), undo, { class: "quiet", does: "undo" })));
  place.querySelector("ul").replaceChildren(...items, ...elsewhere);
  place.querySelector(".empty").hidden = items.length + elsewhere.length > 0;
  place.querySelector(".unkept").hidden = !state.unkept;
}

function frame() {
  const search = element("input", { type: "search", "aria-label": t("conversations.search"), placeholder: t("conversations.search"), on: { input: list } });
  return [
    element("div", { class: "list-head" }, element("h2", { text: t("conversations.title") }), button(t("dialog.close"), close, { icon: "close", alone: true, class: "quiet narrow" })),
    search,
    element("p", { class: "empty", hidden: true, text: t("conversations.none") }),
    element("ul"),
    element("p", { class: "unkept", hidden: true, text: t("conversations.unkept") }),
    element("p", { class: "local", text: t("conversations.local") }),
  ];
}

/** @param {records.Conversation} conversation */
function item(conversation) {
  const { id, title, changed } = conversation;
  const current = id === state.conversation.id;
  const choose = () => {
    close();
    open(id);
  };
  const name = element("button", { type: "button", class: "open", title, "aria-current": current ? "true" : null, on: { click: choose } }, element("span", { class: "name", text: title }), element("span", { class: "when", text: when(changed) }));
  const remove = button(t("conversations.delete", { title }), () => drop(conversation), { icon: "remove", alone: true, class: "quiet", does: "delete" });
  return element("li", { data: { id } }, name, remove, current && tools(conversation));
}

/** What can be done with the conversation that is open. @param {records.Conversation} conversation */
function tools(conversation) {
  const made = element("div", { class: "tools" },
    button(t("conversations.rename"), () => askName(conversation, made), { icon: "edit", alone: true, class: "quiet", does: "rename" }),
    button(t("conversations.save"), () => saveTranscript(state.conversation), { icon: "markdown", alone: true, class: "quiet", does: "save" }),
    button(t("conversations.print"), () => print(), { icon: "print", alone: true, class: "quiet", does: "print" }));
  return made;
}

/** Let the user type another name in place of the tools; Enter or leaving the field keeps it, Escape does not.
 * @param {records.Conversation} conversation @param {HTMLElement} place */
function askName({ title }, place) {
  const field = /** @type {HTMLInputElement} */ (element("input", { maxlength: records.TITLE_CHARACTERS, "aria-label": t("conversations.name") }));
  let isDone = false;
  const done = (/** @type {boolean} */ keep) => {
    if (isDone) return; // What takes the field away takes its focus, too.
    isDone = true;
    if (keep && field.value.trim()) {
      state.conversation.title = field.value.trim();
      records.keep(state.conversation);
    }
    list();
    byId("conversations").querySelector("[data-do='rename']")?.focus();
  };
  field.value = title;
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation(); // Escape closes the list, too.
    done(event.key === "Enter");
  });
  field.addEventListener("blur", () => done(true));
  place.replaceChildren(field);
  field.select();
}

/** @param {records.Conversation} conversation */
function drop(conversation) {
  deleted = conversation;
  records.forget(conversation.id);
  if (conversation.id === state.conversation.id) begin();
  list();
  byId("conversations").querySelector("[data-do='undo']")?.focus();
}

function undo() {
  if (deleted) records.restore(deleted);
  deleted = null;
  list();
}

/** @param {number} changed */
function when(changed) {
  const today = new Date(changed).toDateString() === new Date().toDateString();
  return new Intl.DateTimeFormat(language, today ? { timeStyle: "short" } : { dateStyle: "medium" }).format(changed);
}

function toggle() {
  const opened = document.body.dataset.list !== "open";
  if (!opened) return close();
  document.body.dataset.list = "open";
  byId("open-conversations").setAttribute("aria-expanded", "true");
  change({ view: "ask" });
  byId("conversations").querySelector("input")?.focus();
}

function close() {
  if (!("list" in document.body.dataset)) return;
  delete document.body.dataset.list;
  byId("open-conversations").setAttribute("aria-expanded", "false");
  byId("open-conversations").focus();
}
