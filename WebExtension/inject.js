// Runs page.js in a page, in the extension's own world, where scripts of the page see nothing of it.

import { api } from "./host.js";

const call = (name, argument) => {
  const page = globalThis.handoffPage;
  return page ? { value: page[name](argument) ?? null } : null;
};

/** Calls a function of page.js in a tab; answers what it returns. A page that is still loading, maybe for long, is not waited for. */
export async function inPage(tabId, name, argument = null) {
  const where = { target: { tabId }, injectImmediately: true };
  const run = async () => (await api.scripting.executeScript({ ...where, func: call, args: [name, argument] }))[0]?.result;
  let result = await run();
  if (!result) {
    await api.scripting.executeScript({ ...where, files: ["page.js"] });
    result = await run();
  }
  return result?.value ?? null;
}
