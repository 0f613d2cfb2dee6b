// Openers: the control that shows what is hidden now. An element names what it opens
// (aria-controls, a link to its id), is what a style sheet shows it for while the pointer is over it,
// or stands right before it or around it.

// openersIn returns the elements of a document that name others, by their ids.
function openersIn(doc) {
  const found = new Map();
  const all = dom.all(doc, "[aria-controls], [aria-owns], a[href^='#'], [data-target], [data-bs-target]");
  for (let i = 0; i < all.length && i < 2000; i++) {
    const el = all[i];
    if (!dom.rendered(el)) continue;
    const ids = ["aria-controls", "aria-owns"].map((name) => dom.attribute(el, name) || "").join(" ").split(/\s+/);
    for (const name of ["href", "data-target", "data-bs-target"]) {
      const value = dom.attribute(el, name) || "";
      if (value.startsWith("#")) ids.push(value.slice(1));
    }
    for (const id of ids) if (id && !found.has(id)) found.set(id, el);
  }
  return found;
}

const ruleBounds = { rules: 5000, found: 200, depth: 3, levels: 6 };

// pointersIn returns the rules of the style sheets of a document that show something while the
// pointer is over what is around it, as selectors of both.
function pointersIn(doc) {
  const found = [];
  const state = /:(hover|focus-within)/g;
  const read = (rules, depth) => {
    for (let i = 0; i < rules.length && i < ruleBounds.rules && found.length < ruleBounds.found; i++) {
      const { selectorText: text, style, cssRules: inner } = rules[i];
      if (inner && inner.length > 0 && depth < ruleBounds.depth) read(inner, depth + 1);
      const shows = style && (style.visibility === "visible" || style.display && style.display !== "none");
      if (!text || !text.includes(":hover") || !shows) continue;
      for (const part of text.split(",")) {
        const end = part.indexOf(":hover") < 0 ? -1 : part.indexOf(":hover") + part.slice(part.indexOf(":hover")).search(/[\s>]/);
        if (end > part.indexOf(":hover")) found.push({ shown: part.replace(state, ""), pointed: part.slice(0, end).replace(state, "") });
      }
    }
  };
  for (const sheet of Array.from(doc.styleSheets || [])) {
    try {
      read(sheet.cssRules, 0);
    } catch { /* the sheet of another site */ }
  }
  return found;
}

// pointedFor returns what the pointer has to be over for a hidden element, by the style sheets.
function pointedFor(el, survey) {
  const doc = dom.owner(el);
  if (!survey.pointers.has(doc)) survey.pointers.set(doc, pointersIn(doc));
  for (const rule of survey.pointers.get(doc)) {
    try {
      for (let node = el, i = 0; node && i < ruleBounds.levels; node = parentOf(node), i++) {
        if (!dom.matches(node, rule.shown)) continue;
        let around = parentOf(node);
        while (around && !dom.matches(around, rule.pointed)) around = parentOf(around);
        if (!around || !dom.rendered(around)) continue;
        survey.pointed.add(around);
        return around;
      }
    } catch { /* a selector that is none without the pointer */ }
  }
  return null;
}

// openerOf returns what opens a hidden element; null when that is not known.
function openerOf(el, survey) {
  const id = dom.attribute(el, "id"), known = survey.openers.get(dom.owner(el));
  const byId = id && known && known.get(id);
  if (byId && byId !== el) return byId;
  const role = roleIn(el, survey.look);
  if (/^(tabpanel|menu|listbox|group|region)$/.test(role)) {
    const label = referred(el, "aria-labelledby")[0];
    if (label && dom.rendered(label)) return label;
  }
  const pointed = pointedFor(el, survey);
  if (pointed) return pointed;
  const sign = signBefore(el, survey);
  if (sign) return sign;
  const before = beforeHidden(el, survey);
  if (before) return before;
  if (/^(ul|ol|menu)$/.test(tagOf(el)) || /^(menu|listbox|group|list|tree)$/.test(role) || dom.all(el, "a, button, li").length > 0) {
    for (let node = parentOf(el), i = 0; node && i < 3; node = parentOf(node), i++) {
      if (/^(menuitem|treeitem|listitem)$/.test(roleIn(node, survey.look)) || tagOf(node) === "li") return dom.rendered(node) ? openingPart(node, el, survey) : null;
      if (tagOf(node) === "body") break;
    }
  }
  return entryAround(el, survey);
}

// entryAround returns the entry of a list, table or set of cards whose pointing at it may
// show a hidden control: its tools.
function entryAround(el, survey) {
  const tools = "button, a[href], input, [role=button], [tabindex]";
  if (!dom.matches(el, tools) && dom.all(el, tools).length === 0) return null;
  for (let node = parentOf(el), i = 0; node && i < 6 && tagOf(node) !== "body"; node = parentOf(node), i++) {
    if (!dom.rendered(node)) continue;
    if (/^(row|listitem|treeitem|article|option)$/.test(roleIn(node, survey.look))) return node;
    const alike = [before(node, null), after(node)].some((other) => other && dom.tag(other) === dom.tag(node) && kindOfPanel(node) !== "" && kindOfPanel(other) === kindOfPanel(node));
    if (alike) return node;
  }
  return null;
}

const openingSign = /^[[(]?[+＋▸►▶❯›⊞][\])]?$/;
const signClass = /(^|[\s_-])(expander|toggle|toggler|arrow|caret|chevron|hitarea|switcher|twisty|disclosure)([\s_-]|$)/i;

// signBefore returns the small sign before a hidden element that opens it: a + or an
// arrow. The name beside it may do something else.
function signBefore(el, survey) {
  let node = before(el, null);
  for (let i = 0; node && i < 5; i++, node = before(node, null)) {
    if (!dom.rendered(node)) continue;
    const text = clean(dom.text(node));
    if (!openingSign.test(text) && !(text === "" && signClass.test(dom.attribute(node, "class") || ""))) continue;
    return reactingIn(node, survey);
  }
  return null;
}

const kindOfPanel = (el) => (dom.attribute(el, "class") || "").trim().split(/\s+/)[0];

// beforeHidden returns the element right before a hidden one that reacts, or has one
// inside that does: the title of a section. Another one between them may be hidden too.
function beforeHidden(el, survey) {
  let node = before(el, null);
  for (let i = 0; node && i < 5 && styleIn(node, survey.look).display === "none"; i++) node = before(node, null);
  if (!node || !dom.rendered(node)) return null;
  // Another panel of the same kind is no title: what is in it does something else.
  if (dom.tag(node) === dom.tag(el) && kindOfPanel(node) !== "" && kindOfPanel(node) === kindOfPanel(el)) return null;
  return reactingIn(node, survey);
}

// reactingIn returns an element that reacts: a given one, or the only one in it.
function reactingIn(node, survey) {
  const usableOne = (el) => {
    const known = survey.reactions.get(dom.owner(el));
    if (!known) return false;
    if (interactiveRoles.has(roleIn(el, survey.look)) || tagOf(el) === "summary") return tagOf(el) !== "input";
    const found = reactionsOf(el, styleIn(el, survey.look), "", known);
    return found.has("cursor") || found.has("listener") || found.has("hover");
  };
  if (usableOne(node)) return node;
  const inside = dom.all(node, "*");
  if (inside.length > 20) return null;
  const all = only(inside, (el) => dom.rendered(el) && usableOne(el));
  return all.length > 0 && all.every((el) => dom.contains(all[0], el)) ? all[0] : null;
}

// openingPart is what of an entry opens the list inside of it.
function openingPart(node, list, survey) {
  for (let child = dom.first(node); child; child = dom.next(child)) {
    if (dom.kind(child) !== 1) continue;
    if (dom.contains(child, list)) break;
    const found = dom.rendered(child) ? reactingIn(child, survey) : null;
    if (found) return found;
  }
  return node;
}
