// Asks the viewer to show a document at the place that a citation names.

/** @param {import("./records.js").Exchange} exchange
 * @param {number} index Of the citation
 * @param {HTMLElement} from What gets the focus back when the document closes */
export function openDocument(exchange, index, from) {
  const citation = exchange.citations?.[index];
  if (!citation?.matched || !citation.doc_id) return;
  const { doc_id, title, quote, page } = citation;
  const { chunk, start, end } = exchange.passages?.[index] ?? {};
  document.dispatchEvent(new CustomEvent("open-document", { detail: { doc_id, title, quote, page, chunk, start, end, from } }));
}
