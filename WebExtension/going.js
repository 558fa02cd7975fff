// The actions in a continued page: going to a position, and staying there while the page grows.

(() => {
  if (globalThis.handoffGoing) return;

  const { boxAt, boxesAround, canScroll, documents, mainBox, rootOf, scrollTo, span, wayOf } = globalThis.handoffBoxes;
  const { locate, media, movesIn, notify, occurrences, readText, rectAt } = globalThis.handoffPage;

  // The number of characters to search for if the complete words are not found.
  const FEWER_WORDS = 40;
  // The maximum time for a page to settle (images, fonts, scripts), in milliseconds.
  const SETTLING = 15_000;
  // The maximum time for the next part of a page that grows at its end, in milliseconds.
  const GROWING = 3_000;
  // The events of reader input, and the keys that do nothing alone.
  const INPUTS = ["wheel", "touchstart", "pointerdown", "keydown"];
  const MODIFIERS = new Set(["Alt", "AltGraph", "CapsLock", "Control", "Meta", "Shift"]);

  const now = () => performance.now();

  /** Returns whether two addresses are the same page: redirects add `www.`, change the scheme and remove tracking parameters. */
  function isSamePage(left, right) {
    const [shown, wanted] = [new URL(left), new URL(right)];
    const key = ({ host, pathname, hash }) =>
      [host.replace(/^www\./, ""), pathname.replace(/\/$/, ""), /^#[/!]/.test(hash) ? hash : ""].join(" ");
    const parameters = wanted.search.slice(1).split("&");
    return key(shown) === key(wanted) && shown.search.slice(1).split("&").every((each) => !each || parameters.includes(each));
  }

  /** Returns whether a page mainly asks its reader to sign in. */
  function asksToSignIn() {
    const isShort = rootOf(document).scrollHeight < 3 * innerHeight;
    return isShort && [...document.querySelectorAll("input[type=password]")].some((each) => each.checkVisibility());
  }

  // ---- Finding ----

  /** Returns the box that scrolls some text: the page if the position refers to it, otherwise the innermost box. */
  function boxOf(node, place) {
    const boxes = boxesAround(node.parentElement);
    const root = boxes.at(-1);
    return place.box === undefined && canScroll(root) ? root : boxes[0];
  }

  /** Returns a reachable occurrence of the words, with its distance from the expected scroll ratio. */
  function candidate(content, at, place) {
    const found = locate(content, at);
    const rect = rectAt(found.node, found.offset);
    if (!rect || rect.right <= 0 || rect.width + rect.height === 0) return null;
    const box = boxOf(found.node, place);
    if (!movesIn(found.node.parentElement, boxesAround(found.node.parentElement)[0])) return null;
    const way = wayOf(box);
    const ratio = way.size > 1 ? (way.at + span(rect, box).start - place.offset) / way.size : 0;
    return { ...found, text: found.node.data, distance: Math.abs(Math.min(1, Math.max(0, ratio)) - (place.ratio ?? 0)) };
  }

  /** Returns the visible and reachable occurrence of the words; of several, the one closest to the original position. */
  function find(place) {
    const content = readText();
    const parts = [place.words, place.words.slice(0, FEWER_WORDS), place.words.slice(0, place.paragraph ?? 0)];
    for (const part of new Set(parts.filter((each) => each.trim()))) {
      const places = occurrences(content.text, part);
      const found = places.map((at) => candidate(content, at, place));
      // The same occurrence if their number is the same, unless it is far away: a list may show
      // only some of its rows.
      const same = part === place.words && places.length === place.copies ? found[place.copy] : null;
      if (same?.distance < 0.1) return same;
      const best = found.filter(Boolean).sort((left, right) => left.distance - right.distance)[0];
      if (best) return best;
    }
    return null;
  }

  /** Opens a collapsed element that contains the words, if they are nowhere else. */
  function unfold(words) {
    const part = words.slice(0, FEWER_WORDS);
    for (const each of documents().flatMap((document) => [...document.querySelectorAll("details:not([open])")])) {
      if (!each.textContent.replace(/\s+/g, " ").includes(part)) continue;
      each.open = true;
      return true;
    }
    return false;
  }

  // ---- Moving ----

  /** Scrolls until a piece of text has the given distance from the start of the view. */
  function bring(target, place) {
    const { node, offset } = target;
    const boxes = boxesAround(node.parentElement);
    const box = boxOf(node, place);
    for (const each of [box, ...boxes.filter((each) => each !== box)]) {
      const rect = rectAt(node, offset);
      if (!rect) return false;
      const missing = span(rect, each).start - place.offset;
      if (Math.abs(missing) < 1) break;
      if (canScroll(each)) scrollTo(each, wayOf(each).at + missing);
    }
    // A frame, or a box, may itself be outside the view.
    const frame = node.ownerDocument.defaultView.frameElement;
    if (frame && !isInView(frame)) frame.scrollIntoView({ block: "nearest", behavior: "instant" });
    return rectAt(node, offset) !== null;
  }

  function isInView(element) {
    const { top, bottom } = element.getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
  }

  function goToMedia(place) {
    const target = media();
    if (!target || target.readyState < 1) return false;
    target.currentTime = place.time;
    // Browsers allow autoplay only on pages that the user has interacted with.
    if (place.playing) target.play().catch(() => {});
    else target.pause();
    return true;
  }

  let stop = null;

  /**
   * Goes to a position, and stays there while the page grows, until the reader moves.
   *
   * In a document at another address, only the words are used, and only in the first document of the tab (`landing`), which may
   * be the target of a redirect. Other documents are sign-in pages, whose target may follow in the same document.
   */
  function go({ place, url, landing }) {
    if (stop || (location.href !== landing && !isSamePage(location.href, url))) return;
    let target = null;
    let isMediaDone = place.time === undefined;
    let isArrived = false;
    // The last scrolled box and its position, to distinguish scrolling by the reader from scrolling
    // by the page.
    let last = null;
    // The size of the page and the time of its last change, while its end is shown to make it grow.
    let growth = null;

    const arrive = () => {
      if (!isArrived) notify("arrived");
      isArrived = true;
    };
    const isHere = () => isSamePage(location.href, url) && (target !== null || !asksToSignIn());
    const isTarget = () => target !== null && target.node.isConnected && target.node.data === target.text;

    const start = (text, box) => {
      const rect = text && rectAt(text.node, text.offset);
      return rect ? span(rect, box).start : null;
    };
    const remember = (box) => {
      const way = wayOf(box);
      last = { box, at: way.at, size: way.size, when: now(), start: start(target, box) };
    };

    /**
     * Returns whether to show the end of the page so that it grows: it was longer on the other device. Narrower
     * windows have longer pages.
     */
    const grows = (box) => {
      if (place.height === undefined || growth === "ended" || document.readyState !== "complete") return false;
      const { size, view } = wayOf(box);
      if (size + view > (growth?.hasGrown ? 2.5 : 0.9) * place.height) return false;
      if (growth?.size !== size) growth = { size, since: now(), hasGrown: growth !== null };
      if (now() - growth.since < GROWING) return true;
      growth = "ended";
      return false;
    };

    const goToRatio = () => {
      const box = (place.box !== undefined && boxAt(place.box)) || mainBox(false);
      const way = wayOf(box);
      const isGrowing = grows(box);
      if (isGrowing) later(200);
      if (way.size > 1) scrollTo(box, isGrowing ? way.size : place.ratio * way.size);
      remember(box);
      return way.size > 1 && !isGrowing;
    };

    const step = () => {
      observe();
      if (location.href !== landing && !isSamePage(location.href, url)) return;
      if (place.words !== undefined) {
        if (!isTarget()) target = find(place);
        if (!target && document.readyState === "complete" && isSamePage(location.href, url) && unfold(place.words)) target = find(place);
        if (target && bring(target, place)) {
          remember(boxOf(target.node, place));
          arrive();
        }
      }
      if (!isHere()) return;
      if (!target && place.ratio !== undefined && goToRatio() && place.words === undefined) arrive();
      if (!isMediaDone) {
        isMediaDone = goToMedia(place);
        if (isMediaDone && place.words === undefined) arrive();
      }
    };

    let timer = null;
    // Searching is slower in longer pages, so it is repeated with increasing delays until the words
    // are found.
    let pause = 50;
    const later = (delay) => {
      timer ??= setTimeout(() => {
        timer = null;
        pause = isTarget() ? 50 : Math.min(1000, pause * 1.5);
        step();
      }, typeof delay === "number" ? delay : pause);
    };
    const sizes = new ResizeObserver(later);
    const changes = new MutationObserver(later);
    // Documents, and elements whose sizes are observed.
    const observed = new Set();
    /** Pauses media that the page starts by itself, if it was paused where it was continued from. */
    const plays = (event) => {
      const isDecoration = event.target.muted && event.target.loop;
      if (place.time !== undefined && !place.playing && !isDecoration && isHere()) event.target.pause();
    };
    const observe = () => {
      for (const each of documents()) {
        for (const element of [each.documentElement, each.body]) {
          if (!element || observed.has(element)) continue;
          sizes.observe(element);
          observed.add(element);
        }
        if (observed.has(each)) continue;
        observed.add(each);
        changes.observe(each, { childList: true, subtree: true, characterData: true });
        for (const kind of INPUTS) each.addEventListener(kind, input, { capture: true, passive: true });
        each.addEventListener("scroll", scrolled, { capture: true, passive: true });
        // Includes images and frames, whose events do not bubble.
        for (const kind of ["load", "loadedmetadata"]) each.addEventListener(kind, later, true);
        each.addEventListener("play", plays, true);
      }
    };
    const finish = () => {
      sizes.disconnect();
      changes.disconnect();
      clearTimeout(timer);
      clearTimeout(end);
      for (const each of observed) {
        for (const kind of INPUTS) each.removeEventListener(kind, input, true);
        each.removeEventListener("scroll", scrolled, true);
        for (const kind of ["load", "loadedmetadata"]) each.removeEventListener(kind, later, true);
        each.removeEventListener("play", plays, true);
      }
      removeEventListener("load", later);
    };
    /** Handles a move of the reader, except on a sign-in page. */
    const moved = () => {
      if (!isHere()) return;
      arrive();
      finish();
    };
    const input = (event) => {
      if (!MODIFIERS.has(event.key)) moved();
    };
    /** Handles scrolling without input: by scroll bars and searches, or by the page to its start or to the anchor in the address. */
    const scrolled = () => {
      if (!last?.box.isConnected) return;
      const { at, size } = wayOf(last.box);
      const way = at - last.at;
      if (Math.abs(way) < 2 || size !== last.size) return;
      const line = isTarget() ? start(target, last.box) : null;
      // Content inserted above moves the page, but the text stays where it is.
      if (line !== null && last.start !== null && Math.abs(line - last.start + way) > 2) return;
      const isPages = at <= 1 ? now() - last.when < 1000 : location.hash.length > 1 && document.readyState !== "complete";
      if (isPages) later();
      else moved();
    };
    const ended = () => {
      if (!isHere() || document.readyState !== "complete") end = setTimeout(ended, SETTLING);
      else moved();
    };
    let end = setTimeout(ended, SETTLING);
    stop = finish;
    addEventListener("load", later);
    step();
  }

  /** Goes to another position on a page that was continued before. */
  function goAgain(request) {
    stop?.();
    stop = null;
    go(request);
  }

  globalThis.handoffGoing = { go, goAgain };
})();
