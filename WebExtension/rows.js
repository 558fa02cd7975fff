// Lists of rows with actions, and sanitized texts from other devices.

/**
 * Returns a text for display: on one line, without characters that change the direction or the appearance of the following
 * text. Keeps the joiners of emoji and Persian letters.
 */
export function clean(text) {
  return (text ?? "").replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").replace(/(?![\u200c\u200d])[\p{Cf}\p{Cs}]/gu, "").trim();
}

/** Returns an element with plain text, which is never parsed as markup. */
export function make(kind, className, words) {
  const made = document.createElement(kind);
  if (className) made.className = className;
  if (words !== undefined) made.textContent = words;
  return made;
}

/** Sets the text of an element if it has changed: otherwise screen readers would read it again. */
export function setText(element, words) {
  if (element.textContent !== words) element.textContent = words;
}

function makeRow() {
  const item = make("li");
  const button = make("button");
  button.append(make("span", "title"), make("span", "from"), make("span", "action"));
  button.querySelector(".title").dir = "auto";
  item.append(button);
  return item;
}

function fill(item, { title, from, action, name, hint, wraps, run }) {
  const button = item.firstChild;
  const [first, second, third] = button.children;
  setText(first, title);
  setText(second, from ?? "");
  second.classList.toggle("wraps", wraps ?? false);
  setText(third, action ?? "");
  if (button.getAttribute("aria-label") !== name) button.setAttribute("aria-label", name);
  button.title = hint ?? title;
  button.onclick = run;
}

/**
 * Shows rows in a list. Rows with the same key keep their element, so that the focus stays on its row.
 *
 * @param heading gets the focus when the focused row is removed: on another row, Enter would do something unintended.
 */
export function showRows(list, heading, rows) {
  const former = new Map([...list.children].map((item) => [item.dataset.key, item]));
  const focused = list.contains(document.activeElement) ? document.activeElement : null;
  const items = rows.map((row) => {
    const item = former.get(row.key) ?? makeRow();
    item.dataset.key = row.key;
    fill(item, row);
    return item;
  });
  const kept = new Set(items);
  for (const item of former.values()) if (!kept.has(item)) item.remove();
  items.forEach((item, index) => {
    if (list.children[index] !== item) list.insertBefore(item, list.children[index] ?? null);
  });
  if (focused && document.activeElement !== focused) (focused.isConnected ? focused : heading).focus();
}
