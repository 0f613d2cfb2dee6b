// CSS selectors that reach into open shadow roots. Each compound (what is between
// two combinators) is matched by the browser; the combinators go from a shadow root
// to its host, so that "x-card button" finds a button inside of the shadow root of
// x-card.

// splitCSS returns the complex selectors of a list, each as its text and its
// compounds with the combinator before each.
function splitCSS(value) {
  const list = [];
  let parts = [], compound = "", combinator = "", from = 0, depth = 0;
  const close = () => {
    if (compound !== "") {
      parts.push({ compound, combinator: combinator || " " });
      compound = combinator = "";
    }
  };
  const end = (at) => {
    close();
    list.push({ text: value.slice(from, at), parts });
    parts = [];
    from = at + 1;
  };
  for (let i = 0; i < value.length; i++) {
    const c = value[i];
    if (c === "\\") {
      // A number ends with a space of its own: "#\\31 23" is the id 123.
      const escape = /^\\(?:[0-9a-f]{1,6}(?:\r\n|[ \t\n\r\f])?|[^])/iu.exec(value.slice(i))?.[0] ?? c;
      compound += escape;
      i += escape.length - 1;
    } else if (c === "/" && value[i + 1] === "*") {
      const over = value.indexOf("*/", i + 2);
      i = over < 0 ? value.length : over + 1;
    } else if (c === '"' || c === "'") {
      let to = i + 1;
      while (to < value.length && value[to] !== c) to += value[to] === "\\" ? 2 : 1;
      compound += value.slice(i, to + 1);
      i = to;
    } else if (c === "(" || c === "[") {
      depth++;
      compound += c;
    } else if (c === ")" || c === "]") {
      depth--;
      compound += c;
    } else if (depth > 0) {
      compound += c;
    } else if (c === ",") {
      end(i);
    } else if (/[ \t\n\r\f]/.test(c)) {
      close();
    } else if (c === ">" || c === "+" || c === "~") {
      close();
      combinator = c;
    } else {
      compound += c;
    }
  }
  end(value.length);
  return list;
}

// byCSS returns what a selector finds. Below an element, all its compounds are below
// it; the element itself is :scope.
function byCSS(value, scope, look) {
  const whole = dom.kind(scope) !== 1;
  const plain = [], all = dom.all(scope, value);
  for (let i = 0; i < all.length; i++) plain.push(all[i]);
  const roots = look.flat ? [scope] : rootsIn(scope, look);
  if (whole && roots.length === 1) return plain;
  const found = new Set();
  for (const { text, parts } of splitCSS(value)) {
    const last = parts[parts.length - 1], climbed = new Map();
    for (const root of roots) {
      // What is in one tree is found by the browser alone.
      if (whole || parts.length === 1) {
        const inside = dom.all(root, text);
        for (let i = 0; i < inside.length; i++) found.add(inside[i]);
      }
      if (parts.length === 1 || (whole && root === scope) || last.compound.includes(":scope")) continue;
      const ends = dom.all(root, last.compound);
      for (let i = 0; i < ends.length; i++) {
        if (!found.has(ends[i]) && climb(ends[i], parts, parts.length - 1, scope, climbed)) found.add(ends[i]);
      }
    }
  }
  return inOrder([...found], scope, look);
}

// above returns the parent of an element or, at the top of a shadow root, its host;
// null at the scope.
function above(el, scope) {
  if (el === scope) return null;
  const up = dom.parent(el);
  if (!up || dom.kind(up) === 1) return up;
  return up !== scope && dom.kind(up) === 11 ? dom.host(up) : null;
}

// before returns the element before another one, null before the scope.
function before(el, scope) {
  let node = el === scope ? null : dom.previous(el);
  while (node && dom.kind(node) !== 1) node = dom.previous(node);
  return node;
}

// fitsCompound reports whether an element matches a compound; :scope is the scope.
function fitsCompound(el, compound, scope) {
  if (!compound.includes(":scope")) return el !== scope && dom.matches(el, compound);
  const top = dom.kind(scope) === 9 ? dom.top(scope) : scope;
  return el === top && dom.matches(el, compound.replace(/:scope/g, "") || "*");
}

// climb reports whether what is before the compound n of a selector is above or
// before an element that matches that compound. climbed holds what is known of other
// climbs: without it the time is exponential in the number of compounds.
function climb(el, parts, n, scope, climbed) {
  if (n === 0) return true;
  let known = climbed.get(el);
  if (!known) climbed.set(el, (known = []));
  if (known[n] !== undefined) return known[n];
  const wanted = parts[n - 1].compound;
  const further = parts[n].combinator === "+" || parts[n].combinator === "~" ? before : above;
  const once = parts[n].combinator === ">" || parts[n].combinator === "+";
  let found = false;
  for (let node = further(el, scope); node && !found; node = once ? null : further(node, scope)) {
    found = fitsCompound(node, wanted, scope) && climb(node, parts, n - 1, scope, climbed);
  }
  known[n] = found;
  return found;
}
