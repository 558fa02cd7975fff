// Connects to the native messaging host, handoff-browser, which communicates with handoffd.
// Sources/HandoffBrowser/Messages has the same kinds of messages and fields.

import { message } from "./language.js";

export const api = globalThis.browser ?? globalThis.chrome;

const NAME = "dev.handoff1.browser";
// The host runs as long as the browser. If it exits, it is restarted immediately, then with
// increasing delays if it exits again soon.
const FIRST_PAUSE = 1_000;
const MAX_PAUSE = 60_000;
// The maximum message length accepted by the host, in bytes.
const MAX_MESSAGE = 1 << 20;

let port = null;
let startedAt = 0;
let pause = 0;
let timer = null;
const handlers = new Map();

/** Sets the handler for a kind of message. */
export function on(kind, handler) {
  handlers.set(kind, handler);
}

/** Starts the host unless it runs or is about to be restarted. An open port keeps the background page alive without a timer. */
export function connect() {
  if (port || timer) return;
  startedAt = Date.now();
  const opened = api.runtime.connectNative(NAME);
  port = opened;
  opened.onMessage.addListener((message) => handlers.get(message.kind)?.(message));
  opened.onDisconnect.addListener(() => {
    const why = opened.error?.message ?? api.runtime.lastError?.message ?? message("hostExited");
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

/** Returns a message with well-formed Unicode texts: a page may have cut its title within a character. */
function wellFormed(value) {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, wellFormed(each)]));
}

/** Sends a message to the host. Without a host it is dropped, because `ready` requests everything again. */
export function post(message) {
  connect();
  const sent = wellFormed(message);
  if (new TextEncoder().encode(JSON.stringify(sent)).length > MAX_MESSAGE) return;
  port?.postMessage(sent);
}
