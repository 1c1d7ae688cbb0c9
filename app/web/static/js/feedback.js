// What a user thinks of an answer: thumbs up or down, a reason where there is one, and a way back.
import { request } from "./api.js";
import { button, element } from "./elements.js";
import { announce } from "./announce.js";
import { t } from "./words.js";

const REASONS = ["wrong", "outdated", "missing", "unclear"];
const COMMENT_CHARACTERS = 2000;

/** Return the buttons, and the place below them where a reason is given.
 * @param {import("./records.js").Exchange} exchange
 * @param {() => void} keep Keeps the exchange
 * @returns {{buttons: HTMLElement[], place: HTMLElement} | null} */
export function feedback(exchange, keep) {
  const trace_id = exchange.metadata?.trace_id;
  if (!trace_id) return null;
  const place = element("div", { class: "feedback", hidden: true });
  const buttons = [
    button(t("feedback.up"), () => rate(exchange.feedback === 1 ? 0 : 1), { icon: "up", alone: true, class: "quiet", does: "up" }),
    button(t("feedback.down"), () => rate(exchange.feedback === -1 ? 0 : -1), { icon: "down", alone: true, class: "quiet", does: "down" }),
  ];
  const press = () => [1, -1].forEach((score, at) => buttons[at].setAttribute("aria-pressed", String(exchange.feedback === score)));
  press();

  /** @param {number} score @param {string} [comment] */
  async function rate(score, comment) {
    const before = exchange.feedback;
    exchange.feedback = score;
    press();
    try {
      const { kept } = await request("api/feedback", { method: "POST", body: { trace_id, score, ...(comment ? { comment } : {}) } });
      keep();
      tell(score, comment !== undefined, kept);
    } catch (error) {
      exchange.feedback = before;
      press();
      place.hidden = false;
      place.replaceChildren(element("p", { role: "alert", text: /** @type {Error} */ (error).message }));
    }
  }

  /** @param {number} score @param {boolean} whole @param {boolean} kept */
  function tell(score, whole, kept) {
    const said = score === 0 ? t("feedback.undone") : !kept ? t("feedback.unkept") : whole ? t("feedback.thanks") : t("feedback.noted");
    const undo = button(t("feedback.undo"), () => rate(0), { class: "quiet", does: "undo" });
    announce(said);
    place.hidden = false;
    const sent = place.contains(document.activeElement);
    place.replaceChildren(element("p", {}, said, " ", score !== 0 && undo), ...(score !== 0 && !whole && kept ? [form(score)] : []));
    place.scrollIntoView({ block: "nearest" });
    if (sent) (score ? undo : buttons[1]).focus();
  }

  /** @param {number} score */
  function form(score) {
    const comment = /** @type {HTMLInputElement} */ (element("input", { name: "comment", maxlength: COMMENT_CHARACTERS - 100, "aria-label": t("feedback.comment"), placeholder: t("feedback.comment") }));
    const choices = score < 0 ? REASONS.map((name) => element("label", { class: "choice" }, element("input", { type: "checkbox", name: "reason", value: name }), t(`feedback.${name}`))) : [];
    const made = element("form", { class: "reasons" }, ...choices, comment, element("button", { type: "submit" }, t("feedback.send")));
    made.addEventListener("submit", (event) => {
      event.preventDefault();
      const chosen = new FormData(/** @type {HTMLFormElement} */ (made)).getAll("reason");
      rate(score, [...chosen, comment.value.trim()].filter(Boolean).join("; "));
    });
    return made;
  }

  return { buttons, place };
}
