// Surroundings: what is around an element and distinguishes it from its like. The
// texts of its row, the headings that it is under, the dialogs, forms and groups
// that it is in, and how many elements are alike.

const shortText = (text) => clean(text).slice(0, 120);

// spoken is a text as names are compared: without regard to case and white space, and
// to glyphs of icon fonts.
function spoken(text) {
  return clean((text || "").replace(/[\u00ad\u200b-\u200d\ufeff\ue000-\uf8ff]/g, "")).toLowerCase();
}

// asLabel is the label of a field as it is compared: without its marks ("Name:",
// "Name *").
const asLabel = (text) => spoken(text).replace(/(?<=\S)\s*[:*]+$/, "");

// nameAs is the name of an element of a kind as it is compared.
const nameAs = (kind, text) => (/^(text|password|select|file|color|range|date|time|month|week|datetime-local)$/.test(kind) ? asLabel : spoken)(text);

// A list inside of a menu or tree item is no part of the item's name.
const nested = "ul, ol, menu, [role=group], [role=menu], [role=tree], [role=list]";

// titleOf is what an element is called: its accessible name, else its text.
function titleOf(el) {
  if (/^(treeitem|menuitem|listitem)$/.test(roleIn(el, memory())) && !el.hasAttribute("aria-label") && el.querySelector(nested)) {
    return clean(textsIn(el, { skip: (node) => node.matches(nested) }).join(" ")).slice(0, 200);
  }
  return clean(callOf(el) || ownText(el)).slice(0, 200);
}

// labelOf is the text of the labels of a control, without the control itself.
function labelOf(el) {
  if (!el.labels || !el.labels.length) return "";
  return clean(labelText(el, { look: memory(), place: "target", native: false, all: false, every: false, visited: new Set([el]) })).slice(0, 200);
}

// memory is what is remembered of the page for one look at it: the script that is sent
// looks once.
let remembered = null;
const memory = () => (remembered = remembered || newLook(document, false));
const callOf = (el) => nameOf(el, memory());

// kindOf is what an element is to its users. Elements of different kinds are never
// taken for each other.
function kindOf(tag, role, type) {
  if (tag === "label") return "label";
  if (tag === "summary") return "press";
  if (tag === "select") return "select";
  if (tag === "input" && /^(password|file|color|range|date|time|month|week|datetime-local)$/.test(type)) return type;
  if ((tag === "input" || tag === "textarea") && /^(textbox|searchbox|spinbutton|combobox|)$/.test(role)) return "text";
  if (/^(button|link|menuitem)$/.test(role) || (tag === "a" && !role)) return "press";
  if (/^(checkbox|switch|menuitemcheckbox)$/.test(role)) return "check";
  if (/^(radio|menuitemradio)$/.test(role)) return "radio";
  if (/^(|generic|presentation|paragraph|listitem|cell|gridcell|group|article)$/.test(role)) return "plain";
  return role;
}

const kindIn = (el) => kindOf(el.localName, roleIn(el, memory()), el.localName === "input" ? el.type : "");

// like reports whether an element of one kind may be found in place of another: what
// was only styled as a button may be one now.
const like = (was, is) => was === is || (was === "plain" && is === "press");

const controls = "button, input, select, textarea, summary, [contenteditable=true], [role=button], [role=menuitem], " +
  "[role=tab], [role=checkbox], [role=switch], [role=radio], [role=combobox], [role=slider], [role=textbox]";
// What such elements say changes by itself.
const changing = "[role=alert], [role=status], [role=tooltip], [role=log], [role=timer], [role=progressbar], [aria-live]:not([aria-live=off])";

// textsIn returns the texts in an element, by blocks: what inline elements say is one
// text. Options: skip leaves elements out; before ends at an element; most is how many
// texts are enough.
function textsIn(scope, { skip = () => false, before = null, most = 12 } = {}) {
  const found = [];
  let text = "", ended = false;
  const end = () => {
    text = shortText(text);
    if (text && found.length < most) found.push(text);
    text = "";
  };
  const visit = (node) => {
    ended = ended || node === before;
    if (ended || found.length >= most) return;
    if (node.nodeType === Node.TEXT_NODE) {
      text += node.data;
      return;
    }
    if (node.nodeType !== Node.ELEMENT_NODE || /^(script|style|template|noscript)$/.test(node.localName) || skip(node)) return;
    const style = styleOf(node);
    if (style.display === "none" || style.visibility === "hidden") return;
    if (node.localName === "img") {
      text += " " + (node.getAttribute("alt") || "") + " ";
      return;
    }
    const inline = style.display.startsWith("inline") && node.localName !== "br" && !node.hasAttribute("role");
    if (!inline) end();
    const slotted = node.localName === "slot" && node.assignedNodes().length;
    for (const child of slotted ? node.assignedNodes() : (node.shadowRoot || node).childNodes) visit(child);
    if (!inline) end();
  };
  for (const child of (scope.shadowRoot || scope).childNodes) visit(child);
  end();
  return found;
}

const rows = "tr, li, article, [role=row], [role=listitem], [role=treeitem], [role=article]";
const letters = /\p{L}/u;

// fieldLabel reports whether an element is the label of a field: it says what to
// enter there, not which row it is.
const fieldLabel = (node) => node.localName === "label" &&
  Boolean(node.control) && !/^(checkbox|radio)$/.test(node.control.type);

// What a field holds may be what says which row it is in. It is not recorded.
const valued = "textarea, select, input:not([type=checkbox], [type=radio], [type=hidden], [type=button], [type=submit], [type=reset], [type=image], [type=file])";

// rowOf returns the row that an element is in, or else the texts beside it. A name
// without letters (a page number, a day) needs what its list says.
function rowOf(el, title) {
  const self = spoken(title), bare = !letters.test(title);
  const skip = (node) => node === el || node.matches(controls) || node.matches(changing) ||
    (node.localName === "label" && Boolean(node.control) && node.control !== el && el.type === "radio" && node.control.type === "radio") ||
    (node.localName === "label" && el.labels && Array.prototype.includes.call(el.labels, node));
  const other = (list) => list.filter((text) => spoken(text) !== self);
  let key = "";
  for (let node = parentOf(el), i = 0; node && node.localName !== "body" && i < 12; node = parentOf(node), i++) {
    if (!node.matches(rows)) continue;
    let texts = other(textsIn(node, { skip }));
    if (!texts.length && bare) texts = other(textsIn(node, { skip: (inner) => inner === el }));
    key = key || keyOf(node);
    if (texts.length) return { kind: "item", texts, id: key };
    if (!el.matches(valued) && node.querySelector(valued)) return { kind: "fields", id: key };
  }
  // What is around an entry of a list are the other entries.
  if (!bare && /^(listitem|option|treeitem|tab|menuitem|row|cell|columnheader)$/.test(roleOf(el))) return null;
  const near = beside(el, bare, skip, other);
  if (near) return { ...near, id: near.id || key };
  return key ? { kind: "item", id: key } : null;
}

// keyOf is the id of a row, or what its data attributes say about its record.
function keyOf(node) {
  if (node.id) return node.id.slice(0, 120);
  for (const { name, value } of node.attributes) {
    if (/^data-(.+-)?(id|key|row|index)$/.test(name) && value) return value.slice(0, 120);
  }
  return "";
}

// beside returns the texts of the smallest container around an element that has any:
// a card, a line of a list that is marked up as nothing. A container with many
// controls or much text is more than that: of it, what directly precedes counts.
function beside(el, bare, skip, other) {
  const link = el.localName === "a";
  for (let node = parentOf(el), inner = el, i = 0; node && i < 8; inner = node, node = parentOf(node), i++) {
    const large = /^(body|html|main)$/.test(node.localName) || clean(node.textContent).length > 500 ||
      (!bare && node.querySelectorAll(controls).length > 5);
    // One link in a card is its title, several are a menu.
    const links = node.querySelectorAll("a[href]").length;
    const leave = (inner) => skip(inner) || fieldLabel(inner) || inner.matches(headingTags + ", legend, caption") ||
      (inner.localName === "a" && (bare || link || links > 1)) || (bare && inner.localName === "button");
    if (large) {
      const texts = bare ? [] : other(textsIn({ childNodes: nodesBefore(inner) }, { skip: leave }));
      return texts.some((text) => letters.test(text)) ? { kind: "near", texts, id: "" } : null;
    }
    let texts = other(textsIn(node, { skip: leave, before: el }));
    // What follows a field is a hint.
    if (!texts.some((text) => letters.test(text)) && !el.matches("input, select, textarea")) {
      texts = other(textsIn(node, { skip: leave }));
    }
    if (bare) texts = texts.filter((text) => letters.test(text));
    if (texts.some((text) => letters.test(text))) return { kind: "near", texts, id: keyOf(node) };
  }
  return null;
}

// nodesBefore returns the nodes that directly precede an element: up to a heading, or
// what is a part of the page with controls of its own.
function nodesBefore(el) {
  const found = [];
  for (let node = el.previousSibling; node && found.length < 20; node = node.previousSibling) {
    if (node.nodeType === Node.ELEMENT_NODE) {
      if (node.matches(headingTags + ", header, nav, section, article, form, table, ul, ol, aside, script, style")) break;
      if (node.querySelector(headingTags + ", a[href], " + controls)) break;
    }
    found.unshift(node);
  }
  return found;
}

// headingsOf returns the headings that an element is under, outermost first.
function headingsOf(el) {
  const found = [];
  let level = 7;
  for (let node = el, i = 0; node && i < 40 && level > 1; node = parentOf(node), i++) {
    for (let before = node.previousElementSibling, j = 0; before && j < 200 && level > 1; before = before.previousElementSibling, j++) {
      const heading = headingIn(before, level);
      if (!heading) continue;
      level = heading.level;
      if (heading.text) found.unshift(heading.text);
    }
    // A dialog is a page of its own.
    if (/^(dialog|alertdialog)$/.test(roleOf(node))) break;
  }
  return found.slice(0, 6);
}

const headingTags = "h1, h2, h3, h4, h5, h6, [role=heading]";

// headingIn returns an element's last visible heading above a level, or itself.
function headingIn(el, level) {
  if (el.matches("dialog, [role=dialog], [role=alertdialog], tr, li")) return null;
  const title = el.matches("header, hgroup") || (!el.querySelector(controls) && clean(el.textContent).length <= 200);
  const all = el.matches(headingTags) ? [el] : title ? el.querySelectorAll(headingTags) : [];
  for (let i = all.length - 1; i >= 0; i--) {
    const at = Number(all[i].getAttribute("aria-level")) || Number(all[i].localName[1]) || 2;
    if (at >= level || !visible(all[i])) continue;
    // One inside of a section or card is that one's.
    if (all[i] !== el && inSection(all[i], el)) continue;
    return { level: at, text: shortText(all[i].textContent) };
  }
  return null;
}

function inSection(heading, outer) {
  const section = heading.closest("article, section, form, fieldset, nav, aside, li, tr, dialog, [role=dialog], [role=region], [role=group], [role=form], [role=tabpanel]");
  return Boolean(section) && (section === outer || outer.contains(section));
}

const containerRoles = /^(dialog|alertdialog|form|group|radiogroup|region|navigation|tabpanel|table|grid|menu|menubar|listbox|tree|toolbar|search|article|complementary)$/;
const popup = /(^|[-_])(modal|dialog|popup|drawer|lightbox|offcanvas)$/i;

// roleAround is the role of a container; a dialog may only be called one.
function roleAround(node) {
  const role = roleOf(node) || (node.localName === "form" ? "form" : "");
  if (role === "alertdialog") return "dialog";
  if (containerRoles.test(role)) return role === "grid" ? "table" : role;
  for (const name of node.classList) {
    if (popup.test(name) && /^(div|section|aside)$/.test(node.localName)) return "dialog";
  }
  return "";
}

// containersOf returns what is around an element and has a role, from outside in.
function containersOf(el) {
  const found = [];
  for (let node = parentOf(el), i = 0; node && i < 60; node = parentOf(node), i++) {
    const role = roleAround(node);
    if (!role) continue;
    const container = { role, name: shortText(callOf(node)) };
    if (!container.name && /^(dialog|form|tabpanel|region)$/.test(role)) container.name = titleIn(node, role, el);
    if (!container.name && /^(table|listbox|tree)$/.test(role)) container.name = captionBefore(node);
    if (node.id) container.id = node.id.slice(0, 120);
    if (node.localName === "form" && node.getAttribute("action")) container.action = node.getAttribute("action").slice(0, 120);
    if (container.name || container.id || container.action || /^(dialog|menu|form)$/.test(role)) found.unshift(container);
  }
  found.unshift(...currentAt(el));
  return found.slice(-8);
}

// currentAt returns what the page marks as current above an element, as containers:
// the step of a wizard, the last entry of a breadcrumb, the tab that is selected.
const currents = new Map();
function currentAt(el) {
  const doc = el.ownerDocument;
  let list = currents.get(doc);
  if (!list) {
    list = Array.from(doc.querySelectorAll("[aria-current=step], [aria-current=page], [role=tab][aria-selected=true]")).filter(visible);
    currents.set(doc, list);
  }
  let top = el;
  while (top.getRootNode().host) top = top.getRootNode().host;
  const found = new Map();
  for (const node of list) {
    const current = node.getAttribute("aria-current");
    if (current === "step") {
      if (!found.has("step")) found.set("step", node);
      continue;
    }
    // One that follows belongs to something else, and so does one that is to be left.
    const list = node.closest("[role=tablist], nav, [role=navigation], ol, ul");
    if ((list && list.contains(top)) || !(node.compareDocumentPosition(top) & Node.DOCUMENT_POSITION_FOLLOWING) || node.contains(top)) continue;
    found.set(current === "page" ? "page" : "tab", node);
  }
  return Array.from(found, ([role, node]) => ({ role, name: shortText(node.textContent) }));
}

// titleIn is what a container without a name is called: by its heading, and a form by
// the button that submits it.
function titleIn(node, role, el) {
  for (const heading of node.querySelectorAll(headingTags + ", legend")) {
    if (heading.localName === "legend" && role !== "form") continue;
    if (visible(heading) && !(role === "form" && heading.closest("fieldset"))) return shortText(heading.textContent);
  }
  if (role === "form") {
    const submit = Array.from(node.querySelectorAll("button, input[type=submit], input[type=image]"))
      .filter((b) => b.type === "submit" || b.type === "image");
    return submit.length === 1 && submit[0] !== el ? shortText(callOf(submit[0])) : "";
  }
  return role === "dialog" ? textsIn(node, { skip: (inner) => inner === el || inner.matches(controls), most: 1 })[0] || "" : "";
}

// captionBefore is the text above a table that says which one it is: the month of a
// calendar.
function captionBefore(node) {
  for (let i = 0; node && i < 3; node = parentOf(node), i++) {
    for (let before = node.previousElementSibling; before; before = before.previousElementSibling) {
      if (before.textContent.length > 300) return "";
      const text = textsIn({ childNodes: [before] }, { skip: (inner) => inner.matches(controls), most: 1 })[0];
      if (text) return text;
    }
    if (node.matches("section, form, article, main, [role=dialog]")) return "";
  }
  return "";
}

// topOf is the outermost document that a document is in, as far as it is of the same
// origin: what is alike in another frame counts too.
function topOf(doc) {
  try {
    for (let view = doc.defaultView; view.frameElement; view = view.parent) doc = view.parent.document;
  } catch { /* the frame around it is of another origin */ }
  return doc;
}

// everything walks through a document with its open shadow roots and frames.
function* everything(root) {
  const walker = (root.ownerDocument || root).createTreeWalker(root, NodeFilter.SHOW_ELEMENT);
  for (let el = walker.nextNode(); el; el = walker.nextNode()) {
    yield el;
    if (el.shadowRoot) yield* everything(el.shadowRoot);
    if (/^i?frame$/.test(el.localName)) {
      let inner = null;
      try {
        inner = el.contentDocument;
      } catch { /* of another origin */ }
      if (inner) yield* everything(inner);
    }
  }
}

const mayBeNamed = "[aria-label], [aria-labelledby], [title], [alt], [placeholder], input, select, textarea";

// possible reports whether an element may be of a kind, without its role: most of a
// page are plain containers.
const inert = /^(div|span|p|b|i|em|strong|small|ul|ol|table|thead|tbody|br|hr|svg|path|g|script|style|link|meta|head|html|body)$/;
const possible = (el, kind) => kind === "plain" || !inert.test(el.localName) || el.hasAttribute("role");

// called reports whether an element may have a name at all, without computing it:
// computing those of all elements takes long.
function called(el, name) {
  if (el.matches(mayBeNamed) || el.shadowRoot) return true;
  const bare = (text) => text.replace(/\s+/g, "");
  const text = el.textContent;
  if (text.length > 4000) return false;
  const got = bare(spoken(text)), want = bare(name);
  return got.includes(want) || want.includes(got) || el.querySelector("img, svg, slot") !== null;
}

// surroundingsOf describes what is around an element. It returns null when the page is
// too large to count what is alike.
function surroundingsOf(el, title) {
  const kind = kindIn(el), name = nameAs(kind, title), testId = testIdOf(el);
  const until = performance.now() + 300;
  let looked = 0, sameTestId = 0, alike = [];
  for (const other of everything(topOf(el.ownerDocument))) {
    if (++looked > 30000 || performance.now() > until) return null;
    if (testId && testIdOf(other) === testId) sameTestId++;
    if (other === el || (name && possible(other, kind) && kindIn(other) === kind && called(other, name) && nameAs(kind, titleOf(other)) === name)) alike.push(other);
  }
  const { inner, outer } = nestingOf(alike);
  alike = alike.filter((a) => a === el || !(inner.has(a) && contains(el, a)) && !outer.has(a));
  const around = { headings: headingsOf(el), containers: containersOf(el) };
  const row = rowOf(el, title);
  if (row) around.row = row;
  const same = (key) => {
    const mine = JSON.stringify(key(el));
    return alike.filter((other) => other === el || performance.now() > until || JSON.stringify(key(other)) === mine).length;
  };
  around.alike = { count: alike.length, position: alike.indexOf(el), sameTestId,
    sameId: el.id ? alike.filter((other) => other.id === el.id).length : 0,
    sameHref: el.hasAttribute("href") ? alike.filter((other) => other.getAttribute("href") === el.getAttribute("href")).length : 0,
    sameRow: same((other) => (rowOf(other, title) || {}).texts),
    sameContainers: same((other) => [headingsOf(other), containersOf(other)]) };
  return around;
}
