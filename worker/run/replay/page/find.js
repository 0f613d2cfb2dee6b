// Find: the refs of what a selector finds now, each with those of the elements around it,
// from inside out: what a snapshot leaves out is shown there by the next one around it.
//
// arguments: { selector, frames, hosts, first }; result: a list of lists of refs.

function refsFound({ selector, frames, hosts, first }) {
  let doc = document, prefix = "";
  const one = (wanted, root) => evaluate(wanted, root, newLook(doc, false), false)[0];
  for (const frame of frames) {
    const el = one(frame, doc);
    if (!el || !el.contentDocument) return [];
    prefix += "f" + refIn(refsOf(doc.defaultView, first), el, "").slice(1);
    doc = el.contentDocument;
  }
  let root = doc;
  for (const host of hosts) {
    const el = one(host, root);
    if (!el || !dom.shadow(el)) return [];
    root = dom.shadow(el);
  }
  const store = refsOf(doc.defaultView, first);
  const found = evaluate(selector, root, newLook(doc, false), false);
  const lists = [];
  for (let i = 0; i < found.length && i < 20; i++) {
    const chain = [];
    for (let el = found[i]; el && chain.length < 30; el = parentOf(el)) chain.push(refIn(store, el, prefix));
    lists.push(chain);
  }
  return lists;
}

return refsFound(arguments[0]);
