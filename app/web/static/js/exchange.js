// One question and its answer on the page: what it shows while it is searched, written, whole, stopped, cut off or failed.
import { actions } from "./actions.js";
import { announce } from "./announce.js";
import { request } from "./api.js";
import { connect } from "./chips.js";
import { closest, isFolded } from "./closest.js";
import { confidence } from "./confidence.js";
import { element } from "./elements.js";
import { failure } from "./failure.js";
import { foldingButton } from "./folding.js";
import { Growing, replace } from "./growing.js";
import { banner, isExplained, nextSteps, offersDocuments, removed, searched } from "./outcomes.js";
import { partsSummary, related, sources, translated } from "./parts.js";
import { isAnswer, levelOf, sourcesOf, timeOf } from "./sources.js";
import { unsupported } from "./unsupported.js";
import { t } from "./words.js";

/** @typedef {import("./records.js").Exchange} Exchange
 * @typedef {{again: () => void, edit: () => void, alone: (() => void) | null, begin: () => void, keep: () => void, link: () => string}} Steps */

const RENDER_AGAIN_MS = 3000;
const LATE_MS = 8000; // After so long without a word the page says that it still waits, and whether the service answers.
const LONGEST_HEADING = 240;

/** The place of one exchange in the conversation. */
export class ExchangeView {
  /** @param {Exchange} exchange @param {Steps} steps */
  constructor(exchange, steps) {
    this.exchange = exchange;
    this.steps = steps;
    const isLong = exchange.question.length > LONGEST_HEADING; // A pasted e-mail; its own words are scrolled.
    this.asked = element("h2", { class: isLong ? "asked long" : "asked", tabindex: isLong ? 0 : null, text: exchange.question, data: { asked: timeOf(exchange.asked) } });
    /** @type {Node | null} */
    this.summary = null;
    /** @type {Node | null} */
    this.translation = null;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.waiting = undefined;
    /** @type {string[]} */
    this.drawn = [];
    this.status = element("p", { class: "status" });
    this.above = element("div", { class: "above" });
    this.answer = element("div", { class: "answer" });
    this.below = element("div", { class: "below" });
    this.article = element("article", { class: "exchange", id: `a-${exchange.id}`, tabindex: -1 }, this.asked, this.above, this.status, this.answer, foldingButton(this.answer), this.below);
    this.#mark();
  }

  /** Show that the documents are searched; what an earlier try has shown goes away. */
  search() {
    this.growing = new Growing(this.answer, this.exchange.question);
    for (const place of [this.above, this.answer, this.below]) place.replaceChildren();
    this.#say(t("answer.searching"));
    this.#mark();
    this.#wait();
    announce(t("answer.searching"));
  }

  #wait() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.#late(), LATE_MS);
  }

  async #late() {
    const { waiting } = this;
    const status = await request("health/live", { signal: AbortSignal.timeout(LATE_MS / 2) }).then(() => 200, (error) => error.status);
    if (waiting !== this.waiting) return; // A word has come meanwhile, or the end.
    const text = t(status > 0 && status < 500 ? "answer.late" : "error.offline");
    if (text !== this.status.textContent) announce(text);
    this.#say(text);
    this.#wait();
  }

  /** Show which documents are read. @param {any[]} documents */
  read(documents) {
    this.#wait();
    const count = new Set(documents.map(({ metadata }) => metadata.doc_id)).size;
    if (count) this.#say(t("answer.reading", { passages: documents.length, documents: count }));
  }

  /** Show more words of the answer. @param {string} words */
  write(words) {
    this.#wait();
    if (!this.growing?.text) this.#mark();
    this.growing?.add(words);
    if (this.growing?.text.trim()) this.#say("");
  }

  /** Show the whole answer, or what there is of it. @param {boolean} fresh Whether it has just come */
  async finish(fresh) {
    this.#end();
    const rendered = await this.#render();
    this.#surround();
    if (fresh) announce(this.#summary());
    if (!rendered) this.#renderLater();
  }

  #surround() {
    const { exchange } = this;
    this.above.replaceChildren(.../** @type {Node[]} */ ([removed(exchange), searched(exchange, this.steps), this.summary, this.answer.querySelector(".confidence") ? null : confidence(exchange), banner(exchange), this.translation].filter(Boolean)));
    const below = exchange.state === "done" ? [sources(exchange), closest(exchange, this.drawn), unsupported(exchange), nextSteps(exchange, this.steps), !offersDocuments(exchange) && related(exchange)] : [this.#broken()];
    const taken = actions(exchange, this.answer, this.steps);
    this.below.replaceChildren(.../** @type {Node[]} */ ([...below, taken].filter(Boolean)));
    this.#mark();
  }

  /** Show that the documents have changed since. @param {Node} notice */
  outdate(notice) {
    this.above.prepend(notice);
  }

  /** Show why no answer came. @param {import("./api.js").RequestError} error */
  fail(error) {
    this.#end();
    this.below.replaceChildren(failure(error, { exchange: this.exchange, ...this.steps }));
    this.#mark();
  }

  #end() {
    clearTimeout(this.waiting);
    this.waiting = undefined;
    this.growing?.end();
    this.#say("");
  }

  async #render() {
    const { exchange } = this;
    const answer = exchange.answer ?? "";
    const final = exchange.state === "done";
    try {
      const citations = final ? (exchange.citations ?? []) : [];
      const near = (exchange.closest ?? []).map(({ quote, marked, table_head }) => ({ quote, marked: isFolded(exchange) ? "" : marked, table_head }));
      const body = { answer, citations, closest: near, final, question: exchange.question };
      const { html, numbers, closest: drawn } = await request("page/render", { method: "POST", body });
      this.drawn = drawn;
      if (final) exchange.numbers = numbers;
      replace(this.answer, html);
      this.summary = partsSummary(this.answer, exchange);
      connect(this.answer, exchange);
      this.translation = final && exchange.translation ? await translated(exchange.translation) : null;
      return true;
    } catch {
      if (!this.#isBare()) this.answer.replaceChildren(element("p", { class: "bare", text: answer }));
      return false;
    }
  }

  #isBare() {
    return this.answer.querySelector(".bare") !== null;
  }

  /** The service has gone between an answer and its rendering: the bare words stand until it is back. */
  #renderLater() {
    setTimeout(async () => {
      if (!this.article.isConnected || !this.#isBare()) return;
      if (await this.#render()) this.#surround();
      else this.#renderLater();
    }, RENDER_AGAIN_MS);
  }

  #broken() {
    const { state } = this.exchange;
    const text = t(state === "stopped" ? "answer.stopped" : state === "cut" ? "answer.cut" : "answer.none");
    return element("p", { class: "broken", role: state === "cut" ? "alert" : null, text });
  }

  /** Return what a screen reader says when the answer is there. */
  #summary() {
    const { exchange } = this;
    if (exchange.state !== "done") return t(exchange.state === "cut" ? "answer.cut" : "answer.stopped");
    const outcome = isExplained(exchange) ? t(`outcome.${exchange.outcome}`) : exchange.outcome === "answered" ? t("answer.done") : "";
    const words = this.answer.cloneNode(true);
    if (words instanceof HTMLElement) words.querySelectorAll(".chip").forEach((chip) => chip.remove());
    const count = sourcesOf(exchange).length;
    const sources = count && t("answer.sources", { count });
    const confidence = exchange.confidence && isAnswer(exchange) && t(`confidence.${levelOf(exchange.confidence.level)}`);
    const near = exchange.closest?.length && t("answer.closest", { count: exchange.closest.length });
    return [removed(exchange)?.textContent, outcome, exchange.translation, words.textContent?.trim(), sources, near, confidence].filter(Boolean).map((part) => part?.replace(/\.$/, "")).join(". ");
  }

  /** @param {string} text */
  #say(text) {
    this.status.textContent = text;
    this.status.hidden = !text;
  }

  #mark() {
    const { state, outcome } = this.exchange;
    this.article.dataset.state = state;
    this.article.dataset.outcome = outcome ?? "";
    this.article.setAttribute("aria-busy", String(state === "searching" || state === "writing"));
  }
}
