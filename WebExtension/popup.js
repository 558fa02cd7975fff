// The popup: offers and open tabs of other devices, sending this page, its QR code, and problems.

import { addressOf } from "./address.js";
import { clean, make, setText, showRows } from "./rows.js";

const api = globalThis.browser ?? globalThis.chrome;
const element = (id) => document.getElementById(id);
const port = api.runtime.connect({ name: "popup" });

// The number of rows shown at first, and added by *Show More*.
const PART = 15;
// The number of devices with their own button at first.
const RECIPIENTS = 8;

let page = null;
let isOffered = false;
let missing = null;
let status = null;
// The offers; null until they are known.
let offers = null;
// By device: its name, and its tabs or the reason why they are unavailable.
const tabs = new Map();
let hasRequestedTabs = false;
let failure = null;
// The state of the sent page, for display.
let sent = null;
// The numbers of rows or buttons shown in each list.
const limits = { offers: PART, tabs: PART, recipients: RECIPIENTS };

const request = (message) => port.postMessage(message);

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
  setText(element(`more-${name}`), `Show More (${hidden} hidden)`);
}

const titleOf = (offer) => clean(offer.title) || (offer.isPage ? "Untitled Page" : offer.type);

function showOffers() {
  const shown = (offers ?? []).slice(0, limits.offers);
  showRows(
    element("offers"),
    element("offers-heading"),
    shown.map((offer) => ({
      key: offer.device + offer.activity,
      title: titleOf(offer),
      from: offer.isPage ? clean(offer.deviceName) : `${clean(offer.deviceName)}, opens in ${clean(offer.opens) || "the browser"}`,
      action: "Continue",
      name: `Continue ${titleOf(offer)} from ${clean(offer.deviceName)}`,
      run: () => {
        failure = null;
        request({ kind: "go", activity: offer.activity, device: offer.device });
      },
    })),
  );
  showMore("offers", (offers ?? []).length - shown.length);
  const others = status?.devices ?? [];
  const there = others.filter((each) => each.online).map((each) => clean(each.name));
  element("no-offers").hidden = shown.length > 0;
  setText(
    element("no-offers"),
    missing || !status ? ""
    : !status.account ? "This device is not in an account. Run 'handoffctl pair' on another device, then 'handoffctl join' here."
    : !others.length ? "This account has no other devices yet."
    : there.length ? `Nothing to continue on ${new Intl.ListFormat("en").format(there)}.`
    : "None of your other devices is online.",
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
          name: `Open ${title}, ${host(tab.url)}, from ${clean(name)}`,
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
  setText(element("no-tabs"), words.length && !count ? "No matching tabs." : "");
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
    page?.incognito ? "Private windows are never offered."
    : page?.status === "loading" && !isOffered ? "This page is still loading."
    : missing || !isPage || !isOffered ? "This page is not offered to your other devices."
    : off ? `This page is not offered: ${off.message}.`
    : "Your other devices can continue this page.";
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
      name: `Send this page to ${clean(device.name)}${device.online ? "" : ", which is offline"}`,
      hint: device.online ? "" : `${clean(device.name)} is offline. It will receive the page when it is online.`,
      run: () => {
        failure = null;
        sent = `Sending to ${clean(device.name)}…`;
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

const nameOf = (id) => clean(status?.devices.find((each) => each.id === id)?.name ?? "the device");

function showTrouble() {
  const words = missing ? [missing] : [failure, ...(status?.warnings ?? [])].filter(Boolean);
  setText(element("trouble"), words.join("\n"));
  element("trouble").hidden = !words.length;
  setText(element("device"), clean(status?.name ?? ""));
}

function show() {
  showTrouble();
  showPage();
  showRecipients();
  showOffers();
  showTabs();
}

/** Draws a QR code from rows of ones and zeros, as a single path. */
function showCode({ url, rows }) {
  if (url !== addressOf(page)) return;
  const figure = element("code");
  if (!rows) return figure.replaceChildren(make("p", "quiet", "The address is too long for a QR code."));
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
  svg.setAttribute("aria-label", "QR code of the address of this page, to scan with a phone");
  svg.append(path);
  figure.replaceChildren(svg);
}

/** Announces new offers to screen readers, but not the whole list. */
function announce(added) {
  if (added.length === 1) setText(element("news"), `New: ${titleOf(added[0])} from ${clean(added[0].deviceName)}`);
  else if (added.length) setText(element("news"), `${added.length} new offers`);
}

let hasFocused = false;

const answers = {
  daemon(message) {
    missing = message.missing;
    failure = null;
    if (!missing) return;
    // Known offers can no longer be continued, and everything is requested again.
    [status, offers, hasRequestedTabs] = [null, null, false];
    tabs.clear();
  },
  page(message) {
    isOffered = message.isOffered;
  },
  status(message) {
    status = message;
  },
  offers(message) {
    const former = offers && new Set(offers.map((offer) => offer.device + offer.activity));
    offers = message.offers;
    if (former) announce(offers.filter((offer) => !former.has(offer.device + offer.activity)));
    // Requested only once, and only while the popup is open.
    if (!hasRequestedTabs) {
      hasRequestedTabs = true;
      request({ kind: "tabs" });
    }
  },
  tabs(message) {
    tabs.set(message.device, { name: message.deviceName, list: message.tabs, why: message.failure });
  },
  went(message) {
    if (!message.failure) return close();
    failure = message.failure;
  },
  sent(message) {
    failure = message.failure;
    sent = failure ? null : `Sent to ${nameOf(message.device)}. It is available there until it is opened or this browser is closed.`;
  },
  taken(message) {
    sent = `Opened on ${nameOf(message.device)}.`;
  },
  trouble(message) {
    failure = message.message;
  },
  code: showCode,
};

port.onMessage.addListener((message) => {
  answers[message.kind]?.(message);
  if (message.kind === "code") return;
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
