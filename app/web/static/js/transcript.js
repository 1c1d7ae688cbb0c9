// A conversation to take along: as a file of markdown.
import { asMarkdown } from "./copy.js";
import { language, t } from "./words.js";

const NOT_IN_NAMES = /[^\p{L}\p{N}]+/gu;
const LONGEST_NAME = 60;

/** Return a conversation as markdown: each question as a heading above its answer.
 * @param {import("./records.js").Conversation} conversation */
export function transcript({ title, exchanges }) {
  const date = new Intl.DateTimeFormat(language, { dateStyle: "long" }).format(exchanges[0]?.asked);
  const said = exchanges.map((exchange) => `## ${oneLine(exchange.question)}\n\n${asMarkdown(exchange)}`);
  return `${[`# ${oneLine(title)}`, t("conversations.of", { date }), ...said].join("\n\n")}\n`;
}

/** Give the browser a conversation to save. @param {import("./records.js").Conversation} conversation */
export function saveTranscript(conversation) {
  const name = conversation.title.slice(0, LONGEST_NAME).replace(NOT_IN_NAMES, "-").replace(/^-|-$/g, "");
  const href = URL.createObjectURL(new Blob([transcript(conversation)], { type: "text/markdown" }));
  Object.assign(document.createElement("a"), { href, download: `${name || "waypoint"}.md` }).click();
  setTimeout(() => URL.revokeObjectURL(href));
}

/** @param {string} text */
const oneLine = (text) => text.replace(/\s+/g, " ").trim();
