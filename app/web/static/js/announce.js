// Says to a screen reader what has happened, once and when it is whole.
import { byId, element } from "./elements.js";

/** Say a text; the same text again is said again.
 * @param {string} text */
export function announce(text) {
  const place = byId("announcer") ?? newPlace();
  place.replaceChildren(element("p", { text }));
}

function newPlace() {
  const place = element("div", { id: "announcer", class: "unseen", role: "status" });
  document.body.append(place);
  return place;
}
