// Who the visitor is: GET /api/me, the dialog that signs in, and signing out. The token itself stays in a cookie that no script reads.
import { RequestError, embedded, request } from "./api.js";
import { change, state, subscribe } from "./state.js";
import { t } from "./words.js";

const RETRY_MS = 5000;

/** @param {string} id */
const element = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** Find out who asks, show it, and listen for "sign-in-needed"; dispatches "signed-in" and "signed-out". */
export function start() {
  subscribe((_, changed) => {
    if (changed.has("me")) show(state.me);
  });
  document.addEventListener("sign-in-needed", open);
  if (!embedded) prepareDialog();
  refresh();
}

/** Ask the service again who this is. */
export async function refresh() {
  try {
    change({ me: await request("/api/me") });
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    if (!state.me) change({ me: { signed_in: false, scopes: [] } }); // The page goes on without.
    setTimeout(refresh, RETRY_MS); // The service is starting, or cannot be reached.
    return;
  }
  const { me } = state;
  if (me.credential && !me.signed_in && !me.scopes.length) open();
}

function open() {
  if (embedded) return notice(t("embed.closed"));
  const dialog = /** @type {HTMLDialogElement} */ (element("sign-in"));
  if (!dialog.open) dialog.showModal();
}

/** @param {string} text */
function notice(text) {
  element("notice").textContent = text;
  element("notice").hidden = false;
}

function prepareDialog() {
  const dialog = /** @type {HTMLDialogElement} */ (element("sign-in"));
  const token = /** @type {HTMLInputElement} */ (element("token"));
  const error = element("sign-in-error");
  const form = /** @type {HTMLFormElement} */ (dialog.querySelector("form"));
  element("sign-in-cancel").addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => {
    token.value = "";
    error.textContent = "";
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    error.textContent = "";
    try {
      await request("/sign-in", { method: "POST", body: { token: token.value.trim() } });
    } catch (failure) {
      error.textContent = failure.status === 401 ? t("sign-in.refused") : failure.message;
      token.select();
      return;
    }
    dialog.close();
    await refresh();
    document.dispatchEvent(new CustomEvent("signed-in"));
  });
}

async function signOut() {
  try {
    await request("/sign-out", { method: "POST" });
  } catch (error) {
    return notice(error.message);
  }
  await refresh();
  document.dispatchEvent(new CustomEvent("signed-out"));
}

/** @param {Record<string, any>} me */
function show(me) {
  const place = document.getElementById("identity");
  if (!place) return;
  place.replaceChildren();
  if (!me.credential) return; // Nobody is asked for a name here.
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = t(me.signed_in ? "session.sign-out" : "session.sign-in");
  button.addEventListener("click", me.signed_in ? signOut : open);
  if (me.signed_in) {
    const name = document.createElement("span");
    name.className = "who";
    name.textContent = me.email || me.user_id;
    name.title = t(`session.audience-${me.audience}`);
    place.append(name);
  }
  place.append(button);
}
