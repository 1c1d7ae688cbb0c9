// In another page: Escape closes the panel that the page's script has opened. Nothing else is told to that page.
import { embedded } from "./api.js";

/** Listen for Escape, where this page stands in another one. */
export function start() {
  if (!embedded || window.parent === window) return;
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.defaultPrevented) window.parent.postMessage("waypoint-close", "*");
  });
}
