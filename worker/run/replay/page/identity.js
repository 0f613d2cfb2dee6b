// Identity: what says of an element which record it belongs to: the words and numbers of
// its ids, where its link leads, and what is around it.

// Ids that begin with these are counted up by a framework.
const frameworks = new Set(("ember mui mat cdk mdc radix react headlessui rc ext extgen gen ngb yui gwt dijit idt jidt bvid chakra downshift " +
  "reach tippy uid guid uuid autogen generated antd el elid").split(" "));

// wordsOf splits an id into words. Numbers are words; hashes are left out.
function wordsOf(id) {
  return (id || "").replace(/:[a-z]?[0-9a-z]*:/g, " ").replace(/[0-9a-f]{8}-[0-9a-f-]{27}/gi, " ")
    .replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase().split(/[^\p{L}\p{N}]+/u)
    .filter((word) => !/^v\d+$/.test(word) && !(word.length >= 5 && /\d[a-z]+\d|[a-z]\d+[a-z]/.test(word)))
    .flatMap((word) => word.match(/\d+|[^\d]+/g) || []);
}

// counted reports whether a framework numbers such ids as it creates elements.
function counted(words) {
  const named = words.filter((word) => !/^\d/.test(word));
  const [first] = named[0] === "j" ? named.slice(1) : named;
  return frameworks.has(first) || (named.length > 0 && named.every((word) => word === "ui" || word === "id"));
}

const numbersOf = (words) => words.filter((word) => /^\d/.test(word)).map((word) => word.replace(/^0+(?=\d)/, ""));
const numbersIn = (text) => numbersOf((text || "").match(/\d+/g) || []);
const sorted = (list) => list.slice().sort().join(" ");

// keysIn returns what only a record has for an id: UUIDs, and long words of letters and
// digits. The hash of a build is short.
const keysIn = (text) => ((text || "").toLowerCase().match(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[a-z0-9]{16,}/g) || [])
  .filter((word) => /\d/.test(word) && /[a-z]/.test(word));

// targetOf is where a link leads to; null for one that only runs a script.
function targetOf(href) {
  if (!href || href === "#" || /^javascript:/i.test(href)) return null;
  try {
    const { origin } = new URL(document.baseURI);
    return new URL(href, origin === "null" ? "http://page/" : origin);
  } catch {
    return null;
  }
}

const namesOf = (around) => new Set([...(around.containers || []).map((c) => spoken(c.name)), ...(around.headings || []).map(spoken)]);

// anchored reports whether an id or an address with a number, which only one element
// had, is still the same. A number up to most may be a position, which another element
// has now.
function anchored(was, is, most = -1) {
  const a = was.attributes || {}, b = is.attributes || {};
  const position = (text) => most >= 0 && numbersIn(text).some((n) => Number(n) <= most);
  const only = (count) => !was.surroundings || count === 1;
  const { sameId, sameHref } = (was.surroundings || {}).alike || {};
  if (only(sameId) && a.id && a.id === b.id && !counted(wordsOf(a.id)) && !position(a.id)) return true;
  return only(sameHref) && Boolean(targetOf(a.href)) && a.href === b.href && /\d/.test(a.href) && !position(a.href);
}

// candidatePrint describes a candidate as the recorded element was.
function candidatePrint(el) {
  const fingerprint = describe(el, false);
  const row = rowOf(el, titleOf(el));
  fingerprint.surroundings = { headings: headingsOf(el), containers: containersOf(el), ...(row ? { row } : {}), alike: {} };
  return fingerprint;
}
