// Selectors by text: what an element shows, its label, and its attributes for
// people. Texts are compared with white space collapsed; without exact also without
// regard to case, and a part of the text is enough.

// collapsed returns a text as it is compared: invisible characters count as nothing.
function collapsed(text) {
  return clean((text || "").replace(/[\u200b\u00ad]/g, ""));
}

// textMatcher returns how texts are compared with a value: equal is the match, and
// part is whether something inside of what has the text can be one. Both take the text
// as it stands in the document. Most are refused by the longest word of the value,
// because collapsing the white space of a whole page takes long.
function textMatcher(value, exact) {
  const wanted = exact ? collapsed(value) : collapsed(value).toLowerCase();
  if (wanted === "") throw new Error("the text to look for is empty");
  let word = "";
  for (const next of wanted.split(" ")) if (next.length > word.length) word = next;
  const brief = (text) => collapsed(exact ? text : text.toLowerCase());
  const possible = (text) => (exact ? text : text.toLowerCase()).includes(word) || /[\u200b\u00ad]/.test(text);
  return {
    equal: (text) => possible(text) && (exact ? brief(text) === wanted : brief(text).includes(wanted)),
    part: (text) => possible(text) && ((exact ? text : text.toLowerCase()).includes(wanted) || brief(text).includes(wanted)),
  };
}

// unread reports whether the text in an element is not shown.
function unread(el) {
  return /^(script|style|noscript|head)$/.test(dom.tag(el));
}

// markedIn returns the elements whose text is not that of their nodes alone, because
// what is in them, or in a shadow root in them, is shown in another way.
function markedIn(look) {
  if (look.marked) return look.marked;
  const marked = new Set();
  const mark = (el) => {
    for (let node = el; node && !marked.has(node); node = dom.kind(node) === 11 ? dom.host(node) : dom.parent(node)) {
      marked.add(node);
      if (node === look.top || dom.kind(node) === 9) break;
    }
  };
  for (const root of rootsIn(look.top, look)) {
    const all = dom.all(root, "head, script, style, noscript, input[type=submit i], input[type=button i], input[type=reset i]");
    for (let i = 0; i < all.length; i++) mark(all[i]);
    if (root !== look.top) mark(dom.host(root));
  }
  look.marked = marked;
  return marked;
}

// textOf returns the text of an element or shadow root, shadow roots in it included.
function textOf(node, look) {
  const marked = markedIn(look);
  if (!marked.has(node) && dom.kind(node) !== 11) return dom.text(node);
  let text = look.texts.get(node);
  if (text !== undefined) return text;
  text = "";
  const element = dom.kind(node) === 1;
  if (element && dom.tag(node) === "input") {
    if (/^(submit|button|reset)$/.test(node.type)) text = node.value;
  } else if (!element || !unread(node)) {
    for (let child = dom.first(node); child; child = dom.next(child)) {
      const kind = dom.kind(child);
      if (kind === 1) text += textOf(child, look);
      else if (kind === 3 || kind === 4) text += dom.text(child);
    }
    if (element && dom.shadow(node)) text += textOf(dom.shadow(node), look);
  }
  look.texts.set(node, text);
  return text;
}

// byText returns the innermost elements with a text. Only what has the text is gone
// into, from the outside in.
function byText(selector, scope, look) {
  const compare = textMatcher(selector.value, selector.exact);
  const found = [];
  const stack = dom.kind(scope) === 9 ? [dom.top(scope)] : [scope];
  while (stack.length > 0) {
    const node = stack.pop();
    if (dom.kind(node) === 1 && unread(node)) continue;
    let inner = false;
    const inside = [];
    const add = (child) => {
      const text = textOf(child, look);
      if (!compare.part(text)) return;
      inside.push(child);
      if (dom.kind(child) === 1 && compare.equal(text)) inner = true;
    };
    for (let child = dom.first(node); child; child = dom.next(child)) {
      if (dom.kind(child) === 1 && !unread(child)) add(child);
    }
    if (dom.kind(node) === 1 && dom.shadow(node)) {
      for (let child = dom.first(dom.shadow(node)); child; child = dom.next(child)) {
        if (dom.kind(child) === 1 && !unread(child)) add(child);
      }
    }
    for (let i = inside.length - 1; i >= 0; i--) stack.push(inside[i]);
    if (!inner && dom.kind(node) === 1 && compare.equal(textOf(node, look))) found.push(node);
  }
  return inOrder(found, scope, look);
}

// labelsOf returns the texts that label an element.
function labelsOf(el, look) {
  const list = [];
  for (const other of referred(el, "aria-labelledby")) list.push(textOf(other, look));
  if (list.length > 0) return list;
  const given = dom.attribute(el, "aria-label");
  if (given && clean(given)) return [given];
  for (const label of labelsFor(el, look)) list.push(textOf(label, look));
  return list;
}

const labelled = "[aria-labelledby], [aria-label], button, input, meter, output, progress, select, textarea";

function byLabel(selector, scope, look) {
  const compare = textMatcher(selector.value, selector.exact);
  return only(queryAll(labelled, scope, look), (el) => {
    for (const text of labelsOf(el, look)) if (compare.equal(text)) return true;
    return false;
  });
}

function byAttribute(name, selector, scope, look) {
  const compare = textMatcher(selector.value, selector.exact);
  return only(queryAll("[" + name + "]", scope, look), (el) => compare.equal(dom.attribute(el, name)));
}

function byTestId(value, scope, look) {
  let css = "";
  for (const name of testIds) css += (css && ", ") + "[" + name + "]";
  return only(queryAll(css, scope, look), (el) => {
    for (const name of testIds) if (dom.attribute(el, name) === value) return true;
    return false;
  });
}
