// Selectors: what they find, in open shadow roots too. All page scripts begin with
// this file; none of them leaves anything behind in the page.

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

function clean(text) {
  return (text || "").replace(/\s+/g, " ").trim();
}
