// What to do when no answer came: sign in, wait, reconnect, shorten, or try again. What was asked stays.
import { announce } from "./announce.js";
import { request } from "./api.js";
import { button, element, icon } from "./elements.js";
import { t } from "./words.js";

const MOST_ATTEMPTS = 3;
const PROBE_S = [1, 2, 4, 8, 10];
const WAIT_S = 5;

/** How often a question was sent again by itself. @type {WeakMap<object, number>} */
const attempts = new WeakMap();

/** Return what is shown in the place of an answer that did not come.
 * @param {import("./api.js").RequestError} error
 * @param {{exchange: object, again: () => void, edit: () => void, begin: () => void}} steps
 * @returns {HTMLElement} */
export function failure(error, { exchange, again, edit, begin }) {
  const text = element("p", { text: messageOf(error) });
  const place = element("div", { class: "failure", role: "alert", data: { status: error.status } }, icon("warning"), element("div", {}, text));
  const row = element("div", { class: "buttons-row" });
  place.lastElementChild?.append(row);
  const retry = button(t("next.again"), again, { icon: "again", does: "again" });
  if (error.status === 401) {
    row.append(button(t("sign-in.send"), signIn, { does: "sign-in" }));
    signIn();
    whenSignedIn(place, again);
  } else if (error.status === 429) {
    row.append(retry);
    countDown(retry, error.retryAfter ?? WAIT_S);
  } else if (error.status === 0 || error.status === 503) {
    row.append(retry);
    reconnect(place, text, error, exchange, again);
  } else if (error.status === 413) {
    row.append(button(t("next.begin"), begin, { does: "begin" }), button(t("next.edit"), edit, { icon: "edit", does: "edit" }));
  } else if (error.status === 400 || error.status === 422) {
    row.append(button(t("next.edit"), edit, { icon: "edit", does: "edit" }));
  } else if (error.status !== 403) {
    row.append(retry);
  }
  return place;
}

/** @param {import("./api.js").RequestError} error */
function messageOf({ status, message }) {
  if (status === 0) return t("error.offline");
  if (status === 401) return t("error.signed-out");
  if (status === 429) return t("error.too-many");
  if (status === 413) return t("error.too-large");
  return message || t("error.other");
}

function signIn() {
  document.dispatchEvent(new CustomEvent("sign-in-needed"));
}

/** @param {HTMLElement} place @param {() => void} again */
function whenSignedIn(place, again) {
  document.addEventListener("signed-in", () => place.isConnected && again(), { once: true });
}

/** Let the button wait, and say how long. @param {HTMLElement} retry @param {number} seconds */
function countDown(retry, seconds) {
  const until = performance.now() + seconds * 1000;
  const label = /** @type {HTMLElement} */ (retry.querySelector("span"));
  const tick = () => {
    const left = Math.ceil((until - performance.now()) / 1000);
    /** @type {HTMLButtonElement} */ (retry).disabled = left > 0;
    label.textContent = left > 0 ? t("next.again-in", { seconds: left }) : t("next.again");
    if (left > 0) setTimeout(tick, 250);
    else announce(t("next.again"));
  };
  tick();
}

/** Ask again as soon as the service is there, a few times; then the user decides.
 * @param {HTMLElement} place @param {HTMLElement} text
 * @param {import("./api.js").RequestError} error
 * @param {object} exchange @param {() => void} again */
async function reconnect(place, text, error, exchange, again) {
  const made = attempts.get(exchange) ?? 0;
  if (made >= MOST_ATTEMPTS) return;
  attempts.set(exchange, made + 1);
  text.append(" ", element("span", { class: "waiting", text: t("error.reconnecting") }));
  await sleep(error.retryAfter ?? (error.status === 503 ? WAIT_S * (made + 1) : PROBE_S[0]));
  for (let tried = 0; place.isConnected || !tried; tried += 1) {
    if (!place.isConnected) return;
    if (await isReady()) return again();
    await sleep(PROBE_S[Math.min(tried, PROBE_S.length - 1)]);
  }
}

/** Wait; a connection that comes back ends it. @param {number} seconds */
function sleep(seconds) {
  return new Promise((resolve) => {
    setTimeout(resolve, seconds * 1000);
    addEventListener("online", resolve, { once: true });
  });
}

async function isReady() {
  return request("health/ready").then(() => true, () => false);
}
