// Asks the viewer to show a document at the place that a citation names.

/** @param {import("./records.js").Exchange} exchange
 * @param {number} index Of the citation
 * @param {HTMLElement} from What gets the focus back when the document closes */
export function openDocument(exchange, index, from) {
  const citation = exchange.citations?.[index];
  if (!citation?.matched || !citation.doc_id) return;
  openPlace(citation, exchange.passages?.[index] ?? {}, from);
}

/** @param {{doc_id: string, title: string, quote: string, page: number | null}} place
 * @param {{chunk?: number | null, start?: number | null, end?: number | null}} passage Where the quote stands in the document
 * @param {HTMLElement} from */
export function openPlace({ doc_id, title, quote, page }, { chunk, start, end }, from) {
  document.dispatchEvent(new CustomEvent("open-document", { detail: { doc_id, title, quote, page, chunk, start, end, from } }));
}
