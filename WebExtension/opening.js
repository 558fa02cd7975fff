// Opens what is continued here, and goes to its place.

import { api, on, tell } from "./host.js";
import { inPage } from "./inject.js";

// A page that has not come by then is not gone to any more.
const PATIENCE = 60_000;
// Tabs that are remembered, so that the next continuation of their page comes to them.
const REMEMBERED = 64;

// By tab: the address that was asked for, the place, and until when it is gone to.
const opened = new Map();

async function go(tabId, name = "go") {
  const entry = opened.get(tabId);
  if (!entry?.place || Date.now() > entry.until) return;
  try {
    await inPage(tabId, name, entry.place);
  } catch {
    // A page that the browser lets nobody look into, or another one by now.
  }
}

/** A tab that was opened for this page and still shows it. */
async function tabWith(url) {
  for (const [tabId, entry] of opened) {
    if (entry.url !== url) continue;
    const tab = await api.tabs.get(tabId).catch(() => null);
    if (tab && !tab.incognito && tab.url === entry.shown) return tab;
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
  const entry = { url, shown: url, place, until: Date.now() + PATIENCE };
  let tab;
  try {
    tab = await tabWith(url);
    if (tab) {
      opened.set(tab.id, { ...opened.get(tab.id), place, until: entry.until });
      await api.tabs.update(tab.id, { active: true });
      go(tab.id, "goAgain");
    } else {
      tab = await createTab(url);
      opened.set(tab.id, entry);
      if (opened.size > REMEMBERED) opened.delete(opened.keys().next().value);
      // What was loaded before this line is told by no event any more.
      if (tab.status === "complete" && tab.url === url) go(tab.id);
    }
  } catch {
    return tell({ kind: "opened", continuation, handled: false });
  }
  tell({ kind: "opened", continuation, handled: true });
  api.windows.update(tab.windowId, { focused: true }).catch(() => {});
}

export function start() {
  on("open", open);
  api.tabs.onRemoved.addListener((tabId) => opened.delete(tabId));
  api.tabs.onUpdated.addListener((tabId, change, tab) => {
    const entry = opened.get(tabId);
    if (!entry) return;
    if (tab.url && !tab.url.startsWith("about:")) entry.shown = tab.url;
    // As soon as there is a document, and once more when all of it is there.
    if (change.url || change.status === "complete") go(tabId);
  });
}
