// Requests to the service: JSON in and out, and errors that say what happened and what to do.
import { t } from "./words.js";

// The script is at /static/VERSION/page.js: two folders above is the service, whatever path a proxy gives it.
const base = new URL("../../", import.meta.url);

/** Whether this page is embedded in another: its requests are then anonymous. */
export const embedded = "embed" in document.body.dataset;

/** What went wrong: the status (0: no connection), words for the user, and how many seconds to wait. */
export class RequestError extends Error {
  /** @param {number} status @param {string} message @param {number | null} retryAfter */
  constructor(status, message, retryAfter = null) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/** Return the full address of a path of the service. @param {string} path */
export function address(path) {
  return new URL(path.replace(/^\//, ""), base).href;
}

/** Return the response to a request; a plain object as body is sent as JSON.
 * @param {string} path
 * @param {Omit<RequestInit, "body"> & {body?: any}} [options]
 * @returns {Promise<Response>} */
export async function send(path, options = {}) {
  const headers = new Headers(options.headers);
  let body = options.body;
  if (embedded) headers.set("X-Waypoint-Embed", "1");
  if (body !== undefined && !(body instanceof FormData)) {
    headers.set("Content-Type", "application/json");
    body = JSON.stringify(body);
  }
  let response;
  try {
    response = await fetch(address(path), { ...options, headers, body, credentials: "same-origin" });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new RequestError(0, t("error.offline"));
  }
  if (!response.ok) throw await failure(response);
  return response;
}

/** Return the JSON value that the service answers with; null where it answers with nothing.
 * @param {string} path
 * @param {Omit<RequestInit, "body"> & {body?: any}} [options] */
export async function request(path, options = {}) {
  const response = await send(path, options);
  if (response.status === 204) return null;
  try {
    return await response.json();
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new RequestError(0, t("error.offline")); // The connection broke within the body.
  }
}

/** @param {Response} response */
async function failure(response) {
  const problem = await response.json().catch(() => ({}));
  const wait = Number.parseInt(response.headers.get("Retry-After") || "", 10);
  return new RequestError(response.status, problem.message || response.statusText, Number.isNaN(wait) ? null : wait);
}
