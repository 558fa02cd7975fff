// Addresses of pages, as other devices are told of them.

/** The address of the page in a tab; empty for what is no page of the web, or not known to the extension. */
export function addressOf(tab) {
  if (!/^https?:/.test(tab?.url ?? "")) return "";
  // Browsers leave a backslash behind the path as it is. Addresses with one are refused, since elsewhere it may be read as a slash.
  return tab.url.replaceAll("\\", "%5C");
}

/** What a page without a title is called: its host and path. */
export function nameOf(url) {
  const { host, pathname } = new URL(url);
  return host + (pathname === "/" ? "" : pathname);
}
