// Fingerprints: what identifies an element, and a selector that finds just it.

const kept = ["id", "name", "type", "href", "alt", "title", "for", "action", "autocomplete", "data-id", "class"];

// ownText is the text of an element that is no container of much else.
function ownText(el) {
  if (el.matches("input, textarea, select, html, body, form, table, main")) return "";
  const text = clean(el.innerText === undefined ? el.textContent : el.innerText);
  return text.length <= 200 ? text : "";
}

const testIdOf = (el) => el.getAttribute(testIds.find((name) => el.getAttribute(name))) || "";

// describe returns the fingerprint of an element, with what is around it. Values are
// never part of it.
function describe(el, around = true) {
  const fingerprint = { tag: el.localName, role: roleOf(el), name: callOf(el).slice(0, 200), text: ownText(el) };
  const testId = testIdOf(el);
  if (testId) fingerprint.testId = testId.slice(0, 200);
  const label = labelOf(el);
  if (label) fingerprint.label = label;
  fingerprint.placeholder = clean(el.getAttribute("placeholder")).slice(0, 200);
  fingerprint.attributes = {};
  for (const name of kept) {
    const value = clean(el.getAttribute(name)).slice(0, 200);
    if (value) fingerprint.attributes[name] = value;
  }
  fingerprint.shadowPath = [];
  for (let root = el.getRootNode(); root.host; root = root.host.getRootNode()) {
    fingerprint.shadowPath.unshift(unique(root.host));
  }
  fingerprint.framePath = framesAround(el);
  const title = titleOf(el);
  if (title && title !== fingerprint.name) fingerprint[fingerprint.name ? "name" : "text"] = title;
  const surroundings = around && surroundingsOf(el, title);
  if (surroundings) fingerprint.surroundings = surroundings;
  return fingerprint;
}

// framesAround returns the selectors of the frames around an element, from outside
// in, as far as they are of the same origin.
function framesAround(el) {
  const path = [];
  try {
    for (let view = el.ownerDocument.defaultView; view.frameElement; view = view.parent) {
      path.unshift(unique(view.frameElement));
    }
  } catch { /* a frame of another origin hides what is around it */ }
  return path;
}

// made reports whether an id looks like one that a program generated: it will not
// last.
function made(id) {
  return /\d{3,}|^[:\d]|[a-f0-9]{8,}|^(ember|radix|react|mui|headlessui|ext)-?/i.test(id) || id.length > 60;
}

// unique returns a CSS selector that finds just this element in its root.
function unique(el) {
  const root = el.getRootNode();
  const only = (selector) => {
    try {
      const all = root.querySelectorAll(selector);
      return all.length === 1 && all[0] === el;
    } catch {
      return false;
    }
  };
  const quoted = (name) => "[" + name + "=" + JSON.stringify(el.getAttribute(name)) + "]";
  for (const name of testIds) {
    const value = el.getAttribute(name);
    if (value && value.length <= 200 && only(quoted(name))) return quoted(name);
  }
  if (el.id && !made(el.id) && only("#" + CSS.escape(el.id))) return "#" + CSS.escape(el.id);
  for (const name of ["name", "aria-label", "placeholder", "href", "type", "title"]) {
    const value = el.getAttribute(name);
    if (value && value.length <= 100 && !/["\\\n]/.test(value) && only(el.localName + quoted(name))) {
      return el.localName + quoted(name);
    }
  }
  if (only(el.localName)) return el.localName;
  return pathIn(el);
}

// pathIn is the shortest path that finds just an element in its document or shadow
// root, from an id where there is one.
function pathIn(el) {
  const root = dom.root(el);
  let css = "";
  for (let node = el; node && dom.kind(node) === 1; node = dom.parent(node)) {
    const id = dom.attribute(node, "id"), byId = "#" + CSS.escape(id || "");
    let part = CSS.escape(dom.tag(node));
    if (id && !made(id) && dom.all(root, byId).length === 1) {
      part = byId;
    } else {
      let place = 1, alone = true;
      for (let other = before(node, null); other; other = before(other, null)) if (dom.tag(other) === dom.tag(node)) place++;
      for (let other = after(node); other && alone; other = after(other)) alone = dom.tag(other) !== dom.tag(node);
      if (place > 1 || !alone) part += ":nth-of-type(" + place + ")";
    }
    css = css ? part + " > " + css : part;
    const found = dom.all(root, css);
    if (found.length === 1 && found[0] === el) break;
  }
  return css;
}
