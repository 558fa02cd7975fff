// What scrolls in a page: the page itself, a box in it, or a frame of the same origin. Places are measured in the direction in which
// lines follow each other, which vertical text has from right to left, or from left to right.

(() => {
  if (globalThis.handoffBoxes) return;

  const FRAMES = 32;
  // The view is looked at in a grid of so many points to each side.
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

  /** This document, and those of its visible frames that it may look into. */
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

  /** How blocks follow each other in an element: downwards, to the left or to the right. */
  function direction(element) {
    // The root has the mode of the body.
    const mode = styleOf(isRoot(element) ? element.ownerDocument.body ?? element : element).writingMode;
    return /^(vertical|sideways)-rl/.test(mode) ? "left" : /^(vertical|sideways)-lr/.test(mode) ? "right" : "down";
  }

  const isReversed = (element) => /-reverse$/.test(styleOf(element).flexDirection) && direction(element) === "down";

  /** How far a box can be scrolled (`size`), how far it is (`at`), and how much of its content is seen (`view`), in pixels. */
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

  /** Whether the page was told not to scroll: apps do that, and dialogs for as long as they are open. */
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

  /** The boxes in which an element moves, from the inner ones to the page itself. */
  function boxesAround(element) {
    const found = [];
    const { documentElement, body } = element.ownerDocument;
    for (let each = element; each && each !== documentElement; each = each.parentElement ?? each.getRootNode().host) {
      // The page scrolls as the body says, unless the root says something itself.
      const isPage = isRoot(each) || (each === body && styleOf(documentElement).overflowY === "visible");
      if (!isPage && canScroll(each)) found.push(each);
    }
    return [...found, rootOf(element.ownerDocument)];
  }

  /** The part of the view of its document that a box fills, or may fill. */
  function viewOf(element) {
    const { innerWidth, innerHeight } = element.ownerDocument.defaultView;
    if (isRoot(element)) return { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
    const { left, top } = element.getBoundingClientRect();
    const view = { left: left + element.clientLeft, top: top + element.clientTop };
    return { ...view, right: view.left + element.clientWidth, bottom: view.top + element.clientHeight };
  }

  /** Where a rectangle begins and ends in a box, in pixels behind the edge at which its view begins. */
  function span(rect, element) {
    const view = viewOf(element);
    switch (direction(element)) {
      case "left": return { start: view.right - rect.right, end: view.right - rect.left };
      case "right": return { start: rect.left - view.left, end: rect.right - view.left };
      default: return { start: rect.top - view.top, end: rect.bottom - view.top };
    }
  }

  /** The innermost element at a point of the view, also in frames. */
  function elementAt(document, x, y) {
    const element = document.elementFromPoint(x, y);
    const inner = element && /^I?FRAME$/i.test(element.nodeName) ? documentIn(element) : null;
    if (!inner) return element;
    const { left, top } = element.getBoundingClientRect();
    return elementAt(inner, x - left - element.clientLeft, y - top - element.clientTop) ?? element;
  }

  /**
   * The box that counts: the one that fills most of the view, and can be scrolled.
   *
   * @param isRead whether it is where the reader is; then a box that was scrolled counts more than one that was not.
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

  /** Where a box is in the tree of elements: numbers of children from the root on; `f` goes into a frame. Empty for the page. */
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

  /** The box at such a path, if there is one that can be scrolled. */
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
