// The scrolling boxes of a page: the page itself, elements in it, and frames of the same origin.
// Positions are measured in the block direction, which in vertical text is from right to left or
// from left to right.

(() => {
  if (globalThis.handoffBoxes) return;

  const FRAMES = 32;
  // The number of sampled points per side of the view.
  const GRID = 7;

  const styleOf = (element) => element.ownerDocument.defaultView.getComputedStyle(element);
  const rootOf = (document) => document.scrollingElement ?? document.documentElement;
  const isRoot = (element) => element === rootOf(element.ownerDocument);

  function documentIn(frame) {
    try {
      return frame.contentDocument?.defaultView && frame.contentDocument.documentElement ? frame.contentDocument : null;
    } catch {
      return null;
    }
  }

  /** Returns this document, and those of its visible frames that can be accessed. */
  function documents() {
    const found = [document];
    for (const each of found) {
      for (const frame of each.querySelectorAll("iframe, frame")) {
        const inner = found.length < FRAMES && frame.checkVisibility() ? documentIn(frame) : null;
        if (inner) found.push(inner);
      }
    }
    return found.filter((each) => each.documentElement);
  }

  /** Returns the block direction of an element: "down", "left" or "right". */
  function direction(element) {
    // The root uses the writing mode of the body.
    const mode = styleOf(isRoot(element) ? element.ownerDocument.body ?? element : element).writingMode;
    return /^(vertical|sideways)-rl/.test(mode) ? "left" : /^(vertical|sideways)-lr/.test(mode) ? "right" : "down";
  }

  const isReversed = (element) => /-reverse$/.test(styleOf(element).flexDirection) && direction(element) === "down";

  /** Returns the scrollable length of a box (`size`), its scroll position (`at`) and its visible length (`view`), in pixels. */
  function wayOf(element) {
    if (direction(element) === "down") {
      const size = element.scrollHeight - element.clientHeight;
      return { size, at: isReversed(element) ? size + element.scrollTop : element.scrollTop, view: element.clientHeight };
    }
    return { size: element.scrollWidth - element.clientWidth, at: Math.abs(element.scrollLeft), view: element.clientWidth };
  }

  function scrollTo(element, at) {
    const goal =
      direction(element) === "left" ? { left: -at }
      : direction(element) === "right" ? { left: at }
      : { top: isReversed(element) ? at - wayOf(element).size : at };
    element.scrollTo({ ...goal, behavior: "instant" });
  }

  const isHidden = (value) => value === "hidden" || value === "clip";

  /** Returns whether the page prevents scrolling, as apps do, and open dialogs. */
  function isLocked(element) {
    const { documentElement, body } = element.ownerDocument;
    return [documentElement, body].some((each) => each && isHidden(styleOf(each).overflowY));
  }

  function canScroll(element) {
    if (wayOf(element).size <= 1) return false;
    if (isRoot(element)) return true;
    const style = styleOf(element);
    return /auto|scroll/.test(direction(element) === "down" ? style.overflowY : style.overflowX);
  }

  /** Returns the scrolling boxes around an element, from the innermost to the page itself. */
  function boxesAround(element) {
    const found = [];
    const { documentElement, body } = element.ownerDocument;
    for (let each = element; each && each !== documentElement; each = each.parentElement ?? each.getRootNode().host) {
      // The body determines the scrolling of the page, unless the root does.
      const isPage = isRoot(each) || (each === body && styleOf(documentElement).overflowY === "visible");
      if (!isPage && canScroll(each)) found.push(each);
    }
    return [...found, rootOf(element.ownerDocument)];
  }

  /** Returns the part of its document's view that a box fills or can fill. */
  function viewOf(element) {
    const { innerWidth, innerHeight } = element.ownerDocument.defaultView;
    if (isRoot(element)) return { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
    const { left, top } = element.getBoundingClientRect();
    const view = { left: left + element.clientLeft, top: top + element.clientTop };
    return { ...view, right: view.left + element.clientWidth, bottom: view.top + element.clientHeight };
  }

  /** Returns the start and end of a rectangle in a box, in pixels from the start edge of the box's view. */
  function span(rect, element) {
    const view = viewOf(element);
    switch (direction(element)) {
      case "left": return { start: view.right - rect.right, end: view.right - rect.left };
      case "right": return { start: rect.left - view.left, end: rect.right - view.left };
      default: return { start: rect.top - view.top, end: rect.bottom - view.top };
    }
  }

  /** Returns the innermost element at a point of the view, including frames. */
  function elementAt(document, x, y) {
    const element = document.elementFromPoint(x, y);
    const inner = element && /^I?FRAME$/i.test(element.nodeName) ? documentIn(element) : null;
    if (!inner) return element;
    const { left, top } = element.getBoundingClientRect();
    return elementAt(inner, x - left - element.clientLeft, y - top - element.clientTop) ?? element;
  }

  /**
   * Returns the main box: the scrollable box that fills most of the view.
   *
   * @param isRead whether the reader is using the page; if so, scrolled boxes are preferred.
   */
  function mainBox(isRead) {
    const scores = new Map();
    for (let row = 1; row <= GRID; row += 1) {
      for (let column = 1; column <= GRID; column += 1) {
        const element = elementAt(document, (innerWidth * column) / (GRID + 1), (innerHeight * row) / (GRID + 1));
        if (!element) continue;
        const boxes = boxesAround(element).filter(canScroll);
        const box = (isRead && boxes.find((each) => wayOf(each).at > 1)) || boxes[0];
        if (box) scores.set(box, (scores.get(box) ?? 0) + 1);
      }
    }
    const score = ([box, points]) => {
      const { size, at, view } = wayOf(box);
      return points * Math.min(1, size / view) * (isRead && at <= 1 ? 0.2 : 1) * (isRoot(box) && isLocked(box) && at <= 1 ? 0.1 : 1);
    };
    const best = [...scores].sort((left, right) => score(right) - score(left))[0];
    return best?.[0] ?? rootOf(document);
  }

  /** Returns the path of a box in the element tree: child numbers from the root, `f` for entering a frame. Empty for the page. */
  function pathOf(element) {
    const steps = [];
    for (let each = element; each !== rootOf(document);) {
      if (isRoot(each)) {
        steps.unshift("f");
        each = each.ownerDocument.defaultView.frameElement;
      } else {
        const parent = each.parentElement;
        if (!parent) return null;
        steps.unshift([...parent.children].indexOf(each));
        each = parent;
      }
      if (!each) return null;
    }
    return steps.join("/");
  }

  /** Returns the scrollable box at a path, if it exists. */
  function boxAt(path) {
    let element = rootOf(document);
    for (const step of path ? path.split("/") : []) {
      const inner = step === "f" ? documentIn(element) : null;
      element = step === "f" ? inner && rootOf(inner) : element.children[Number(step)];
      if (!element) return null;
    }
    return canScroll(element) ? element : null;
  }

  globalThis.handoffBoxes = {
    boxAt, boxesAround, canScroll, direction, documents, elementAt, isRoot, mainBox, pathOf, rootOf, scrollTo, span, styleOf, viewOf, wayOf,
  };
})();
