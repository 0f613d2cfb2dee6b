// Nodes: what a snapshot says of the items of a survey.

const nodeBounds = { nodes: 3000, text: 300, options: 500, hints: 20 };
const limit = (text) => clean(text).slice(0, nodeBounds.text);

// nodesOf returns the nodes of items, each after the one that it is in.
function nodesOf(items, survey) {
  const flat = [];
  const add = (item, parent) => {
    item.parent = parent;
    flat.push(item);
    for (const kid of item.kids) add(kid, item);
  };
  for (const item of items) add(item, null);
  const kept = nearest(flat, survey);
  const nodes = [];
  for (const item of kept) {
    item.index = nodes.length;
    nodes.push(item.text ? textNode(item, survey) : elementNode(item, survey));
    let up = item.parent;
    while (up && up.index === undefined) up = up.parent;
    nodes[item.index].parent = up ? up.index : -1;
  }
  coverNodes(kept, nodes, survey);
  tableNodes(kept, nodes, survey);
  return nodes;
}

// nearest returns as many items as a snapshot has, those nearest to what is seen, with
// all that they are in. Hidden ones come last.
function nearest(flat, survey) {
  const without = flat.filter((item) => !redundant(item, survey));
  if (without.length <= nodeBounds.nodes) return without;
  survey.truncated = true;
  const away = (item) => {
    if (item.hidden || !item.box) return 1e6;
    return Math.max(0, item.box.top - innerHeight, -item.box.bottom) + Math.max(0, item.box.left - innerWidth, -item.box.right);
  };
  const byDistance = without.map((item, order) => ({ item, order, distance: away(item) })).sort((a, b) => a.distance - b.distance || a.order - b.order);
  const chosen = new Set();
  for (const { item } of byDistance) {
    const above = [];
    for (let up = item; up && !chosen.has(up); up = up.parent) above.push(up);
    if (chosen.size + above.length > nodeBounds.nodes) continue;
    for (const up of above) chosen.add(up);
    if (chosen.size >= nodeBounds.nodes) break;
  }
  return without.filter((item) => chosen.has(item));
}

// redundant reports whether a text says only what the element that it is in is called, or
// an icon is only what that shows.
function redundant(item, survey) {
  if (item.graphic) {
    // An icon in a control is the control's.
    for (let up = item.parent, i = 0; up && i < 3; up = up.parent, i++) if (!up.text && up.control) return up.kids.length < 3;
    return false;
  }
  if (!item.text || !item.parent || !(item.parent.control || itemNamed.has(item.parent.role) || (item.parent.reacts && usable(item.parent.reacts)))) return false;
  if (item.parent.kids.length !== 1) return false;
  const name = nameOfItem(item.parent, survey).toLowerCase();
  return name === textOfRun(item).toLowerCase();
}

// Roles that are called by their content, so that a text in them would say it twice.
const itemNamed = wordSet("heading cell columnheader rowheader tooltip option treeitem row");

const textOfRun = (item) => clean(item.nodes.map((node) => dom.text(node)).join(" "));

// nameOfItem is the accessible name; of what has no role but reacts, its text.
function nameOfItem(item, survey) {
  if (item.name === undefined) {
    item.name = nameOf(item.el, survey.look);
    if (!item.name && /^(|listitem|paragraph|generic|none|presentation|article|time|strong|emphasis|code|mark|img)$/.test(item.role) && (usable(item.reacts) || item.tag === "label" || item.tag === "legend")) item.name = ownWords(item.el);
  }
  return item.name;
}

// ownWords is the text that an element shows, when that is not much.
function ownWords(el) {
  if (dom.text(el).length > 1000) return "";
  const text = clean(el.innerText === undefined ? dom.text(el) : el.innerText);
  return text.length <= nodeBounds.text ? text : "";
}

function refOf(item) {
  return refIn(item.place.store, item.el, item.place.prefix);
}

function placeOf(node, item) {
  const { box, clip } = item;
  if (!box) {
    node.box = [0, 0, 0, 0];
    return;
  }
  node.box = [box.left, box.top, box.right - box.left, box.bottom - box.top].map((n) => Math.max(-1e6, Math.min(1e6, Math.round(n))));
  const seen = cut(cut(clip, box), { left: 0, top: 0, right: innerWidth, bottom: innerHeight });
  if (!item.hidden && seen.right - seen.left > 0 && seen.bottom - seen.top > 0) {
    node.inView = true;
    item.seen = seen;
  }
}

function whereOf(node, item, survey) {
  const { frame, shadow } = item.place;
  if (frame.length > 0) node.frame = frame.map((el) => cssOf(el, survey));
  if (shadow.length > 0) node.shadow = shadow.map((el) => cssOf(el, survey));
}

function cssOf(el, survey) {
  survey.css = survey.css || new Map();
  let css = survey.css.get(el);
  if (css === undefined) survey.css.set(el, (css = unique(el)));
  return css;
}

function textNode(item, survey) {
  const node = { ref: refOf(item), tag: tagOf(item.el), role: "text", name: limit(textOfRun(item)) };
  drawn(node, item.el, styleIn(item.el, survey.look), item.place.struck);
  if (item.hidden) hide(node, item);
  placeOf(node, item);
  whereOf(node, item, survey);
  return node;
}

function hide(node, item) {
  node.hidden = true;
  const store = item.opener && dom.owner(item.opener) === dom.owner(item.el) ? item.place.store : null;
  if (store) node.opener = refIn(store, item.opener, item.place.prefix);
}

// drawn says how an element or text is drawn and classed: what people take for a title, for
// a value that holds no more, or for what lies over the page.
function drawn(node, el, style, struck) {
  node.class = String(dom.attribute(el, "class") || "").trim().slice(0, 80);
  node.struck = Boolean(struck) || strikes(style);
  if (node.role === "text" || drawnTexts.test(node.role)) {
    node.size = Math.round(parseFloat(style.fontSize)) || 0;
    node.bold = Number(style.fontWeight) >= 600;
  }
}

const drawnTexts = /^(link|cell|gridcell|heading|)$/;
const strikes = (style) => String(style.textDecorationLine || "").includes("line-through");

function elementNode(item, survey) {
  const { el, tag, reacts } = item, look = survey.look;
  const unreadable = !item.hidden && unseen(el, look);
  const role = unreadable ? "" : item.role === "presentation" || item.role === "none" || item.role === "generic" || item.role === "paragraph" ? "" : item.role;
  const node = { ref: refOf(item), tag, role, name: limit(nameOfItem(item, survey)), text: ownWords(el).slice(0, nodeBounds.text) };
  if (item.hidden) hide(node, item);
  drawn(node, el, item.style, item.place.struck);
  if (!item.hidden && (item.style.position === "fixed" || (item.style.position === "absolute" && Number(item.style.zIndex) > 0))) node.layer = item.style.position;
  if (dom.has(el, "aria-live") && dom.attribute(el, "aria-live") !== "off") node.live = true;
  const given = (name) => limit(dom.attribute(el, name) || "");
  node.placeholder = given("placeholder");
  node.title = given("title");
  node.testId = limit(testIdOf(el));
  node.id = given("id");
  node.nameAttr = given("name");
  if (tag === "a" || tag === "area") node.href = given("href");
  if (tag === "input" || tag === "button") node.type = String(el.type).toLowerCase();
  node.hints = hintsOf(el, tag);
  const described = referred(el, "aria-describedby").map((other) => textOf(other, look)).join(" ");
  node.description = limit(described || (node.title && node.title !== node.name ? node.title : ""));
  if (dom.matches(el, labelled) && (el.labels === undefined || !el.labels || el.labels.length > 0 || dom.has(el, "aria-label") || dom.has(el, "aria-labelledby"))) {
    node.label = limit(labelsOf(el, look).join(" "));
  }
  stateNode(node, item, look);
  valueNode(node, item, look);
  node.editable = editableItem(item);
  node.interactive = !node.disabled && (item.control || (usable(reacts) && !vast(item)));
  if (tag === "input" && el.type === "file") node.interactive = !node.disabled;
  if (!item.control && reacts.size > 0) node.reacts = [...reacts].join(" ");
  if (item.scrolls || scrollsOf(el, item.style)) node.scrolls = item.scrolls || scrollsOf(el, item.style);
  placeOf(node, item);
  if (node.interactive || item.graphic || shapeOf(el, tag)) node.style = styleNode(item);
  whereOf(node, item, survey);
  dialogNode(node, item);
  return node;
}

// vast reports whether an item is so much of the page that what it listens for is for
// what is in it.
function vast(item) {
  const { box, el } = item;
  if ((box.right - box.left) * (box.bottom - box.top) < (innerWidth * innerHeight) / 4) return false;
  return dom.all(el, "*").length > 30;
}

function editableItem({ el, tag, role, reacts }) {
  if (tag === "textarea") return true;
  if (tag === "input") return texts.includes(el.type) || setters.includes(el.type);
  return reacts.has("editable") || (/^(textbox|searchbox)$/.test(role) && el.isContentEditable);
}

// hintsOf are the words by which people who write pages name things in the code.
function hintsOf(el, tag) {
  const found = new Set();
  const add = (text) => {
    for (const word of String(text).replace(/([a-z])([A-Z])/g, "$1-$2").toLowerCase().split(/[^\p{L}]+/u)) {
      if (word.length > 1 && word.length <= 30 && found.size < nodeBounds.hints) found.add(word);
    }
  };
  const from = (node) => {
    const name = dom.tag(node);
    for (const attribute of ["class", "id", "data-icon", "data-action", "name"]) add(dom.attribute(node, attribute) || "");
    if (name === "use") add((dom.attribute(node, "href") || dom.attribute(node, "xlink:href") || "").split("#").pop());
    if (name === "img") add((dom.attribute(node, "src") || "").split(/[?#]/)[0].split("/").pop().slice(0, 60));
  };
  from(el);
  if (tag === "a") add((dom.attribute(el, "href") || "").split(/[?]/)[0].slice(-40));
  const inside = dom.all(el, "i, span, svg, use, img");
  if (dom.all(el, "*").length <= 8) for (let i = 0; i < inside.length; i++) from(inside[i]);
  return found.size > 0 ? [...found] : undefined;
}

const asText = (value) => (value === "mixed" ? "mixed" : value === true ? "true" : value === false ? "false" : "");

function stateNode(node, { el, tag, role }, look) {
  const given = (name) => (dom.attribute(el, name) || "").toLowerCase();
  if (stateRoles.checked.has(role) && (tag === "input" || dom.has(el, "aria-checked"))) node.checked = asText(stateOf(el, "checked", role));
  if (role === "button" && dom.has(el, "aria-pressed")) node.checked = asText(stateOf(el, "pressed", role));
  if (dom.has(el, "aria-selected")) node.selected = given("aria-selected") === "true" ? "true" : "false";
  else if (dom.has(el, "aria-current")) node.selected = /^(false|)$/.test(given("aria-current")) ? "false" : "true";
  if (tag === "details") node.expanded = asText(el.open);
  else if (tag === "summary" && parentOf(el) && dom.tag(parentOf(el)) === "details") node.expanded = asText(parentOf(el).open);
  else if (dom.has(el, "aria-expanded")) node.expanded = /^(true|false)$/.test(given("aria-expanded")) ? given("aria-expanded") : "";
  if (dom.has(el, "aria-haspopup") && given("aria-haspopup") !== "false") node.popup = given("aria-haspopup").slice(0, 20);
  if (dom.has(el, "aria-sort")) node.sort = given("aria-sort").slice(0, 20);
  node.disabled = !enabled(el) || stateOf(el, "disabled", role) === true;
  node.readOnly = Boolean(el.readOnly) || given("aria-readonly") === "true";
  node.required = Boolean(el.required) || given("aria-required") === "true";
  node.invalid = dom.has(el, "aria-invalid") && given("aria-invalid") !== "false";
  node.multiple = Boolean(el.multiple) || given("aria-multiselectable") === "true";
  node.level = levelOf(el, role) || 0;
  let active = dom.owner(el).activeElement;
  while (active && dom.shadow(active) && dom.shadow(active).activeElement) active = dom.shadow(active).activeElement;
  node.focused = active === el;
}

function valueNode(node, { el, tag, role }, look) {
  const hold = (value) => {
    node.value = String(value === null || value === undefined ? "" : value).slice(0, nodeBounds.text);
    node.hasValue = true;
  };
  node.password = tag === "input" && el.type === "password";
  if (tag === "select") {
    hold(el.value);
    node.options = [];
    for (const option of Array.from(el.options).slice(0, nodeBounds.options)) {
      node.options.push({ label: clean(option.label || dom.text(option)).slice(0, 200), value: option.value.slice(0, 200), selected: option.selected, disabled: dom.matches(option, ":disabled") });
    }
  } else if (node.password) {
    node.hasValue = true;
  } else if (tag === "textarea" || (tag === "input" && !/^(checkbox|radio|button|submit|reset|image|file|hidden)$/.test(el.type))) {
    hold(el.value);
  } else if (tag === "input" && el.type === "file") {
    hold(Array.from(el.files || []).map((file) => file.name).join(", "));
  } else if (el.isContentEditable && dom.has(el, "contenteditable")) {
    hold(clean(el.innerText));
  } else if (/^(slider|spinbutton|progressbar|meter|scrollbar)$/.test(role)) {
    hold(dom.attribute(el, "aria-valuetext") || dom.attribute(el, "aria-valuenow") || (el.value === undefined ? "" : el.value));
  }
  const bound = (attribute, aria) => (dom.attribute(el, attribute) || dom.attribute(el, aria) || "").slice(0, 40);
  if (tag === "input" || /^(slider|spinbutton|progressbar|meter|scrollbar)$/.test(role)) {
    node.min = bound("min", "aria-valuemin");
    node.max = bound("max", "aria-valuemax");
    node.step = (dom.attribute(el, "step") || "").slice(0, 40);
  }
}
