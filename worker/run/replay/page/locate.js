// locate returns the selector that finds just this element in its document and lasts
// longest: what people know it by, within what people know that by, before any
// path. Members: type, value, name, exact, within, index. It is null for an element
// that no selector reaches (in a closed shadow root).

// What an element can be within: people find it there by a name or a text.
const anchorRoles = wordSet(`alertdialog article cell dialog form gridcell group listitem menu navigation region row
  search tabpanel toolbar treeitem`);

function locate(el) {
  const top = el.ownerDocument, look = newLook(top, false);
  const finds = (selector, wanted) => {
    try {
      const found = evaluate(selector, top, look, true);
      return found.length === 1 && found[0] === wanted;
    } catch {
      return false;
    }
  };
  const own = ownSelectors(el, look);
  for (const selector of own) if (!selector.bare && finds(selector, el)) return selector;
  let steps = 0;
  for (let node = parentOf(el); node && steps < 40; node = parentOf(node)) {
    for (const anchor of anchorSelectors(node, el, look)) {
      if (++steps > 40 || !finds(anchor, node)) continue;
      for (const { bare, ...selector } of own) {
        const inside = { ...selector, within: anchor };
        if (finds(inside, el)) return inside;
      }
      break; // another one for the same anchor finds no more
    }
  }
  return path(el, top, look, finds);
}

// ownSelectors are those by what an element itself has, the most lasting first; bare
// ones say too little to be used without an anchor.
function ownSelectors(el, look) {
  const list = idSelectors(el);
  const role = roleOf(el), name = nameOf(el, look);
  const usable = (text) => text !== "" && text.length <= 100;
  const named = role !== "" && !unnamed.has(role) && role !== "none" && role !== "document";
  if (named && usable(name)) list.push({ type: "role", value: role, name, exact: true });
  if (dom.matches(el, labelled)) {
    for (const text of labelsOf(el, look)) if (usable(collapsed(text))) list.push({ type: "label", value: collapsed(text), exact: true });
  }
  for (const [type, attribute] of [["placeholder", "placeholder"], ["altText", "alt"], ["title", "title"]]) {
    const value = collapsed(dom.attribute(el, attribute));
    if (usable(value)) list.push({ type, value, exact: true });
  }
  list.push(...cssSelectors(el));
  const text = /^(input|select|textarea|html|body)$/.test(dom.tag(el)) ? "" : collapsed(textOf(el, look));
  if (usable(text)) list.push({ type: "text", value: text, exact: true });
  if (named) list.push({ type: "role", value: role, bare: true });
  return list;
}

function idSelectors(el) {
  for (const name of testIds) {
    const value = dom.attribute(el, name);
    if (value && value.length <= 200) return [{ type: "testId", value }];
  }
  return [];
}

function cssSelectors(el) {
  const list = [], id = dom.attribute(el, "id");
  if (id && !made(id)) list.push({ type: "css", value: "#" + CSS.escape(id) });
  for (const name of ["name", "href"]) {
    const value = dom.attribute(el, name);
    if (!value || value.length > 100 || /[\n\r\f]/.test(value) || (name === "name" && made(value))) continue;
    list.push({ type: "css", value: dom.tag(el) + "[" + name + '="' + value.replace(/["\\]/g, "\\$&") + '"]' });
  }
  return list;
}

// anchorSelectors are those of an element around another one: by its name, or by
// a text in it that is not the other one's.
function anchorSelectors(node, el, look) {
  const list = idSelectors(node), role = roleOf(node);
  const css = cssSelectors(node);
  if (anchorRoles.has(role)) {
    const name = nameOf(node, look);
    // The name of a row is all that is in it.
    if (name !== "" && name.length <= 60 && !/^(row|cell|gridcell|treeitem)$/.test(role)) list.push({ type: "role", value: role, name, exact: true });
    for (const text of textsBeside(node, el, look)) list.push({ type: "role", value: role, hasText: text });
  }
  for (const selector of css) list.push(selector);
  return list;
}

// textsBeside returns short texts in an element that are not in another one, those of
// headings first.
function textsBeside(node, el, look) {
  const seen = new Set();
  for (const css of ["h1, h2, h3, h4, h5, h6, [role=heading], legend, th", "*"]) {
    const all = dom.all(node, css);
    for (let i = 0; i < all.length && i < 200 && seen.size < 6; i++) {
      const other = all[i];
      if (dom.contains(other, el) || dom.contains(el, other) || dom.all(other, "*").length > 2) continue;
      const text = collapsed(textOf(other, look));
      if (text.length > 1 && text.length <= 60) seen.add(text);
    }
  }
  return [...seen];
}

// path is the selector by where an element is.
function path(el, top, look, finds) {
  let value = pathIn(el);
  for (let root = dom.root(el); dom.kind(root) === 11; root = dom.root(dom.host(root))) value = pathIn(dom.host(root)) + " " + value;
  const selector = { type: "css", value };
  if (finds(selector, el)) return selector;
  const all = evaluate(selector, top, look, true);
  for (let i = 0; i < all.length; i++) if (all[i] === el) return { ...selector, index: i };
  return null;
}
