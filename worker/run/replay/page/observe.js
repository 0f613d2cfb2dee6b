// Observing for assertions: return what is to be compared, immediately if it differs
// from what the caller saw last, else when it changes or the wait is over.
//
// query: { want, hosts, selector, first, name, last, wait, max }
// result: { href, seen, as, count, several, invalid }: seen is null when nothing was
// found, as is its text, several is set when the selector finds several elements and
// does not say which, and invalid is why it never works.

function shown(el) {
  const text = el.innerText === undefined ? el.textContent : el.innerText;
  return clean((text || "").slice(0, 4 * 65536));
}

function valueOf(el) {
  if (typeof el.value === "string") return el.value;
  if (typeof el.value === "number") return String(el.value);
  if (el.isContentEditable) return shown(el);
  return el.getAttribute("value");
}

function checkedOf(el) {
  if (el.localName === "label" && el.control) el = el.control;
  if (typeof el.checked === "boolean") return el.checked;
  if (el.localName === "option") return el.selected;
  return /^(true|mixed)$/.test(el.getAttribute("aria-checked") || el.getAttribute("aria-pressed") || "");
}

// focused says whether keys go to the element: a frame keeps its active element when the
// focus leaves the frame.
function focused(el) {
  if (el.localName === "label" && el.control) el = el.control;
  if (dom.root(el).activeElement !== el) return false;
  for (let view = dom.owner(el).defaultView; view !== view.parent; view = view.parent) {
    let frame = null;
    try {
      frame = view.frameElement;
    } catch {
      // The page around is of another origin, and is not told.
    }
    if (!frame) return dom.owner(el).hasFocus();
    if (frame.getRootNode().activeElement !== frame) return false;
  }
  return true;
}

function look(query) {
  if (query.want === "url") return { text: location.href };
  if (query.want === "title") return { text: clean(document.title) };
  const all = find(query, query.want === "count");
  query.count = all.length;
  if (query.want === "count") return { count: all.length };
  const el = all[0];
  if (!el) return null;
  switch (query.want) {
    case "visible": return { is: visible(el) };
    case "text": return { text: shown(el) };
    case "value": return { text: valueOf(el), secret: el.localName === "input" && el.type === "password" };
    case "enabled": return { is: enabled(el) };
    case "checked": return { is: checkedOf(el) };
    case "focused": return { is: focused(el) };
    case "attribute": return { text: dom.attribute(el, query.name) };
  }
  throw new Error("no such matcher");
}

async function observe(query) {
  const start = performance.now();
  for (;;) {
    const before = performance.now();
    const result = { href: location.href, seen: null };
    try {
      result.seen = look(query);
    } catch (e) {
      if (!(e instanceof Several)) {
        result.invalid = String(e.message).slice(0, 8192);
        return result;
      }
      result.several = e.found;
    }
    result.count = query.count;
    if (result.seen && typeof result.seen.text === "string") result.seen.text = result.seen.text.slice(0, query.max);
    result.as = JSON.stringify(result.several || result.seen);
    if (result.as !== query.last || performance.now() - start >= query.wait) return result;
    await pauseAfter(performance.now() - before);
  }
}

return observe(arguments[0]);
