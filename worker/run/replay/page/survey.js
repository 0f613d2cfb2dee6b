// Survey: which elements and texts of a page are nodes of its snapshot. It walks
// through the document as it is shown, with open shadow roots and frames of the same
// origin, and returns a tree of items { el, text, kids, ... }. An element is an item when it
// has a role that says something, reacts, scrolls, or holds several items together; other
// containers are left out. What an item is called and holds is looked at later
// (nodes.js), and only for those that remain.

const surveyBounds = { elements: 60000, depth: 400, time: 3000, hidden: 400 };

// Roles that make an element an item by themselves.
const itemRoles = wordSet(`alert alertdialog application article banner complementary contentinfo dialog feed figure form grid group
  heading img list listitem log main menu menubar meter navigation note progressbar radiogroup region row rowgroup search status table
  tablist tabpanel timer toolbar tooltip tree treegrid cell columnheader rowheader listbox option treeitem`);
const neverShown = /^(script|style|template|noscript|head|link|meta|title|base|source|track|param|datalist)$/;

// newSurvey returns what a survey knows. refs: { first, next }; listeners: the
// function of DevTools, or null.
function newSurvey(listeners, first) {
  return { listeners, first, next: first, began: performance.now(), elements: 0, hidden: 0, truncated: false, reactions: new Map(),
    openers: new Map(), pointers: new Map(), pointed: new Set(), look: newLook(document, false), all: [] };
}

function late(survey) {
  if (survey.elements < surveyBounds.elements && (survey.elements % 64 || performance.now() - survey.began < surveyBounds.time)) return false;
  survey.truncated = true;
  return true;
}

// surveyPage returns the items of the page.
function surveyPage(survey) {
  const view = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
  return surveyDocument(document, survey, { x: 0, y: 0, clip: view, frame: [], prefix: "", depth: 0 });
}

function surveyDocument(doc, survey, at) {
  const known = reactionsIn(doc, survey.listeners);
  survey.reactions.set(doc, known);
  survey.openers.set(doc, openersIn(doc));
  const store = refsOf(doc.defaultView, survey.first);
  const body = dom.top(doc);
  if (!body) return [];
  const place = { ...at, store, shadow: [], struck: false, cursor: "", hidden: false, opener: null, view: at.clip };
  const items = surveyElement(body, survey, place);
  survey.next = Math.max(survey.next, store.next);
  return items;
}

// surveyElement returns the items of an element: itself with those in it, or those.
function surveyElement(el, survey, place) {
  const tag = tagOf(el);
  if (neverShown.test(tag) || place.depth > surveyBounds.depth || late(survey)) return [];
  survey.elements++;
  const style = styleIn(el, survey.look);
  let { hidden, opener } = place;
  if (!hidden && style.display === "none") {
    // Pages hide the field for files behind a button of their own, and a list behind what they draw in
    // its place; a test uses the field.
    opener = openerOf(el, survey) || (tag === "input" && el.type === "file" ? parentOf(el) : null) || (tag === "select" ? after(el) : null);
    if (!opener) return [];
    hidden = true;
  }
  if (hidden && survey.hidden >= surveyBounds.hidden) return [];
  const box = boxIn(el, place);
  let clip = place.clip;
  if (style.position === "fixed") clip = place.view;
  let unshown = hidden || style.visibility !== "visible";
  if (!hidden && style.visibility !== "visible" && !opener) opener = openerOf(el, survey);
  if (!unshown && clip.closed && style.position !== "fixed") {
    unshown = true;
    opener = opener || clip.opener;
  }
  const reacts = unshown && !opener ? new Set() : reactionsOf(el, style, place.cursor, survey.reactions.get(dom.owner(el)));
  const inner = { ...place, hidden, opener, clip: clipOf(el, tag, style, box, clip, survey), cursor: style.cursor, depth: place.depth + 1, struck: place.struck || String(style.textDecorationLine || "").includes("line-through") };
  if (style.position === "fixed") inner.view = place.view;
  const kids = surveyInside(el, tag, survey, inner);
  if (survey.pointed.has(el)) reacts.add("hover");
  if (unshown && !opener) return kids;
  const item = itemOf(el, tag, style, reacts, kids, survey);
  if (!item) return kids;
  Object.assign(item, { el, tag, style, reacts, kids, box, place, clip, hidden: unshown, opener: unshown ? opener : null });
  if (!unshown && !item.shown && (box.right - box.left <= 0 || box.bottom - box.top <= 0) && style.display !== "contents" && tag !== "area") {
    if (kids.length === 0) return [];
  }
  if (unshown) survey.hidden++;
  return [item];
}

// itemOf returns an item for an element that is one, else null.
function itemOf(el, tag, style, reacts, kids, survey) {
  if (tag === "html" || tag === "body") return null;
  const role = roleIn(el, survey.look);
  const item = { role, control: interactiveRoles.has(role) || /^(a|button|input|select|textarea|summary|option)$/.test(tag) && (tag !== "a" || dom.has(el, "href")) };
  if (tag === "input" && el.type === "hidden") return null;
  if (item.control || usable(reacts) || reacts.has("hover") || reacts.has("drop")) return item;
  if (role === "img" && tag === "svg" && !nameOf(el, survey.look)) {
    item.graphic = !shapely(kids);
    return item;
  }
  if (itemRoles.has(role) && !(role === "rowgroup")) return item;
  if (/^(form|fieldset|iframe|frame|canvas|video|audio|details|legend|label|output|figcaption|img)$/.test(tag)) return tag === "label" || tag === "legend" || tag === "figcaption" ? (kids.length > 1 ? item : null) : item;
  if (shapeOf(el, tag)) return item;
  if (testIds.some((name) => dom.has(el, name))) return item;
  if (kids.length === 0 && graphic(el, tag, style)) {
    item.graphic = true;
    return item;
  }
  item.scrolls = scrollsOf(el, style);
  if (item.scrolls) return item;
  return kids.length > 1 ? item : null;
}

// graphic reports whether an element shows something that is no text: an icon, a handle.
function graphic(el, tag, style) {
  if (!/^(i|span|div|b|em|a|p|li|td)$/.test(tag) || clean(dom.text(el)) !== "") return false;
  const box = dom.box(el);
  if (box.width < 5 || box.height < 5 || box.width > 600 || box.height > 600) return false;
  if (style.backgroundImage !== "none" || style.maskImage !== "none" || colourOf(style.backgroundColor) !== "") return true;
  if (parseFloat(style.borderTopWidth) > 0 && parseFloat(style.borderLeftWidth) > 0) return true;
  return ["::before", "::after"].some((where) => {
    const content = dom.style(el, where).content;
    return content !== "none" && content !== "normal" && content !== '""';
  });
}

const shapely = (kids) => kids.some((kid) => kid.el && (shapeOf(kid.el, kid.tag) || shapely(kid.kids)));

// shapeOf is what an element of a drawing is: "" for other elements.
function shapeOf(el, tag) {
  if (!el.ownerSVGElement || !/^(circle|ellipse|rect|polygon|polyline|line|path|image)$/.test(tag)) return "";
  const box = dom.box(el.ownerSVGElement);
  if (box.width < 48 || box.height < 48) return "";
  if (tag === "rect") {
    const own = dom.box(el);
    return Math.abs(own.width - own.height) <= Math.max(own.width, own.height) / 25 ? "square" : "rectangle";
  }
  if (tag !== "polygon") return tag;
  const corners = el.points ? el.points.numberOfItems : 0;
  return { 3: "triangle", 4: "rectangle", 5: "pentagon", 6: "hexagon", 8: "octagon", 10: "star" }[corners] || "polygon";
}

// scrollsOf is in which directions an element shows only a part of what it has.
function scrollsOf(el, style) {
  let found = "";
  if (/auto|scroll/.test(style.overflowX) && el.scrollWidth > el.clientWidth + 1 && el.clientWidth > 0) found += "x";
  if (/auto|scroll/.test(style.overflowY) && el.scrollHeight > el.clientHeight + 1 && el.clientHeight > 0) found += "y";
  return found;
}

function boxIn(el, place) {
  const box = dom.box(el);
  return { left: box.left + place.x, top: box.top + place.y, right: box.right + place.x, bottom: box.bottom + place.y };
}

function cut(a, b) {
  return { left: Math.max(a.left, b.left), top: Math.max(a.top, b.top), right: Math.min(a.right, b.right), bottom: Math.min(a.bottom, b.bottom) };
}

// clipOf is what can be seen of what is in an element. A container of no height that
// does not show what overflows is closed.
function clipOf(el, tag, style, box, clip, survey) {
  if (tag === "html" || tag === "body" || !/auto|scroll|hidden|clip/.test(style.overflow)) return clip;
  const next = cut(clip, box);
  const flat = box.right - box.left < 1 || box.bottom - box.top < 1;
  if (clip.closed || (flat && /hidden|clip/.test(style.overflow))) {
    next.closed = true;
    next.opener = clip.opener || openerOf(el, survey);
  }
  return next;
}

// surveyInside returns the items of what is in an element.
function surveyInside(el, tag, survey, place) {
  if (/^(select|textarea|input|img|canvas|video|audio|object|embed|progress|meter)$/.test(tag)) return [];
  if (/^i?frame$/.test(tag)) return surveyFrame(el, survey, place);
  const root = dom.shadow(el);
  if (root) {
    place = { ...place, shadow: [...place.shadow, el] };
    return surveyNodes(childrenOf(root), el, survey, place);
  }
  if (tag === "slot") {
    const slotted = dom.assigned(el);
    if (slotted.length > 0) return surveyNodes(slotted, el, survey, { ...place, shadow: place.shadow.slice(0, -1) });
  }
  if (tag === "details" && !el.open && !place.hidden) {
    const all = childrenOf(el), summary = all.find((node) => dom.kind(node) === 1 && dom.tag(node) === "summary");
    const shown = summary ? surveyNodes([summary], el, survey, place) : [];
    return shown.concat(surveyNodes(all.filter((node) => node !== summary), el, survey, { ...place, hidden: true, opener: summary || el }));
  }
  return surveyNodes(childrenOf(el), el, survey, place);
}

function childrenOf(node) {
  const list = [];
  for (let child = dom.first(node); child; child = dom.next(child)) list.push(child);
  return list;
}

function surveyNodes(nodes, el, survey, place) {
  const items = [];
  let run = null;
  for (const node of nodes) {
    const kind = dom.kind(node);
    if (kind === 3) {
      const text = clean(dom.text(node));
      if (text === "") continue;
      if (run) run.nodes.push(node);
      else items.push((run = { text: true, el, nodes: [node], kids: [], place, hidden: place.hidden, opener: place.opener, clip: place.clip }));
    } else if (kind === 1) {
      if (dom.slot(node) && dom.slot(node) !== el && dom.shadow(el)) continue;
      const inner = surveyElement(node, survey, place);
      if (inner.length > 0) run = null;
      for (const item of inner) items.push(item);
    }
  }
  return items.filter((item) => !item.text || seenText(item, survey));
}

// seenText reports whether a run of text is seen, or in what can be opened.
function seenText(item, survey) {
  const { el, place } = item;
  if (item.hidden) return survey.hidden++ < surveyBounds.hidden;
  if (styleIn(el, survey.look).visibility !== "visible") {
    item.hidden = Boolean(place.opener);
    return item.hidden && survey.hidden++ < surveyBounds.hidden;
  }
  if (place.clip.closed) {
    item.hidden = true;
    item.opener = place.opener || place.clip.opener;
    return Boolean(item.opener) && survey.hidden++ < surveyBounds.hidden;
  }
  const range = dom.owner(el).createRange();
  range.setStartBefore(item.nodes[0]);
  range.setEndAfter(item.nodes[item.nodes.length - 1]);
  const box = range.getBoundingClientRect();
  item.box = { left: box.left + place.x, top: box.top + place.y, right: box.right + place.x, bottom: box.bottom + place.y };
  return box.width > 1 && box.height > 1;
}

// surveyFrame returns the items of a frame of the same origin.
function surveyFrame(el, survey, place) {
  let doc = null;
  try {
    doc = el.contentDocument;
  } catch { /* of another origin */ }
  if (!doc || !dom.top(doc) || place.hidden || place.frame.length >= 5) return [];
  const box = dom.box(el);
  const x = place.x + box.left + el.clientLeft, y = place.y + box.top + el.clientTop;
  const clip = cut(place.clip, { left: x, top: y, right: x + el.clientWidth, bottom: y + el.clientHeight });
  const prefix = place.prefix + "f" + refIn(place.store, el, "").slice(1);
  return surveyDocument(doc, survey, { x, y, clip, frame: [...place.frame, el], prefix, depth: place.depth });
}
