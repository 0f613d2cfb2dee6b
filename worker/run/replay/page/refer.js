// Refer: how tests find the elements of refs again.
//
// arguments: refs; result: a list of { selector, place, frames, fingerprint } in their
// order, without a selector for an element that is gone. place does not use what the
// element itself says.

function refer(refs) {
  const finders = new Map();
  const finderOf = (doc) => {
    if (!finders.has(doc)) finders.set(doc, newFinder(doc));
    return finders.get(doc);
  };
  return refs.map((ref) => {
    const el = elementOf(String(ref));
    if (!el) return {};
    const frames = [];
    for (let view = dom.owner(el).defaultView; view !== window && view.frameElement; view = view.parent) {
      frames.unshift(frameSelector(view.frameElement, finderOf(dom.owner(view.frameElement))));
    }
    if (frames.includes(null)) return {};
    const got = selectorFor(el, finderOf(dom.owner(el)), false);
    if (!got) return {};
    const place = selectorFor(el, finderOf(dom.owner(el)), true);
    return { selector: got.selector, place: place && place.selector, frames, fingerprint: describe(got.found) };
  });
}

return refer(arguments[0]);
