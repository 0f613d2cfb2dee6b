// The nearest elements to one that a step did not find or cannot use, with what speaks against
// each. Nothing is scrolled or changed.
//
// args: { query, fingerprint, want, why, most }: why is what act.js says of the elements that the
// selector does find. result: a list of { selector, role, name, text, against }.

// soughtFor returns what is known of the element that is meant: its fingerprint, else what the
// selector says.
function soughtFor(selector, fingerprint) {
  if (fingerprint && fingerprint.tag) return fingerprint;
  const s = selector, value = s.value || "";
  const was = { tag: "", role: "", name: s.name || s.hasText || "", text: "", label: "", testId: "", attributes: {} };
  switch (s.type) {
    case "role": return { ...was, role: value };
    case "text": return { ...was, name: value, text: value };
    case "label": return { ...was, name: value, label: value };
    case "testId": return { ...was, testId: value };
    case "placeholder": case "altText": case "title": return { ...was, name: value };
  }
  const last = value.slice(0, 500).split(s.type === "xpath" ? /\/+/ : /[\s>+~]+/).pop() || "";
  const part = (pattern) => (pattern.exec(last) || [])[1] || "";
  was.tag = part(/^([a-z][a-z0-9-]*)/i).toLowerCase();
  was.attributes = { id: part(/#([\w-]+)/) || part(/@?id=["']([^"']+)["']/), class: part(/\.([\w-]+)/), name: part(/@?\bname=["']([^"']+)["']/) };
  was.testId = part(/data-test(?:id)?=["']([^"']+)["']/);
  return was;
}

const wordsIn = (text) => new Set(spoken(text).slice(0, 300).split(/[^\p{L}\p{N}]+/u).filter((word) => word.length > 1));

// shared returns which part of the words of a text are in another.
function shared(words, text) {
  if (words.size === 0) return 0;
  const other = wordsIn(text);
  return Array.from(words).filter((word) => other.has(word)).length / words.size;
}

// ownWords are those that tell an element: its name, and the words of its ids.
function ownWords(was) {
  const a = was.attributes || {};
  return new Set([...wordsIn(was.name || was.text || was.label), ...wordsOf(was.testId), ...wordsOf(a.id), ...wordsOf(a.name), ...wordsOf(a.class)]
    .filter((word) => word.length > 1));
}

// alikeIn returns elements that may be the one that is meant, the nearest first, and never more
// than some hundred.
function alikeTo(was, words) {
  const kind = kindOf(was.tag || "div", was.role || "", (was.attributes || {}).type || "");
  const until = performance.now() + 400, first = [], rest = [];
  let looked = 0;
  for (const el of everything(topOf(document))) {
    if (++looked > 20000 || performance.now() > until) break;
    if (/^(html|head|body|script|style|meta|link|title|noscript|template)$/.test(el.localName)) continue;
    const said = [el.id, testIdOf(el), el.getAttribute("name"), el.getAttribute("class"), el.getAttribute("aria-label"),
      el.getAttribute("placeholder"), el.childElementCount > 3 ? "" : el.textContent.slice(0, 200)].filter(Boolean).join(" ");
    const near = words.size > 0 && [...wordsIn(said), ...wordsOf(said)].some((word) => words.has(word));
    if (near && first.length < 100) first.push(el);
    else if (rest.length < 60 && ((was.tag && el.localName === was.tag) || (was.role && possible(el, kind)))) rest.push(el);
  }
  return [...first, ...rest];
}

// against returns what speaks against an element.
function against(el, was, print, args, scopes, found) {
  const list = [];
  const named = (text) => '"' + clean(text).slice(0, 60) + '"';
  if (found.includes(el)) {
    if (args.why) list.push(args.why);
    if (found.length > 1) list.push(found.length + " elements match, and the step does not say which");
  } else {
    const a = was.attributes || {}, b = print.attributes || {};
    if (scopes && !scopes.some((scope) => contains(scope, el))) list.push("it is outside of what the step says it is within");
    if (was.role && print.role !== was.role) list.push("it is a " + (print.role || print.tag) + ", not a " + was.role);
    else if (!was.role && was.tag && print.tag !== was.tag) list.push("it is a " + print.tag + ", not a " + was.tag);
    const name = print.name || print.text || "", wanted = was.name || was.text || "";
    if (wanted && spoken(name) !== spoken(wanted)) list.push("its name is " + named(name) + ", not " + named(wanted));
    if (was.testId && print.testId !== was.testId) list.push(print.testId ? "its test id is " + named(print.testId) + ", not " + named(was.testId) : "it has no test id");
    if (a.id && a.id !== b.id) list.push(b.id ? "its id is " + named(b.id) + ", not " + named(a.id) : "it has no id");
    if (was.surroundings && !list.length) {
      const other = difference(was, print, { testId: false, name: true, label: false }, kindOf(was.tag, was.role || "", a.type || ""), false);
      if (other) list.push(other);
    }
    if (was.framePath && elsewhere(was, el)) list.push("it is in another frame");
  }
  const hidden = !visible(el);
  if (hidden) list.push("it is not visible");
  if (!enabled(el)) list.push("it is disabled");
  if (!hidden && args.want !== "hover" && args.want !== "") {
    const point = centre(el), got = point && point.whole && hit(el.ownerDocument, point);
    if (got && !contains(el, got) && !contains(got, el)) list.push("it is covered by " + short(got));
  }
  if (!list.length) list.push("the selector does not match it");
  return Array.from(new Set(list)).slice(0, 5);
}

function nearest(args) {
  const was = soughtFor(args.query.selector, args.fingerprint), words = ownWords(was);
  let found = [];
  try {
    found = find({ ...args.query, first: true }, true).slice(0, 20);
  } catch { /* what the selector is within is not there, or is there twice */ }
  const scopes = scopesOf(args.query), ranked = [];
  const until = performance.now() + 800;
  const others = found.length > 0 && args.why ? [] : alikeTo(was, words);
  for (const el of new Set([...found, ...others])) {
    if (performance.now() > until) break;
    const print = candidatePrint(el);
    const own = [print.name, print.text, print.testId, print.attributes.id, print.attributes.name, print.attributes.class].filter(Boolean).join(" ");
    const { score } = compared(was, print);
    ranked.push({ el, print, rank: [found.includes(el) ? 1 : 0, score, Math.max(shared(words, own), shared(words, wordsOf(own).join(" ")))] });
  }
  ranked.sort((x, y) => y.rank[0] - x.rank[0] || y.rank[1] - x.rank[1] || y.rank[2] - x.rank[2]);
  const { outer } = nestingOf(ranked.map((c) => c.el));
  return ranked.filter((c) => c.rank[0] + c.rank[1] + c.rank[2] > 0 && (c.rank[0] || !outer.has(c.el))).slice(0, args.most).map(({ el, print }) => ({
    selector: locate(el) || { type: "css", value: unique(el) }, role: print.role, name: print.name || "", text: (print.text || "").slice(0, 200),
    against: against(el, was, print, args, scopes, found) }));
}

return nearest(arguments[0]);
