// Arrival: what becomes of a gesture of the mouse that the caller makes after act.js
// has returned the element. Listeners at the window see the events before the page
// does; nothing of them can be reached from the page but by an event of a random name,
// to which they respond with their verdict, and are removed then.
//
// verdict: { state, why }: "arrived"; "missed", nothing or another element received
// it, and it may be done again; "lost", it had begun, and it may not.

const presses = ["pointerdown", "mousedown"], releases = ["pointerup", "mouseup"];

// watch calls see for each trusted event of some types and returns verdict() to whoever
// knows the name. A watch of the same name ends the one before.
function watch(name, types, see, verdict) {
  dispatchEvent(new CustomEvent(name, { detail: {} }));
  const listener = (event) => {
    if (event.isTrusted) see(event);
  };
  const end = () => {
    for (const type of types) removeEventListener(type, listener, { capture: true });
    removeEventListener(name, report, { capture: true });
  };
  const report = (event) => {
    event.stopImmediatePropagation();
    const got = verdict();
    event.detail.verdict = got;
    if (got instanceof Promise) got.then(end, end);
    else end();
  };
  for (const type of types) addEventListener(type, listener, { capture: true, passive: false });
  addEventListener(name, report, { capture: true });
}

// watchClick watches a click (query.gesture: click, dblclick or contextmenu) on an
// element.
//
// A press that another element receives is kept from it, with all that belongs to it:
// then nothing has been done, and the click can be repeated. A press on the element
// whose click does not come is repeated as well (the element was replaced or went
// away under the pointer), unless the press itself did that: menus that act on the
// press close with it. A double click of which one click was received is not.
function watchClick(query, el, target) {
  const seen = { pressed: false, released: false, done: false, moved: false, captured: false, reacted: false, clicked: false, other: "" };
  let blocked = false, over = false, up = false;
  const ours = (event) => {
    const path = event.composedPath();
    return path.includes(target) || path.includes(el);
  };
  const gone = () => {
    const point = target.isConnected && centre(target);
    const got = point && hit(target.ownerDocument, point);
    return !got || !(contains(target, got) || contains(el, got));
  };
  const see = (event) => {
    const type = event.type;
    if (over) return;
    if (type === "gotpointercapture") {
      seen.captured = true;
    } else if (type === "pointermove" || type === "mousemove") {
      if (ours(event)) seen.moved = true;
    } else if (presses.includes(type)) {
      if (!seen.pressed && !blocked) {
        if (ours(event)) {
          seen.pressed = true;
          const channel = new MessageChannel();
          channel.port1.onmessage = react;
          channel.port2.postMessage(0);
        } else {
          blocked = true;
          seen.other = short(event.composedPath()[0]);
        }
      }
    } else if (releases.includes(type)) {
      up = true;
      seen.released = ours(event); // that of the mouse, which comes last, decides
    } else if (type === query.gesture && seen.pressed && ours(event)) {
      seen.done = true;
    }
    if (type === "click" && seen.pressed && !blocked) seen.clicked = true;
    if (blocked) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  };
  // The end of a press: what is gone by now, the page's listeners removed or covered.
  // Those may stop the event on its way to the window, and the last task comes late on
  // a busy machine.
  const react = () => {
    seen.reacted = seen.reacted || (!up && gone());
  };
  const after = (event) => {
    if (!event.isTrusted || !seen.pressed) return;
    react();
    queueMicrotask(react);
  };
  const types = ["pointermove", "mousemove", ...presses, ...releases, "gotpointercapture", "click", "dblclick", "auxclick", "contextmenu"];
  // A page may stop the event at any element around the target.
  const ends = [window];
  for (let node = target; node; node = node.parentNode || node.host) ends.push(node);
  for (const type of presses) for (const end of ends) end.addEventListener(type, after);
  watch(query.watch, types, see, () => {
    over = true;
    for (const type of presses) for (const end of ends) end.removeEventListener(type, after);
    if (seen.done) return { state: "arrived" };
    if (blocked) return { state: "missed", why: "the click reached " + seen.other + " instead" };
    // Double clicks and menus have an event of their own, and it did not come.
    const simple = query.gesture === "click";
    if (seen.pressed) {
      if (seen.reacted || seen.captured || (seen.released && simple)) return { state: "arrived" };
      if (!simple) return { state: seen.clicked ? "lost" : "missed", why: "the page saw no " + query.gesture + (seen.clicked ? ", only a click" : "") };
      return { state: "missed", why: target.isConnected ? "it moved away while it was clicked" : "it was replaced while it was clicked" };
    }
    // A page can keep its events from all listeners but its first one.
    if (simple && (seen.moved || !gone())) return { state: "arrived" };
    return { state: "missed", why: "it was gone before the click" };
  });
}

// watchScroll watches what a turn of the wheel moves: whatever scrolls around the
// element, or in it below the pointer, or, where a script moves it, the boxes of what
// is in it. What moves by itself before the turn does not count. The verdict comes
// when all of it rests.
async function watchScroll(query, el) {
  const nodes = Array.from(el.querySelectorAll("*")).slice(0, 60).concat(around(el).slice(0, 5));
  // A node that moves takes all that is in it along.
  const places = () => nodes.map((node) => {
    if (!node.isConnected) return "gone";
    const box = node.getBoundingClientRect(), outer = node.parentElement && node.parentElement.getBoundingClientRect();
    return outer ? box.left - outer.left + " " + (box.top - outer.top) : box.left + " " + box.top;
  });
  const first = places(), restless = new Set();
  const changed = () => places().some((place, i) => place !== first[i] && !restless.has(i));
  const point = centre(el), below = point && hit(el.ownerDocument, point);
  const boxes = new Set([document, ...around(el), ...(below && contains(el, below) ? around(below) : [])]);
  let events = 0;
  const scrolling = (event) => event.isTrusted && boxes.delete(event.composedPath()[0]);
  addEventListener("scroll", scrolling, { capture: true });
  for (let frames = 0; frames < 2; frames++) {
    await frame();
    places().forEach((place, i) => {
      if (place !== first[i]) restless.add(i);
    });
  }
  removeEventListener("scroll", scrolling, { capture: true });
  watch(query.watch, ["scroll"], (event) => {
    if (boxes.has(event.composedPath()[0])) events++;
  }, async () => {
    const start = performance.now();
    let last = "", rests = 0, moved = false;
    for (;;) {
      const now = places().join() + events;
      moved = moved || events > 0 || changed();
      rests = now === last ? rests + 1 : 0;
      last = now;
      const took = performance.now() - start;
      if ((moved && rests >= 3) || took > (moved ? 1500 : 400)) break;
      await frame();
    }
    return moved ? { state: "arrived" } : { state: "missed", why: "nothing scrolls there" };
  });
}

// watchDrag watches a drag. It has arrived when the pointer, after a press on the one
// element and moves, was released on the other, or when the other one saw the events
// of drag and drop, with which browsers replace those of the pointer. Then the other
// one must have taken the drop, or the page must have moved what was dragged.
function watchDrag(name, from, to) {
  const goal = to.getBoundingClientRect();
  const place = () => [from.parentNode, from.previousElementSibling, from.nextElementSibling, from.offsetLeft, from.offsetTop];
  const first = place();
  const moved = () => !from.isConnected || place().some((value, i) => value !== first[i]);
  const seen = { pressed: false, moves: 0, released: false, onGoal: false, began: false, over: false, dropped: false, ended: false };
  const on = (event, el) => event.composedPath().includes(el);
  const inside = (event, box) => event.clientX >= box.left && event.clientX <= box.right && event.clientY >= box.top && event.clientY <= box.bottom;
  const at = (event) => on(event, to) || inside(event, goal) || (to.isConnected && inside(event, to.getBoundingClientRect()));
  watch(name, [...presses, "pointermove", "mousemove", ...releases, "dragstart", "dragenter", "dragover", "drop", "dragend"], (event) => {
    const type = event.type;
    if (presses.includes(type)) {
      if (on(event, from)) seen.pressed = true;
    } else if (type === "pointermove" || type === "mousemove") {
      if (seen.pressed && !seen.released) seen.moves++;
    } else if (releases.includes(type)) {
      seen.released = true;
      seen.onGoal = seen.onGoal || at(event);
    } else if (type === "dragstart") {
      seen.began = true;
    } else if (type === "dragend") {
      seen.ended = true;
    } else if (at(event)) {
      seen.over = true;
      if (type === "drop") seen.dropped = true;
    }
  }, async () => {
    // The events of drag and drop come after the command that released the button.
    const start = performance.now();
    while (seen.began && !seen.ended && performance.now() - start < 1000) await frame();
    if (seen.began) {
      for (let frames = 0; frames < 2 && !seen.dropped; frames++) await frame();
      if (seen.dropped || (seen.over && moved())) return { state: "arrived" };
      if (seen.over) return { state: "missed", why: "the target did not take the drop" };
      return { state: "missed", why: "the drag began and reached no target" };
    }
    if (!seen.pressed) return { state: "missed", why: "it did not receive the press" };
    if (seen.moves === 0) return { state: "missed", why: "the page saw no moves of the pointer" };
    if (!seen.released) return { state: "missed", why: "the page saw no release of the pointer" };
    return seen.onGoal ? { state: "arrived" } : { state: "missed", why: "the pointer was released elsewhere" };
  });
}
