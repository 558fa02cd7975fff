// What is done inside of a page: telling where the reader is, and going there. Nothing that was entered is looked at.

(() => {
  if (globalThis.handoffPage) return;

  const api = globalThis.browser ?? globalThis.chrome;
  // Words that tell one place from others, in characters.
  const WORDS = 120;
  const FEWER_WORDS = 40;
  // How far below the first line a paragraph may begin to be the one that is meant, in pixels.
  const NEAR = 250;
  // The most text that is looked at, in characters.
  const TEXT = 4_000_000;
  // How long a page may take to become what it is: images, fonts, what scripts fetch.
  const SETTLING = 15_000;
  // What a reader moves by, and the keys that move nothing by themselves.
  const INPUTS = ["wheel", "touchstart", "pointerdown", "keydown"];
  const MODIFIERS = new Set(["Alt", "AltGraph", "CapsLock", "Control", "Meta", "Shift"]);

  const scroller = () => document.scrollingElement ?? document.documentElement;

  // ---- Text ----

  /** The text nodes that are shown, with the place of each in the text of all, where blanks are one each. */
  function readText() {
    const nodes = [];
    let text = "";
    const walker = document.createTreeWalker(document.body ?? document.documentElement, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node && text.length < TEXT; node = walker.nextNode()) {
      if (/^(SCRIPT|STYLE|NOSCRIPT|TEXTAREA|TEMPLATE|OPTION)$/.test(node.parentNode?.nodeName ?? "")) continue;
      if (node.parentElement?.isContentEditable) continue;
      const words = node.data.replace(/\s+/g, " ");
      if (!words.trim()) continue;
      nodes.push({ node, start: text.length });
      text += words.endsWith(" ") ? words : words + " ";
    }
    return { nodes, text };
  }

  /** Where a character of the text of all stands: its node, and the offset in what that node really holds. */
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
    const range = document.createRange();
    range.setStart(node, offset);
    range.setEnd(node, Math.min(node.data.length, offset + 1));
    return range.getClientRects()[0] ?? null;
  }

  /** The node and offset of the text at a point of the view. */
  function caretAt(x, y) {
    if (document.caretPositionFromPoint) {
      const caret = document.caretPositionFromPoint(x, y);
      return caret && { node: caret.offsetNode, offset: caret.offset };
    }
    const range = document.caretRangeFromPoint?.(x, y);
    return range && { node: range.startContainer, offset: range.startOffset };
  }

  /** Whether an element stays where it is while the page moves. */
  function isPinned(element) {
    for (let each = element; each; each = each.parentElement) {
      const { position } = getComputedStyle(each);
      if (position === "fixed" || position === "sticky") return true;
    }
    return false;
  }

  /** The first line of text that moves with the page, from a height on: where it begins. */
  function lineBelow(from, to) {
    for (const column of [0.5, 0.3, 0.7, 0.15]) {
      const x = innerWidth * column;
      for (let y = from; y < to; y += 6) {
        const caret = caretAt(x, y);
        if (caret?.node?.nodeType !== Node.TEXT_NODE || !caret.node.data.trim()) continue;
        const element = caret.node.parentElement;
        if (!element || element.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(element.nodeName)) continue;
        const rect = rectAt(caret.node, Math.min(caret.offset, caret.node.data.length - 1));
        // Where there is no text the browser names some that is near.
        if (!rect || rect.bottom <= 0 || rect.top > y || rect.bottom < y || isPinned(element)) continue;
        return lineStart(caret.node, caret.offset, rect);
      }
    }
    return null;
  }

  /** The element that a piece of text is a paragraph of. */
  function blockOf(node) {
    let element = node.parentElement;
    while (element?.parentElement && getComputedStyle(element).display.startsWith("inline")) element = element.parentElement;
    return element;
  }

  function beginsParagraph({ node, offset }) {
    const before = document.createRange();
    before.setStart(blockOf(node), 0);
    before.setEnd(node, offset);
    return !before.toString().trim();
  }

  /**
   * The line by which the place is known: the first one, or that of a paragraph that begins not far below. Lines break elsewhere in
   * another window, and the beginning of a paragraph does not.
   */
  function firstLine() {
    const height = Math.min(innerHeight, 2000);
    const line = lineBelow(2, height);
    if (!line) return null;
    const end = blockOf(line.node)?.getBoundingClientRect().bottom ?? Infinity;
    if (beginsParagraph(line) || end > line.top + NEAR) return line;
    const next = lineBelow(end + 2, Math.min(height, line.top + NEAR));
    return next && beginsParagraph(next) ? next : line;
  }

  /** The beginning of a line inside of its text node, at a word. */
  function lineStart(node, offset, line) {
    let start = Math.min(offset, node.data.length - 1);
    while (start > 0) {
      const rect = rectAt(node, start - 1);
      if (rect && rect.width > 0 && rect.bottom <= line.top + 1) break;
      start -= 1;
    }
    while (start < node.data.length - 1 && /\s/.test(node.data[start])) start += 1;
    const rect = rectAt(node, start);
    return { node, offset: start, top: rect?.top ?? line.top };
  }

  // ---- Reading the place ----

  function ratio() {
    const element = scroller();
    const way = element.scrollHeight - element.clientHeight;
    return way > 1 ? Math.min(1, Math.max(0, element.scrollTop / way)) : null;
  }

  /** The film or sound that counts: what plays, else the largest. */
  function media() {
    const all = [...document.querySelectorAll("video, audio")].filter((each) => Number.isFinite(each.duration));
    const size = (each) => each.clientWidth * each.clientHeight + (each.paused ? 0 : 1e9) - (each.muted && each.loop ? 2e9 : 0);
    return all.sort((left, right) => size(right) - size(left))[0] ?? null;
  }

  /** Sends a message to the extension, which may have been switched off or replaced. */
  function notify(kind) {
    try {
      api.runtime.sendMessage({ kind })?.catch?.(() => {});
    } catch {}
  }

  /** Says once that the page was moved: then its place is asked for again before somebody goes on with it. */
  function watchForMoves() {
    const moved = () => {
      for (const kind of ["scroll", "seeked", "play", "pause"]) document.removeEventListener(kind, moved, true);
      notify("moved");
    };
    for (const kind of ["scroll", "seeked", "play", "pause"]) {
      document.addEventListener(kind, moved, { capture: true, passive: true });
    }
    return () => {
      for (const kind of ["scroll", "seeked", "play", "pause"]) document.removeEventListener(kind, moved, true);
    };
  }

  let stopWatching = null;

  function read() {
    stopWatching?.();
    stopWatching = watchForMoves();
    const place = {};
    const way = ratio();
    if (way !== null) place.ratio = way;
    const line = firstLine();
    if (line) {
      const content = readText();
      const found = content.nodes.find((each) => each.node === line.node);
      if (found) {
        const before = line.node.data.slice(0, line.offset).replace(/\s+/g, " ").length;
        const words = content.text.slice(found.start + before, found.start + before + WORDS).trim();
        if (words) Object.assign(place, { words, offset: line.top });
      }
    }
    const playing = media();
    if (playing && playing.currentTime > 0) Object.assign(place, { time: playing.currentTime, playing: !playing.paused });
    return place;
  }

  // ---- Going to a place ----

  /** Where words stand; of several places the one that is as far down as they were. */
  function find(words, way) {
    const content = readText();
    for (const part of [words, words.slice(0, FEWER_WORDS)]) {
      const places = [];
      for (let at = content.text.indexOf(part); at >= 0 && places.length < 1000; at = content.text.indexOf(part, at + 1)) {
        places.push(at);
      }
      if (!places.length) continue;
      const goal = (way ?? 0) * content.text.length;
      return locate(content, places.reduce((best, at) => (Math.abs(at - goal) < Math.abs(best - goal) ? at : best)));
    }
    return null;
  }

  /** Scrolls what has to be scrolled until a piece of text is so far below the top of the view. */
  function bring({ node, offset }, distance) {
    for (let each = node.parentElement; each; each = each.parentElement) {
      const rect = rectAt(node, offset);
      if (!rect) return false;
      const missing = rect.top - distance;
      if (Math.abs(missing) < 1) return true;
      const isRoot = each === scroller() || each === document.body;
      if (isRoot || each.scrollHeight <= each.clientHeight + 1) continue;
      if (/auto|scroll/.test(getComputedStyle(each).overflowY)) each.scrollBy({ top: missing, behavior: "instant" });
    }
    const rect = rectAt(node, offset);
    if (rect) scrollBy({ top: rect.top - distance, behavior: "instant" });
    return rect !== null;
  }

  function goToMedia(place) {
    const target = media();
    if (!target || target.readyState < 1) return false;
    target.currentTime = place.time;
    // Browsers let only those pages play by themselves that the user has dealt with.
    if (place.playing) target.play().catch(() => {});
    return true;
  }

  /** Whether two addresses are one page: redirects add `www.`, change the scheme and remove parameters that identify the visit. */
  function isSamePage(left, right) {
    const [shown, wanted] = [new URL(left), new URL(right)];
    const key = ({ host, pathname, hash }) =>
      [host.replace(/^www\./, ""), pathname.replace(/\/$/, ""), /^#[/!]/.test(hash) ? hash : ""].join(" ");
    const parameters = wanted.search.slice(1).split("&");
    return key(shown) === key(wanted) && shown.search.slice(1).split("&").every((each) => !each || parameters.includes(each));
  }

  /** Whether a page asks its reader to sign in, and shows little else. */
  function asksToSignIn() {
    const isShort = scroller().scrollHeight < 3 * innerHeight;
    return isShort && [...document.querySelectorAll("input[type=password]")].some((each) => each.checkVisibility());
  }

  const now = () => performance.now();

  let stop = null;

  /**
   * Goes to a place, and stays there while the page grows, until its reader moves.
   *
   * A document at another address is gone to only by its words, and only if it is the first one of its tab (`landing`): it may be
   * the page behind a redirect. Otherwise it is where the reader signs in, and the page may follow in the same document.
   */
  function go({ place, url, landing }) {
    if (stop || (location.href !== landing && !isSamePage(location.href, url))) return;
    let target = null;
    let isMediaDone = place.time === undefined;
    let isArrived = false;
    // What was scrolled last, and where that was: by this a scroll of the reader differs from one of the page.
    let last = null;

    const arrive = () => {
      if (!isArrived) notify("arrived");
      isArrived = true;
    };
    const isHere = () => isSamePage(location.href, url) && (target !== null || !asksToSignIn());

    const step = () => {
      for (const each of [document.documentElement, document.body]) if (each) sizes.observe(each);
      if (location.href !== landing && !isSamePage(location.href, url)) return;
      if (place.words !== undefined) {
        if (!target?.node.isConnected) target = find(place.words, place.ratio);
        if (target && bring(target, place.offset)) arrive();
      }
      if (!isHere()) return;
      const element = scroller();
      if (!target && place.ratio !== undefined) {
        scrollTo({ top: place.ratio * (element.scrollHeight - element.clientHeight), behavior: "instant" });
        if (place.words === undefined && ratio() !== null) arrive();
      }
      if (!isMediaDone) {
        isMediaDone = goToMedia(place);
        if (isMediaDone && place.words === undefined) arrive();
      }
      last = { at: now(), top: element.scrollTop, height: element.scrollHeight, line: top(target) };
    };
    const top = (text) => (text ? rectAt(text.node, text.offset)?.top ?? null : null);

    let timer = null;
    const later = () => {
      timer ??= setTimeout(() => {
        timer = null;
        step();
      }, 50);
    };
    const sizes = new ResizeObserver(later);
    const changes = new MutationObserver(later);
    const finish = () => {
      sizes.disconnect();
      changes.disconnect();
      clearTimeout(timer);
      clearTimeout(end);
      for (const kind of INPUTS) removeEventListener(kind, input, true);
      document.removeEventListener("scroll", scrolled, true);
      document.removeEventListener("load", later, true);
      document.removeEventListener("loadedmetadata", later, true);
      removeEventListener("load", later);
    };
    /** The reader has moved. Where he signs in, that does not concern the page. */
    const moved = () => {
      if (!isHere()) return;
      arrive();
      finish();
    };
    const input = (event) => {
      if (!MODIFIERS.has(event.key)) moved();
    };
    /** Scroll bars and searches move the page without input. So do pages: to their beginning, and to the anchor in the address. */
    const scrolled = () => {
      if (!last) return;
      const element = scroller();
      const way = element.scrollTop - last.top;
      if (Math.abs(way) < 2 || element.scrollHeight !== last.height) return;
      const line = top(target);
      // What was inserted above moves the page, and the text stays where it is.
      if (line !== null && last.line !== null && Math.abs(line - last.line + way) > 2) return;
      const isPages = element.scrollTop <= 1 ? now() - last.at < 1000 : location.hash.length > 1 && document.readyState !== "complete";
      if (isPages) later();
      else moved();
    };
    const ended = () => {
      if (!isHere()) end = setTimeout(ended, SETTLING);
      else moved();
    };
    let end = setTimeout(ended, SETTLING);
    stop = finish;
    changes.observe(document, { childList: true, subtree: true });
    for (const kind of INPUTS) addEventListener(kind, input, { capture: true, passive: true });
    document.addEventListener("scroll", scrolled, { capture: true, passive: true });
    // Of images and frames too, which do not bubble.
    document.addEventListener("load", later, true);
    document.addEventListener("loadedmetadata", later, true);
    addEventListener("load", later);
    step();
  }

  /** Goes to another place on a page that was gone to before. */
  function goAgain(request) {
    stop?.();
    stop = null;
    go(request);
  }

  globalThis.handoffPage = { read, go, goAgain };
})();
