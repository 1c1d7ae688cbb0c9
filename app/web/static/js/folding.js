// On a phone an answer is one sentence, and the rest comes with a button: whoever listens on the telephone reads one line.
import { button } from "./elements.js";
import { language, t } from "./words.js";

const SHORTEST_SENTENCE = 25; // Less is an abbreviation: "See No. 5".
const SENTENCES = new Intl.Segmenter(language, { granularity: "sentence" });

/** Mark what stands behind the first sentence of an answer, and behind that of each part below a heading; style sheets fold it.
 * @param {ParentNode} answer */
export function markRest(answer) {
  let led = false;
  for (const block of /** @type {HTMLElement[]} */ ([...answer.children])) {
    if (/^H\d$/.test(block.tagName)) led = false;
    else if (led) block.classList.add("more");
    else {
      led = !/:\s*$/.test(block.textContent ?? "") || endOfSentence(block) !== null; // A line that only announces is no answer.
      if (block.tagName === "P") splitAfterSentence(block);
    }
  }
}

/** Return the button that shows the rest of an answer, and hides it again; hidden where there is no rest.
 * @param {HTMLElement} answer */
export function foldingButton(answer) {
  const made = button(t("answer.more"), () => {
    const open = answer.toggleAttribute("data-whole");
    made.textContent = t(open ? "answer.less" : "answer.more");
    made.setAttribute("aria-expanded", String(open));
  }, { class: "unfold", does: "more" });
  made.setAttribute("aria-expanded", "false");
  return made;
}

/** Put what follows the first sentence of a paragraph, and the citations of that sentence, into an element of its own.
 * @param {HTMLElement} block */
function splitAfterSentence(block) {
  const place = endOfSentence(block);
  if (!place) return;
  const range = document.createRange();
  range.setStart(...place);
  range.setEndAfter(/** @type {Node} */ (block.lastChild));
  const rest = document.createElement("span");
  rest.className = "more";
  rest.append(range.extractContents());
  if (rest.textContent?.trim()) block.append(rest);
  else block.append(...rest.childNodes);
}

/** Return where the second sentence of a paragraph begins; null where there is one only.
 * @param {HTMLElement} block @returns {[Text, number] | null} */
function endOfSentence(block) {
  /** @type {Text[]} */
  const texts = [];
  const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) if (!walker.currentNode.parentElement?.closest(".chip")) texts.push(/** @type {Text} */ (walker.currentNode));
  const sentences = [...SENTENCES.segment(texts.map(({ data }) => data).join(""))];
  let left = sentences.find(({ index }) => index >= SHORTEST_SENTENCE)?.index ?? Infinity;
  for (const text of texts) {
    if (left < text.length) return [text, left];
    left -= text.length;
  }
  return null;
}
