// The box that a question is typed into: counts, recalls, keeps what is typed, and asks.
import { announce } from "./announce.js";
import { embedded } from "./api.js";
import { askQuestion, stop } from "./conversation.js";
import { byId, focusBox } from "./elements.js";
import { questions } from "./records.js";
import { change, state, subscribe } from "./state.js";
import { language, t } from "./words.js";

const NEAR = 0.8; // From this share on, the count is said to a screen reader too.
const DRAFT = "waypoint:draft";

/** @type {HTMLTextAreaElement} */
let box;
let most = Infinity; // How many characters the service takes.
let recalled = -1;
let typed = "";
/** What was being typed when a question was put in its place. @type {string[]} */
const setAside = [];

/** Make the box work, with what was typed before the page was loaded again. */
export function start() {
  box = byId("question");
  most = box.maxLength;
  box.removeAttribute("maxlength"); // Too much is said, not cut off.
  box.value ||= draft();
  box.addEventListener("input", () => {
    recalled = -1;
    update();
  });
  box.addEventListener("keydown", press);
  byId("ask").addEventListener("submit", submit);
  byId("stop").addEventListener("click", stopped);
  document.addEventListener("edit-question", (event) => fill(/** @type {CustomEvent} */ (event).detail));
  subscribe((_, changed) => changed.has("asking") && update());
  update();
  if (!embedded) focusBox();
  box.setSelectionRange(box.value.length, box.value.length);
}

/** Put a question into the box, for the user to change. @param {string} question */
export function fill(question) {
  if (box.value.trim() && box.value !== question) setAside.unshift(box.value);
  recalled = -1;
  box.value = question;
  update();
  focusBox();
  box.setSelectionRange(question.length, question.length);
}

/** @param {SubmitEvent} event */
function submit(event) {
  event.preventDefault();
  const example = event.submitter instanceof HTMLButtonElement && event.submitter.name === "question" ? event.submitter.value : null;
  const question = (example ?? box.value).trim();
  if (!question || tooLong(question)) return focusBox();
  if (state.asking) return announce(t("ask.busy"));
  if (example === null) box.value = "";
  recalled = -1;
  change({ view: state.view === "document" ? "document" : "ask" });
  askQuestion(question);
  update();
  focusBox();
}

function stopped() {
  stop();
  focusBox();
}

/** @param {KeyboardEvent} event */
function press(event) {
  if (event.isComposing) return; // Enter chooses a character.
  if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
    event.preventDefault();
    /** @type {HTMLFormElement} */ (byId("ask")).requestSubmit();
  } else if (event.key === "ArrowUp" && (recalled >= 0 || !box.value)) recall(event, recalled + 1);
  else if (event.key === "ArrowDown" && recalled >= 0) recall(event, recalled - 1);
}

/** Show an earlier question; below the first one stands what was being typed.
 * @param {KeyboardEvent} event @param {number} number */
function recall(event, number) {
  const asked = [...setAside, ...questions(state.conversation)];
  if (number >= asked.length) return;
  event.preventDefault();
  if (recalled < 0) typed = box.value;
  recalled = number;
  box.value = number < 0 ? typed : asked[number];
  box.setSelectionRange(box.value.length, box.value.length);
  update();
}

/** @param {string} question */
const tooLong = (question) => Array.from(question).length > most;

function update() {
  const count = Array.from(box.value.trim()).length;
  const counter = byId("counter");
  const number = new Intl.NumberFormat(language);
  const long = count > most;
  counter.textContent = count ? t(long ? "ask.too-long" : "ask.count", { count: number.format(count), most: number.format(most), over: number.format(count - most) }) : "";
  counter.classList.toggle("over", long);
  counter.setAttribute("aria-live", count > most * NEAR ? "polite" : "off");
  box.setAttribute("aria-invalid", String(long));
  byId("send").hidden = Boolean(state.asking);
  byId("send").disabled = !count || long;
  byId("stop").hidden = !state.asking;
  grow();
  keepDraft();
}

function grow() {
  if (CSS.supports("field-sizing", "content")) return;
  box.style.height = "auto";
  box.style.height = `${box.scrollHeight + 2}px`;
}

function draft() {
  try {
    return sessionStorage.getItem(DRAFT) ?? "";
  } catch {
    return "";
  }
}

function keepDraft() {
  try {
    sessionStorage.setItem(DRAFT, box.value);
  } catch {
    // The browser keeps nothing; the text stands in the box.
  }
}
