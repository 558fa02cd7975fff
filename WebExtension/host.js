// The native messaging host, handoff-browser, which speaks to handoffd. The kinds of messages and their fields stand in
// Sources/HandoffBrowser/Messages, too.

export const api = globalThis.browser ?? globalThis.chrome;

const NAME = "dev.handoff1.browser";
// The host lives as long as the browser. When it ends it is restarted immediately, and later each time that it ends again soon after.
const FIRST_PAUSE = 1_000;
const MAX_PAUSE = 60_000;
// The host skips longer messages, in bytes.
const MAX_MESSAGE = 1 << 20;

let port = null;
let startedAt = 0;
let pause = 0;
let timer = null;
const handlers = new Map();

/** Sets what is called with each message of a kind. */
export function on(kind, handler) {
  handlers.set(kind, handler);
}

/** Starts the host unless it runs, or is about to be restarted. An open port keeps the background awake, without a timer. */
export function connect() {
  if (port || timer) return;
  startedAt = Date.now();
  const opened = api.runtime.connectNative(NAME);
  port = opened;
  opened.onMessage.addListener((message) => handlers.get(message.kind)?.(message));
  opened.onDisconnect.addListener(() => {
    const why = opened.error?.message ?? api.runtime.lastError?.message ?? "handoff-browser has ended";
    if (port !== opened) return;
    port = null;
    restart();
    handlers.get("lost")?.({ kind: "lost", message: why });
  });
}

function restart() {
  if (Date.now() - startedAt >= MAX_PAUSE) pause = 0;
  timer = setTimeout(() => {
    timer = null;
    connect();
  }, pause);
  pause = Math.min(MAX_PAUSE, Math.max(FIRST_PAUSE, 2 * pause));
}

/** A message in which each text is valid Unicode: a page may have cut its title inside a character. */
function wellFormed(value) {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, wellFormed(each)]));
}

/** Sends a message to the host. It is lost where there is no host: `ready` has everything sent again. */
export function tell(message) {
  connect();
  const sent = wellFormed(message);
  if (new TextEncoder().encode(JSON.stringify(sent)).length > MAX_MESSAGE) return;
  port?.postMessage(sent);
}
