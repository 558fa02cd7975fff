// Selects the tabs to send to the host. Private windows are excluded where messages are created.

import { addressOf } from "./address.js";
import { api } from "./host.js";

// The limits of activities (Sources/HandoffModel/Limits.swift). A page may have a title or an
// address of any length.
const MAX_URL = 2048;
const MAX_TITLE = 1024;
// The maximum size of a list of tabs, in bytes. Messages to the host have at most 1 MiB.
const MAX_LIST = 700_000;
const MAX_TABS = 2000;
const MAX_LISTED_TITLE = 200;
// The maximum number of form result addresses remembered per tab.
const MAX_POSTED = 64;

const isFirefox = api.runtime.getURL("").startsWith("moz-extension:");

// By tab: the addresses of documents returned by a POST.
const posted = new Map();
let changed = () => {};

const withoutFragment = (url) => url.split("#", 1)[0];

/** Returns whether a tab shows a form result: it contains the input, and its address leads to another page elsewhere. */
export const isFormResult = (tab) => posted.get(tab.id)?.has(withoutFragment(tab.url ?? "")) ?? false;

/** Returns whether a tab shows a web page that another device can open by its address. */
export const isPage = (tab) => addressOf(tab) !== "" && addressOf(tab).length <= MAX_URL && !isFormResult(tab);

/**
 * Returns the address, title and container of a page for the host. Firefox shows containers only with the permission for cookies,
 * which the user may grant. Without it, the host excludes every page if the user excludes any container.
 */
export function described(tab, maxTitle = MAX_TITLE) {
  const page = { url: addressOf(tab), title: (tab.title ?? "").slice(0, maxTitle) };
  const container = tab.cookieStoreId ?? (isFirefox ? "unknown" : undefined);
  if (container && container !== "firefox-default" && isFirefox) page.container = container;
  return page;
}

/** Returns the pages of tabs for a list, as many as fit in a message. */
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
  // Without a document, the tab keeps its current one.
  if (tabId < 0 || statusCode === 204 || statusCode === 205) return;
  const own = posted.get(tabId) ?? new Set();
  const address = withoutFragment(url);
  const wasResult = own.has(address);
  if (method === "POST") own.add(address);
  else own.delete(address);
  if (own.size > MAX_POSTED) own.delete(own.values().next().value);
  posted.set(tabId, own);
  if (!own.size) posted.delete(tabId);
  // A busy browser reports the response after the tab already shows the document.
  if (own.has(address) !== wasResult) changed();
}

/** `onChange` is called when an address of a tab becomes, or ceases to be, that of a form result. */
export function start(onChange) {
  changed = onChange;
  api.webRequest.onResponseStarted.addListener(responded, { urls: ["http://*/*", "https://*/*"], types: ["main_frame"] });
  api.tabs.onRemoved.addListener((tabId) => posted.delete(tabId));
}
