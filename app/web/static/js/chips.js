// The citations in an answer's text: a card with the source's own words on hover, focus or tap; a click opens the document.
import { byId, element } from "./elements.js";
import { openDocument } from "./open.js";
import { dateOf, placeOf } from "./sources.js";
import { t } from "./words.js";

const STRONG = 0.7;
const PARTIAL = 0.4;
const LEAVE_MS = 200;
const GAP_PX = 8;
// What is written in the source, and only gets in the way of its words: what stands around cells, headings, strong words, items.
const RULES = /^\|[\s:|-]*\|$\n?|^\| *| *\|$/gm;
const SIGNS = /( ?\| ?|^#+ |\*\*|^[-*] )/gm;

/** @type {HTMLElement | null} */
let shownFor = null;
let leaving = 0;

/** Return in one word how well a source supports what is said. @param {any} citation */
export function supportOf({ matched, contradicted, support }) {
  if (!matched) return "none";
  if (contradicted) return "contradicted";
  return support >= STRONG ? "strong" : support >= PARTIAL ? "partial" : "weak";
}

/** Make the chips of an answer work.
 * @param {HTMLElement} answer
 * @param {import("./records.js").Exchange} exchange */
export function connect(answer, exchange) {
  for (const chip of /** @type {NodeListOf<HTMLElement>} */ (answer.querySelectorAll(".chip[data-citation]"))) {
    const index = Number(chip.dataset.citation);
    const citation = exchange.citations?.[index];
    if (!citation) continue;
    chip.dataset.support = supportOf(citation);
    explain(chip, () => content(citation, exchange.passages?.[index]), () => openDocument(exchange, index, chip));
  }
}

/** Show a card beside an element on hover, focus or tap.
 * @param {HTMLElement} anchor
 * @param {() => (Node | string)[]} content What the card says
 * @param {() => void} [press] What a click does, and a second tap */
export function explain(anchor, content, press) {
  let touched = false;
  anchor.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && show(anchor, content));
  anchor.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && hideSoon());
  anchor.addEventListener("pointerdown", (event) => {
    touched = event.pointerType !== "mouse" && shownFor !== anchor;
  });
  anchor.addEventListener("focus", () => show(anchor, content));
  anchor.addEventListener("blur", (event) => event.relatedTarget !== byId("card") && hide());
  anchor.addEventListener("click", () => {
    show(anchor, content);
    if (press && !touched) {
      hide();
      press();
    }
    touched = false;
  });
}

/** @param {HTMLElement} anchor @param {() => (Node | string)[]} content */
function show(anchor, content) {
  clearTimeout(leaving);
  if (shownFor === anchor) return;
  hide();
  const card = byId("card") ?? newCard();
  card.replaceChildren(...content());
  card.hidden = false;
  anchor.setAttribute("aria-describedby", "card");
  shownFor = anchor;
  place(card, anchor);
  const mark = card.querySelector("mark"); // In a long passage what is quoted is in sight, whole where it fits.
  card.scrollTop = mark ? Math.min(mark.offsetTop, mark.offsetTop + mark.offsetHeight - 0.7 * card.clientHeight) : 0;
}

/** Take the card away; returns whether there was one. */
export function hide() {
  clearTimeout(leaving);
  const shown = shownFor !== null;
  shownFor?.removeAttribute("aria-describedby");
  shownFor = null;
  const card = byId("card");
  if (card) card.hidden = true;
  return shown;
}

function hideSoon() {
  clearTimeout(leaving);
  leaving = setTimeout(hide, LEAVE_MS);
}

function newCard() {
  const card = element("div", { id: "card", role: "tooltip", tabindex: 0 }); // A long one is scrolled by keyboard too.
  card.addEventListener("blur", hide);
  card.addEventListener("pointerenter", () => clearTimeout(leaving));
  card.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && hideSoon());
  card.addEventListener("pointerdown", (event) => event.preventDefault()); // The chip keeps the focus.
  addEventListener("scroll", (event) => event.target !== card && follow(card), { capture: true, passive: true });
  byId("conversation").append(card);
  return card;
}

/** Keep the card beside its chip while the page scrolls, and take it away with it. @param {HTMLElement} card */
function follow(card) {
  if (!shownFor) return;
  const { top, bottom } = shownFor.getBoundingClientRect();
  if (bottom < 0 || top > innerHeight) hide();
  else place(card, shownFor);
}

/** @param {any} citation @param {any} passage */
function content(citation, passage) {
  if (!citation.matched) return [element("p", { class: "support", data: { support: "none" }, text: t("card.unmatched") })];
  const support = supportOf(citation);
  const words = passage && element("blockquote", {}, ...withoutSigns(passage.before), passage.quote && element("mark", {}, ...withoutSigns(passage.quote)), ...withoutSigns(passage.after));
  const about = [passage?.organisation, passage?.date && t("source.date", { date: dateOf(passage.date) })].filter(Boolean).join(" · ");
  const found = citation.attributed ? "card.attributed" : "card.marked";
  return [
    element("p", { class: "card-title", text: placeOf(citation) }),
    about ? element("p", { class: "card-about", text: about }) : "",
    words || "",
    element("p", { class: "support", data: { support }, text: t(`support.${support}`) }),
    element("p", { class: "card-about", text: `${t(found)} ${t("card.open")}` }),
  ];
}

/** Return a source's words without the signs of its markdown; a line stands between the cells of a table.
 * @param {string} text */
function withoutSigns(text) {
  return text.replace(RULES, "").replace(/\n\s*\n/g, "\n").split(SIGNS).map((piece, at) => (at % 2 ? piece.trim() === "|" && element("span", { class: "faint", text: " | " }) : piece)).filter(Boolean);
}

/** Put the card below or above the chip, inside the window; the style sheet puts it at the bottom of a small one.
 * @param {HTMLElement} card @param {HTMLElement} chip */
function place(card, chip) {
  const at = chip.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = card;
  const room = innerHeight - at.bottom;
  const top = room > height + 2 * GAP_PX || room > at.top ? at.bottom + GAP_PX : at.top - height - GAP_PX;
  card.style.top = `${Math.max(GAP_PX, Math.min(top, innerHeight - height - GAP_PX))}px`;
  card.style.left = `${Math.max(GAP_PX, Math.min(at.left - 24, document.documentElement.clientWidth - width - GAP_PX))}px`;
}
