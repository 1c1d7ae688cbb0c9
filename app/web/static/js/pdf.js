// A page of a PDF as a picture, with boxes over the quoted words, and the way to the pages before and after it.
import { address, request } from "./api.js";
import { button, element } from "./elements.js";
import { t } from "./words.js";

const WIDTH_STEP = 300; // Pictures of a few widths only: the service keeps them.
const MOST_WIDTH = 2400;

/** Fill the sheet with a page; false where there is no picture of it.
 * @param {HTMLElement} sheet
 * @param {string} docId
 * @param {number} page
 * @param {string} quote
 * @param {(page: number) => void} turned Called when the reader turns to another page
 * @returns {Promise<boolean>} */
export async function showPage(sheet, docId, page, quote, turned) {
  const at = `documents/${encodeURIComponent(docId)}/pages/${page}`;
  let found;
  try {
    found = await request(`${at}?${new URLSearchParams({ quote: quote.slice(0, 4000) })}`);
  } catch (error) {
    if (error.status === 404) return false;
    throw error;
  }
  const wide = Math.max(sheet.parentElement?.clientWidth ?? 0, WIDTH_STEP) * devicePixelRatio;
  const width = Math.min(MOST_WIDTH, Math.ceil(wide / WIDTH_STEP) * WIDTH_STEP);
  const name = t("viewer.page-of", { page, pages: found.pages });
  const picture = element("img", { src: address(`${at}.png?width=${width}`), alt: `${name}. ${t("viewer.page-text")}`, width: found.width, height: found.height });
  const paper = element("div", { class: "paper", data: { page: String(page) } }, picture, ...found.words.map(box));
  const go = async (/** @type {number} */ step) => {
    turned(page + step);
    await showPage(sheet, docId, page + step, quote, turned);
    const buttons = /** @type {HTMLButtonElement[]} */ ([...sheet.querySelectorAll("button:not(:disabled)")]);
    (buttons.find((one) => one.dataset.do === (step < 0 ? "previous" : "next")) ?? buttons[0])?.focus();
  };
  const previous = button(t("viewer.previous"), () => go(-1), { does: "previous" });
  const next = button(t("viewer.next"), () => go(1), { does: "next" });
  previous.toggleAttribute("disabled", page <= 1);
  next.toggleAttribute("disabled", page >= found.pages);
  sheet.replaceChildren(element("nav", { class: "pages", "aria-label": t("viewer.show-page") },
    previous, element("span", { role: "status", text: name }), next), paper);
  return true;
}

/** @param {number[]} place Left, top, width and height in parts of the page */
function box(place) {
  const made = element("div", { class: "box" });
  ["left", "top", "width", "height"].forEach((side, index) => made.style.setProperty(side, `${place[index] * 100}%`));
  return made;
}
