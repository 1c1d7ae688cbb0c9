// The switch between the system's colours, light and dark; a cookie keeps the choice, so that the page is sent in it.
import { t } from "./words.js";

const THEMES = ["system", "light", "dark"];

/** Make the switch work. */
export function start() {
  const button = /** @type {HTMLButtonElement} */ (document.getElementById("theme"));
  button.addEventListener("click", () => {
    const root = document.documentElement;
    const next = THEMES[(THEMES.indexOf(root.dataset.theme || "system") + 1) % THEMES.length];
    root.dataset.theme = next;
    button.textContent = t(`theme.${next}`);
    document.cookie = `theme=${next}; Path=/; Max-Age=31536000; SameSite=Lax`;
  });
}
