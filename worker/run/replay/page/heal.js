// Healing: find the element that a fingerprint describes, in a page whose markup
// has changed. It looks into open shadow roots and frames of the same origin.
//
// The score is the share of the fingerprint that still fits, by weight. Names,
// labels and test ids identify an element; ids and classes are what changes.
// A wrong element is worse than none: one that is called something else is refused,
// and so is one that another is nearly as good as.
//
// args: { fingerprint, want }; result: { found, frames, hosts, selector, score,
// second, reason, fingerprint }

const weights = { testId: 5, name: 4, id: 2, attrName: 2, label: 2, placeholder: 2, text: 2, href: 2, alt: 1, title: 1,
  role: 1.5, tag: 1, type: 1, class: 0.5 };
const identity = ["testId", "name", "id", "attrName", "label", "placeholder", "text", "href"];
const words = { testId: "test id", attrName: "name attribute", name: "accessible name", href: "address" };
const least = 0.7, apart = 0.12;

// alike compares two texts: 1 for the same, else the share of common words.
function alike(a, b) {
  a = clean(a).toLowerCase();
  b = clean(b).toLowerCase();
  if (!a || !b) return 0;
  if (a === b) return 1;
  const left = new Set(a.split(" ")), right = new Set(b.split(" "));
  let both = 0;
  for (const word of left) if (right.has(word)) both++;
  return (2 * both) / (left.size + right.size);
}

// fits reports whether the action can be done to such an element at all.
function fits(el, want) {
  switch (want) {
    case "fill": return el.isContentEditable || (el.matches("input, textarea") &&
      (el.localName === "textarea" || texts.includes(el.type) || setters.includes(el.type)));
    case "select": return el.localName === "select";
    case "file": return el.localName === "input" && el.type === "file";
    default: return true;
  }
}

function featuresOf(fingerprint) {
  const a = fingerprint.attributes || {};
  return { testId: fingerprint.testId, name: fingerprint.name, id: a.id, attrName: a.name, label: fingerprint.label,
    placeholder: fingerprint.placeholder, text: fingerprint.text, href: a.href, alt: a.alt, title: a.title, role: fingerprint.role,
    tag: fingerprint.tag, type: a.type, class: a.class };
}

function compare(want, got) {
  let total = 0, earned = 0, known = 0;
  const same = [], other = [];
  for (const key of Object.keys(weights)) {
    if (!want[key]) continue;
    total += weights[key];
    const soft = key === "name" || key === "text" || key === "label" || key === "placeholder" || key === "class";
    const part = soft ? alike(want[key], got[key]) : Number(want[key] === got[key]);
    earned += part * weights[key];
    if (identity.includes(key)) known += part * weights[key];
    if (part === 1) same.push(words[key] || key);
    else other.push(words[key] || key);
    // These distinguish one thing from its like: another value is another thing.
    if ((key === "testId" || key === "href") && got[key] && part < 1) earned -= 2;
  }
  const sure = Boolean(want.testId) && want.testId === got.testId;
  if (want.name && got.name && alike(want.name, got.name) < 0.5 && !sure) return null;
  if (!total || known < 2) return null;
  let reason = "same " + same.join(", ");
  if (other.length) reason += "; other " + other.join(", ");
  return { score: Math.max(0, earned / total), reason };
}

// everything walks through a document with its open shadow roots and frames.
function* everything(root) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT);
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

function heal(args) {
  const want = featuresOf(args.fingerprint);
  const until = performance.now() + 1000;
  const candidates = [];
  let looked = 0;
  for (const el of everything(document)) {
    if (++looked > 30000 || performance.now() > until) return { found: false, reason: "the page is too large" };
    if (!fits(el, args.want)) continue;
    // One of the two must be the same: naming every element would take long.
    if (el.localName !== want.tag && roleOf(el) !== want.role) continue;
    if (args.want !== "file" && !visible(el)) continue;
    const fingerprint = describe(el);
    const result = compare(want, featuresOf(fingerprint));
    if (result) candidates.push({ el, fingerprint, ...result });
  }
  candidates.sort((a, b) => b.score - a.score);
  const best = candidates[0];
  if (!best) return { found: false };
  // What is inside of the best one, or around it, is no other place to act on.
  const next = candidates.find((c) => c !== best && !contains(c.el, best.el) && !contains(best.el, c.el));
  const second = next ? next.score : 0;
  if (best.score < least || best.score - second < apart) return { found: false, score: best.score, second };
  // Frames are entered from here, so their path begins at this document.
  const outer = framesAround(document.documentElement).length;
  return { found: true, frames: best.fingerprint.framePath.slice(outer), hosts: best.fingerprint.shadowPath,
    selector: unique(best.el), score: best.score, second, reason: best.reason, fingerprint: best.fingerprint };
}

return heal(arguments[0]);
