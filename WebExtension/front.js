// The page in front: which one it is, and where it is scrolled when the daemon asks.

import { addressOf, nameOf } from "./address.js";
import { api, on, tell } from "./host.js";
import { inPage } from "./inject.js";
import { described, isPage } from "./pages.js";
import { daemonChanged, offeredChanged } from "./panel.js";

// A page that changes its title or address without end is looked at this often.
const INTERVAL = 200;

let said = null;
let timer = null;
let isDue = false;
let isOffered = false;
// Whether the user has returned from another program since the page in front was looked at.
let isReturn = false;
// By tab: an address that could not be loaded. Browsers show a page of their own there, under that address.
const failed = new Map();
const ERROR_PAGE = /^(about:(\w+error|blocked)\b|chrome-error:)/;
// What browsers report where a page was stopped: they still show the former one.
const ABORTED = /ERR_ABORTED|NS_BINDING_ABORTED|2152398850/;

/** Whether a tab is nobody else's business. `incognito` in the manifest keeps private windows away already; this stays right without. */
const isPrivate = (tab) => tab.incognito !== false;

/** Whether a title is what tabs show until a page has one: its address, or a part of that. */
function isAddress(title = "", url) {
  const short = url.replace(/^https?:\/\/(www\.)?/, "");
  return [url, short, short.replace(/\/$/, "")].includes(title) || url.replace(/^https?:\/\//, "") === title;
}

function messageFor(tab) {
  if (!tab || isPrivate(tab) || !isPage(tab) || failed.get(tab.id) === tab.url) return { kind: "noPage" };
  const page = described(tab);
  // The title may follow, until all of the page is there.
  if (isAddress(page.title, tab.url)) page.title = tab.status === "complete" ? nameOf(page.url) : "";
  return { kind: "page", ...page };
}

async function frontTab() {
  const [tab] = await api.tabs.query({ active: true, lastFocusedWindow: true });
  return tab;
}

async function say() {
  const message = messageFor(await frontTab());
  const text = JSON.stringify(message);
  const isSaid = text === said;
  said = text;
  if (!isSaid) tell(message);
  else if (isReturn && message.kind === "page") tell({ kind: "returned" });
  isReturn = false;
  // A page that was loaded again has lost its dot.
  if (isSaid) showOffered();
}

/** Looks which page is in front: at once, and then at most once in an interval. */
function look() {
  if (timer) {
    isDue = true;
    return;
  }
  timer = setTimeout(() => {
    timer = null;
    if (isDue) {
      isDue = false;
      look();
    }
  }, INTERVAL);
  say();
}

/** Answers where the page is. A page of another address than the one that is meant says nothing. */
async function save({ request, url }) {
  let place = null;
  try {
    const tab = await frontTab();
    if (tab && !isPrivate(tab) && isPage(tab) && addressOf(tab) === url) place = await inPage(tab.id, "read");
  } catch {
    // A page that the browser lets nobody look into, or one that goes away just now.
  }
  tell({ kind: "place", request, place });
}

/** Calls a function of page.js in the page in front, if that is the page with this address. */
async function inFront(name, url) {
  try {
    const tab = await frontTab();
    if (tab && !isPrivate(tab) && addressOf(tab) === url) await inPage(tab.id, name);
  } catch {
    // A page that the browser lets nobody look into.
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
  await api.action.setTitle({ ...details, title: offered ? "Handoff: your other devices can go on with this page" : "Handoff" });
}

export function start() {
  on("ready", () => {
    said = null;
    daemonChanged(null);
    look();
  });
  on("lost", ({ message }) => {
    setOffered(false);
    daemonChanged(message);
  });
  on("save", save);
  on("offered", ({ offered }) => setOffered(offered));
  on("watch", ({ url }) => inFront("watch", url));
  on("continued", ({ url }) => inFront("pause", url));
  api.tabs.onActivated.addListener(look);
  api.tabs.onRemoved.addListener((tabId) => {
    failed.delete(tabId);
    look();
  });
  api.tabs.onUpdated.addListener((_, change, tab) => {
    if (tab.active && (change.url || change.title || change.status)) look();
  });
  api.windows.onFocusChanged.addListener((windowId) => {
    if (windowId !== api.windows.WINDOW_ID_NONE) isReturn = true;
    look();
  });
  api.webNavigation.onErrorOccurred.addListener(({ tabId, frameId, url, error }) => {
    if (frameId !== 0 || ABORTED.test(error)) return;
    failed.set(tabId, url);
    look();
  });
  // Firefox commits error pages, too, and reports not all errors before.
  api.webNavigation.onDOMContentLoaded.addListener(async ({ tabId, frameId, url }) => {
    if (frameId !== 0) return;
    const tab = ERROR_PAGE.test(url) ? await api.tabs.get(tabId).catch(() => null) : null;
    if (tab) failed.set(tabId, tab.url);
    else if (!failed.delete(tabId)) return;
    look();
  });
  // Containers are known from then on.
  api.permissions.onAdded.addListener(look);
  api.runtime.onMessage.addListener((message, sender) => {
    if (message?.kind === "moved" && sender.tab?.active && !isPrivate(sender.tab)) tell({ kind: "moved" });
  });
}
