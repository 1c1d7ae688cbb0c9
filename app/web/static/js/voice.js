// Dictation and reading aloud, by the browser alone: off until the user turns them on.
import { announce } from "./announce.js";
import { embedded } from "./api.js";
import { byId, button } from "./elements.js";
import { isAnswer } from "./sources.js";
import { state } from "./state.js";
import { language, t } from "./words.js";

const KEPT = "waypoint:voice";
/** @type {any} */
const Recognition = /** @type {any} */ (window).SpeechRecognition ?? /** @type {any} */ (window).webkitSpeechRecognition;
const speech = window.speechSynthesis;

/** What listens now. @type {any} */
let listening = null;

/** Offer the switch, where the browser has a voice and the page is not inside another. */
export function start() {
  const toggle = byId("voice");
  toggle.hidden = embedded || (!Recognition && !speech);
  toggle.addEventListener("click", () => turn(toggle.getAttribute("aria-pressed") !== "true", true));
  byId("dictate").addEventListener("click", () => (listening ? listening.stop() : dictate()));
  addEventListener("pagehide", () => speech?.cancel());
  turn(!toggle.hidden && kept(), false);
}

/** @param {boolean} on @param {boolean} asked Whether the user has just turned it */
function turn(on, asked) {
  const toggle = byId("voice");
  toggle.setAttribute("aria-pressed", String(on));
  toggle.textContent = t(on ? "voice.on" : "voice.off");
  byId("dictate").hidden = !on || !Recognition;
  document.body.toggleAttribute("data-voice", on);
  if (!on) {
    listening?.abort();
    speech?.cancel();
  }
  if (!asked) return;
  keep(on);
  say(on ? t("voice.about") : "");
}

/** Write what the user says into the box, behind what stands there. */
async function dictate() {
  const box = byId("question");
  const before = box.value && `${box.value.trimEnd()} `;
  const heard = new Recognition();
  listening = heard;
  Object.assign(heard, { lang: tag(language), interimResults: true });
  heard.addEventListener("result", (/** @type {any} */ { results }) => {
    box.value = before + [...results].map(([best]) => best.transcript).join("").trim();
    box.dispatchEvent(new Event("input"));
  });
  heard.addEventListener("error", (/** @type {any} */ { error }) => {
    if (error !== "no-speech" && error !== "aborted") say(t(error === "not-allowed" ? "voice.refused" : "voice.failed"));
  });
  heard.addEventListener("end", () => {
    listening = null;
    mark(false);
    box.focus();
  });
  say("");
  mark(true);
  if (await isLocal(heard.lang)) heard.processLocally = true;
  if (listening === heard) heard.start();
}

/** Return whether the browser can recognise a language without its maker's service. @param {string} lang */
async function isLocal(lang) {
  const found = await Recognition.available?.({ langs: [lang], processLocally: true }).catch(() => "");
  return found === "available";
}

/** @param {boolean} on */
function mark(on) {
  byId("dictate").setAttribute("aria-pressed", String(on));
  byId("dictate").setAttribute("aria-label", t(on ? "voice.stop" : "voice.dictate"));
  announce(on ? t("voice.listening") : "");
}

/** Return a button that reads an answer aloud, and stops; null where the browser does not speak.
 * @param {import("./records.js").Exchange} exchange
 * @param {() => string} words */
export function readButton(exchange, words) {
  if (!speech || embedded) return null;
  const made = button(t("voice.read"), read, { icon: "speaker", alone: true, class: "quiet voiced", does: "read" });
  const rest = () => made.setAttribute("aria-pressed", "false");
  function read() {
    const reads = made.getAttribute("aria-pressed") === "true";
    speech.cancel();
    if (reads) return rest();
    const spoken = new SpeechSynthesisUtterance(words());
    // Without a language model an answer is a quotation in English.
    spoken.lang = tag(isAnswer(exchange) && !state.me?.model ? "en" : language);
    spoken.voice = speech.getVoices().find(({ lang, localService }) => localService && lang.startsWith(spoken.lang.slice(0, 2))) ?? null;
    for (const over of ["end", "error"]) spoken.addEventListener(over, rest);
    made.setAttribute("aria-pressed", "true");
    speech.speak(spoken);
  }
  rest();
  return made;
}

/** Return a language as the user's browser has it: `en-SG` for `en`. @param {string} code */
const tag = (code) => navigator.languages.find((one) => one.startsWith(code)) ?? code;

/** @param {string} text */
function say(text) {
  byId("voice-note").textContent = text;
}

function kept() {
  try {
    return localStorage.getItem(KEPT) === "on";
  } catch {
    return false;
  }
}

/** @param {boolean} on */
function keep(on) {
  try {
    localStorage.setItem(KEPT, on ? "on" : "off");
  } catch {
    // The browser keeps nothing; the switch lasts as long as the page.
  }
}
