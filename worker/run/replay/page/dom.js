// The document as the browser made it. Pages replace methods of the browser (old
// libraries, polyfills), and a form has a property for each control in it, whatever
// the control is called: so the selectors call nothing on a node itself, and no
// method of Array that pages are known to replace. Where a page replaced one of the
// methods below, an empty frame lends its own.

const dom = (() => {
  const source = Function.prototype.toString;
  let lender = null, world = window;
  const genuine = (made, name) => {
    try {
      return Reflect.apply(source, made, []) === "function " + name + "() { [native code] }";
    } catch {
      return false;
    }
  };
  const property = (from, type, name, kind) => (Object.getOwnPropertyDescriptor(from[type].prototype, name) || {})[kind];
  const take = (type, name, kind) => {
    const spelled = kind === "get" ? "get " + name : name;
    const found = property(world, type, name, kind);
    if (genuine(found, spelled)) return found;
    if (!lender) {
      lender = Reflect.apply(Document.prototype.createElement, document, ["iframe"]);
      lender.style.display = "none";
      const top = Reflect.get(Document.prototype, "documentElement", document);
      Reflect.apply(Node.prototype.appendChild, top, [lender]);
    }
    return property(lender.contentWindow, type, name, kind) || found;
  };
  const method = (type, name) => {
    const made = take(type, name, "value");
    return (node, ...args) => Reflect.apply(made, node, args);
  };
  const getter = (type, name) => {
    const made = take(type, name, "get");
    return (node) => Reflect.apply(made, node, []);
  };
  try {
    const inDocument = method("Document", "querySelectorAll"), inFragment = method("DocumentFragment", "querySelectorAll");
    const inElement = method("Element", "querySelectorAll"), kind = getter("Node", "nodeType");
    const idInDocument = method("Document", "getElementById"), idInFragment = method("DocumentFragment", "getElementById");
    const evaluate = method("Document", "evaluate"), owner = getter("Node", "ownerDocument");
    const slotOfElement = getter("Element", "assignedSlot"), slotOfText = getter("Text", "assignedSlot");
    return {
      kind, owner, top: getter("Document", "documentElement"),
      all(root, css) {
        const type = kind(root);
        return type === 1 ? inElement(root, css) : type === 9 ? inDocument(root, css) : inFragment(root, css);
      },
      byId: (root, id) => (kind(root) === 9 ? idInDocument(root, id) : kind(root) === 11 ? idInFragment(root, id) : null),
      evaluate: (value, root) => evaluate(owner(root) || root, value, root, null, 7 /* an ordered snapshot */, null),
      style: (el, pseudo) => owner(el).defaultView.getComputedStyle(el, pseudo),
      matches: method("Element", "matches"), rendered: method("Element", "checkVisibility"), closest: method("Element", "closest"),
      attribute: method("Element", "getAttribute"), has: method("Element", "hasAttribute"),
      tag: getter("Element", "localName"), shadow: getter("Element", "shadowRoot"), host: getter("ShadowRoot", "host"),
      slot: (node) => (kind(node) === 1 ? slotOfElement(node) : kind(node) === 3 ? slotOfText(node) : null),
      assigned: method("HTMLSlotElement", "assignedNodes"),
      parent: getter("Node", "parentNode"), first: getter("Node", "firstChild"), last: getter("Node", "lastChild"),
      next: getter("Node", "nextSibling"), previous: getter("Node", "previousSibling"),
      connected: getter("Node", "isConnected"), box: method("Element", "getBoundingClientRect"),
      text: getter("Node", "textContent"), root: method("Node", "getRootNode"), contains: method("Node", "contains"),
    };
  } finally {
    if (lender) lender.remove();
  }
})();
