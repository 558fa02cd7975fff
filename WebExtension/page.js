// Reads a page: its text and the position of its reader. Never reads what was entered.

(() => {
  if (globalThis.handoffPage) return;

  const api = globalThis.browser ?? globalThis.chrome;
  // The number of characters that identify a position.
  const WORDS = 120;
  // The maximum distance of a preferred paragraph start below the first line, in pixels.
  const NEAR = 250;
  // The maximum text to read, in characters.
  const TEXT = 4_000_000;
  // The maximum number of text nodes to examine individually.
  const PIECES = 20_000;
  // The maximum number of occurrences to distinguish.
  const COPIES = 1000;
  // The events that change the position.
  const MOVES = ["scroll", "seeked", "play", "pause"];

  const { boxesAround, direction, documents, mainBox, pathOf, span, styleOf, viewOf, wayOf } = globalThis.handoffBoxes;

  // ---- Text ----

  /** Returns whether styles allow the text of an element to be visible. */
  function isShown(element) {
    if (/^(SCRIPT|STYLE|NOSCRIPT|TEXTAREA|TEMPLATE|OPTION)$/i.test(element.nodeName) || element.isContentEditable) return false;
    return element.checkVisibility({ checkVisibilityCSS: true });
  }

  /** Returns the visible text nodes with their offsets in the whole text, in which each run of blanks is one blank. */
  function readText() {
    const nodes = [];
    let text = "";
    for (const each of documents()) {
      const walker = each.createTreeWalker(each.body ?? each.documentElement, NodeFilter.SHOW_TEXT);
      let parent = null;
      let isParentShown = false;
      for (let node = walker.nextNode(); node && text.length < TEXT; node = walker.nextNode()) {
        const words = node.data.replace(/\s+/g, " ");
        if (!words.trim() || !node.parentElement) continue;
        if (node.parentElement !== parent) [parent, isParentShown] = [node.parentElement, isShown(node.parentElement)];
        if (!isParentShown) continue;
        nodes.push({ node, start: text.length });
        text += words.endsWith(" ") ? words : words + " ";
      }
    }
    return { nodes, text };
  }

  /** Returns the node of a position in the whole text, and the offset in its actual data. */
  function locate({ nodes }, position) {
    let low = 0;
    for (let high = nodes.length - 1; low < high;) {
      const middle = (low + high + 1) >> 1;
      if (nodes[middle].start <= position) low = middle;
      else high = middle - 1;
    }
    const { node, start } = nodes[low];
    let rest = position - start;
    for (const match of node.data.matchAll(/\s+|\S/gu)) {
      if (rest <= 0) return { node, offset: match.index };
      rest -= /\s/.test(match[0]) ? 1 : match[0].length;
    }
    return { node, offset: Math.max(0, node.data.length - 1) };
  }

  function rectAt(node, offset) {
    const range = node.ownerDocument.createRange();
    range.setStart(node, Math.min(node.data.length, offset));
    range.setEnd(node, Math.min(node.data.length, offset + 1));
    return range.getClientRects()[0] ?? null;
  }

  /** Returns all positions of words in a text. */
  function occurrences(text, words) {
    const found = [];
    for (let at = text.indexOf(words); at >= 0 && found.length < COPIES; at = text.indexOf(words, at + 1)) found.push(at);
    return found;
  }

  /** Returns the node and offset of the text at a point of the view. */
  function caretAt(document, x, y) {
    if (document.caretPositionFromPoint) {
      const caret = document.caretPositionFromPoint(x, y);
      return caret && { node: caret.offsetNode, offset: caret.offset };
    }
    const range = document.caretRangeFromPoint?.(x, y);
    return range && { node: range.startContainer, offset: range.startOffset };
  }

  /** Returns whether an element moves when a box scrolls: no ancestor in between is fixed, sticky or scrolls itself. */
  function movesIn(element, box) {
    for (let each = element; each && each !== box; each = each.parentElement ?? each.getRootNode().host) {
      const { position } = styleOf(each);
      if (position === "fixed" || position === "sticky") return false;
    }
    return boxesAround(element)[0] === box;
  }

  /** Returns the first line of sendable text that moves with a box, between two distances from the start of its view. */
  function lineBelow(box, from, to, mayBeSent) {
    const view = viewOf(box);
    const way = direction(box);
    const [width, height] = [view.right - view.left, view.bottom - view.top];
    for (const share of [0.5, 0.3, 0.7, 0.15]) {
      for (let distance = from; distance < to; distance += 6) {
        const x = way === "down" ? view.left + width * share : way === "left" ? view.right - distance : view.left + distance;
        const y = way === "down" ? view.top + distance : view.top + height * share;
        const caret = caretAt(box.ownerDocument, x, y);
        if (caret?.node?.nodeType !== Node.TEXT_NODE || !caret.node.data.trim()) continue;
        const element = caret.node.parentElement;
        if (!element || !mayBeSent(caret.node)) continue;
        const rect = rectAt(caret.node, Math.min(caret.offset, caret.node.data.length - 1));
        // If there is no text at the point, the browser returns text nearby.
        const place = rect && span(rect, box);
        if (!place || place.end <= 0 || place.start > distance || place.end < distance || !movesIn(element, box)) continue;
        return lineStart(caret.node, caret.offset, place, box);
      }
    }
    return null;
  }

  /** Returns the first piece of text that moves with a box, for text that fills no line, such as list rows and short messages. */
  function pieceBelow(box, from, to, mayBeSent) {
    let best = null;
    for (const { node } of readText().nodes.slice(0, PIECES)) {
      if (!box.contains(node) || node.ownerDocument !== box.ownerDocument) continue;
      const offset = node.data.search(/\S/);
      const rect = rectAt(node, offset);
      const place = rect && span(rect, box);
      if (!place || place.end <= from || place.start >= Math.min(to, best?.start ?? to) || !movesIn(node.parentElement, box) || !mayBeSent(node)) continue;
      best = { node, offset, start: place.start };
    }
    return best;
  }

  /** Returns the block element that contains a piece of text. */
  function blockOf(node) {
    let element = node.parentElement;
    while (element?.parentElement && styleOf(element).display.startsWith("inline")) element = element.parentElement;
    return element;
  }

  /** Returns the text of a paragraph up to a position, or from there on. */
  function paragraphText({ node, offset }, isBefore) {
    const range = node.ownerDocument.createRange();
    range.selectNodeContents(blockOf(node));
    if (isBefore) range.setEnd(node, offset);
    else range.setStart(node, offset);
    return range.toString();
  }

  const beginsParagraph = (line) => !paragraphText(line, true).trim();

  /**
   * Returns the line that identifies the position: the first one, or the first line of a paragraph that starts not far below.
   * In another window lines break differently, but paragraphs start at the same place.
   */
  function firstLine(box, mayBeSent) {
    const view = viewOf(box);
    const { innerWidth, innerHeight } = box.ownerDocument.defaultView;
    // Only the visible part of the box, which may be partly outside the window.
    const seen = direction(box) === "down" ? [-view.top, innerHeight - view.top]
      : direction(box) === "left" ? [view.right - innerWidth, view.right]
      : [-view.left, innerWidth - view.left];
    const from = Math.max(0, seen[0]) + 2;
    const to = Math.min(wayOf(box).view || Infinity, seen[1], from + 2000);
    const line = lineBelow(box, from, to, mayBeSent);
    if (!line) return pieceBelow(box, from, to, mayBeSent);
    const block = blockOf(line.node);
    const end = block ? span(block.getBoundingClientRect(), box).end : Infinity;
    if (beginsParagraph(line) || end > line.start + NEAR) return line;
    const next = lineBelow(box, end + 2, Math.min(to, line.start + NEAR), mayBeSent);
    return next && beginsParagraph(next) ? next : line;
  }

  /** Returns the start of a line within its text node, at a word. */
  function lineStart(node, offset, line, box) {
    let start = Math.min(offset, node.data.length - 1);
    while (start > 0) {
      const rect = rectAt(node, start - 1);
      if (rect && rect.width > 0 && rect.height > 0 && span(rect, box).end <= line.start + 1) break;
      start -= 1;
    }
    while (start < node.data.length - 1 && /\s/.test(node.data[start])) start += 1;
    const rect = rectAt(node, start);
    return { node, offset: start, start: rect ? span(rect, box).start : line.start };
  }

  // ---- Media ----

  /** Returns the main media element: the playing one, otherwise the largest. */
  function media() {
    const all = documents().flatMap((each) => [...each.querySelectorAll("video, audio")]).filter((each) => Number.isFinite(each.duration));
    const size = (each) => each.clientWidth * each.clientHeight + (each.paused ? 0 : 1e9) - (each.muted && each.loop ? 2e9 : 0);
    return all.sort((left, right) => size(right) - size(left))[0] ?? null;
  }

  /** Pauses the playing media, which continues on another device. Ignores muted media, which is usually decorative. */
  function pause() {
    const playing = media();
    if (playing && !playing.paused && !playing.muted) playing.pause();
  }

  // ---- Reading the place ----

  /** Sends a message to the extension, which may have been disabled or replaced. */
  function notify(kind) {
    try {
      api.runtime.sendMessage({ kind })?.catch?.(() => {});
    } catch {}
  }

  /** Reports the first move of the page, so that its position is requested again before it is continued. */
  function watchForMoves() {
    const watched = documents();
    const stop = () => {
      for (const each of watched) for (const kind of MOVES) each.removeEventListener(kind, moved, true);
    };
    const moved = () => {
      stop();
      notify("moved");
    };
    for (const each of watched) for (const kind of MOVES) each.addEventListener(kind, moved, { capture: true, passive: true });
    return stop;
  }

  /**
   * Returns the words at a line, up to the next text that must not be sent or cannot be (an unpaired surrogate), and what
   * distinguishes them from the same words elsewhere.
   */
  function wordsAt(line, { mayBeSent, repeats }) {
    const { nodes, text } = readText();
    const index = nodes.findIndex((each) => each.node === line.node);
    if (index < 0) return {};
    const at = nodes[index].start + line.node.data.slice(0, line.offset).replace(/\s+/g, " ").length;
    let end = at + WORDS;
    for (const each of nodes.slice(index + 1)) {
      if (each.start >= end) break;
      if (!mayBeSent(each.node)) end = each.start;
    }
    const words = text.slice(at, end).split(/\p{Surrogate}/u, 1)[0].trim();
    if (!words || repeats(words)) return {};
    const copies = occurrences(text, words);
    const paragraph = paragraphText(line, false).replace(/\s+/g, " ").trim().length;
    return {
      words,
      offset: line.start,
      ...(copies.length > 1 ? { copy: copies.indexOf(at), copies: copies.length } : {}),
      ...(paragraph > 0 && paragraph < words.length ? { paragraph } : {}),
    };
  }

  let stopWatching = null;

  /** Reports the next move of the page, once. */
  function watch() {
    stopWatching?.();
    stopWatching = watchForMoves();
  }

  function read() {
    watch();
    const place = {};
    const box = mainBox(true);
    const { size, at, view } = wayOf(box);
    if (size > 1) {
      Object.assign(place, { ratio: Math.min(1, Math.max(0, at / size)), height: size + view });
      const path = pathOf(box);
      if (path) place.box = path;
    }
    const readable = handoffReadable(documents());
    const line = firstLine(box, readable.mayBeSent);
    if (line) Object.assign(place, wordsAt(line, readable));
    const playing = media();
    if (playing && playing.currentTime > 0) Object.assign(place, { time: playing.currentTime, playing: !playing.paused });
    return place;
  }

  globalThis.handoffPage = { locate, media, movesIn, notify, occurrences, pause, read, readText, rectAt, watch };
})();
