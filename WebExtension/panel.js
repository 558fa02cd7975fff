// Connects the popup and the host while the popup is open. Otherwise nothing is followed.

import { addressOf } from "./address.js";
import { api, on, post } from "./host.js";
import { inPage } from "./inject.js";
import { message } from "./language.js";
import { described, isFormResult, isPage, listed } from "./pages.js";

const REQUESTS = new Set(["go", "tabs", "pause", "resume", "code"]);
const ANSWERS = ["status", "offers", "recent", "tabs", "went", "code", "sent", "taken", "trouble"];

// The maximum time for a sent page to report its position, in milliseconds.
const TIMEOUT = 1000;

const popups = new Set();
// The last reason from the host why the daemon is unavailable; null if it is available.
let missing = message("notStarted");
let isOffered = false;

function broadcast(update) {
  for (const popup of popups) popup.postMessage(update);
}

/** Handles a change of the daemon's availability or of the offered page. The popup then starts again. */
export function daemonChanged(why) {
  missing = why;
  broadcast({ kind: "daemon", missing });
  if (popups.size && why === null) post({ kind: "popupOpen" });
}

export function offeredChanged(offered) {
  isOffered = offered;
  broadcast({ kind: "page", isOffered });
}

/** Sends the open tabs to the host for another device, without those of private windows. */
async function listTabs({ request }) {
  const tabs = await api.tabs.query({});
  post({ kind: "tabList", request, tabs: listed(tabs) });
}

/** Sends the page of a tab to a device, with its current position. */
async function send({ device, tab: tabId, url }) {
  const tab = await api.tabs.get(tabId).catch(() => null);
  if (tab?.incognito !== false || addressOf(tab) !== url) return broadcast({ kind: "sent", device, failure: message("pageHasChanged") });
  if (isFormResult(tab)) return broadcast({ kind: "sent", device, failure: message("pageIsFormResult") });
  if (!isPage(tab)) return broadcast({ kind: "sent", device, failure: message("pageAddressTooLong") });
  // Without a position if the browser does not allow access to the page, or the page does not reply
  // in time.
  const place = await Promise.race([
    inPage(tabId, "read").catch(() => null),
    new Promise((done) => setTimeout(done, TIMEOUT, null)),
  ]);
  post({ kind: "send", device, ...described(tab), place });
}

export function start() {
  for (const kind of ANSWERS) on(kind, broadcast);
  on("listTabs", listTabs);
  api.runtime.onConnect.addListener((popup) => {
    if (popup.name !== "popup") return;
    popups.add(popup);
    popup.onMessage.addListener((request) => {
      if (request?.kind === "send") send(request);
      else if (REQUESTS.has(request?.kind)) post(request);
    });
    popup.onDisconnect.addListener(() => {
      popups.delete(popup);
      if (!popups.size) post({ kind: "popupClose" });
    });
    popup.postMessage({ kind: "daemon", missing });
    popup.postMessage({ kind: "page", isOffered });
    post({ kind: "popupOpen" });
  });
}
