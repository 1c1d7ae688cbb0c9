// The keyboard: "/" goes to the question, Ctrl-K begins a conversation, Escape closes the card or stops the answer.
import { hide } from "./chips.js";
import { begin, stop } from "./conversation.js";
import { byId, focusBox } from "./elements.js";
import { change, state } from "./state.js";

/** Listen to the keys that work everywhere on the page. */
export function start() {
  document.addEventListener("keydown", press);
  byId("new-conversation").addEventListener("click", begin);
}

function stopped() {
  stop();
  return state.asking;
}

/** @param {KeyboardEvent} event */
function press(event) {
  if (event.defaultPrevented || event.isComposing || document.querySelector("dialog[open]")) return;
  const writing = event.target instanceof HTMLElement && event.target.matches("input, textarea, select, [contenteditable]");
  if (event.key === "/" && !writing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    if (!["ask", "document"].includes(state.view)) change({ view: "ask" });
    focusBox();
  } else if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey) {
    begin();
  } else if (event.key !== "Escape" || !(hide() || stopped())) return;
  event.preventDefault();
}
