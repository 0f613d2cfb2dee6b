// Candidates: what healing and the search for what is nearest both ask of an element.

// fits reports whether the action can be done to such an element at all.
function fits(el, want) {
  switch (want) {
    case "fill": return el.isContentEditable || (el.matches("input, textarea") &&
      (el.localName === "textarea" || texts.includes(el.type) || setters.includes(el.type)));
    case "select": return el.localName === "select";
    case "file": return el.localName === "input" && el.type === "file";
    default: return true;
  }
}

// compared returns for people which members of the fingerprint are the same, and their
// part of all that it has.
function compared(was, is) {
  const a = was.attributes || {}, b = is.attributes || {};
  const pairs = { "test id": [was.testId, is.testId], "accessible name": [spoken(was.name), spoken(is.name)],
    label: [spoken(was.label), spoken(is.label)], text: [spoken(was.text), spoken(is.text)], role: [was.role, is.role], tag: [was.tag, is.tag],
    id: [a.id, b.id], "name attribute": [a.name, b.name], address: [a.href, b.href], type: [a.type, b.type], class: [a.class, b.class] };
  const same = [], other = [];
  for (const [name, [x, y]] of Object.entries(pairs)) if (x) (x === y ? same : other).push(name);
  if (was.surroundings && compareRows(was.surroundings, is.surroundings) === "same") same.push("row");
  return { score: same.length / Math.max(1, same.length + other.length),
    reason: "same " + same.join(", ") + (other.length ? "; other " + other.join(", ") : "") };
}

// scopesOf returns the elements that the step's selector is to be within; null when it
// names none, or the page has no such element.
function scopesOf(query) {
  if (!query.selector.within) return null;
  try {
    const found = find({ ...query, selector: query.selector.within }, true);
    return found.length ? found : null;
  } catch {
    return null;
  }
}

// elsewhere reports whether an element is in another frame than the recorded one: what
// is searched is the frame that was recorded, or the page when that one is gone.
function elsewhere(was, el) {
  if (el.ownerDocument === document) return false;
  let doc = el.ownerDocument;
  while (doc !== document && doc.defaultView && doc.defaultView.frameElement) doc = doc.defaultView.frameElement.ownerDocument;
  if (doc !== document) return true;
  const before = was.framePath || [], path = framesAround(el);
  return before.length > 0 && !before.every((part, i) => part === path[i]);
}
