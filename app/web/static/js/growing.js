// Shows an answer while it grows: its first words at once, then as the service renders it, without jumps.
import { request } from "./api.js";
import { element } from "./elements.js";
import { markRest } from "./folding.js";

const EVERY_MS = 150;
const MARKUP = /[*_`#>|~\\]+/g;

/** Return words without the signs of markdown, up to the first one that may begin a citation or a line. @param {string} text */
function plain(text) {
  return (/^\s*[^[\n【]*/.exec(text)?.[0] ?? "").replace(MARKUP, "");
}

/** An answer that grows in an element. */
export class Growing {
  /** @param {HTMLElement} place @param {string} question */
  constructor(place, question) {
    this.place = place;
    this.question = question;
    this.text = "";
    this.shown = 0; // How many characters the rendered part shows.
    this.ended = false;
    this.busy = false;
    this.last = -EVERY_MS;
    this.rest = element("span", { class: "rest" });
  }

  /** Add words. @param {string} words */
  add(words) {
    this.text += words;
    this.rest.textContent = plain(Array.from(this.text).slice(this.shown).join(""));
    if (!this.rest.isConnected) this.place.append(this.rest);
    this.#schedule();
  }

  /** Render nothing more; what is shown stays until something else takes its place. */
  end() {
    this.ended = true;
  }

  #schedule() {
    if (this.busy || this.ended) return;
    this.busy = true;
    setTimeout(() => this.#render(), Math.max(0, this.last + EVERY_MS - performance.now()));
  }

  async #render() {
    const text = this.text;
    this.last = performance.now();
    try {
      const { html, length } = await request("page/render", { method: "POST", body: { answer: text, question: this.question, final: false } });
      if (this.ended) return;
      this.shown = length;
      this.rest.remove();
      replace(this.place, html);
      this.rest.textContent = plain(Array.from(this.text).slice(length).join(""));
      lastText(this.place).append(this.rest);
    } catch {
      // The words stay as they are; the next rendering, or the last one, makes up for it.
    } finally {
      this.busy = false;
      if (this.text !== text) this.#schedule();
    }
  }
}

/** Put HTML into an element; its children that are the same already stay, and with them what is selected or focused.
 * @param {HTMLElement} place
 * @param {string} html From the service, which has made it safe */
export function replace(place, html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  markRest(template.content);
  const fresh = [...template.content.childNodes];
  const old = [...place.childNodes];
  fresh.forEach((node, at) => {
    if (at >= old.length) place.append(node);
    else if (!old[at].isEqualNode(node)) old[at].replaceWith(node);
  });
  old.slice(fresh.length).forEach((node) => node.remove());
}

/** Return the element at the end that holds text: the last paragraph, item or cell. @param {HTMLElement} place */
function lastText(place) {
  let found = place;
  while (found.lastElementChild instanceof HTMLElement && /^(P|UL|OL|LI|BLOCKQUOTE|H\d|SPAN)$/.test(found.lastElementChild.tagName)) {
    found = found.lastElementChild;
  }
  return found;
}
