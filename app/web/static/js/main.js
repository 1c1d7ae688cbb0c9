// Starts the parts of the page; the page itself is there before any script runs.
import { start as startBox } from "./box.js";
import { start as startConversation } from "./conversation.js";
import { start as startConversations } from "./conversations.js";
import { start as startDocuments } from "./documents.js";
import { start as startEmbed } from "./embed.js";
import { start as startKeys } from "./keys.js";
import { start as startNavigation } from "./navigation.js";
import { start as startSession } from "./session.js";
import { start as startTheme } from "./theme.js";
import { start as startViewer } from "./viewer.js";
import { start as startVoice } from "./voice.js";
import { state, subscribe } from "./state.js";

subscribe((_, changed) => {
  if (changed.has("view")) document.body.dataset.view = state.view;
});
startTheme();
startEmbed();
startConversation();
startConversations();
startBox();
startKeys();
startDocuments();
startViewer();
startVoice();
startNavigation();
startSession();
document.body.dataset.ready = "";
