// Coded: selectors by what the code calls an element, and by where it is.

const cssText = (value) => '"' + value.replace(/["\\]/g, "\\$&") + '"';

// codeNames are those by the names that a server or a script knows things by.
function codeNames(el) {
  const list = [], tag = CSS.escape(dom.tag(el));
  for (const name of ["name", "for", "part", "slot", "data-value", "data-id", "data-key", "data-name", "data-action", "data-date", "value"]) {
    const value = dom.attribute(el, name);
    if (!value || value.length > 80 || /[\n\r\f]/.test(value) || made(value) || value.includes("{{")) continue;
    if (name === "value" && !/^(checkbox|radio)$/.test(el.type)) continue;
    list.push({ type: "css", value: tag + "[" + name + "=" + cssText(value) + "]" });
  }
  if (tag === "input" && /^(password|email|file|date|time|color|range|tel|url|month|week|datetime-local)$/.test(el.type)) list.push({ type: "css", value: "input[type=" + el.type + "]" });
  return list;
}

// codeMarks are those by an attribute that makes an element react.
function codeMarks(el) {
  const list = [], tag = CSS.escape(dom.tag(el));
  for (const name of ["contenteditable", "draggable", "tabindex", "onclick"]) if (dom.has(el, name)) list.push({ type: "css", value: tag + "[" + name + "]" });
  if (/^(canvas|video|audio|svg)$/.test(tag)) list.push({ type: "css", value: tag });
  return list;
}

// codeIds are those by its id, its address and, of a drawing, its colour.
function codeIds(el) {
  const list = [], tag = CSS.escape(dom.tag(el)), id = dom.attribute(el, "id");
  if (id && !made(id)) list.push({ type: "css", value: "#" + CSS.escape(id) });
  for (const name of el.ownerSVGElement ? ["data-index", "fill", "points", "d", "r"] : ["href", "src", "data-index"]) {
    const value = dom.attribute(el, name);
    if (value && value.length <= 100 && !/[\n\r\f]/.test(value) && !value.includes("{{") && value !== "#" && !/\d{7,}/.test(value)) {
      list.push({ type: "css", value: tag + "[" + name + "=" + cssText(value) + "]" });
    }
  }
  return list;
}

// classesOf are selectors by one class.
function classesOf(el) {
  const list = [];
  for (const name of Array.from(el.classList || []).slice(0, 10)) {
    if (!made(name) && !/\d/.test(name) && !/^(css|sc|jss|svelte|astro)-|__[A-Za-z0-9]{5,}$/.test(name)) list.push({ type: "css", value: CSS.escape(dom.tag(el)) + "." + CSS.escape(name) });
  }
  return list;
}

// passing are selectors by texts that may not last, of elements that nothing else is
// known of.
function passing(el, finder) {
  const { look } = finder, list = [], role = unseen(el, look) ? "" : roleIn(el, look), name = nameOf(el, look);
  const usableText = (text) => text !== "" && text.length <= 100 && !text.includes("{{");
  if (role !== "" && !untold.has(role) && usableText(name)) list.push({ type: "role", value: role, name, exact: true });
  const text = /^(input|select|textarea|html|body)$/.test(tagOf(el)) ? "" : collapsed(textOf(el, look));
  if (usableText(text)) list.push({ type: "text", value: text, exact: true });
  return list;
}

// placed returns a selector by the position of an element in what is around it: the
// third cell of the row of the lamp.
function placed(el, bare, finder, only) {
  const list = [];
  for (const selector of bare) {
    for (let node = parentOf(el), depth = 0; node && depth < 6; node = parentOf(node), depth++) {
      const anchors = anchorsOf(node, el, finder);
      for (const anchor of anchors) {
        if (foundBy(anchor, finder) !== node) continue;
        const { bare: dropped, ...plain } = selector;
        let all = [];
        try {
          all = evaluate({ ...plain, within: anchor }, finder.doc, finder.look, true);
        } catch { /* it finds nothing */ }
        const index = all.indexOf(el);
        if (index >= 0) list.push({ ...plain, within: anchor, index });
        break;
      }
      if (list.length > 0) break;
    }
  }
  for (const selector of list) {
    const got = only(selector);
    if (got) return got;
  }
  return null;
}

// byPlace returns a selector by the path to an element, as the last one that there is. It
// counts from both ends: where one is missing nobody knows which the others are.
function byPlace(el, finder) {
  const selector = path(el, finder.doc, finder.look, (candidate, wanted) => {
    try {
      const found = evaluate(candidate, finder.doc, finder.look, true);
      return found.length === 1 && found[0] === wanted;
    } catch {
      return false;
    }
  });
  if (selector && selector.index === undefined && !/#[^ ]*$|\]$/.test(selector.value)) {
    let place = 1;
    for (let other = after(el); other; other = after(other)) if (dom.tag(other) === dom.tag(el)) place++;
    selector.value += ":nth-last-of-type(" + place + ")";
  }
  return selector && { selector, found: el };
}

// frameSelector returns the selector of a frame in its document.
function frameSelector(el, finder) {
  const list = [];
  for (const name of ["name", "title", "id", "src"]) {
    const value = dom.attribute(el, name);
    if (!value || value.length > 150 || /[\n\r\f]/.test(value) || made(value) || value.includes("{{")) continue;
    list.push({ type: "css", value: dom.tag(el) + "[" + name + "=" + cssText(value) + "]" });
  }
  list.push({ type: "css", value: dom.tag(el) });
  finder.tries = 0;
  for (const selector of list) if (foundBy(selector, finder) === el) return selector;
  const last = byPlace(el, finder);
  return last && last.selector;
}
