// Selects the text of a page that may be sent: visible text that its reader has not typed. Runs
// before page.js, in the same world.

(() => {
  if (globalThis.handoffReadable) return;

  const TYPES = "text search url tel email password number".split(" ");
  // Typed text is compared with the text of the page up to this length, in letters and digits.
  const MAX_TYPED = 200_000;
  // The length of a run of letters and digits that, if also in a control, counts as a repetition of
  // it.
  const RUN = 12;
  // The maximum size of a control that counts as invisible, in pixels.
  const SPECK = 4;
  // The maximum number of text nodes to examine when looking for the box of an editor.
  const MAX_NODES = 200;

  const letters = (text) => text.normalize("NFKC").toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
  const isTransparent = (color) => /^transparent$|[,/] ?0(\.0*)?\)$/.test(color) && !/^rgb\(/.test(color);

  /** Returns the elements that a user can type into. */
  function controls(documents) {
    const selector = "textarea, input, [contenteditable], [role=textbox], [role=searchbox]";
    return documents.flatMap((each) => [...each.querySelectorAll(selector)]).filter((each) => each.nodeName !== "INPUT" || TYPES.includes(each.type));
  }

  const typedText = (control) => control.value ?? control.textContent ?? "";

  /** Returns whether a box is clipped by an ancestor that does not scroll, or by the edge of the page. */
  function isCut(rect, element) {
    const { documentElement: root, body, defaultView } = element.ownerDocument;
    const { writingMode, direction } = getComputedStyle(root);
    if (writingMode === "horizontal-tb" && direction === "ltr" && rect.right + defaultView.scrollX <= 0) return true;
    if (rect.bottom + defaultView.scrollY <= 0) return true;
    for (let each = element; each && each !== root && each !== body; each = each.parentElement) {
      const { overflowX, overflowY } = getComputedStyle(each);
      if (!/hidden|clip/.test(overflowX + overflowY)) continue;
      const box = each.getBoundingClientRect();
      const width = Math.min(rect.right, box.right) - Math.max(rect.left, box.left);
      const height = Math.min(rect.bottom, box.bottom) - Math.max(rect.top, box.top);
      // Content that such a box scrolls over may become visible later.
      if (box.width <= SPECK || box.height <= SPECK) return true;
      if (/hidden|clip/.test(overflowX) && width <= 1) return true;
      if (/hidden|clip/.test(overflowY) && height <= 1) return true;
    }
    return false;
  }

  function isShown(element) {
    return element.checkVisibility({
      checkOpacity: true, checkVisibilityCSS: true, opacityProperty: true, visibilityProperty: true,
    });
  }

  /** Returns whether text is visible, or becomes visible by scrolling. */
  function isSeen(node) {
    const element = node.parentElement;
    if (!element || !isShown(element)) return false;
    const style = getComputedStyle(element);
    const fill = style.webkitTextFillColor ?? style.color;
    if ((isTransparent(fill) || isTransparent(style.color)) && style.backgroundClip !== "text") return false;
    const range = node.ownerDocument.createRange();
    range.selectNodeContents(node);
    return [...range.getClientRects()].some((rect) => rect.width > 0.5 && rect.height > 0.5 && !isCut(rect, element));
  }

  /** Returns whether a control takes keyboard input that another element displays: it can have the focus but is invisible. */
  function isInvisibleControl(control) {
    if (control.disabled || control.readOnly || !control.checkVisibility({ checkVisibilityCSS: true, visibilityProperty: true })) return false;
    const rect = control.getBoundingClientRect();
    if (rect.width <= SPECK || rect.height <= SPECK || !isShown(control)) return true;
    const style = getComputedStyle(control);
    if (isTransparent(style.webkitTextFillColor ?? style.color) || isTransparent(style.color)) return true;
    for (let each = control, opacity = 1; each; each = each.parentElement) {
      opacity *= Number(getComputedStyle(each).opacity);
      if (opacity < 0.1) return true;
    }
    return isCut(rect, control.parentElement);
  }

  /** Returns the box in which an editor displays the input of an invisible control: the nearest one with visible text. */
  function editorOf(control) {
    for (let box = control.parentElement; box; box = box.parentElement) {
      const walker = box.ownerDocument.createTreeWalker(box, NodeFilter.SHOW_TEXT);
      let count = 0;
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        if (control.contains(node) || !node.data.trim()) continue;
        count += 1;
        if (count > MAX_NODES || isSeen(node)) return box;
      }
    }
    return control.ownerDocument.documentElement;
  }

  /** Returns tests for the current state of the documents: whether a text node may be sent, and whether a text repeats typed text. */
  globalThis.handoffReadable = (documents) => {
    const all = controls(documents);
    const editors = all.filter(isInvisibleControl).map(editorOf);
    const typed = all.map((each) => letters(typedText(each).slice(0, MAX_TYPED))).filter(Boolean);
    // With more typed text, nothing is compared and nothing is sent.
    const isTooMuch = documents.some((each) => each.designMode === "on") || all.some((each) => typedText(each).length > MAX_TYPED);

    /** Returns whether a text repeats typed text or a part of it. */
    const repeats = (text) => {
      const own = letters(text);
      if (!own) return false;
      return typed.some((value) => {
        if (own === value || (value.length >= 4 && own.includes(value)) || (own.length >= 3 && value.includes(own))) return true;
        for (let at = 0; at + RUN <= own.length; at += RUN / 2) if (value.includes(own.slice(at, at + RUN))) return true;
        return false;
      });
    };

    const isTyped = (element) => {
      if (element.isContentEditable || editors.some((each) => each.contains(element))) return true;
      for (let each = element; each; each = each.parentElement) {
        if (each.editContext || each.matches("textarea, input, select, [role=textbox], [role=searchbox]")) return true;
      }
      return false;
    };

    const known = new Map();
    const mayBeSent = (node) => {
      if (!known.has(node)) {
        const element = node.parentElement;
        known.set(node, !isTooMuch && element !== null && !isTyped(element) && isSeen(node) && !repeats(node.data));
      }
      return known.get(node);
    };
    return { mayBeSent, repeats };
  };
})();
