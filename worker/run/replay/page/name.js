// The accessible name of an element, by the computation of the W3C (accname 1.2) and
// what HTML-AAM adds for its elements, and whether assistive technology sees an
// element at all.

const fromContent = wordSet(`button cell checkbox columnheader gridcell heading link menuitem menuitemcheckbox
  menuitemradio option radio row rowheader switch tab tooltip treeitem`);
// These add their content to the name of what they are in.
const partOfName = wordSet(`caption code contentinfo definition deletion emphasis insertion list listitem mark none
  paragraph presentation region row rowgroup section strong subscript superscript table term time`);

// referred returns the elements whose ids an attribute lists.
function referred(el, attribute) {
  const value = dom.attribute(el, attribute), list = new Set();
  if (value) {
    const root = dom.root(el);
    for (const id of value.split(/\s+/)) {
      const other = id && list.size < 20 && dom.byId(root, id);
      if (other) list.add(other);
    }
  }
  return [...list];
}

// unseen reports whether assistive technology does not see an element: it is not
// rendered, not visible or marked as hidden.
function unseen(el, look) {
  let known = look.unseen.get(el);
  if (known === undefined) {
    known = unseenNow(el, look);
    look.unseen.set(el, known);
  }
  return known;
}

function unseenNow(el, look) {
  const tag = tagOf(el);
  if (/^(style|script|noscript|template)$/.test(tag)) return true;
  const style = styleIn(el, look);
  if (style.display === "contents" && tag !== "slot") {
    for (let child = dom.first(el); child; child = dom.next(child)) {
      if (dom.kind(child) === 1 && !unseen(child, look)) return false;
      if (dom.kind(child) === 3 && clean(dom.text(child)) !== "") return unseenAbove(el, look);
    }
    return true;
  }
  const option = tag === "option" && dom.closest(el, "select");
  if (!option && tag !== "slot" && (!dom.rendered(el) || style.visibility !== "visible")) return true;
  return unseenAbove(el, look);
}

function unseenAbove(el, look) {
  const known = look.hidden.get(el);
  if (known !== undefined) return known;
  const up = dom.parent(el);
  let hidden = Boolean(up && dom.kind(up) === 1 && dom.shadow(up) && !dom.slot(el));
  hidden = hidden || styleIn(el, look).display === "none" || (dom.attribute(el, "aria-hidden") || "").toLowerCase() === "true";
  const parent = parentOf(el);
  if (!hidden && parent) hidden = unseenAbove(parent, look);
  look.hidden.set(el, hidden);
  return hidden;
}

// styleIn is the style of an element, which stays the same during a look.
function styleIn(el, look) {
  let style = look.styles.get(el);
  if (!style) {
    style = dom.style(el);
    look.styles.set(el, style);
  }
  return style;
}

// generated is the text that a style puts before, after or in place of an element.
// Its alternative text comes before what is shown; a text that is not known as such
// (a counter, an image) is none.
function generated(el, where, style = dom.style(el, where)) {
  const content = style.content;
  if (!content || content === "none" || content === "normal" || style.display === "none" || style.visibility === "hidden") return null;
  const token = /\s*(?:"((?:[^"\\]|\\[^])*)"|attr\(\s*([^\s,)]+)\s*\)|(\/)|([^\s"/]+))/y;
  let text = "", known = true, alternative = false;
  for (let part; (part = token.exec(content)); ) {
    if (part[3]) {
      text = "";
      known = alternative = true;
    } else if (part[4]) known = false;
    else if (part[2]) text += dom.attribute(el, part[2]) || "";
    else text += part[1].replace(/\\([0-9a-f]{1,6}) ?|\\([^])/gi, (_, code, c) => (code ? String.fromCodePoint(parseInt(code, 16)) : c));
  }
  if (!known || (!where && !alternative)) return null;
  return where && style.display !== "inline" ? " " + text + " " : text;
}

// content is the name that the text, images and controls in an element form.
function content(el, how) {
  const own = generated(el, "", styleIn(el, how.look));
  let text = generated(el, "::before") || "";
  const visit = (node, slotted) => {
    if (text.length > 4000 || (!slotted && dom.slot(node))) return;
    if (dom.kind(node) === 1) {
      const inner = alternative(node, how);
      text += styleIn(node, how.look).display !== "inline" || dom.tag(node) === "br" ? " " + inner + " " : inner;
    } else if (dom.kind(node) === 3 && (how.all || !unrendered(node))) {
      text += dom.text(node);
    }
  };
  if (own !== null) {
    text += own;
  } else {
    const slotted = dom.tag(el) === "slot" ? dom.assigned(el) : [];
    for (const node of slotted) visit(node, true);
    if (slotted.length === 0) {
      for (let child = dom.first(el); child; child = dom.next(child)) visit(child, false);
      const root = dom.shadow(el);
      for (let child = root && dom.first(root); child; child = dom.next(child)) visit(child, false);
      for (const other of referred(el, "aria-owns")) visit(other, false);
    }
  }
  return text + (generated(el, "::after") || "");
}

function unrendered(text) {
  const up = dom.parent(text);
  if (!up || dom.kind(up) !== 1) return false;
  return Boolean(dom.shadow(up) && !dom.slot(text)) || (dom.tag(up) === "details" && !up.open);
}

// valueIn is what a control inside of a name adds to it; null for no control. A
// password is part of no name.
function valueIn(el, role, how) {
  const tag = tagOf(el);
  switch (role) {
    case "textbox": case "searchbox":
      if (tag !== "input" && tag !== "textarea") return dom.text(el);
      return el.type === "password" ? "" : el.value;
    case "combobox": case "listbox": {
      const options = [];
      if (tag === "select") {
        for (const option of el.options) if (option.selected) options.push(option);
        if (options.length === 0 && el.options.length > 0) options.push(el.options[0]);
      } else {
        const list = role === "listbox" ? el : only(owned(el, "[role]"), (other) => roleOf(other) === "listbox")[0];
        if (list) for (const other of owned(list, '[aria-selected="true" i]')) if (roleOf(other) === "option") options.push(other);
      }
      if (options.length === 0 && tag === "input") return el.value;
      return joined(options, (option) => alternative(option, how));
    }
    case "progressbar": case "scrollbar": case "slider": case "spinbutton": case "meter":
      for (const name of ["aria-valuetext", "aria-valuenow", "value"]) if (dom.has(el, name)) return dom.attribute(el, name);
      return "";
    case "menu": return "";
  }
  return null;
}

function owned(el, css) {
  const list = [];
  for (const other of dom.all(el, css)) list.push(other);
  for (const other of referred(el, "aria-owns")) {
    if (dom.matches(other, css)) list.push(other);
    for (const inner of dom.all(other, css)) list.push(inner);
  }
  return list;
}

function joined(list, text) {
  let all = "";
  for (const el of list) {
    const part = text(el);
    if (part) all += (all && " ") + part;
  }
  return all;
}

// labelsFor returns the labels of a control. The browser's own list of them looks
// through the whole page for each control.
function labelsFor(el, look) {
  const root = dom.root(el);
  let known = look.labels.get(root);
  if (!known) {
    known = new Map();
    look.labels.set(root, known);
    const all = dom.kind(root) === 1 ? [] : dom.all(root, "label");
    for (let i = 0; i < all.length; i++) {
      const control = all[i].control;
      if (control && known.has(control)) known.get(control).push(all[i]);
      else if (control) known.set(control, [all[i]]);
    }
  }
  return known.get(el) || [];
}

// labelText is the name by the labels of a control; null without labels.
function labelText(el, how) {
  const labels = labelsFor(el, how.look);
  if (labels.length === 0) return null;
  return joined(labels, (label) => alternative(label, { ...how, place: "label", all: how.all || unseen(label, how.look) }));
}

// childText is the name by a child of a tag; null without one.
function childText(el, tag, how) {
  for (let child = dom.first(el); child; child = dom.next(child)) {
    if (dom.kind(child) !== 1 || tagOf(child) !== tag) continue;
    return alternative(child, { ...how, native: true, all: how.all || unseen(child, how.look) });
  }
  return null;
}

// native is the name that HTML has for an element of a tag; null leaves it to the
// content and the title.
function native(el, how, labelledby) {
  const tag = tagOf(el);
  const given = (name) => dom.attribute(el, name) || "";
  const type = tag === "input" ? el.type : "";
  if (/^(button|submit|reset)$/.test(type)) {
    return clean(el.value) ? el.value : { submit: "Submit", reset: "Reset" }[type] || given("title");
  }
  if (type === "file" || type === "image") {
    const labels = how.place === "labelledby" ? null : labelText(el, how);
    if (labels !== null) return labels;
    if (type === "file") return "Choose File";
    return clean(given("alt")) ? given("alt") : clean(given("title")) ? given("title") : "Submit";
  }
  if (!labelledby && /^(button|output|textarea|select|input|meter|progress)$/.test(tag)) {
    const labels = labelText(el, how);
    if (labels !== null || tag === "button") return labels;
    const hints = tag === "textarea" || /^(text|password|number|search|tel|email|url)$/.test(type);
    return given("title") || (hints ? given("placeholder") : "");
  }
  if (!labelledby && (tag === "fieldset" || tag === "figure")) {
    const text = childText(el, tag === "fieldset" ? "legend" : "figcaption", how);
    return text === null ? given("title") : text;
  }
  if (tag === "img" || tag === "area") return clean(given("alt")) ? given("alt") : given("title");
  if (tag === "table") {
    const text = childText(el, "caption", how);
    return text === null ? given("summary") || null : text;
  }
  if (tag === "svg" || el.ownerSVGElement) return childText(el, "title", { ...how, place: "labelledby" });
  return null;
}

// alternative is the text of an element as a name, or as part of one. how says where
// it is: place is "target" for what is named, "inside" for what is in it, "label" or
// "labelledby" for what names it; all takes what is hidden too.
function alternative(el, how) {
  if (how.visited.has(el) || how.visited.size > 3000) return "";
  const tag = tagOf(el);
  if (/^(style|script|noscript|template)$/.test(tag) || (!how.all && unseen(el, how.look))) {
    how.visited.add(el);
    return "";
  }
  const refs = referred(el, "aria-labelledby");
  if (how.place !== "labelledby" && refs.length > 0) {
    const name = joined(refs, (other) => alternative(other, { ...how, place: "labelledby", native: false, all: how.every || unseen(other, how.look) }));
    if (name) return name;
  }
  const role = roleIn(el, how.look);
  if (how.place !== "target" && !refs.includes(el)) {
    const value = valueIn(el, role, how);
    if (value !== null) {
      how.visited.add(el);
      return value || "";
    }
  }
  how.visited.add(el);
  const given = dom.attribute(el, "aria-label") || "";
  if (clean(given)) return given;
  const presentation = role === "presentation" || role === "none";
  if (!presentation) {
    const text = native(el, how, refs.length > 0);
    if (text !== null) return text;
  }
  const inside = { ...how, place: how.place === "target" ? "inside" : how.place };
  if (fromContent.has(role) || (tag === "summary" && !presentation) || how.place === "label" || how.place === "labelledby" || how.native ||
    (how.place === "inside" && (role === "" || partOfName.has(role)))) {
    const text = content(el, inside);
    if (how.place === "target" ? clean(text) : text) return text;
  }
  return !presentation || tag === "iframe" || tag === "frame" ? (clean(dom.attribute(el, "title")) ? dom.attribute(el, "title") : "") : "";
}

// nameOf is the accessible name of an element. One that is hidden itself has the
// name that it would have.
function nameOf(el, look) {
  let name = look.names.get(el);
  if (name !== undefined) return name;
  const hidden = unseen(el, look);
  name = unnamed.has(roleIn(el, look)) ? "" : clean(alternative(el, { look, place: "target", native: false, all: hidden, every: hidden, visited: new Set() }));
  look.names.set(el, name);
  return name;
}
