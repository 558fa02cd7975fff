// The popup: what the other devices offer, their open tabs, this page as a code, and what is wrong.

import { addressOf } from "./address.js";
import { clean, make, setText, showRows } from "./rows.js";

const api = globalThis.browser ?? globalThis.chrome;
const element = (id) => document.getElementById(id);
const port = api.runtime.connect({ name: "popup" });

// Rows of a list that are shown at first, and that *Show more* adds.
const PART = 15;
// Devices with a button of their own at first.
const RECIPIENTS = 8;

let page = null;
let isOffered = false;
let missing = null;
let status = null;
// The offers, or null until they are known.
let offers = null;
// By device: its name, and its tabs or why they did not come.
const tabs = new Map();
let hasAskedForTabs = false;
let failure = null;
// What became of the page that was sent: words.
let sent = null;
// How many rows, or buttons, of each list are shown.
const limits = { offers: PART, tabs: PART, recipients: RECIPIENTS };

const ask = (message) => port.postMessage(message);

const host = (url) => {
  try {
    return new URL(url).host;
  } catch {
    return url;
  }
};

/** Shows how many rows of a list are hidden. */
function showMore(name, hidden) {
  element(`more-${name}`).hidden = hidden <= 0;
  setText(element(`more-${name}`), `Show more (${hidden} hidden)`);
}

const titleOf = (offer) => clean(offer.title) || (offer.isPage ? "A page without a title" : offer.type);

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
        ask({ kind: "go", activity: offer.activity, device: offer.device });
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
    : !status.account ? "This device is in no account. Run 'handoffctl pair' on another device, and 'handoffctl join' here."
    : !others.length ? "This account has no other device yet."
    : there.length ? `Nothing is open on ${new Intl.ListFormat("en").format(there)}.`
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
          name: `Open ${title}, ${host(tab.url)}, of ${clean(name)}`,
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
  setText(element("no-tabs"), words.length && !count ? "No tab matches." : "");
}

/** What the tabs of a device are shown in. */
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
    : page?.status === "loading" && !isOffered ? "It is still loading."
    : missing || !isPage || !isOffered ? "It is not offered to your other devices."
    : off ? `It is not offered: ${off.message}.`
    : "Your other devices can go on with it.";
  // By this name a container is excluded in browser.conf.
  if (page?.cookieStoreId && page.cookieStoreId !== "firefox-default") words += ` (${page.cookieStoreId})`;
  setText(element("page"), words);
  element("code-button").hidden = !isPage;
  const isOff = off !== undefined;
  for (const id of ["pause", "pause-hour"]) element(id).hidden = isOff || !status;
  element("resume").hidden = !off?.byUser;
}

/** A button for each device that the page may be sent to. */
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
      hint: device.online ? "" : `${clean(device.name)} is offline. It receives the page as soon as it is online.`,
      run: () => {
        failure = null;
        sent = `Sending to ${clean(device.name)} …`;
        show();
        ask({ kind: "send", device: device.id, tab: page.id, url: addressOf(page) });
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

/** Draws a code of rows of ones and zeros, as one path. */
function showCode({ url, rows }) {
  if (url !== addressOf(page)) return;
  const figure = element("code");
  if (!rows) return figure.replaceChildren(make("p", "quiet", "The address is too long for a code."));
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
  svg.setAttribute("aria-label", "QR code of the address of this page, for the camera of a phone");
  svg.append(path);
  figure.replaceChildren(svg);
}

/** Only what is new is read out, not the list. */
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
    // Nothing that was known before can be continued, and all of it is asked for again.
    [status, offers, hasAskedForTabs] = [null, null, false];
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
    // Only now that somebody looks; and once, as they are.
    if (!hasAskedForTabs) {
      hasAskedForTabs = true;
      ask({ kind: "tabs" });
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
    sent = failure ? null : `${nameOf(message.device)} is told of it, until it is opened there or this browser ends.`;
  },
  taken(message) {
    sent = `${nameOf(message.device)} has opened it.`;
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
    // So that Enter continues what was begun last. Later the focus stays where it is: Enter would continue something else.
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

element("pause").addEventListener("click", () => ask({ kind: "pause", seconds: null }));
element("pause-hour").addEventListener("click", () => ask({ kind: "pause", seconds: 3600 }));
element("resume").addEventListener("click", () => ask({ kind: "resume" }));
element("search").addEventListener("input", () => {
  limits.tabs = PART;
  showTabs();
});
element("code-button").addEventListener("click", () => {
  const isOpen = element("code").hidden;
  element("code").hidden = !isOpen;
  element("code-button").setAttribute("aria-expanded", isOpen);
  if (isOpen) ask({ kind: "code", url: addressOf(page) });
});

// Firefox names the container of a tab only to those who may see cookies, which are of no interest here otherwise.
const CONTAINERS = { permissions: ["cookies"] };
const isFirefox = api.runtime.getURL("").startsWith("moz-extension:");
element("containers").addEventListener("click", async () => {
  element("containers").hidden = await api.permissions.request(CONTAINERS);
});

// Arrows go from row to row; a slash searches.
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
  // What was drawn for another address does not belong to this page.
  if (addressOf(tab) !== addressOf(page)) element("code").hidden = true;
  page = tab;
  show();
});
show();
