// Which tabs the host is informed of, besides those of private windows, which are kept away where messages are made.

import { addressOf } from "./address.js";
import { api } from "./host.js";

// What an activity may have (Sources/HandoffModel/Limits.swift). A page may have a title or an address of any length.
const MAX_URL = 2048;
const MAX_TITLE = 1024;
// The most bytes of a list of tabs; a message to the host has a mebibyte at most.
const MAX_LIST = 700_000;
const MAX_TABS = 2000;
const MAX_LISTED_TITLE = 200;
// The most addresses of a tab that are remembered as results of forms.
const MAX_POSTED = 64;

const isFirefox = api.runtime.getURL("").startsWith("moz-extension:");

// By tab: addresses whose document was the answer to a POST.
const posted = new Map();

const withoutFragment = (url) => url.split("#", 1)[0];

/** Whether a tab shows the answer to a form: what was entered is in it, and its address brings another page elsewhere. */
export const isFormResult = (tab) => posted.get(tab.id)?.has(withoutFragment(tab.url ?? "")) ?? false;

/** Whether a tab shows a page of the web that another device could open by its address. */
export const isPage = (tab) => addressOf(tab) !== "" && addressOf(tab).length <= MAX_URL && !isFormResult(tab);

/**
 * The address, title and container of a page as the host gets them. Firefox names containers only to those who may see cookies, which
 * is left to the user: until then the host excludes every page where its user excludes a container.
 */
export function described(tab, maxTitle = MAX_TITLE) {
  const page = { url: addressOf(tab), title: (tab.title ?? "").slice(0, maxTitle) };
  const container = tab.cookieStoreId ?? (isFirefox ? "unknown" : undefined);
  if (container && container !== "firefox-default" && isFirefox) page.container = container;
  return page;
}

/** The pages of tabs for a list, as many as fit into a message. */
export function listed(tabs) {
  const encoder = new TextEncoder();
  const list = [];
  let room = MAX_LIST;
  for (const tab of tabs) {
    if (tab.incognito !== false || !isPage(tab)) continue;
    const page = described(tab, MAX_LISTED_TITLE);
    room -= encoder.encode(JSON.stringify(page)).length + 1;
    if (room < 0 || list.length === MAX_TABS) break;
    list.push(page);
  }
  return list;
}

function responded({ tabId, method, url, statusCode }) {
  // Without a document the tab keeps the one that it has.
  if (tabId < 0 || statusCode === 204 || statusCode === 205) return;
  const own = posted.get(tabId) ?? new Set();
  if (method === "POST") own.add(withoutFragment(url));
  else own.delete(withoutFragment(url));
  if (own.size > MAX_POSTED) own.delete(own.values().next().value);
  posted.set(tabId, own);
  if (!own.size) posted.delete(tabId);
}

export function start() {
  api.webRequest.onResponseStarted.addListener(responded, { urls: ["http://*/*", "https://*/*"], types: ["main_frame"] });
  api.tabs.onRemoved.addListener((tabId) => posted.delete(tabId));
}
