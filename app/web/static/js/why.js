// Tells staff, in the viewer, why an answer did not use the open document.
import { request } from "./api.js";
import { element } from "./elements.js";
import { state } from "./state.js";
import { t } from "./words.js";

/** Return the control below a document's facts; null for those who are not staff.
 * @param {string} document Its id */
export function whyNot(document) {
  if (state.me?.audience !== "internal") return null;
  const last = state.conversation.exchanges.at(-1);
  const question = /** @type {HTMLInputElement} */ (element("input", {
    name: "question", required: true, maxlength: 1000, "aria-label": t("why.question"), placeholder: t("why.question"), value: last?.metadata?.search_query ?? last?.question,
  }));
  const reply = element("div", { role: "status" });
  const form = element("form", { class: "reasons" }, question, element("button", { type: "submit", text: t("why.send") }));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    reply.replaceChildren(element("p", { class: "wait", text: t("why.waiting") }));
    reply.replaceChildren(...(await found(question.value, document)));
  });
  return element("details", { class: "why" }, element("summary", { text: t("why.title") }), form, reply);
}

/** @param {string} query @param {string} document */
async function found(query, document) {
  try {
    const { why, change } = await request("api/why", { method: "POST", body: { query, document } });
    return [element("p", { lang: "en", text: why }), change && element("p", { lang: "en", class: "facts", text: t("why.change", { change }) })].filter(Boolean);
  } catch (error) {
    return [element("p", { role: "alert", text: error.message })];
  }
}
