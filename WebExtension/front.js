// The page in front, and its scroll position when the daemon requests it.

import { addressOf, nameOf } from "./address.js";
import { api, on, post } from "./host.js";
import { inPage } from "./inject.js";
import { message } from "./language.js";
import { described, isPage } from "./pages.js";
import { daemonChanged, offeredChanged } from "./panel.js";

// The minimum time between updates for pages that constantly change their title or address.
const INTERVAL = 200;

let lastReported = null;
let timer = null;
let isDue = false;
let isOffered = false;
// True if the user has returned from another program since the last update.
let isReturn = false;
// By tab: an address that could not be loaded. Browsers show an error page under that address.
const failed = new Map();
const ERROR_PAGE = /^(about:(\w+error|blocked)\b|chrome-error:)/;
// Errors of pages whose loading was stopped: the browser still shows the previous page.
const ABORTED = /ERR_ABORTED|NS_BINDING_ABORTED|2152398850/;

/** Returns whether a tab is private. `incognito` in the manifest already excludes private windows; this does not rely on it. */
const isPrivate = (tab) => tab.incognito !== false;

/** Returns whether a title is the one shown until a page has its own: its address, or a part of it. */
function isAddress(title = "", url) {
  const short = url.replace(/^https?:\/\/(www\.)?/, "");
  return [url, short, short.replace(/\/$/, "")].includes(title) || url.replace(/^https?:\/\//, "") === title;
}

function messageFor(tab) {
  if (!tab || isPrivate(tab) || !isPage(tab) || failed.get(tab.id) === tab.url) return { kind: "noPage" };
  const page = described(tab);
  // The title may still change until the page is complete.
  if (isAddress(page.title, tab.url)) page.title = tab.status === "complete" ? nameOf(page.url) : "";
  return { kind: "page", ...page };
}

async function frontTab() {
  const [tab] = await api.tabs.query({ active: true, lastFocusedWindow: true });
  return tab;
}

async function report() {
  const message = messageFor(await frontTab());
  const text = JSON.stringify(message);
  const isUnchanged = text === lastReported;
  lastReported = text;
  if (!isUnchanged) post(message);
  else if (isReturn && message.kind === "page") post({ kind: "returned" });
  isReturn = false;
  // A reloaded page has lost its badge.
  if (isUnchanged) showOffered();
}

/** Updates the page in front: immediately, then at most once per interval. */
export function update() {
  if (timer) {
    isDue = true;
    return;
  }
  timer = setTimeout(() => {
    timer = null;
    if (isDue) {
      isDue = false;
      update();
    }
  }, INTERVAL);
  report();
}

/** Replies with the position of the page in front, or with none if another page is in front. */
async function save({ request, url }) {
  let place = null;
  try {
    const tab = await frontTab();
    if (tab && !isPrivate(tab) && isPage(tab) && addressOf(tab) === url) place = await inPage(tab.id, "read");
  } catch {
    // The browser does not allow access to the page, or the page is closing.
  }
  post({ kind: "place", request, place });
}

/** Calls a function of page.js in the page in front, if it has this address. */
async function inFront(name, url) {
  try {
    const tab = await frontTab();
    if (tab && !isPrivate(tab) && addressOf(tab) === url) await inPage(tab.id, name);
  } catch {
    // The browser does not allow access to the page.
  }
}

function setOffered(offered) {
  isOffered = offered;
  offeredChanged(offered);
  showOffered();
}

async function showOffered() {
  const offered = isOffered;
  const tab = await frontTab();
  const details = tab && !isPrivate(tab) ? { tabId: tab.id } : {};
  await api.action.setBadgeBackgroundColor({ ...details, color: "#1a73a8" });
  await api.action.setBadgeText({ ...details, text: offered ? "•" : "" });
  await api.action.setTitle({ ...details, title: offered ? message("titleOffered") : "Handoff" });
}

export function start() {
  on("ready", () => {
    lastReported = null;
    daemonChanged(null);
    update();
  });
  on("lost", ({ message }) => {
    setOffered(false);
    daemonChanged(message);
  });
  on("save", save);
  on("offered", ({ offered }) => setOffered(offered));
  on("watch", ({ url }) => inFront("watch", url));
  on("continued", ({ url }) => inFront("pause", url));
  api.tabs.onActivated.addListener(update);
  api.tabs.onRemoved.addListener((tabId) => {
    failed.delete(tabId);
    update();
  });
  api.tabs.onUpdated.addListener((_, change, tab) => {
    if (tab.active && (change.url || change.title || change.status)) update();
  });
  api.windows.onFocusChanged.addListener((windowId) => {
    if (windowId !== api.windows.WINDOW_ID_NONE) isReturn = true;
    update();
  });
  api.webNavigation.onErrorOccurred.addListener(({ tabId, frameId, url, error }) => {
    if (frameId !== 0 || ABORTED.test(error)) return;
    failed.set(tabId, url);
    update();
  });
  // Firefox also commits error pages, and does not report all errors before.
  api.webNavigation.onDOMContentLoaded.addListener(async ({ tabId, frameId, url }) => {
    if (frameId !== 0) return;
    const tab = ERROR_PAGE.test(url) ? await api.tabs.get(tabId).catch(() => null) : null;
    if (tab) failed.set(tabId, tab.url);
    else if (!failed.delete(tabId)) return;
    update();
  });
  // From then on, containers are known.
  api.permissions.onAdded.addListener(update);
  api.runtime.onMessage.addListener((message, sender) => {
    if (message?.kind === "moved" && sender.tab?.active && !isPrivate(sender.tab)) post({ kind: "moved" });
  });
}
