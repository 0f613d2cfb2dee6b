// Masking secrets while a screenshot is taken: fields and texts that hold one are
// blurred by a style that is removed right after. The secrets are those that were
// typed into pages of this origin.
//
// args: { secrets, origin, frames, off }; result: how many places were masked.

const mark = "data-slipway-masked";

function mask(doc, secrets, frames) {
  let count = 0;
  const hide = (el) => {
    if (el.hasAttribute(mark)) return;
    el.setAttribute(mark, el.style.getPropertyValue("filter"));
    el.style.setProperty("filter", "blur(12px)", "important");
    count++;
  };
  const has = (text) => secrets.some((secret) => text.includes(secret));
  const walk = (root) => {
    const walker = doc.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (node.nodeType === Node.TEXT_NODE) {
        const around = node.parentElement;
        if (around && !/^(script|style)$/.test(around.localName) && has(node.data)) hide(around);
        continue;
      }
      if (typeof node.value === "string" && has(node.value)) hide(node);
      if (node.shadowRoot) walk(node.shadowRoot);
      if (/^i?frame$/.test(node.localName)) {
        let inner = null;
        try {
          inner = node.contentDocument;
        } catch { /* of another origin */ }
        if (inner && inner.documentElement) count += mask(inner, secrets, frames);
        else if (frames) hide(node);
      }
    }
  };
  walk(doc.documentElement);
  return count;
}

function unmask(doc) {
  const walk = (root) => {
    const walker = doc.createTreeWalker(root, NodeFilter.SHOW_ELEMENT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (node.hasAttribute(mark)) {
        const former = node.getAttribute(mark);
        node.removeAttribute(mark);
        if (former) node.style.setProperty("filter", former);
        else node.style.removeProperty("filter");
      }
      if (node.shadowRoot) walk(node.shadowRoot);
      if (/^i?frame$/.test(node.localName)) {
        let inner = null;
        try {
          inner = node.contentDocument;
        } catch { /* of another origin */ }
        if (inner && inner.documentElement) unmask(inner);
      }
    }
  };
  walk(doc.documentElement);
  return 0;
}

const args = arguments[0];
// The page may have become another one since the caller looked.
if (!args.off && location.protocol !== "file:" && location.origin !== args.origin) return -1;
return args.off ? unmask(document) : mask(document, args.secrets, args.frames);
