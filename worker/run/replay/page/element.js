// Elements: what can be seen of them, what receives their events, and waiting.

function styleOf(el) {
  return dom.style(el);
}

// visible: rendered, not hidden by a style, and of some size. What is transparent
// or out of the viewport is visible.
function visible(el) {
  if (!dom.connected(el)) return false;
  if (dom.tag(el) === "option" || dom.tag(el) === "optgroup") el = dom.closest(el, "select") || el;
  const style = styleOf(el);
  if (style.display === "contents") {
    for (let node = dom.first(el); node; node = dom.next(node)) {
      if (dom.kind(node) === 1 && visible(node)) return true;
      if (dom.kind(node) !== 3) continue;
      const range = dom.owner(el).createRange();
      range.selectNode(node);
      const box = range.getBoundingClientRect();
      if (box.width > 0 && box.height > 0) return true;
    }
    return false;
  }
  if (style.visibility !== "visible" || !dom.rendered(el)) return false;
  const box = dom.box(el);
  return box.width > 0 && box.height > 0;
}

// enabled: neither a disabled control (nor something inside of one), nor marked
// as disabled for assistive technology.
function enabled(el) {
  const control = dom.closest(el, "button, input, select, textarea, option, optgroup");
  if (control && dom.matches(control, ":disabled")) return false;
  return !dom.closest(el, '[aria-disabled="true"]');
}

// centre returns the point that a click goes to: the centre of what can be seen of
// the first box. It is null when that is out of the viewport.
function centre(el) {
  const boxes = Array.from(el.getClientRects());
  const box = boxes.find((b) => b.width > 0 && b.height > 0);
  if (!box) return null;
  const view = el.ownerDocument.defaultView;
  const left = Math.max(0, box.left), right = Math.min(view.innerWidth, box.right);
  const top = Math.max(0, box.top), bottom = Math.min(view.innerHeight, box.bottom);
  if (left >= right || top >= bottom) return null;
  return { x: (left + right) / 2, y: (top + bottom) / 2, whole: box.top >= 0 && box.bottom <= view.innerHeight };
}

// hit returns the element that gets an event at a point, through open shadow roots.
// Text that is slotted is part of the host, which is what a shadow root then reports;
// the list of all elements at the point begins with the one that shows the text.
function hit(doc, point) {
  let el = doc.elementFromPoint(point.x, point.y);
  while (el && el.shadowRoot) {
    let inner = el.shadowRoot.elementFromPoint(point.x, point.y);
    if (!inner || inner === el) inner = el.shadowRoot.elementsFromPoint(point.x, point.y)[0];
    if (!inner || inner === el || !contains(el, inner)) break;
    el = inner;
  }
  return el;
}

// contains reports whether inner is outer or in it, through shadow roots and slots.
function contains(outer, inner) {
  for (let node = inner; node; node = node.assignedSlot || node.parentNode || node.host) {
    if (node === outer) return true;
  }
  return false;
}

// short describes an element for a message.
function short(el) {
  let text = el.localName;
  if (el.id) text += "#" + el.id;
  for (const name of Array.from(el.classList).slice(0, 2)) text += "." + name;
  return text.slice(0, 1000);
}

// around returns an element and those that it is shown in, from inside out, through
// shadow roots and slots.
function around(el) {
  const all = [];
  for (let node = el; node; node = node.assignedSlot || node.parentNode || node.host) {
    if (node.nodeType === Node.ELEMENT_NODE) all.push(node);
  }
  return all;
}

// nestingOf returns which of some elements are in another of them, and which have
// another of them inside. There may be thousands.
function nestingOf(list) {
  const all = new Set(list), inner = new Set(), outer = new Set();
  for (const el of list) {
    for (const node of around(el)) {
      if (node === el || !all.has(node)) continue;
      inner.add(el);
      outer.add(node);
    }
  }
  return { inner, outer };
}

// The properties that move an element or make it appear.
const motion = /^(all|transform|translate|rotate|scale|offset[A-Z]|inset|left|right|top|bottom|width|height|min|max|margin|padding|opacity|zoom|perspective|flex|grid|gap|rowGap|columnGap|fontSize|lineHeight|border.*Width)/;

// animated reports whether an animation or transition moves an element, or one that
// it is shown in, and will have ended within half of the time that is left. Those
// without end (spinners, pulses) and long ones must not hold a step up: whether they
// move the element is seen from its box.
function animated(el, left) {
  let roots = null;
  for (let node = el; node; node = node.assignedSlot || node.parentNode || node.host) {
    if (!node.getAnimations || node.nodeType === Node.ELEMENT_NODE) continue;
    for (const animation of node.getAnimations()) {
      const effect = animation.effect;
      if (animation.playState !== "running" || !effect || !effect.target || effect.pseudoElement) continue;
      if (animation.timeline !== el.ownerDocument.timeline) continue;
      roots = roots || new Set(around(el));
      if (!roots.has(effect.target)) continue;
      const timing = effect.getComputedTiming();
      if (timing.progress === null) continue;
      const rest = (timing.endTime - timing.localTime) / Math.abs(animation.playbackRate || 1);
      if (!(rest > 0 && rest <= left / 2)) continue;
      if (effect.getKeyframes().some((frame) => Object.keys(frame).some((name) => motion.test(name)))) return true;
    }
  }
  return false;
}

// idle is the time that was spent waiting for frames.
let idle = 0;

// frame waits for the next animation frame. A page that is not shown has none,
// hence the timer; on a busy machine one takes long, and what moves seems not
// to move until it comes.
function frame() {
  const began = performance.now();
  return new Promise((resolve) => {
    const done = (time) => {
      idle += performance.now() - began;
      resolve(time);
    };
    const timer = setTimeout(() => done(), document.hidden ? 20 : 1000);
    requestAnimationFrame((time) => {
      clearTimeout(timer);
      done(time);
    });
  });
}

// nextFrame waits for an animation frame of another time than that of which the page
// was looked at: in one of the same time all that moves is where it was.
async function nextFrame(time) {
  for (;;) {
    const began = await frame();
    if (began === undefined || document.timeline.currentTime !== time) return;
  }
}

// pauseAfter waits before the next look: a frame, and longer after a look that took
// long.
async function pauseAfter(cost) {
  await frame();
  if (cost > 5) await new Promise((done) => setTimeout(done, Math.min(4 * cost, 500)));
}
