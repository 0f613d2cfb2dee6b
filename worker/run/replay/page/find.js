// Finding elements: selectors, open shadow roots, and what can be seen and hit.
// All page scripts begin with this file; none of them leaves anything behind in
// the page.

// The types of inputs that take text as it is typed, and those whose value is set.
const texts = ["", "text", "search", "email", "url", "tel", "password", "number"];
const setters = ["date", "time", "month", "week", "datetime-local", "color", "range"];

// matches returns the elements that a selector finds below a root.
function matches(root, selector) {
  if (selector.type !== "xpath") return root.querySelectorAll(selector.value);
  if (root.nodeType === Node.DOCUMENT_FRAGMENT_NODE) {
    throw new Error("inside of a shadow root only CSS selectors work");
  }
  const doc = root.ownerDocument || root;
  const found = doc.evaluate(selector.value, root, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null);
  const all = [];
  for (let i = 0; i < found.snapshotLength; i++) {
    const node = found.snapshotItem(i);
    if (node.nodeType === Node.ELEMENT_NODE) all.push(node);
  }
  return all;
}

// enter goes into the open shadow roots of hosts, from outside in. It returns null
// while one of them is not there.
function enter(hosts) {
  let root = document;
  for (const host of hosts) {
    const all = matches(root, host);
    const found = host.index == null ? Array.prototype.find.call(all, (el) => el.shadowRoot) : all[host.index];
    if (!found || !found.shadowRoot) return null;
    root = found.shadowRoot;
  }
  return root;
}

// find returns what a query's selector finds. A fingerprint knows the shadow roots
// around its element: they are looked into when the plain place has nothing.
function find(query) {
  const root = enter(query.hosts);
  const all = root ? matches(root, query.selector) : [];
  if (all.length > 0 || !query.shadow || query.hosts.length > 0) return all;
  try {
    const inner = enter(query.shadow.map((value) => ({ type: "css", value })));
    return inner ? matches(inner, query.selector) : all;
  } catch {
    return all;
  }
}

function styleOf(el) {
  return el.ownerDocument.defaultView.getComputedStyle(el);
}

// visible: rendered, not hidden by a style, and of some size. What is transparent
// or out of the viewport is visible.
function visible(el) {
  if (!el.isConnected) return false;
  if (el.localName === "option" || el.localName === "optgroup") el = el.closest("select") || el;
  const style = styleOf(el);
  if (style.display === "contents") {
    return Array.from(el.childNodes).some((node) => {
      if (node.nodeType === Node.ELEMENT_NODE) return visible(node);
      if (node.nodeType !== Node.TEXT_NODE) return false;
      const range = el.ownerDocument.createRange();
      range.selectNode(node);
      const box = range.getBoundingClientRect();
      return box.width > 0 && box.height > 0;
    });
  }
  if (style.visibility !== "visible") return false;
  if (el.checkVisibility && !el.checkVisibility()) return false;
  const box = el.getBoundingClientRect();
  return box.width > 0 && box.height > 0;
}

// enabled: neither a disabled control (nor something inside of one), nor marked
// as disabled for assistive technology.
function enabled(el) {
  const control = el.closest("button, input, select, textarea, option, optgroup");
  if (control && control.matches(":disabled")) return false;
  return !el.closest('[aria-disabled="true"]');
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
function hit(doc, point) {
  let el = doc.elementFromPoint(point.x, point.y);
  while (el && el.shadowRoot) {
    const inner = el.shadowRoot.elementFromPoint(point.x, point.y);
    if (!inner || inner === el) break;
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

function clean(text) {
  return (text || "").replace(/\s+/g, " ").trim();
}

// frame waits for the next animation frame. A page that is not shown has none,
// hence the timer; on a busy machine one takes long, and what moves seems not
// to move until it comes.
function frame() {
  return new Promise((done) => {
    const timer = setTimeout(done, document.hidden ? 20 : 1000);
    requestAnimationFrame(() => {
      clearTimeout(timer);
      done();
    });
  });
}

// pauseAfter waits before the next look: a frame, and longer after a look that took
// long.
async function pauseAfter(cost) {
  await frame();
  if (cost > 5) await new Promise((done) => setTimeout(done, Math.min(4 * cost, 500)));
}
