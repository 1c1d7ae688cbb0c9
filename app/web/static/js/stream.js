// Asks the service and reads the answer as it comes: server-sent events of /copilot/stream.
import { RequestError, send } from "./api.js";
import { language } from "./words.js";

/** @typedef {{role: "user" | "assistant", content: string}} Turn */

/** Ask a question; `onPart` gets each part of the answer object, `answer` in pieces.
 * @param {string} question
 * @param {Turn[]} history
 * @param {{onPart: (part: Record<string, any>) => void, signal: AbortSignal}} options
 * @throws {RequestError} The service refuses or fails; a CutError where the stream breaks off.
 * @returns {Promise<void>} */
export async function ask(question, history, { onPart, signal }) {
  const body = { input: { question, history, language }, config: {}, kwargs: {} };
  const response = await send("copilot/stream", { method: "POST", body, signal });
  for await (const { event, data } of events(response, signal)) {
    if (event === "data") onPart(JSON.parse(data));
    if (event === "error") throw errorOf(data);
    if (event === "end") return;
  }
  throw new CutError();
}

/** The stream ended before the answer did. */
export class CutError extends RequestError {
  constructor() {
    super(0, "");
  }
}

/** @param {string} data */
function errorOf(data) {
  const failure = JSON.parse(data);
  return new RequestError(failure.status_code ?? 500, failure.message ?? "");
}

/** Yield the events of a response.
 * @param {Response} response
 * @param {AbortSignal} signal
 * @returns {AsyncGenerator<{event: string, data: string}>} */
async function* events(response, signal) {
  const reader = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
  const decoder = new TextDecoder();
  let waiting = "";
  try {
    while (true) {
      const { done, value } = await reader.read();
      if (done) return;
      waiting = (waiting + decoder.decode(value, { stream: true })).replace(/\r\n/g, "\n");
      const blocks = waiting.split("\n\n");
      waiting = blocks.pop() ?? "";
      for (const block of blocks) yield eventOf(block);
    }
  } catch (error) {
    throw signal.aborted ? error : new CutError();
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** Return the event that a block of lines is; a comment has no data.
 * @param {string} block */
export function eventOf(block) {
  let event = "message";
  const data = [];
  for (const line of block.split("\n")) {
    const [, name, value] = /^(\w*):? ?(.*)$/.exec(line) ?? [];
    if (name === "event") event = value;
    if (name === "data") data.push(value);
  }
  return { event, data: data.join("\n") };
}
