// Acting on an element: wait in the page until the query's selector finds one that
// the action can be done to, then do it here (fill, select, upload, scroll,
// focus) or return the element to the caller for real input (click, hover).
//
// query: { want, hosts, selector, first, wait, left, fingerprint, repeated,
//          hidden, text, option, files, position, direction, watch, gesture, known, exact,
//          accepted, settle, trace }
// wait is how long this call may take and left what is left of the step, in ms; watch
// is the name under which arrival.js reports what becomes of the gesture that follows.
// known is the fingerprint that the element is compared with (drift.js); accepted: the
// drift that is acted on all the same; exact: numbers in names count; settle is for how long, in ms, one must last.
// position is where the element is pointed at, from its upper left corner; else at its
// centre. offset is where that is from the centre of what is in view.
// result: { state, why, count, several, element, offset, href, time, fingerprint, keys,
//           held, wheel, note, drifted, point }
// state: "ok" done or ready; "none" nothing found; "hidden" only invisible ones;
//        "several" more than one, and the step does not say which; "waiting" found
//        but not ready (why is the reason); "drifted" another element than the one
//        that is known; "invalid" it cannot work, ever.

class Wait extends Error {}
class Never extends Error {}

// Drifted means that the element is another one than the step knows.
class Drifted extends Error {
  constructor(drift, el) {
    super("drifted");
    Object.assign(this, { drift, el });
  }
}

// editable returns the element that takes the text: the control of a label.
function editable(el) {
  if (el.localName === "label" && el.control) return el.control;
  return el;
}

// readyFor returns why an element cannot be acted on yet; "" when it can.
function readyFor(query, el) {
  if (query.want === "file") {
    if (el.localName !== "input" || el.type !== "file") throw new Never("the element is not a file input");
    return enabled(el) ? "" : "it is disabled";
  }
  if (query.want === "frame") {
    return /^i?frame$/.test(el.localName) ? "" : "it is not a frame";
  }
  if (query.want === "scroll") return "";
  if (query.want !== "hover" && !enabled(el)) return "it is disabled";
  if (query.want === "fill") {
    if (el.matches("input, textarea")) {
      const type = el.localName === "input" ? el.type : "";
      if (type === "file") throw new Never("the element is a file input: use upload_file");
      if (!texts.includes(type) && !setters.includes(type)) {
        throw new Never("the element takes no text: it is of type " + type);
      }
      if (el.readOnly) return "it is read-only";
    } else if (el.localName === "select") {
      throw new Never("the element takes no text: it is a select list");
    } else if (!el.isContentEditable) {
      return "it takes no text";
    }
  }
  if (query.want === "select") {
    if (el.localName !== "select") throw new Never("the element is not a select list: click on its options");
    const option = pick(el, query.option);
    if (!option) return "it has no such option";
    if (option.matches(":disabled")) return "the option is disabled";
  }
  return "";
}

// reach scrolls an element into view and returns the element to point at (a part of
// a button may let events through to the button), or why it does not receive the
// events at its centre. Attempts scroll to different places.
function reach(el, attempt, position) {
  if (position) return reachAt(el, position);
  const places = ["center", "end", "start"];
  let point = centre(el);
  if (!point || !point.whole) {
    el.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    point = centre(el);
  }
  if (!point) return { why: "it is out of the viewport" };
  let got = hit(el.ownerDocument, point);
  if (got && contains(el, got)) return { el };
  if (got && contains(got, el) && got.matches("button, a, label, summary, [role]")) return { el: got };
  const label = got && got.closest && got.closest("label");
  if (label && label.control === el) return { el: label };
  // Something that sticks to an edge may cover it: the next attempt looks from elsewhere.
  el.scrollIntoView({ block: places[attempt % 3], inline: "center", behavior: "instant" });
  return { why: got ? "it is covered by " + short(got) : "it gets no events" };
}

// spot returns the point of an element that is so far from its upper left corner.
function spot(el, position) {
  const box = el.getBoundingClientRect();
  if (position.x > box.width || position.y > box.height) {
    throw new Never("the position is outside of the element, which is " + Math.round(box.width) + " by " + Math.round(box.height) + " pixels");
  }
  return { x: box.left + Math.min(position.x, box.width - 0.5), y: box.top + Math.min(position.y, box.height - 0.5) };
}

// reachAt is reach for a point of the element that is not its centre.
function reachAt(el, position) {
  const view = el.ownerDocument.defaultView;
  const seen = (point) => point.x >= 0 && point.y >= 0 && point.x < view.innerWidth && point.y < view.innerHeight;
  let point = spot(el, position);
  if (!seen(point)) el.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
  point = spot(el, position);
  if (!seen(point)) view.scrollBy({ left: point.x - view.innerWidth / 2, top: point.y - view.innerHeight / 2, behavior: "instant" });
  point = spot(el, position);
  if (!seen(point)) return { why: "the position is out of the viewport" };
  const got = hit(el.ownerDocument, point);
  if (got && contains(el, got)) return { el };
  return { why: got ? "it is covered there by " + short(got) : "it gets no events there" };
}

// offsetOf returns where a position is from the centre of the part of the element that is
// in view, which is what WebDriver moves the pointer from.
function offsetOf(el, position) {
  const box = el.getClientRects()[0], view = el.ownerDocument.defaultView, point = spot(el, position);
  const middle = (from, to, most) => Math.floor((Math.max(0, from) + Math.min(most, to)) / 2);
  return [Math.floor(point.x) - middle(box.left, box.right, view.innerWidth), Math.floor(point.y) - middle(box.top, box.bottom, view.innerHeight)];
}

function sameBox(a, b) {
  return a.left === b.left && a.top === b.top && a.width === b.width && a.height === b.height;
}

// compare returns how an element contradicts what is known, null where it does not, and
// remembers that for the attempt.
function compare(query, el) {
  if (!query.known) return null;
  if (!query.compared || query.compared.el !== el) query.compared = { el, drift: driftOf(query.known, el, query.exact) };
  return query.compared.drift;
}

// choose returns the match that can be acted on, the first one of several when the
// query allows that, or throws the Wait of the best one.
async function choose(query, attempt, began) {
  const all = find(query);
  query.count = all.length;
  if (all.length === 0) throw new Wait("none");
  const list = all.slice(0, 50);
  const unseen = ["file", "frame", "scroll"].includes(query.want);
  let why = "hidden";
  for (let el of list) {
    if (query.want === "fill") el = editable(el);
    if (!unseen && !visible(el)) continue;
    let reason;
    try {
      reason = readyFor(query, el);
    } catch (e) {
      // Another match may be of the right kind.
      if (list.length === 1 || el === list[list.length - 1]) throw e;
      continue;
    }
    let target = el;
    if (!reason && (query.want === "click" || query.want === "hover")) {
      const place = reach(el, attempt, query.position);
      reason = place.why || "";
      target = place.el;
      if (!reason) {
        // Still is: the same box in two frames.
        const time = document.timeline.currentTime;
        const box = target.getBoundingClientRect();
        compare(query, el); // while the frame is waited for
        await nextFrame(time);
        if (!target.isConnected) reason = "it went away";
        else if (!sameBox(box, target.getBoundingClientRect())) reason = "it is moving";
        else if (animated(target, query.left - (performance.now() - began))) reason = "it is being animated";
        else reason = reach(el, attempt, query.position).why || "";
      }
    }
    if (!reason) return { el, target };
    if (why === "hidden") why = reason;
  }
  throw new Wait(why);
}

// placeOf returns the centre of an element in the viewport of the top frame, null where that
// is not known: in a frame of another origin, or out of sight.
function placeOf(el) {
  const point = centre(el);
  try {
    for (let view = el.ownerDocument.defaultView; point && view.frameElement; view = view.parent) {
      const box = view.frameElement.getBoundingClientRect();
      point.x += box.left;
      point.y += box.top;
    }
    return point;
  } catch {
    return null;
  }
}

async function act(query) {
  const start = performance.now();
  const result = { state: "none", why: "", count: 0 };
  let since = null; // when the element began to be another one
  for (let attempt = 0; ; attempt++) {
    const before = performance.now() - idle;
    let other = null;
    delete result.drifted;
    query.compared = null;
    try {
      const { el, target } = await choose(query, attempt, start);
      const drift = compare(query, el);
      if (drift && !sameDrift(query.accepted, drift)) throw new Drifted(drift, el);
      if (drift) result.drifted = { ...drift, fingerprint: describe(el) };
      if (query.fingerprint && !drift) result.fingerprint = describe(el);
      Object.assign(result, { state: "ok", why: "" }, await perform(query, el, target));
      if (query.trace) result.point = placeOf(el);
    } catch (e) {
      if (e instanceof Drifted) {
        other = e;
        Object.assign(result, { state: "drifted", why: "drifted" });
      } else if (e instanceof Wait) {
        result.state = e.message === "none" || e.message === "hidden" ? e.message : "waiting";
        result.why = e.message;
      } else if (e instanceof Several) {
        Object.assign(result, { state: "several", why: "several", several: e.found });
      } else {
        result.state = "invalid";
        result.why = String(e.message).slice(0, 8192);
      }
    }
    result.count = query.count || 0;
    result.href = location.href;
    result.time = performance.timeOrigin + performance.now();
    const now = performance.now();
    since = other && (since === null ? now : since);
    const settled = other && now - since >= query.settle;
    if (result.state === "ok" || result.state === "invalid" || settled || now - start >= query.wait) {
      if (other) result.drifted = { ...other.drift, fingerprint: describe(other.el) };
      return result;
    }
    await pauseAfter(now - idle - before);
  }
}

// reveal scrolls a frame into view: what is inside of it does not know whether the
// frame itself is seen.
async function reveal(el) {
  const point = centre(el);
  if (!point || !point.whole) {
    el.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    await frame();
    await frame();
  }
  return { element: el };
}

async function perform(query, el, target) {
  switch (query.want) {
    case "fill": return fill(query, el);
    case "select": return select(query, el);
    case "file": return upload(query, el);
    case "scroll": return scroll(query, el);
    case "focus": return focus(query, el);
    case "frame": return reveal(el);
    default:
      if (query.watch) watchClick(query, el, target);
      return query.position ? { element: target, offset: offsetOf(target, query.position) } : { element: target };
  }
}

return act(arguments[0]);
