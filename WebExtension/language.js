// The texts in the language of the browser, from `_locales`. scripts/translations creates all languages but English from po/.

const api = globalThis.browser ?? globalThis.chrome;

/** The language of the texts, which is English if the browser has a language without a translation. */
export const language = api.i18n.getMessage("language");
const plurals = new Intl.PluralRules(language);

/** Returns a text with values in place of their names in braces. `count` also selects its plural form. */
export function message(key, values = {}) {
  const form = values.count === undefined ? key : `${key}_${plurals.select(values.count)}`;
  // Some languages have a form for millions, which gettext does not know.
  const text = api.i18n.getMessage(form) || api.i18n.getMessage(`${key}_other`);
  return text.replace(/\{(\w+)\}/g, (name, value) => values[value] ?? name);
}

/** Sets the texts of the elements of this page by the keys in their attributes. */
export function translate() {
  document.documentElement.lang = language;
  document.documentElement.dir = api.i18n.getMessage("@@bidi_dir");
  for (const element of document.querySelectorAll("[data-text]")) element.textContent = message(element.dataset.text);
  for (const element of document.querySelectorAll("[data-placeholder]")) {
    element.placeholder = message(element.dataset.placeholder);
    element.setAttribute("aria-label", message(element.dataset.label));
  }
}
