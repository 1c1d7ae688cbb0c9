// Says above an earlier answer which words of the documents have changed since.
import { request } from "./api.js";
import { element } from "./elements.js";
import { t } from "./words.js";

/** @typedef {{title: string, old: string, new: string | null}} Change */

const MOST = 50;

/** Ask which of these answers rest on words that changed, and show it.
 * @param {import("./exchange.js").ExchangeView[]} views */
export async function showOutdated(views) {
  /** @type {Map<string, import("./exchange.js").ExchangeView>} */
  const byTrace = new Map();
  for (const view of views.slice(-MOST)) {
    if (view.exchange.metadata?.trace_id) byTrace.set(view.exchange.metadata.trace_id, view);
  }
  if (!byTrace.size) return;
  try {
    const { outdated } = await request("api/outdated", { method: "POST", body: { trace_ids: [...byTrace.keys()] } });
    for (const [trace, changes] of Object.entries(outdated)) byTrace.get(trace)?.outdate(notice(changes));
  } catch {
    // Without the log the answers stand as they are.
  }
}

/** @param {Change[]} changes */
function notice(changes) {
  const lines = changes.map(({ title, old, new: now }) =>
    element("li", {}, element("span", { class: "facts", text: title }), element("del", { text: old }), now ? element("ins", { text: now }) : element("span", { text: t("outdated.gone") })));
  return element("div", { class: "outdated", role: "note" }, element("p", { text: t("outdated.title") }), element("ul", {}, ...lines));
}
