// The row below an answer: copy it in several forms, hear it, link to it, ask again, say what one thinks of it.
import { announce } from "./announce.js";
import { embedded } from "./api.js";
import { asMail, asMarkdown, asText, copy, forCustomer, isInternal, sendMail, wordsOf } from "./copy.js";
import { button, element } from "./elements.js";
import { feedback } from "./feedback.js";
import { state } from "./state.js";
import { readButton } from "./voice.js";
import { t } from "./words.js";

const SHOWN_MS = 4000;

/** Return what can be done with an answer; null after small talk and a question back, which nobody takes along.
 * @param {import("./records.js").Exchange} exchange
 * @param {HTMLElement} shown The answer as it is shown
 * @param {import("./exchange.js").Steps} steps */
export function actions(exchange, shown, steps) {
  if (["small_talk", "question_back"].includes(exchange.outcome ?? "")) return null;
  const said = element("span", { class: "said" });
  const whole = exchange.state === "done";
  const has = Boolean(exchange.answer);
  const rated = whole && state.me?.feedback !== false ? feedback(exchange, steps.keep) : null;

  /** Do it, and say that it is done, or that the browser does not allow it.
   * @param {() => Promise<string>} work */
  const doing = (work) => async () => {
    const text = await work().catch(() => t("copy.refused"));
    said.textContent = text;
    announce(text);
    setTimeout(() => said.textContent === text && said.replaceChildren(), SHOWN_MS);
  };
  /** @param {() => string} text @param {string} done */
  const copying = (text, done) => doing(() => copy(text()).then(() => done));
  const warned = (/** @type {string} */ done) => [done, isInternal(exchange) && t("copy.internal")].filter(Boolean).join(" ");
  const mail = doing(async () => warned(t((await sendMail(asMail(exchange, shown))) ? "copy.mail-copied" : "copy.mail-opened")));

  const row = [
    has && button(t("copy.text"), copying(() => asText(exchange, shown), t("copy.text-done")), { icon: "copy", class: "quiet", does: "copy-text" }),
    has && button(t("copy.customer"), copying(() => forCustomer(exchange, shown), warned(t("copy.customer-done"))), { icon: "customer", class: "quiet", does: "copy-customer" }),
    has && button(t("copy.markdown"), copying(() => asMarkdown(exchange), t("copy.markdown-done")), { icon: "markdown", alone: true, class: "quiet", does: "copy-markdown" }),
    has && button(t("copy.mail"), mail, { icon: "mail", alone: true, class: "quiet", does: "mail" }),
    has && readButton(exchange, () => wordsOf(shown)),
    !embedded && button(t("copy.link"), copying(steps.link, t(state.me?.shares ? "copy.link-shared" : "copy.link-done")), { icon: "link", alone: true, class: "quiet", does: "link" }),
    button(t(whole ? "next.again" : "next.try-again"), steps.again, { icon: "again", alone: whole, class: whole ? "quiet" : "", does: "again" }),
    !whole && button(t("next.edit"), steps.edit, { icon: "edit", class: "quiet", does: "edit" }),
    said,
    rated && element("span", { class: "thumbs" }, ...rated.buttons),
  ];
  const group = element("div", { class: "actions", role: "group", "aria-label": t("part.actions") }, .../** @type {Node[]} */ (row.filter(Boolean)));
  return element("div", { class: "taken" }, group, rated?.place);
}
