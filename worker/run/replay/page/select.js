// Selectors: what they find, in open shadow roots too. All page scripts that look
// for elements begin with dom.js, this file and css.js; selectors by role, label and
// text need text.js, name.js and role.js as well. None of them leaves anything
// behind in the page.
//
// A selector is { type, value, name, exact, level, state, within, has, hasText, lies,
// index }. Its type and value come first, then what must be inside (has, hasText), then
// where it lies (near, below ... another element), then the index. within is the element that all of this happens in.
//
// The order of what is found is that of the document as it is shown: what is in a
// shadow root comes at its host, and what is slotted at its slot.

// The types of inputs that take text as it is typed, and those whose value is set.
const texts = ["", "text", "search", "email", "url", "tel", "password", "number"];
const setters = ["date", "time", "month", "week", "datetime-local", "color", "range"];
const testIds = ["data-testid", "data-test-id", "data-test", "data-cy", "data-qa"];

// Several means that a selector finds several elements and does not say which.
class Several extends Error {
  constructor(selector, found) {
    super("several");
    this.found = { selector, count: found.length, candidates: [] };
    for (let i = 0; i < found.length && i < 5; i++) this.found.candidates.push(candidate(found[i]));
  }
}

// candidate describes an element for a message. What was typed into fields is no
// part of it, and its text is long enough for the caller to find secrets in it.
function candidate(el) {
  let what = dom.tag(el);
  const id = dom.attribute(el, "id");
  const names = id ? "" : clean(dom.attribute(el, "class")).split(" ")[0];
  if (id) what += "#" + id;
  else if (names) what += "." + names;
  let text = clean(dom.attribute(el, "aria-label"));
  if (!text && what.startsWith("input")) {
    text = /^(submit|button|reset)$/.test(el.type) ? clean(el.value) : clean(dom.attribute(el, "placeholder") || dom.attribute(el, "name"));
  }
  if (!text && !/^(select|textarea)/.test(what)) text = clean(dom.text(el).slice(0, 4000));
  return { what: what.slice(0, 200), text: text.slice(0, 1000) || clean(dom.attribute(el, "name")).slice(0, 200) };
}

// newLook returns what is remembered during one look at the page, in which nothing
// changes: the shadow roots, texts and names found so far.
function newLook(top, flat) {
  return { top, flat, marked: null, roots: new Map(), texts: new Map(), styles: new Map(), hidden: new Map(), unseen: new Map(),
    names: new Map(), roles: new Map(), labels: new Map() };
}

// evaluate returns what a selector finds below a root: a document, a shadow root or
// an element. strict: within must be one element.
function evaluate(selector, root, look, strict) {
  let scopes = [root];
  if (selector.within) {
    scopes = evaluate(selector.within, root, look, strict);
    if (scopes.nearest) scopes = [scopes[0]];
    if (strict && scopes.length > 1) throw new Several(selector.within, scopes);
  }
  let found = [];
  if (scopes.length === 1) {
    found = matches(selector, scopes[0], look);
  } else {
    const all = new Set();
    for (const scope of scopes) for (const el of matches(selector, scope, look)) all.add(el);
    found = [...all];
  }
  if (selector.has) found = only(found, (el) => evaluate(selector.has, el, look, false).length > 0);
  if (selector.hasText) {
    const compare = textMatcher(selector.hasText, false);
    found = only(found, (el) => compare.equal(textOf(el, look)));
  }
  if (selector.lies) found = lying(selector.lies, found, root, look);
  if (selector.index == null) return found;
  const at = selector.index < 0 ? found.length + selector.index : selector.index;
  return found[at] ? [found[at]] : [];
}

// lying returns those of some elements that lie as relations say, the nearest first: the
// sum of the distances between edges, as Playwright's layout selectors have it. Of several
// the nearest is meant, unless another is as near.
function lying(relations, list, root, look) {
  const scored = [];
  const anchors = [];
  for (const r of relations) anchors.push(evaluate(r.of, root, look, false));
  for (const el of list) {
    const box = dom.box(el);
    if (box.width === 0 && box.height === 0) continue;
    let sum = 0;
    for (let i = 0; i < relations.length; i++) {
      let best = Infinity;
      for (const other of anchors[i]) {
        if (other !== el) best = Math.min(best, distanceTo(relations[i], box, dom.box(other)));
      }
      sum += best;
    }
    if (sum < Infinity) scored.push({ el, sum });
  }
  scored.sort((a, b) => a.sum - b.sum);
  const found = [];
  for (const one of scored) found.push(one.el);
  found.nearest = scored.length > 1 && scored[0].sum < scored[1].sum;
  return found;
}

// distanceTo returns how far a box is from another in a direction, with how far it stands
// out at the sides; Infinity where it does not lie so.
function distanceTo(relation, box, other) {
  if (other.width === 0 && other.height === 0) return Infinity;
  const wide = Math.max(box.left - other.left, 0) + Math.max(other.right - box.right, 0);
  const high = Math.max(other.bottom - box.bottom, 0) + Math.max(box.top - other.top, 0);
  const gaps = { rightOf: box.left - other.right, leftOf: other.left - box.right, below: box.top - other.bottom, above: other.top - box.bottom };
  if (relation.where === "near") {
    let sum = 0;
    for (const where of ["rightOf", "leftOf", "below", "above"]) if (gaps[where] > 0) sum += gaps[where];
    return sum > (relation.distance || 50) ? Infinity : sum;
  }
  const gap = gaps[relation.where];
  if (gap < 0 || (relation.distance && gap > relation.distance)) return Infinity;
  return gap + (relation.where === "rightOf" || relation.where === "leftOf" ? high : wide);
}

function only(list, keep) {
  const kept = [];
  for (const el of list) if (keep(el)) kept.push(el);
  return kept;
}

function matches(selector, scope, look) {
  switch (selector.type) {
    case "css": return byCSS(selector.value, scope, look);
    case "xpath": return byXPath(selector.value, scope);
    case "role": return byRole(selector, scope, look);
    case "text": return byText(selector, scope, look);
    case "label": return byLabel(selector, scope, look);
    case "placeholder": return byAttribute("placeholder", selector, scope, look);
    case "altText": return byAttribute("alt", selector, scope, look);
    case "title": return byAttribute("title", selector, scope, look);
    case "testId": return byTestId(selector.value, scope, look);
  }
  throw new Error("there are no selectors of the type " + selector.type);
}

function byXPath(value, scope) {
  if (dom.kind(scope) === 11) throw new Error("inside of a shadow root XPath does not work");
  const inside = dom.kind(scope) === 1;
  // Within an element, a path from the top begins there.
  const result = dom.evaluate(inside && value.trim().startsWith("/") ? "." + value.trim() : value, scope);
  const found = [];
  for (let i = 0; i < result.snapshotLength; i++) {
    const node = result.snapshotItem(i);
    if (dom.kind(node) === 1 && (!inside || (node !== scope && dom.contains(scope, node)))) found.push(node);
  }
  return found;
}

// rootsIn returns a scope and the open shadow roots in it.
function rootsIn(scope, look) {
  let list = look.roots.get(scope);
  if (list) return list;
  list = [scope];
  if (dom.kind(scope) === 1 && dom.shadow(scope)) list.push(dom.shadow(scope));
  for (let n = 0; n < list.length; n++) {
    const all = dom.all(list[n], "*");
    for (let i = 0; i < all.length; i++) {
      const inner = dom.shadow(all[i]);
      if (inner) list.push(inner);
    }
  }
  look.roots.set(scope, list);
  return list;
}

// queryAll returns what simple CSS finds in all roots of a scope, in order.
function queryAll(css, scope, look) {
  const found = [];
  for (const root of rootsIn(scope, look)) {
    const all = dom.all(root, css);
    for (let i = 0; i < all.length; i++) found.push(all[i]);
  }
  return inOrder(found, scope, look);
}

// inOrder sorts elements of several roots as they are shown.
function inOrder(found, scope, look) {
  if (found.length < 2 || rootsIn(scope, look).length === 1) return found;
  const wanted = new Set(found), sorted = [], done = new Set(), stack = [scope];
  while (stack.length > 0) {
    const node = stack.pop();
    if (done.has(node)) continue;
    done.add(node);
    if (wanted.has(node)) sorted.push(node);
    for (let child = dom.last(node); child; child = dom.previous(child)) {
      if (dom.kind(child) === 1) stack.push(child);
    }
    if (dom.kind(node) !== 1) continue;
    if (dom.shadow(node)) stack.push(dom.shadow(node));
    if (dom.tag(node) !== "slot") continue;
    const slotted = dom.assigned(node);
    for (let i = slotted.length - 1; i >= 0; i--) if (dom.kind(slotted[i]) === 1) stack.push(slotted[i]);
  }
  return sorted;
}

// enter goes into the open shadow roots of hosts, from outside in. It returns null
// while one of them is not there.
function enter(hosts, strict) {
  let root = document;
  for (const host of hosts) {
    let all = evaluate(host, root, newLook(root, true), strict);
    if (all.nearest) all = [all[0]];
    if (strict && all.length > 1) throw new Several(host, all);
    const found = only(all, (el) => dom.shadow(el))[0];
    if (!found) return null;
    root = dom.shadow(found);
  }
  return root;
}

// find returns what a query's selector finds. In shadow roots that the step names,
// CSS stays in the innermost of them. many: several are no error.
function find(query, many) {
  const strict = !query.first;
  const root = enter(query.hosts, strict);
  if (!root) return [];
  const found = evaluate(query.selector, root, newLook(root, query.hosts.length > 0), strict);
  if (found.nearest && !many) return [found[0]];
  if (strict && !many && found.length > 1) throw new Several(query.selector, found);
  return found;
}

function clean(text) {
  return (text || "").replace(/\s+/g, " ").trim();
}
