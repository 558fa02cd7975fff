// Opens what is continued here, and goes to its place.

import { api, on, tell } from "./host.js";
import { inPage } from "./inject.js";

// How long the place is kept for a page that its reader has to sign in for first.
const TIMEOUT = 600_000;
// Tabs that are remembered, so that the next continuation of their page comes to them.
const REMEMBERED = 64;

// By tab: the continued address, its place until the tab has gone there, the first address that the tab showed, and the one where
// it arrived.
const opened = new Map();

/** Goes to the place, if the document in the tab is the continued page. page.js decides that: a tab may show another one by then. */
async function go(tabId, name = "go") {
  const entry = opened.get(tabId);
  if (!entry?.place || Date.now() > entry.until) return;
  try {
    await inPage(tabId, name, { place: entry.place, url: entry.url, landing: entry.landing });
  } catch {
    // A page that the browser lets nobody look into, or another one by now.
  }
}

/** The page is at its place, or its reader has moved: later documents of the tab are left alone. */
function arrived(tab) {
  const entry = opened.get(tab.id);
  if (!entry) return;
  entry.place = null;
  entry.arrival = tab.url;
}

/** A tab that was opened for this page and still shows it. */
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
    // There is no window yet, or none that is not private.
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
      if (opened.size > REMEMBERED) opened.delete(opened.keys().next().value);
      // A document that began before this line was announced by no event.
      landed(tab.id, await api.tabs.get(tab.id));
    }
  } catch {
    return tell({ kind: "opened", continuation, handled: false });
  }
  tell({ kind: "opened", continuation, handled: true });
  api.windows.update(tab.windowId, { focused: true }).catch(() => {});
}

/** A document has begun in a tab. The first one may be the page at another address, or what comes before it. */
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
    // As soon as there is a document, and once more when all of it is there.
    if (change.url || change.status === "complete") landed(tabId, tab);
  });
  api.runtime.onMessage.addListener((message, sender) => {
    if (message?.kind === "arrived" && sender.tab && sender.frameId === 0) arrived(sender.tab);
  });
}
