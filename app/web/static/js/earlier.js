// Questions that the user asked in other browsers: the service keeps them in its log of answers.
import { request } from "./api.js";
import { element } from "./elements.js";
import { conversations, newId } from "./records.js";
import { t } from "./words.js";

/** @typedef {{trace_id: string, question: string, asked_at: number}} Earlier */

/** @type {Earlier[]} */
let known = [];

/** Ask the service for them; none for a visitor without a name. @param {string | null} user */
export async function load(user) {
  known = [];
  if (!user) return;
  try {
    known = (await request("api/answers")).answers;
  } catch {
    // Without them the list shows this browser's own conversations.
  }
}

/** Return the list items of those that no conversation of this browser holds.
 * @param {(asked: number) => string} when @param {() => void} chosen */
export function items(when, chosen) {
  const here = new Set(conversations().flatMap(({ exchanges, shared }) => [shared, ...exchanges.map(({ metadata }) => metadata?.trace_id)]));
  return known.filter(({ trace_id }) => !here.has(trace_id)).map(({ trace_id, question, asked_at }) => {
    const show = () => {
      chosen();
      location.hash = `c=${newId()}&t=${trace_id}`;
    };
    const words = [element("span", { class: "name", text: question }), element("span", { class: "when", text: `${when(asked_at * 1000)} \u00b7 ${t("conversations.service")}` })];
    return element("li", { class: "earlier" }, element("button", { type: "button", class: "open", title: question, on: { click: show } }, ...words));
  });
}
