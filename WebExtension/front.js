// The page in front: which one it is, and where it is scrolled when the daemon asks.

import { api, on, tell } from "./host.js";
import { inPage } from "./inject.js";
import { described, isPage } from "./pages.js";
import { daemonChanged, offeredChanged } from "./panel.js";

// A page that changes its title or address without end is looked at this often.
const INTERVAL = 200;

let said = null;
let timer = null;
let isDue = false;

/** Whether a tab is nobody else's business. `incognito` in the manifest keeps private windows away already; this stays right without. */
const isPrivate = (tab) => tab.incognito !== false;

/** Whether a title is what tabs show until a page has one: its address, or a part of that. */
function isAddress(title = "", url) {
  const short = url.replace(/^https?:\/\/(www\.)?/, "");
  return [url, short, short.replace(/\/$/, "")].includes(title) || url.replace(/^https?:\/\//, "") === title;
}

function messageFor(tab) {
  if (!tab || isPrivate(tab) || !isPage(tab)) return { kind: "noPage" };
  const page = described(tab);
  return { kind: "page", ...page, title: isAddress(page.title, tab.url) ? "" : page.title };
}

async function frontTab() {
  const [tab] = await api.tabs.query({ active: true, lastFocusedWindow: true });
  return tab;
}

async function say() {
  const message = messageFor(await frontTab());
  const text = JSON.stringify(message);
  if (text === said) return;
  said = text;
  tell(message);
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
    if (tab && !isPrivate(tab) && isPage(tab) && tab.url === url) place = await inPage(tab.id, "read");
  } catch {
    // A page that the browser lets nobody look into, or one that goes away just now.
  }
  tell({ kind: "place", request, place });
}

async function showOffered({ offered }) {
  offeredChanged(offered);
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
    showOffered({ offered: false });
    daemonChanged(message);
  });
  on("save", save);
  on("offered", showOffered);
  api.tabs.onActivated.addListener(look);
  api.tabs.onRemoved.addListener(look);
  api.tabs.onUpdated.addListener((_, change, tab) => {
    if (tab.active && (change.url || change.title || change.status === "complete")) look();
  });
  api.windows.onFocusChanged.addListener(look);
  // Containers are known from then on.
  api.permissions.onAdded.addListener(look);
  api.runtime.onMessage.addListener((message, sender) => {
    if (message?.kind === "moved" && sender.tab?.active && !isPrivate(sender.tab)) tell({ kind: "moved" });
  });
}
