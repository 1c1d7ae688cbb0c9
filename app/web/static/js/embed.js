// In another page: the box has the focus once the panel is opened, and Escape closes it. Nothing else is sent to that page.
import { embedded } from "./api.js";
import { focusBox } from "./elements.js";

/** Listen for the focus and for Escape, where this page stands in another one. */
export function start() {
  if (!embedded || window.parent === window) return;
  if (document.hasFocus()) focusBox(); // A frame may not take the focus that it is not given.
  else addEventListener("focus", focusBox, { once: true });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.defaultPrevented) window.parent.postMessage("waypoint-close", "*");
  });
}
