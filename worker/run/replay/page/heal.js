// Healing: find the element that a fingerprint describes, in a page whose markup
// has changed. It looks into open shadow roots and frames of the same origin.
//
// A wrong element is worse than none. What is found must have a test id that is and was
// the only one, or the recorded accessible name or label; nothing may say that it is
// another thing (difference.js); and no other element may be as good, seen or not. How
// many were alike decides, too: when the page had three "Delete" and has two, the one
// that is meant may be the one that is gone.
//
// args: { fingerprint, want, query, quiet, last }; result: { found, frames, hosts,
// selector, score, reason, fingerprint }. A page that is not at rest is searched in
// the last attempt only.

const pressable = (kind) => !/^(check|radio|text|password|select|file|color|range|date|time|month|week|datetime-local)$/.test(kind);

// What only shows a text is what it says: another text is another element, whatever its
// level, its place or its test id.
const showsText = /^(heading|paragraph|caption|term|definition|blockquote|time|status|note)$/;

class None extends Error {}

// candidatesOf returns the elements that are called as the recorded one, with all that
// have its test id.
function candidatesOf(was, kind, scopes) {
  const title = nameAs(kind, was.name || was.text), label = nameAs(kind, was.label);
  const until = performance.now() + 1000;
  const named = [], tested = [];
  let looked = 0;
  for (const el of everything(topOf(document))) {
    if (++looked > 50000 || performance.now() > until) throw new None("the page is too large");
    const sameId = Boolean(was.testId) && testIdOf(el) === was.testId;
    if (scopes && !scopes.some((scope) => contains(scope, el))) continue;
    if (sameId) tested.push(el);
    if (!possible(el, kind) || !like(kind, kindIn(el))) continue;
    const sameName = Boolean(title) && called(el, title) && nameAs(kind, titleOf(el)) === title;
    const sameLabel = Boolean(label) && nameAs(kind, labelOf(el)) === label;
    if (sameName || sameLabel) named.push({ el, how: { testId: sameId, name: sameName, label: sameLabel } });
  }
  const { outer } = nestingOf(named.map((c) => c.el));
  const innermost = named.filter((c) => !outer.has(c.el));
  if (innermost.length > 200) throw new None(innermost.length + " elements have its name");
  return { called: innermost, tested };
}

// choose returns the element that the fingerprint describes, or throws why there is none.
function choose(was, want, scopes) {
  const kind = kindOf(was.tag, was.role || "", (was.attributes || {}).type || (was.tag === "input" ? "text" : ""));
  const recorded = was.surroundings && was.surroundings.alike;
  const { called, tested } = candidatesOf(was, kind, scopes);
  if (tested.length === 1 && (!recorded || recorded.sameTestId === 1)) {
    const el = tested[0], is = kindIn(el);
    if (is !== kind && !(pressable(is) && pressable(kind))) throw new None("the element with the test id is of another kind");
    const name = nameAs(kind, titleOf(el)) === nameAs(kind, was.name || was.text);
    if (!name && showsText.test(was.role || "")) throw new None("it is another " + was.role);
    if (elsewhere(was, el)) throw new None("it is in another frame");
    return usable({ el, how: { testId: true, name, label: false } }, was, kind, true, want);
  }
  const list = tested.length > 1 ? called.filter((c) => c.how.testId) : called;
  if (!list.length) throw new None("");
  for (const c of list) c.print = candidatePrint(c.el);
  const alone = list.length === 1 && (!recorded || recorded.count === 1);
  for (const c of list) c.other = elsewhere(was, c.el) ? "it is in another frame" : difference(was, c.print, { ...c.how, testId: false }, kind, alone);
  let left = list.filter((c) => !c.other);
  if (!left.length) throw new None(list.length === 1 ? list[0].other : "");
  // An address or id that only one of them has, and had, decides.
  const fewer = Boolean(recorded) && list.length < recorded.count;
  const sure = left.filter((c) => anchored(was, c.print, fewer ? recorded.count : -1));
  if (left.length > 1 && sure.length === 1) left = sure;
  if (left.length > 1) throw new None(left.length + " elements have its name");
  const [found] = left;
  if (!alone && !vouched(was, found, recorded, list.length)) {
    throw new None(recorded && list.length < recorded.count ? "there were " + recorded.count + " of its name, and the one meant may be gone" :
      "there are others of its name");
  }
  return usable(found, was, kind, alone, want);
}

// vouched reports whether something says that this is the one among several of the same
// name: its id or address, its row, or where it is.
function vouched(was, found, recorded, count) {
  if (anchored(was, found.print, recorded && count < recorded.count ? recorded.count : -1)) return true;
  if (!recorded) return false;
  const around = was.surroundings, is = found.print.surroundings;
  if (recorded.sameRow === 1 && compareRows(around, is) === "same") return true;
  if (recorded.sameContainers !== 1) return false;
  // A container without a name is another where its id or action is.
  const parts = (s, part) => JSON.stringify([(s.headings || []).map(spoken), (s.containers || []).map(part)]);
  const named = (c) => [c.role, c.name ? spoken(c.name) : [c.id, c.action]];
  if (count >= recorded.count) return parts(around, named) === parts(is, named);
  // The one meant may be gone: another may be under the same headings.
  const whole = (c) => [c.role, spoken(c.name), c.id, c.action];
  return (around.containers || []).some((c) => c.name || c.id || c.action) && parts(around, whole) === parts(is, whole);
}

// usable returns a candidate that can be acted on.
function usable(c, was, kind, alone, want) {
  c.print = c.print || candidatePrint(c.el);
  const other = c.other === undefined ? difference(was, c.print, c.how, kind, alone) : c.other;
  if (other) throw new None(other);
  if (!fits(c.el, want)) throw new None("the step cannot act on it");
  if (want !== "file" && !visible(c.el)) throw new None("it is not visible");
  if (want !== "hover" && want !== "scroll" && !enabled(c.el)) throw new None("it is disabled");
  return c;
}

// present reports whether the step's own selector finds something after all, be it
// another one of several than the step means.
function present(query) {
  try {
    return find({ ...query, selector: { ...query.selector, index: null } }, true).length > 0;
  } catch {
    return true;
  }
}

// rest watches for a time whether elements come or go.
async function rest(time) {
  let changes = document.readyState !== "complete";
  const observer = new MutationObserver((list) => {
    changes = changes || list.some((m) => [...m.addedNodes, ...m.removedNodes].some((n) => n.nodeType === Node.ELEMENT_NODE));
  });
  observer.observe(document, { childList: true, subtree: true });
  await new Promise((done) => setTimeout(done, time));
  observer.disconnect();
  return !changes;
}

async function heal(args) {
  let found;
  try {
    const still = await rest(args.quiet);
    if (present(args.query) || (!still && !args.last)) return { found: false };
    found = choose(args.fingerprint, args.want, scopesOf(args.query));
  } catch (e) {
    if (e instanceof None) return { found: false, reason: e.message };
    throw e;
  }
  // Frames are entered from here, so their path begins at this document.
  const outer = framesAround(document.documentElement).length;
  const fingerprint = describe(found.el);
  // Selectors reach into shadow roots, but for paths.
  const selector = locate(found.el);
  return { found: true, frames: fingerprint.framePath.slice(outer), hosts: selector ? [] : fingerprint.shadowPath,
    selector: selector || { type: "css", value: unique(found.el) }, ...compared(args.fingerprint, found.print), fingerprint };
}

return heal(arguments[0]);
