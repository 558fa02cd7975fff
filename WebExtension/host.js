// The native messaging host, handoff-browser, which speaks to handoffd. The kinds of messages and their fields stand in
// Sources/HandoffBrowser/Messages, too.

export const api = globalThis.browser ?? globalThis.chrome;

const NAME = "dev.handoff1.browser";
// The host lives as long as the browser; where it is missing or broken, nobody asks for it more often than this.
const PAUSE = 60_000;

let port = null;
let endedAt = -Infinity;
const handlers = new Map();

/** Sets what is called with each message of a kind. */
export function on(kind, handler) {
  handlers.set(kind, handler);
}

/** Starts the host unless it runs. An open port keeps the background awake, without a timer. */
export function connect() {
  if (port || Date.now() - endedAt < PAUSE) return;
  const opened = api.runtime.connectNative(NAME);
  port = opened;
  opened.onMessage.addListener((message) => handlers.get(message.kind)?.(message));
  opened.onDisconnect.addListener(() => {
    const why = opened.error?.message ?? api.runtime.lastError?.message ?? "handoff-browser has ended";
    if (port !== opened) return;
    port = null;
    endedAt = Date.now();
    handlers.get("lost")?.({ kind: "lost", message: why });
  });
}

/** Tells the host. A message is lost where there is none: `ready` has everything said again. */
export function tell(message) {
  connect();
  port?.postMessage(message);
}
