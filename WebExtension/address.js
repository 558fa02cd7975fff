// Addresses of pages in the form sent to other devices.

/** Returns the address of a tab's page; empty if it is not a web page or not known to the extension. */
export function addressOf(tab) {
  if (!/^https?:/.test(tab?.url ?? "")) return "";
  // Browsers do not escape backslashes after the path. Devices refuse them, because other software
  // may read them as slashes.
  return tab.url.replaceAll("\\", "%5C");
}

/** Returns the name of a page without a title: its host and path. */
export function nameOf(url) {
  const { host, pathname } = new URL(url);
  return host + (pathname === "/" ? "" : pathname);
}
