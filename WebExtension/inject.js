// Runs the page scripts in the extension's isolated world, which the scripts of the page cannot
// access.

import { api } from "./host.js";

const FILES = ["readable.js", "boxes.js", "page.js", "going.js"];

const call = (name, argument) => {
  const functions = { ...globalThis.handoffPage, ...globalThis.handoffGoing };
  return functions[name] ? { value: functions[name](argument) ?? null } : null;
};

/** Calls a function of page.js or going.js in a tab, without waiting for the page to load. */
export async function inPage(tabId, name, argument = null) {
  const where = { target: { tabId }, injectImmediately: true };
  const run = async () => (await api.scripting.executeScript({ ...where, func: call, args: [name, argument] }))[0]?.result;
  let result = await run();
  if (!result) {
    await api.scripting.executeScript({ ...where, files: FILES });
    result = await run();
  }
  return result?.value ?? null;
}
