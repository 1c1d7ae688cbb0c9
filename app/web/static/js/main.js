// Starts the parts of the page; the page itself is there before any script runs.
import { start as startEmbed } from "./embed.js";
import { start as startSession } from "./session.js";
import { start as startTheme } from "./theme.js";
import { state, subscribe } from "./state.js";

subscribe((_, changed) => {
  if (changed.has("view")) document.body.dataset.view = state.view;
});
startTheme();
startEmbed();
startSession();
document.body.dataset.ready = "";
