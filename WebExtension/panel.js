// Between the popup and the host: the popup lives as long as it is seen, and nothing is followed while it is not.

import { addressOf } from "./address.js";
import { api, on, tell } from "./host.js";
import { inPage } from "./inject.js";
import { described, isFormResult, isPage, listed } from "./pages.js";

const REQUESTS = new Set(["go", "tabs", "pause", "resume", "code"]);
const ANSWERS = ["status", "offers", "tabs", "went", "code", "sent", "taken", "trouble"];

// How long a page that is sent may take to report its place.
const TIMEOUT = 1000;

const popups = new Set();
// Why there is no daemon, as the host said last; null while there is one.
let missing = "handoff-browser was not started yet";
let isOffered = false;

function say(message) {
  for (const popup of popups) popup.postMessage(message);
}

/** The host says this when the daemon comes, goes, or has another page on offer; so the popup begins anew. */
export function daemonChanged(why) {
  missing = why;
  say({ kind: "daemon", missing });
  if (popups.size && why === null) tell({ kind: "popupOpen" });
}

export function offeredChanged(offered) {
  isOffered = offered;
  say({ kind: "page", isOffered });
}

/** Which tabs are open, for another device that asks: those of private windows are not among them. */
async function listTabs({ request }) {
  const tabs = await api.tabs.query({});
  tell({ kind: "tabList", request, tabs: listed(tabs) });
}

/** Sends the page of a tab to a device, at the place where it is now. */
async function send({ device, tab: tabId, url }) {
  const tab = await api.tabs.get(tabId).catch(() => null);
  if (tab?.incognito !== false || addressOf(tab) !== url) return say({ kind: "sent", device, failure: "the page has changed meanwhile" });
  if (isFormResult(tab)) return say({ kind: "sent", device, failure: "the page is the result of a form, which only this browser has" });
  if (!isPage(tab)) return say({ kind: "sent", device, failure: "its address is too long" });
  // A page that the browser lets nobody look into goes without a place, and so does one that is too busy to answer.
  const place = await Promise.race([
    inPage(tabId, "read").catch(() => null),
    new Promise((done) => setTimeout(done, TIMEOUT, null)),
  ]);
  tell({ kind: "send", device, ...described(tab), place });
}

export function start() {
  for (const kind of ANSWERS) on(kind, say);
  on("listTabs", listTabs);
  api.runtime.onConnect.addListener((popup) => {
    if (popup.name !== "popup") return;
    popups.add(popup);
    popup.onMessage.addListener((message) => {
      if (message?.kind === "send") send(message);
      else if (REQUESTS.has(message?.kind)) tell(message);
    });
    popup.onDisconnect.addListener(() => {
      popups.delete(popup);
      if (!popups.size) tell({ kind: "popupClose" });
    });
    popup.postMessage({ kind: "daemon", missing });
    popup.postMessage({ kind: "page", isOffered });
    tell({ kind: "popupOpen" });
  });
}
