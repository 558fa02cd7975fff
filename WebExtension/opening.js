// Opens continued pages, and goes to their positions.

import { api, on, post } from "./host.js";
import { inPage } from "./inject.js";

// The time to keep the position for a page that first requires signing in, in milliseconds.
const TIMEOUT = 600_000;
// The maximum number of remembered tabs, which are reused when their page is continued again.
const MAX_REMEMBERED = 64;

// By tab: the continued address, its position until the tab has gone there, the first address that
// the tab showed, and the one where it arrived.
const opened = new Map();

/** Goes to the position if the tab shows the continued page, which going.js checks because the tab may have changed. */
async function go(tabId, name = "go") {
  const entry = opened.get(tabId);
  if (!entry?.place || Date.now() > entry.until) return;
  try {
    await inPage(tabId, name, { place: entry.place, url: entry.url, landing: entry.landing });
  } catch {
    // The browser does not allow access to the page, or another page is shown.
  }
}

/** Records that the page is at its position or its reader has moved. Later documents of the tab are left unchanged. */
function arrived(tab) {
  const entry = opened.get(tab.id);
  if (!entry) return;
  entry.place = null;
  entry.arrival = tab.url;
}

/** Returns a tab that was opened for this page and still shows it. */
async function tabWith(url) {
  for (const [tabId, entry] of opened) {
    if (entry.url !== url) continue;
    const tab = await api.tabs.get(tabId).catch(() => null);
    if (tab && !tab.incognito && [url, entry.arrival].includes(tab.url)) return tab;
  }
  return null;
}

async function createTab(url) {
  try {
    return await api.tabs.create({ url, active: true });
  } catch {
    // There is no window, or only private ones.
    const window = await api.windows.create({ url, focused: true });
    return window.tabs?.[0] ?? (await api.tabs.query({ windowId: window.id }))[0];
  }
}

async function open({ continuation, url, place }) {
  const entry = { url, place, until: Date.now() + TIMEOUT };
  let tab;
  try {
    tab = await tabWith(url);
    if (tab) {
      opened.set(tab.id, { ...opened.get(tab.id), place, landing: tab.url, until: entry.until });
      await api.tabs.update(tab.id, { active: true });
      go(tab.id, "goAgain");
    } else {
      tab = await createTab(url);
      opened.set(tab.id, entry);
      if (opened.size > MAX_REMEMBERED) opened.delete(opened.keys().next().value);
      // Documents that started before the tab was registered have caused no event.
      landed(tab.id, await api.tabs.get(tab.id));
    }
  } catch {
    return post({ kind: "opened", continuation, handled: false });
  }
  post({ kind: "opened", continuation, handled: true });
  api.windows.update(tab.windowId, { focused: true }).catch(() => {});
}

/** Handles a new document in a tab. The first may be the page at another address, or a sign-in page before it. */
function landed(tabId, tab) {
  const entry = opened.get(tabId);
  if (!entry || !/^https?:/.test(tab.url ?? "")) return;
  entry.landing ??= tab.url;
  go(tabId);
}

export function start() {
  on("open", open);
  api.tabs.onRemoved.addListener((tabId) => opened.delete(tabId));
  api.tabs.onUpdated.addListener((tabId, change, tab) => {
    // Called when a document exists, and again when it is complete.
    if (change.url || change.status === "complete") landed(tabId, tab);
  });
  api.runtime.onMessage.addListener((message, sender) => {
    if (message?.kind === "arrived" && sender.tab && sender.frameId === 0) arrived(sender.tab);
  });
}
