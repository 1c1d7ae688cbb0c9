// Shows a document beside the answer, at the place that a citation names; Escape closes it and gives the focus back.
import { request } from "./api.js";
import { button, byId, element, focusBox } from "./elements.js";
import { showPage } from "./pdf.js";
import { dateOf, safe } from "./sources.js";
import { change } from "./state.js";
import { whyNot } from "./why.js";
import { t } from "./words.js";

const NARROW = matchMedia("(max-width: 59.99rem)");
const SMOOTH = matchMedia("(prefers-reduced-motion: no-preference)");

/** What is open, and what gets the focus back. @type {{detail: any, shown: any, from: HTMLElement | null} | null} */
let open = null;
/** @type {AbortController | null} */
let asking = null;

/** Listen for "open-document" {doc_id, title, quote, page, chunk, start, end, section, from} and "close-document". */
export function start() {
  document.addEventListener("open-document", (event) => show(/** @type {CustomEvent} */ (event).detail));
  document.addEventListener("document-removed", (event) => {
    if (open?.detail.doc_id === /** @type {CustomEvent} */ (event).detail.doc_id) close();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !open || event.defaultPrevented || document.querySelector("dialog[open]")) return;
    if (!byId("viewer").contains(document.activeElement) && document.activeElement !== document.body) return;
    event.preventDefault();
    event.stopImmediatePropagation(); // The same key stops an answer.
    close();
  }, true);
  document.addEventListener("close-document", close);
  document.addEventListener("signed-out", close);
  NARROW.addEventListener("change", coverRest);
}

/** @param {any} detail */
async function show(detail) {
  const from = detail.from ?? (open ? open.from : /** @type {HTMLElement} */ (document.activeElement));
  open = { detail, shown: null, from };
  tell();
  asking?.abort();
  asking = new AbortController();
  fill(head(detail.title ?? ""), element("p", { class: "wait", role: "status", text: t("viewer.loading") }));
  byId("viewer").hidden = false;
  coverRest();
  byId("viewer-title").focus({ preventScroll: true });
  try {
    const shown = await request(path(detail), { signal: asking.signal });
    open.shown = shown;
    fill(head(shown.title), about(shown), whyNot(shown.doc_id), ...views(detail, shown));
    byId("viewer-title").focus({ preventScroll: true });
    if (shown.kind === "pdf") await pick("page");
    if (!byId("viewer").querySelector(".sheet:not([hidden])")) scrollToMark();
  } catch (error) {
    if (error.name !== "AbortError") failed(error, detail);
  }
}

/** Close the document, and give the focus back. */
export function close() {
  if (!open) return;
  const { from } = open;
  asking?.abort();
  open = null;
  tell();
  byId("viewer").hidden = true;
  byId("viewer").replaceChildren();
  coverRest();
  from?.isConnected ? from.focus() : focusBox();
}

/** On a narrow screen the document covers the rest, so nothing else can have the focus. */
function coverRest() {
  const covered = open !== null && NARROW.matches;
  for (const id of ["header", "conversations", "conversation", "documents"]) byId(id)?.toggleAttribute("inert", covered);
}

/** @param {any} detail */
function path({ doc_id, ...known }) {
  const wanted = new URLSearchParams();
  for (const name of ["quote", "page", "chunk", "section", "start", "end"]) {
    if (known[name] !== undefined && known[name] !== null && known[name] !== "") wanted.set(name, known[name]);
  }
  return `documents/${encodeURIComponent(doc_id)}?${wanted}`;
}

/** @param {...(Node | null)} children */
function fill(...children) {
  byId("viewer").replaceChildren(.../** @type {Node[]} */ (children.filter(Boolean)));
}

/** @param {any} shown */
function about(shown) {
  const [href] = safe(shown.source_urls);
  const away = href && element("a", {
    href, target: "_blank", rel: "noopener noreferrer", text: t("document.sources"),
  });
  return element("p", { class: "facts", text: [categoryName(shown.category), factsOf(shown)].join(" · ") }, away && " · ", away);
}

/** @param {string} title */
function head(title) {
  return element("header", {}, element("h2", { id: "viewer-title", tabindex: "-1", text: title }),
    button(t("viewer.close"), close, { icon: "close", alone: true, class: "quiet", does: "close" }));
}

/** The facts about a document, besides its category. @param {any} shown */
export function factsOf(shown) {
  return [
    shown.organisation, shown.jurisdiction,
    shown.last_updated && t("document.updated", { date: dateOf(shown.last_updated) }),
    shown.ingested_at && t("document.ingested", { date: dateOf(shown.ingested_at) }),
    t("document.chunks", { count: shown.chunks }),
  ].filter(Boolean).join(" · ");
}

/** The name of a category; one that the page does not know is called as it is. @param {string} category */
export function categoryName(category) {
  const name = t(`category.${category}`);
  return name.startsWith("category.") ? category : name;
}

/** @param {any} detail @param {any} shown */
function views(detail, shown) {
  const notice = detail.quote && !shown.marked ? t("document.unmarked") : shown.whole ? "" : t("document.part");
  const text = element("article", { class: "words", lang: "" });
  text.innerHTML = shown.html; // Sanitised by the service.
  const sheet = element("div", { class: "sheet", hidden: true });
  const tabs = shown.kind === "pdf" && element("div", { class: "tabs", role: "group", "aria-label": t("viewer.title") },
    tab("page"), tab("text"));
  return /** @type {Node[]} */ ([notice && element("p", { class: "notice", text: notice }), tabs, sheet, text].filter(Boolean));
}

/** @param {"page" | "text"} name */
function tab(name) {
  const made = button(t(`viewer.show-${name}`), () => pick(name), { does: `show-${name}` });
  made.setAttribute("aria-pressed", String(name === "text"));
  return made;
}

/** Show the page's picture or the text. @param {"page" | "text"} name */
async function pick(name) {
  if (!open?.shown) return;
  const viewer = byId("viewer"), sheet = viewer.querySelector(".sheet");
  const { detail, shown } = open;
  const there = name === "page" && await showPage(sheet, shown.doc_id, detail.page ?? shown.page ?? 1, detail.quote ?? "", turn);
  if (name === "page" && !there) viewer.querySelector('[data-do="show-page"]')?.remove(); // The file is gone or has changed.
  sheet.hidden = !there;
  viewer.querySelector(".words").hidden = there;
  for (const each of viewer.querySelectorAll(".tabs button")) {
    each.setAttribute("aria-pressed", String(each.dataset.do === (there ? "show-page" : "show-text")));
  }
  if (there) scrollTo(sheet.querySelector(".box") ?? sheet);
  else scrollToMark();
}

/** Another page was asked for: the text goes there too. @param {number} page */
function turn(page) {
  if (!open) return;
  open.detail = { ...open.detail, page };
  tell();
}

/** Say which document is shown, and where in it. */
function tell() {
  const { from, ...shown } = open?.detail ?? {};
  change({ document: open ? shown : null });
}

function scrollToMark() {
  const mark = byId("quote");
  if (mark) scrollTo(mark);
}

/** @param {HTMLElement} target */
function scrollTo(target) {
  const viewer = byId("viewer");
  const above = viewer.scrollTop + target.getBoundingClientRect().top - viewer.getBoundingClientRect().top;
  // What the first screen shows is not scrolled to: the title and its facts stay.
  viewer.scrollTo({ top: above < viewer.clientHeight * 0.7 ? 0 : above - viewer.clientHeight / 3, behavior: SMOOTH.matches ? "smooth" : "auto" });
}

/** @param {import("./api.js").RequestError} error @param {any} detail */
function failed(error, detail) {
  const text = error.status === 404 ? t("viewer.gone") : error.message;
  const again = error.status !== 404 && button(t("viewer.again"), () => show(detail), { does: "again" });
  fill(head(detail.title ?? ""), element("div", { class: "failure", role: "alert" }, element("p", { text }), again));
  if (error.status !== 401) return;
  document.dispatchEvent(new CustomEvent("sign-in-needed"));
  document.addEventListener("signed-in", () => open?.detail === detail && show(detail), { once: true });
}

