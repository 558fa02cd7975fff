// The popup: what the other devices offer, their open tabs, this page as a code, and what is wrong.

const api = globalThis.browser ?? globalThis.chrome;
const element = (id) => document.getElementById(id);
const port = api.runtime.connect({ name: "popup" });

let page = null;
let isOffered = false;
let missing = null;
let status = null;
let offers = [];
// By device: its name, and its tabs or why they did not come.
const tabs = new Map();
let hasAskedForTabs = false;
let failure = null;
// What became of the page that was sent: words.
let sent = null;

const ask = (message) => port.postMessage(message);

/** An element with words in it, which are never taken for anything else. */
function make(kind, className, words) {
  const made = document.createElement(kind);
  if (className) made.className = className;
  if (words !== undefined) made.textContent = words;
  return made;
}

const host = (url) => {
  try {
    return new URL(url).host;
  } catch {
    return url;
  }
};

/** A row that does something: two lines, and what it does. */
function row({ title, from, action, name, run }) {
  const item = make("li");
  const button = make("button");
  button.append(make("span", "title", title), make("span", "from", from));
  if (action) button.append(make("span", "action", action));
  button.setAttribute("aria-label", name);
  button.title = title;
  button.addEventListener("click", run);
  item.append(button);
  return item;
}

function showOffers() {
  const focused = document.activeElement?.dataset?.key;
  element("offers").replaceChildren(
    ...offers.map((offer) => {
      const title = offer.title || (offer.isPage ? "A page without a title" : offer.type);
      const item = row({
        title,
        from: offer.isPage ? offer.deviceName : `${offer.deviceName}, opens in ${offer.opens || "the browser"}`,
        action: "Continue",
        name: `Continue ${title} from ${offer.deviceName}`,
        run: () => {
          failure = null;
          ask({ kind: "go", activity: offer.activity, device: offer.device });
        },
      });
      item.firstChild.dataset.key = offer.device + offer.activity;
      return item;
    }),
  );
  const former = [...document.querySelectorAll("#offers button")].find((each) => each.dataset.key === focused);
  if (focused) former?.focus();
  // So that Enter continues what was begun last.
  else if (document.activeElement === document.body) element("offers").querySelector("button")?.focus();
  const others = status?.devices ?? [];
  const there = others.filter((each) => each.online).map((each) => each.name);
  element("no-offers").hidden = offers.length > 0;
  element("no-offers").textContent =
    missing || !status ? ""
    : !others.length ? "This account has no other device yet."
    : there.length ? `Nothing is open on ${new Intl.ListFormat("en").format(there)}.`
    : "None of your other devices is here.";
}

function showTabs() {
  const words = element("search").value.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  const fits = (tab) => words.every((word) => `${tab.title} ${tab.url}`.toLocaleLowerCase().includes(word));
  let count = 0;
  const groups = [];
  for (const [device, { name, list, why }] of tabs) {
    const found = (list ?? []).filter(fits);
    count += found.length;
    if (!found.length && !why) continue;
    const heading = make("h2", "", name);
    heading.id = `device-${device}`;
    const items = make("ul");
    items.setAttribute("aria-labelledby", heading.id);
    for (const tab of found) {
      const title = tab.title || tab.url;
      items.append(
        row({
          title,
          from: host(tab.url),
          name: `Open ${title}, ${host(tab.url)}, of ${name}`,
          run: async () => {
            await api.tabs.create({ url: tab.url });
            close();
          },
        }),
      );
    }
    groups.push(heading, why ? make("p", "quiet", why) : items);
  }
  element("tabs").replaceChildren(...groups);
  element("tabs-section").hidden = ![...tabs.values()].some(({ list, why }) => list?.length || why);
  element("no-tabs").hidden = count > 0 || !words.length;
}

function showPage() {
  const isPage = /^https?:/.test(page?.url ?? "") && page.incognito === false;
  const off = status?.holds.find((each) => each.direction === "advertise");
  element("page").textContent =
    page?.incognito ? "Private windows are never offered."
    : missing || !isPage || !isOffered ? "It is not offered to your other devices."
    : off ? `It is not offered: ${off.message}.`
    : "Your other devices can go on with it.";
  // By this name a container is excluded in browser.conf.
  if (page?.cookieStoreId && page.cookieStoreId !== "firefox-default") element("page").textContent += ` (${page.cookieStoreId})`;
  element("code-button").hidden = !isPage;
  const isOff = off !== undefined;
  for (const id of ["pause", "pause-hour"]) element(id).hidden = isOff || !status;
  element("resume").hidden = !off?.byUser;
}

/** A button for each device that the page may be sent to; made anew only when they are others, so that none loses the focus. */
function showRecipients() {
  const isPage = /^https?:/.test(page?.url ?? "") && page.incognito === false;
  const devices = missing ? [] : status?.devices ?? [];
  const key = JSON.stringify(devices);
  const place = element("recipients");
  if (place.dataset.key !== key) {
    place.dataset.key = key;
    place.replaceChildren(
      ...devices.map((device) => {
        const button = make("button", "", device.name);
        button.setAttribute("aria-label", `Send this page to ${device.name}${device.online ? "" : ", which is away"}`);
        if (!device.online) button.title = `${device.name} is away: it is told as soon as it is back.`;
        button.addEventListener("click", () => {
          failure = null;
          sent = `Sending to ${device.name} …`;
          show();
          ask({ kind: "send", device: device.id, tab: page.id, url: page.url });
        });
        return button;
      }),
    );
  }
  element("send").hidden = !isPage || !devices.length;
  element("sent").textContent = sent ?? "";
  element("sent").hidden = !sent;
}

const nameOf = (id) => status?.devices.find((each) => each.id === id)?.name ?? "the device";

function showTrouble() {
  const words = missing ? [missing] : [failure, ...(status?.warnings ?? [])].filter(Boolean);
  element("trouble").textContent = words.join("\n");
  element("trouble").hidden = !words.length;
  element("device").textContent = status?.name ?? "";
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
  if (url !== page?.url) return;
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

const answers = {
  daemon(message) {
    missing = message.missing;
    failure = null;
    if (missing) [status, offers] = [null, []];
  },
  page(message) {
    isOffered = message.isOffered;
  },
  status(message) {
    status = message;
  },
  offers(message) {
    offers = message.offers;
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
  if (message.kind !== "code") show();
});

element("pause").addEventListener("click", () => ask({ kind: "pause", seconds: null }));
element("pause-hour").addEventListener("click", () => ask({ kind: "pause", seconds: 3600 }));
element("resume").addEventListener("click", () => ask({ kind: "resume" }));
element("search").addEventListener("input", showTabs);
element("code-button").addEventListener("click", () => {
  const isOpen = element("code").hidden;
  element("code").hidden = !isOpen;
  element("code-button").setAttribute("aria-expanded", isOpen);
  if (isOpen) ask({ kind: "code", url: page.url });
});

// Firefox names the container of a tab only to those who may see cookies, which are of no interest here otherwise.
const CONTAINERS = { permissions: ["cookies"] };
const isFirefox = api.runtime.getURL("").startsWith("moz-extension:");
element("containers").addEventListener("click", async () => {
  element("containers").hidden = await api.permissions.request(CONTAINERS);
});

// Arrows go from row to row; a slash searches.
document.addEventListener("keydown", (event) => {
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
show();
