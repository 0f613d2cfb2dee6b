// Refs: names of elements that last as long as their document. Each document keeps
// its own, under a symbol that no listing of the window shows; a frame's begin with
// the number of the frame.

const refsKey = Symbol.for("slipway.refs");

// refsOf returns the refs of a window. Numbers begin at first, so that an element of a
// new page has not the ref of one of the page before.
function refsOf(view, first) {
  let store = view[refsKey];
  if (!store) {
    store = { next: first, numbers: new WeakMap(), elements: new Map() };
    Object.defineProperty(view, refsKey, { value: store, configurable: true });
  }
  return store;
}

// refIn returns the ref of an element.
function refIn(store, el, prefix) {
  let n = store.numbers.get(el);
  if (n === undefined) {
    n = store.next++;
    store.numbers.set(el, n);
    store.elements.set(n, new WeakRef(el));
    if (store.elements.size % 5000 === 0) {
      for (const [key, ref] of store.elements) if (!ref.deref()) store.elements.delete(key);
    }
  }
  return prefix + "e" + n;
}

// elementOf returns the element of a ref, null when it is not in its document any more.
function elementOf(ref) {
  let view = window;
  const parts = /^((?:f\d+)*)e(\d+)$/.exec(ref);
  if (!parts) return null;
  const at = (n) => {
    const store = view[refsKey], known = store && store.elements.get(Number(n));
    const el = known && known.deref();
    return el && dom.connected(el) ? el : null;
  };
  for (const [, n] of parts[1].matchAll(/f(\d+)/g)) {
    const frame = at(n);
    try {
      view = frame && frame.contentDocument && frame.contentWindow;
    } catch {
      return null;
    }
    if (!view) return null;
  }
  return at(parts[2]);
}
