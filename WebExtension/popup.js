// The popup: offers and open tabs of other devices, sending this page, its QR code, and problems.

import { addressOf } from "./address.js";
import { language, message, translate } from "./language.js";
import { clean, make, setText, showRows } from "./rows.js";

const api = globalThis.browser ?? globalThis.chrome;
const element = (id) => document.getElementById(id);
const port = api.runtime.connect({ name: "popup" });

// The number of rows shown at first, and added by *Show More*.
const PART = 15;
// The number of devices with their own button at first.
const RECIPIENTS = 8;

translate();

let page = null;
let isOffered = false;
let missing = null;
let status = null;
// The offers; null until they are known.
let offers = null;
// Activities that are no longer on offer and can be reopened.
let recent = [];
// By device: its name, and its tabs or the reason why they are unavailable.
const tabs = new Map();
let hasRequestedTabs = false;
let failure = null;
// The reply to a request that was not fulfilled because of a newer state.
let newer = null;
// The state of the sent page, for display.
let sent = null;
// The numbers of rows or buttons shown in each list.
const limits = { offers: PART, recent: PART, tabs: PART, recipients: RECIPIENTS };

const request = (fields) => port.postMessage(fields);

const host = (url) => {
  try {
    return new URL(url).host;
  } catch {
    return url;
  }
};

/** Shows the number of hidden rows of a list. */
function showMore(name, hidden) {
  element(`more-${name}`).hidden = hidden <= 0;
  setText(element(`more-${name}`), message("showMore", { count: hidden }));
}

const titleOf = (offer) => clean(offer.title) || (offer.isPage ? message("untitledPage") : offer.type);

function originOf(offer) {
  const device = clean(offer.deviceName);
  const app = clean(offer.opens);
  const origin =
    offer.isPage ? device
    : app ? message("deviceOpensIn", { device, app })
    : message("deviceOpensInBrowser", { device });
  const isUsed = offer.exclusive && offer.kept?.state !== "ended";
  const use = isUsed ? [message("inUseSince", { time: at(offer.since) })] : [];
  return [origin, ...use, ...(offer.kept ? stateOf(offer) : [])].join(" · ");
}

/** Returns a time of today, or a day and a time. */
function at(seconds) {
  const [then, now] = [new Date(1000 * seconds), new Date()];
  const isToday = then.toDateString() === now.toDateString();
  const day = isToday ? {} : { day: "numeric", month: "long" };
  return new Intl.DateTimeFormat(language, { hour: "numeric", minute: "2-digit", ...day }).format(then);
}

/** Adds the time since which an offer is current, which its age gives only on arrival. */
const withTime = (offer) => ({ ...offer, since: Date.now() / 1000 - offer.age });

/** Returns the state of the device of a kept activity, and what is not available. */
function stateOf({ kept, streams, isOwn, deviceName }) {
  const time = at(kept.asOf);
  const state =
    kept.state === "ended" ? message(isOwn ? "closedHere" : "closedThere", { time })
    : kept.state !== "asleep" ? message("offlineAsOf", { time })
    : kept.since === null ? message("asleepAsOf", { time })
    : message("asleepSince", { since: at(kept.since), time });
  if (!streams) return [state];
  return [state, kept.state === "ended" ? message("noStreams") : message("streamsLater", { device: clean(deviceName) })];
}

function rowOf(offer, action, name) {
  return {
    key: offer.device + offer.activity,
    title: titleOf(offer),
    from: originOf(offer),
    action: message(action),
    name: message(name, { title: titleOf(offer), device: clean(offer.deviceName) }),
    wraps: Boolean(offer.kept || offer.exclusive),
    run: () => go(offer),
  };
}

/** Continues an offer; with `older` also if a newer state is known. */
function go({ activity, device }, older = false) {
  [failure, newer] = [null, null];
  request({ kind: "go", activity, device, older });
}

function showRecent() {
  const shown = recent.slice(0, limits.recent);
  showRows(element("recent"), element("recent-heading"), shown.map((offer) => rowOf(offer, "reopen", "reopenFrom")));
  showMore("recent", recent.length - shown.length);
  element("recent-section").hidden = !recent.length;
}

function showOffers() {
  const shown = (offers ?? []).slice(0, limits.offers);
  showRows(element("offers"), element("offers-heading"), shown.map((offer) => rowOf(offer, "continue", "continueFrom")));
  showMore("offers", (offers ?? []).length - shown.length);
  const others = status?.devices ?? [];
  const there = others.filter((each) => each.online).map((each) => clean(each.name));
  element("no-offers").hidden = shown.length > 0;
  setText(
    element("no-offers"),
    missing || !status ? ""
    : !status.account ? message("noAccount")
    : !others.length ? message("noOtherDevices")
    : there.length ? message("nothingToContinue", { devices: new Intl.ListFormat(language).format(there) })
    : message("noDeviceOnline"),
  );
}

function showTabs() {
  const words = element("search").value.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  const fits = (tab) => words.every((word) => `${tab.title} ${tab.url}`.toLocaleLowerCase().includes(word));
  let count = 0;
  const groups = new Set();
  for (const [device, { name, list, why }] of tabs) {
    const found = (list ?? []).filter(fits);
    const shown = found.slice(0, Math.max(0, limits.tabs - count));
    count += found.length;
    if (!shown.length && !why) continue;
    const group = groupOf(device);
    groups.add(group);
    setText(group.querySelector("h2"), clean(name));
    setText(group.querySelector("p"), why ?? "");
    const copies = new Map();
    showRows(
      group.querySelector("ul"),
      element("tabs-heading"),
      shown.map((tab) => {
        const title = clean(tab.title) || tab.url;
        const key = `${tab.url} ${title}`;
        copies.set(key, (copies.get(key) ?? 0) + 1);
        return {
          key: `${key} ${copies.get(key)}`,
          title,
          from: host(tab.url),
          name: message("openTabFrom", { title, host: host(tab.url), device: clean(name) }),
          run: async () => {
            await api.tabs.create({ url: tab.url });
            close();
          },
        };
      }),
    );
  }
  for (const group of [...element("tabs").children]) if (!groups.has(group)) group.remove();
  const listed = element("tabs").querySelectorAll("li").length;
  showMore("tabs", count - listed);
  element("tabs-section").hidden = ![...tabs.values()].some(({ list, why }) => list?.length || why);
  setText(element("no-tabs"), words.length && !count ? message("noMatchingTabs") : "");
}

/** Returns the element that contains the tabs of a device. */
function groupOf(device) {
  const id = `device-${device}`;
  const former = element(id)?.parentElement;
  if (former) return former;
  const group = make("div");
  const heading = make("h2");
  heading.id = id;
  heading.dir = "auto";
  const list = make("ul");
  list.setAttribute("aria-labelledby", id);
  group.append(heading, make("p", "quiet"), list);
  element("tabs").append(group);
  return group;
}

const isSendable = () => addressOf(page) !== "" && page.incognito === false;

function showPage() {
  const isPage = isSendable();
  const off = status?.holds.find((each) => each.direction === "advertise");
  let words =
    page?.incognito ? message("privateWindow")
    : page?.status === "loading" && !isOffered ? message("stillLoading")
    : missing || !isPage || !isOffered ? message("notOffered")
    : off ? message("notOfferedBecause", { reason: off.message })
    : message("isOffered");
  // The name by which browser.conf excludes a container.
  if (page?.cookieStoreId && page.cookieStoreId !== "firefox-default") words += ` (${page.cookieStoreId})`;
  setText(element("page"), words);
  element("code-button").hidden = !isPage;
  const isOff = off !== undefined;
  for (const id of ["pause", "pause-hour"]) element(id).hidden = isOff || !status;
  element("resume").hidden = !off?.byUser;
}

/** Shows a button for each device that the page can be sent to. */
function showRecipients() {
  const devices = missing ? [] : status?.devices ?? [];
  const shown = devices.slice(0, limits.recipients);
  showRows(
    element("recipients"),
    element("page-heading"),
    shown.map((device) => ({
      key: device.id,
      title: clean(device.name),
      name: message(device.online ? "sendPageTo" : "sendPageToOffline", { device: clean(device.name) }),
      hint: device.online ? "" : message("deviceOffline", { device: clean(device.name) }),
      run: () => {
        failure = null;
        sent = message("sendingTo", { device: clean(device.name) });
        show();
        request({ kind: "send", device: device.id, tab: page.id, url: addressOf(page) });
      },
    })),
  );
  showMore("recipients", devices.length - shown.length);
  element("send").hidden = !isSendable() || !devices.length;
  setText(element("sent"), sent ?? "");
  element("sent").hidden = !sent;
}

const nameOf = (id) => clean(status?.devices.find((each) => each.id === id)?.name ?? message("theDevice"));

function showTrouble() {
  const words = missing ? [missing] : [failure, ...(status?.warnings ?? [])].filter(Boolean);
  setText(element("trouble"), words.join("\n"));
  element("trouble").hidden = !words.length;
  showNewer();
  setText(element("device"), clean(status?.name ?? ""));
}

/** Shows that a newer state of the chosen activity is known, and both choices. */
function showNewer() {
  element("newer").hidden = !newer;
  if (!newer) return;
  const { deviceName, here, since } = newer.newer;
  const chosen = [...(offers ?? []), ...recent].find((each) => each.activity === newer.activity && each.device === newer.device);
  const values = { title: titleOf(chosen ?? { isPage: true }), device: clean(deviceName), time: at(since) };
  setText(element("newer-state"), message(here ? "newerHere" : "newerThere", values));
  element("go-newer").hidden = here;
}

function show() {
  showTrouble();
  showPage();
  showRecipients();
  showOffers();
  showRecent();
  showTabs();
}

/** Draws a QR code from rows of ones and zeros, as a single path. */
function showCode({ url, rows }) {
  if (url !== addressOf(page)) return;
  const figure = element("code");
  if (!rows) return figure.replaceChildren(make("p", "quiet", message("addressTooLong")));
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  const path = document.createElementNS(space, "path");
  let drawing = "";
  rows.forEach((line, y) => [...line].forEach((module, x) => module === "1" && (drawing += `M${x} ${y}h1v1h-1z`)));
  path.setAttribute("d", drawing);
  path.setAttribute("fill", "black");
  svg.setAttribute("viewBox", `0 0 ${rows.length} ${rows.length}`);
  svg.setAttribute("shape-rendering", "crispEdges");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", message("qrCodeOfPage"));
  svg.append(path);
  figure.replaceChildren(svg);
}

/** Announces new offers to screen readers, but not the whole list. */
function announce(added) {
  const [first] = added;
  if (added.length === 1) setText(element("news"), message("newOffer", { title: titleOf(first), device: clean(first.deviceName) }));
  else if (added.length) setText(element("news"), message("newOffers", { count: added.length }));
}

let hasFocused = false;

const answers = {
  daemon(update) {
    missing = update.missing;
    failure = null;
    if (!missing) return;
    // Known offers can no longer be continued, and everything is requested again.
    [status, offers, recent, hasRequestedTabs, newer] = [null, null, [], false, null];
    tabs.clear();
  },
  page(update) {
    isOffered = update.isOffered;
  },
  status(update) {
    status = update;
  },
  offers(update) {
    const former = offers && new Set(offers.map((offer) => offer.device + offer.activity));
    offers = update.offers.map(withTime);
    if (former) announce(offers.filter((offer) => !former.has(offer.device + offer.activity)));
    // Requested only once, and only while the popup is open.
    if (!hasRequestedTabs) {
      hasRequestedTabs = true;
      request({ kind: "tabs" });
    }
  },
  recent(update) {
    recent = update.offers.map(withTime);
  },
  tabs({ device, deviceName, tabs: list, failure: why }) {
    tabs.set(device, { name: deviceName, list, why });
  },
  went(update) {
    if (!update.failure) return close();
    [failure, newer] = update.newer ? [null, update] : [update.failure, null];
  },
  sent({ device, failure: why }) {
    failure = why;
    sent = failure ? null : message("sentTo", { device: nameOf(device) });
  },
  taken({ device }) {
    sent = message("openedOn", { device: nameOf(device) });
  },
  trouble(update) {
    failure = update.message;
  },
  code: showCode,
};

port.onMessage.addListener((update) => {
  answers[update.kind]?.(update);
  if (update.kind === "code") return;
  show();
  if (offers && !hasFocused) {
    hasFocused = true;
    // Enter then continues the most recent activity. Later the focus does not move, so that Enter
    // does not continue another one.
    if (document.activeElement === document.body) element("offers").querySelector("button")?.focus();
  }
});

for (const name of Object.keys(limits)) {
  element(`more-${name}`).addEventListener("click", () => {
    const former = element(name).querySelectorAll("button").length;
    limits[name] += PART;
    show();
    element(name).querySelectorAll("button")[former]?.focus();
  });
}

element("go-newer").addEventListener("click", () => go(newer.newer));
element("go-older").addEventListener("click", () => go(newer, true));
element("pause").addEventListener("click", () => request({ kind: "pause", seconds: null }));
element("pause-hour").addEventListener("click", () => request({ kind: "pause", seconds: 3600 }));
element("resume").addEventListener("click", () => request({ kind: "resume" }));
element("search").addEventListener("input", () => {
  limits.tabs = PART;
  showTabs();
});
element("code-button").addEventListener("click", () => {
  const isOpen = element("code").hidden;
  element("code").hidden = !isOpen;
  element("code-button").setAttribute("aria-expanded", isOpen);
  if (isOpen) request({ kind: "code", url: addressOf(page) });
});

// Firefox shows the container of a tab only with the permission for cookies, which is not needed
// otherwise.
const CONTAINERS = { permissions: ["cookies"] };
const isFirefox = api.runtime.getURL("").startsWith("moz-extension:");
element("containers").addEventListener("click", async () => {
  element("containers").hidden = await api.permissions.request(CONTAINERS);
});

// Arrow keys move between rows; a slash starts a search.
document.addEventListener("keydown", (event) => {
  hasFocused = true;
  if (event.key === "/" && document.activeElement !== element("search")) {
    element("search").focus();
    return event.preventDefault();
  }
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  const all = [...document.querySelectorAll("button, input")].filter((each) => each.offsetParent);
  const step = event.key === "ArrowDown" ? 1 : -1;
  const next = all[(all.indexOf(document.activeElement) + step + all.length) % all.length];
  next?.focus();
  event.preventDefault();
});

element("containers").hidden = !isFirefox || (await api.permissions.contains(CONTAINERS));
[page] = await api.tabs.query({ active: true, currentWindow: true });
api.tabs.onUpdated.addListener((tabId, change, tab) => {
  if (tabId !== page?.id) return;
  // The code belongs to the previous address.
  if (addressOf(tab) !== addressOf(page)) element("code").hidden = true;
  page = tab;
  show();
});
show();
