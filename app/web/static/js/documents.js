// The list of documents: search, categories, order, opening one, removing one. It is asked for in pages, as it is scrolled.
import { address, request } from "./api.js";
import { button, byId, element, focusBox } from "./elements.js";
import { change, state, subscribe } from "./state.js";
import { showUpload } from "./upload.js";
import { categoryName, factsOf } from "./viewer.js";
import { t } from "./words.js";

const PAGE = 100;
const TYPING_MS = 200;
const ORDERS = ["category", "title", "updated", "added", "used"];

let category = "";
let search = "";
let sort = "category";
/** @type {AbortController | null} */
let asking = null;
/** @type {ReturnType<typeof setTimeout>} */
let waiting;

const scrolled = new IntersectionObserver((seen) => {
  const [one] = seen.filter(({ isIntersecting }) => isIntersecting);
  if (one) /** @type {HTMLElement} */ (one.target).click();
}, { rootMargin: "600px" });

/** Listen for "open-documents", "documents-changed", and the button in the header. */
export function start() {
  byId("open-documents")?.addEventListener("click", () => change({ view: state.view === "documents" ? "ask" : "documents" }));
  document.addEventListener("open-documents", () => change({ view: "documents" }));
  for (const event of ["documents-changed", "signed-in"]) document.addEventListener(event, () => state.view === "documents" && list());
  document.addEventListener("signed-out", () => {
    byId("documents").replaceChildren(); // What the one before could see is not left behind.
    if (state.view === "documents") enter();
  });
  subscribe((_, changed) => {
    if (!changed.has("view")) return;
    const shown = state.view === "documents";
    byId("open-documents")?.setAttribute("aria-pressed", String(shown));
    byId("documents").hidden = !shown;
    if (shown) enter();
  });
}

function enter() {
  const place = byId("documents");
  if (!place.firstChild) place.append(...frame());
  byId("documents-search").focus();
  list();
}

function frame() {
  search = category = "";
  const box = /** @type {HTMLInputElement} */ (element("input", {
    type: "search", id: "documents-search", placeholder: t("documents.search"), "aria-label": t("documents.search"),
    on: { input: () => { clearTimeout(waiting); waiting = setTimeout(() => { search = box.value; list(); }, TYPING_MS); } },
  }));
  return [
    element("div", { class: "documents-head" }, element("h1", { text: t("documents.title") }),
      button(t("documents.back"), () => { change({ view: "ask" }); focusBox(); }, { class: "quiet", does: "back" })),
    element("div", { id: "upload" }),
    box,
    element("div", { id: "documents-categories", role: "group", "aria-label": t("documents.categories") }),
    element("a", { id: "documents-insights", href: address("insights"), hidden: true, text: t("insights.title") }),
    element("div", { class: "documents-head" }, element("p", { id: "documents-count", role: "status" }), order()),
    element("div", { id: "documents-list" }),
  ];
}

function order() {
  const chosen = /** @type {HTMLSelectElement} */ (element("select", { id: "documents-sort", on: { change: () => { sort = chosen.value; list(); } } },
    ...ORDERS.map((value) => element("option", { value, text: t(`documents.by-${value}`) }))));
  chosen.value = sort;
  return element("label", { class: "order" }, t("documents.sort"), chosen);
}

/** Ask for the documents; `offset` of them are on screen. */
async function list(offset = 0) {
  asking?.abort();
  asking = new AbortController();
  const wanted = new URLSearchParams({ search, category, sort, offset: String(offset), limit: String(PAGE) });
  try {
    show(await request(`api/documents?${wanted}`, { signal: asking.signal }), offset);
  } catch (error) {
    if (error.name === "AbortError") return;
    byId("documents-count").textContent = error.message;
    byId("documents-list").replaceChildren(button(t("viewer.again"), () => list(offset), { does: "again" }));
    if (error.status === 401) document.dispatchEvent(new CustomEvent("sign-in-needed"));
  }
}

/** @param {any} found @param {number} offset */
function show(found, offset) {
  showUpload(found);
  byId("documents-insights").hidden = !found.upload || state.me?.audience !== "internal";
  byId("documents-count").textContent = t(found.total === 1 ? "documents.count-one" : "documents.count", { count: found.total });
  const all = Object.values(found.categories).reduce((sum, count) => sum + count, 0);
  byId("documents-categories").replaceChildren(filter("", t("documents.all"), all),
    ...Object.entries(found.categories).map(([name, count]) => filter(name, categoryName(name), count)));
  const place = byId("documents-list");
  if (!offset) place.replaceChildren();
  place.querySelector('[data-do="more"]')?.remove();
  byId("documents-sort").querySelector("[value=used]").hidden = !found.documents.some((/** @type {any} */ { used }) => used !== null);
  for (const one of found.documents) listOf(place, sort === "category" ? one.category : "").append(row(one));
  if (offset + found.documents.length < found.total) {
    const more = button(t("documents.more"), () => { scrolled.disconnect(); list(offset + PAGE); }, { does: "more" });
    place.append(more);
    scrolled.observe(more);
  }
}

/** @param {string} name @param {string} label @param {any} count */
function filter(name, label, count) {
  const made = button(`${label} (${count})`, () => { category = name; list(); }, { does: "category" });
  made.dataset.category = name;
  made.setAttribute("aria-pressed", String(name === category));
  return made;
}

/** Return the list of a category, where documents come in the order of their categories; else the only one.
 * @param {HTMLElement} place @param {string} name */
function listOf(place, name) {
  const last = /** @type {HTMLElement | null} */ (place.querySelector("ul:last-of-type"));
  if (last?.dataset.category === name) return last;
  const made = element("ul", { data: { category: name } });
  place.append(.../** @type {Node[]} */ ([name && element("h2", { text: categoryName(name) }), made].filter(Boolean)));
  return made;
}

/** @param {any} one */
function row(one) {
  const { doc_id, title } = one;
  const opens = button(title, () => document.dispatchEvent(new CustomEvent("open-document", { detail: { doc_id, title, from: opens } })), { class: "title", does: "open" });
  const removes = one.removable && button(t("documents.remove"), () => askToRemove(one, removes), { icon: "remove", alone: true, class: "quiet", does: "remove" });
  if (removes) removes.setAttribute("aria-label", t("documents.remove-named", { title }));
  const badge = one.audience === "internal" && element("span", { class: "badge", text: t("documents.internal") });
  const warnings = one.warnings.map((/** @type {string} */ name) => element("span", { class: "badge warning", text: t(`documents.${name}`) }));
  const facts = [factsOf(one), one.used !== null && t("documents.used", { count: one.used })].filter(Boolean).join(" · ");
  return element("li", { data: { docId: doc_id } }, element("div", {}, opens, badge, ...warnings, element("p", { class: "facts", text: facts })), removes);
}

/** @param {any} one @param {HTMLElement} from */
function askToRemove(one, from) {
  const text = one.uploaded ? "documents.remove-uploaded" : "documents.remove-indexed";
  const error = element("p", { role: "alert" });
  const dialog = /** @type {HTMLDialogElement} */ (element("dialog", { id: "remove", "aria-labelledby": "remove-title", on: { close: () => { dialog.remove(); from.isConnected ? from.focus() : byId("documents-search").focus(); } } },
    element("h2", { id: "remove-title", text: t("documents.remove-title", { title: one.title }) }), element("p", { text: t(`documents.seen-${one.audience}`) }), element("p", { text: t(text) }), element("p", { text: t("documents.remove-cited") }), error,
    element("div", { class: "buttons" }, button(t("dialog.cancel"), () => dialog.close(), { class: "quiet", does: "cancel" }),
      button(t("documents.remove"), remove, { class: "danger", does: "confirm-remove" }))));
  async function remove() {
    try {
      await request(`api/documents/${encodeURIComponent(one.doc_id)}`, { method: "DELETE" });
    } catch (failure) {
      error.textContent = failure.message;
      if (failure.status !== 404) return;
    }
    document.dispatchEvent(new CustomEvent("document-removed", { detail: { doc_id: one.doc_id } }));
    await list();
    dialog.close();
  }
  document.body.append(dialog);
  dialog.showModal();
}
