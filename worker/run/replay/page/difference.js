// Differences: why an element is another one than a fingerprint describes, although it
// is called the same. Each rule stands for itself; nothing outweighs another.

// Words of ids that say nothing about what an element is for.
const plainWords = new Set(("a an and the of for in on btn button link anchor icon img cta input field control ctrl textfield text txt box " +
  "element el id ui app js page view form header footer main nav navbar toolbar menu sidebar side bar top bottom panel section " +
  "container wrapper wrap modal dialog item row col cell list table primary secondary action submit new old main my the lnk").split(" "));
// Words that name opposite things: one of a line is never taken for another of it.
const opposites = ["billing invoice|shipping delivery", "login signin|signup register registration|newsletter subscribe|contact|forgot reset",
  "current old|new", "confirm confirmation repeat again|new current", "first given|last family surname",
  "from start begin departure source origin|to end until return arrival target destination", "home private|work business office",
  "sender|recipient receiver", "min minimum|max maximum", "next forward|prev previous back", "add create plus increase increment|" +
  "remove delete minus decrease decrement", "accept approve allow yes|reject decline deny no", "buyer customer|seller vendor",
  "edit|delete remove|copy duplicate", "import|export", "upload|download", "open|close", "show|hide", "enable|disable"]
  .map((line) => line.split("|").map((side) => side.split(" ")));

// otherNumbers reports whether two ids are those of different records.
function otherNumbers(a, b, field) {
  const was = wordsOf(a), is = wordsOf(b);
  if (counted(was) || counted(is)) return false;
  const keys = [keysIn(a), keysIn(b)];
  if (!field && keys[0].length > 0 && keys[1].length > 0 && sorted(keys[0]) !== sorted(keys[1])) return true;
  // A library numbers its fields, whose labels identify them.
  const control = (words) => words.every((word) => /^\d|^(input|field|control|textfield|form)$/.test(word));
  if (field && control(was) && control(is)) return false;
  const left = numbersOf(was), right = numbersOf(is);
  return left.length > 0 && right.length > 0 && sorted(left) !== sorted(right);
}

// meaning returns the words of an id beyond the name of its element.
function meaning(id, title) {
  const name = spoken(title), joined = name.replace(/[^\p{L}\p{N}]/gu, "");
  return wordsOf(id).filter((word) => !/^\d/.test(word) && !plainWords.has(word) && !joined.includes(word) &&
    !name.split(/[^\p{L}\p{N}]+/u).some((n) => n.length > 3 && word.startsWith(n.slice(0, 4))));
}

const disjoint = (a, b) => a.length > 0 && b.length > 0 && !a.some((word) => b.includes(word));

// otherRecord reports whether two ids have the same form and name different records:
// edit-alice and edit-bob.
function otherRecord(a, b, title) {
  if (!a || !b || a === b) return false;
  const was = wordsOf(a), is = wordsOf(b);
  if (was.length !== is.length || was.length < 2 || was.filter((word, i) => word !== is[i]).length !== 1) return false;
  return disjoint(meaning(a, title), meaning(b, title));
}

// opposite reports whether the ids of two elements say the contrary.
function opposite(was, is) {
  const left = new Set(was.flatMap(wordsOf)), right = new Set(is.flatMap(wordsOf));
  const has = (set, side) => side.some((word) => set.has(word));
  return opposites.some((sides) => sides.some((a, i) => sides.some((b, j) =>
    i !== j && has(left, a) && !has(left, b) && has(right, b) && !has(right, a))));
}

const recordWords = /^(edit|view|show|open|delete|remove|details?|profile|settings|follow|download|print|copy|share|history)$/i;
const passing = /^(utm_.*|ref|v|ver|version|ts|t|_|cache|token|sid|session.*|csrf.*|nonce|sig|signature|lang|locale|hl)$/i;

// otherTarget reports whether two addresses lead to different records or pages of one
// kind: /orders/17 and /orders/18, /users/ada/edit and /users/bob/edit.
function otherTarget(a, b, title) {
  const was = targetOf(a), is = targetOf(b);
  if (!was || !is) return false;
  const scheme = (url) => url.protocol.replace("https:", "http:"), host = (url) => url.host.replace(/^www\./, "");
  if (scheme(was) !== scheme(is) || host(was) !== host(is)) return true;
  if (scheme(was) !== "http:") return was.pathname !== is.pathname; // mailto:, tel:
  const split = (path) => path.split("/").filter((part) => part && !/^v\d+$/.test(part)).map(decodePart);
  const paths = [split(was.pathname), split(is.pathname)], hashes = [split(was.hash.replace(/^#!?/, "")), split(is.hash.replace(/^#!?/, ""))];
  const values = [was, is].map((url) => Array.from(url.searchParams).filter(([key]) => !passing.test(key)).map(([, value]) => value));
  const all = [0, 1].map((i) => [...paths[i], ...values[i], ...hashes[i]]);
  const numbers = all.map((list) => numbersIn(list.join(" ")));
  if (numbers[0].length > 0 && sorted(numbers[0]) !== sorted(numbers[1])) return true;
  for (const [key, value] of was.searchParams) {
    if (passing.test(key) || !is.searchParams.has(key) || is.searchParams.get(key) === value) continue;
    return true;
  }
  // Another value of another parameter.
  if (values[0].some((value) => !all[1].includes(value)) && values[1].some((value) => !all[0].includes(value))) return true;
  return otherPath(paths[0], paths[1], title) || otherPath(hashes[0], hashes[1], title);
}

// otherPath reports whether two paths differ in the part that names a record or page.
function otherPath(left, right, title) {
  const other = left.map((part, i) => [part, right[i]]).filter(([x, y]) => x !== y);
  if (left.length !== right.length || other.length !== 1) return false;
  const [x, y] = other[0];
  // The page that the name says was moved: /a/jobs, /company/jobs.
  if (x === left[0] && near(left[left.length - 1], title) && !recordWords.test(left[left.length - 1])) return false;
  if (x.length === 2 && y.length === 2) return false; // languages
  const stem = (word) => word.replace(/s$/, "");
  return stem(x) !== stem(y) && !near(x, title) && !near(y, title);
}

// decodePart decodes a part of a path; the numbers of escapes are no numbers.
function decodePart(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

// near reports whether a part of an address says the name of its link.
function near(part, title) {
  const name = spoken(title).replace(/[^\p{L}\p{N}]/gu, "");
  return wordsOf(part).some((word) => word.length > 2 && (name.includes(word) || (word.length > 3 && name.includes(word.slice(0, 4)))));
}

// compareRows returns "same", "other", "gone" when nothing stands beside it any more, or
// "" when it is not known. The first text of a
// row says which one it is; columns may come and go. What both are under, a heading or
// a container, does not tell them apart.
function compareRows(before, around) {
  const was = before && before.row, is = around && around.row;
  const shared = [...namesOf(before || {})].filter((name) => namesOf(around || {}).has(name));
  const plain = (row) => ((row && row.texts) || []).map((text) => spoken(text).split(" ").filter((word) => /[\p{L}\p{N}]/u.test(word)).join(" "))
    .filter((text) => text && !shared.includes(text));
  const left = plain(was), right = plain(is);
  if (left.length && right.length) {
    const a = numbersIn(left.join(" ")), b = numbersIn(right.join(" "));
    const within = (x, y) => x.every((n) => y.includes(n));
    if (a.length && b.length && !within(a, b) && !within(b, a)) return "other";
    const first = (list) => list.find((text) => letters.test(text)) || list[0];
    if (first(left) !== first(right)) return "other";
    if (left.every((text) => right.includes(text))) return "same";
    const kept = right.filter((text) => left.includes(text));
    return kept.length === right.length && 2 * kept.length >= left.length ? "same" : "other";
  }
  if (left.length && was.kind === "item") return "other";
  if (left.length) return left.some((text) => namesOf(around || {}).has(text)) ? "" : "gone";
  return right.length && is.kind === "item" ? "other" : "";
}

const subsequence = (part, whole) => {
  let i = 0;
  for (const text of whole) if (text === part[i]) i++;
  return i === part.length;
};

// otherHeadings reports whether an element is under other headings. New ones may have
// come above it; one that it was under must not have left the page.
function otherHeadings(was, is, alone) {
  const named = (around) => [...(around.containers || []).map((c) => spoken(c.name)), ...((around.row || {}).texts || []).map(spoken)];
  // What is a heading for one may be the name or a text of what is around the other.
  const own = [was, is].map((around) => (around.headings || []).map(spoken));
  const left = own[0].filter((text) => own[1].includes(text) || !named(is).includes(text));
  const right = own[1].filter((text) => own[0].includes(text) || !named(was).includes(text));
  if (sorted(left) === sorted(right)) return false;
  if (subsequence(left, right)) return !alone;
  if (!subsequence(right, left) || !alone) return true;
  const shown = new Set(Array.from(document.querySelectorAll(headingTags)).filter(visible).map((h) => spoken(shortText(h.textContent))));
  return left.some((text) => !right.includes(text) && !shown.has(text));
}

const innermostOf = (list, role) => list.filter((c) => c.role === role).pop();
// otherPopup reports whether one of two elements is in a dialog or menu that the other
// is not in.
function otherPopup(was, is, role) {
  const left = innermostOf(was.containers || [], role), right = innermostOf(is.containers || [], role);
  if (!left && !right) return false;
  // What stands beside it says that it was only put in a dialog.
  if (!left) return !(right.name && namesOf(was).has(spoken(right.name))) && compareRows(was, is) !== "same";
  if (!right) return !left.name || !namesOf(is).has(spoken(left.name));
  return Boolean(left.name && right.name) && spoken(left.name) !== spoken(right.name);
}

const choice = /^(group|radiogroup|tabpanel)$/;
const family = (role) => (/^(group|radiogroup|region|tabpanel)$/.test(role) ? "group" : role);

// purposeOf returns the words of the ids and actions of a container.
const purposeOf = (c) => [counted(wordsOf(c.id)) ? "" : c.id, c.action].flatMap((text) => meaning(text, "")).map((word) => word.replace(/s$/, ""));

// otherPurpose returns the role of a container whose id and action say that it is for
// something else. One that has a name is compared by that.
function otherPurpose(was, is) {
  for (const left of was.containers || []) {
    const list = (is.containers || []).filter((c) => family(c.role) === family(left.role));
    const same = (c) => (left.name && spoken(left.name) === spoken(c.name)) || (left.id && left.id === c.id) || (left.action && left.action === c.action);
    const right = list[list.length - 1];
    if (right && !list.some(same) && disjoint(purposeOf(left), purposeOf(right))) return left.role;
  }
  return "";
}

// otherContainer returns the role of the form, group, region or table that an element
// is in and the recorded one was not.
function otherContainer(was, is, kind, alone) {
  const names = namesOf(is), before = namesOf(was), nearby = ((was.row || {}).texts || []).map(spoken);
  for (const left of was.containers || []) {
    if (/^(dialog|menu)$/.test(left.role) || !left.name || names.has(spoken(left.name))) continue;
    const right = (is.containers || []).filter((c) => family(c.role) === family(left.role) && c.name && !before.has(spoken(c.name))).pop();
    const same = right && ((left.id && left.id === right.id) || (left.action && left.action === right.action));
    if (right && !same) return left.role;
    if (!right && (!alone || (choice.test(left.role) && /^(radio|check)$/.test(kind)))) return left.role;
  }
  for (const right of is.containers || []) {
    if (/^(dialog|menu)$/.test(right.role) || !right.name || before.has(spoken(right.name)) || nearby.includes(spoken(right.name))) continue;
    if (!alone && !(was.containers || []).some((c) => c.role === right.role && c.id && c.id === right.id)) return right.role;
  }
  return "";
}

// otherNumbersAround reports whether a form, dialog or row around an element is that
// of another record, by its id or address.
function otherNumbersAround(was, is) {
  if (was.row && is.row && otherNumbers(was.row.id, is.row.id)) return true;
  return (was.containers || []).some((left) => {
    const right = innermostOf(is.containers || [], left.role);
    return Boolean(right) && (otherNumbers(left.id, right.id) || otherTarget(left.action, right.action, left.name));
  });
}

// otherHost reports whether an element is in the shadow root of another host, by the ids
// or the test ids of the innermost hosts that have one.
function otherHost(was, is) {
  const named = (path) => (path || []).filter((host) => /^(#[^\s>]+|\[[^\]]+\])$/.test(host) && !counted(wordsOf(host))).pop() || "";
  const left = named(was.shadowPath), right = named(is.shadowPath);
  const kind = (host) => (host.startsWith("[") ? host.split("=")[0] : host.slice(0, 1));
  return left !== "" && kind(left) === kind(right) && wordsOf(left).join(" ") !== wordsOf(right).join(" ");
}

// difference returns why an element is another one; "" when nothing says so. how is
// what identifies it, alone whether it was and is the only one of its name.
function difference(was, is, how, kind, alone) {
  const a = was.attributes || {}, b = is.attributes || {};
  const title = was.name || was.text || "";
  const field = /^(text|select|password|check|radio|date|time|file)$/.test(kind) && how.label;
  for (const name of ["id", "name", "for", "data-id"]) {
    if (name === "data-id" && a[name] && b[name] && a[name] !== b[name]) return "its data-id differs";
    if (otherNumbers(a[name], b[name], field)) return "the numbers in its " + (name === "name" ? "name attribute" : name) + " differ";
  }
  if (otherNumbers(was.testId, is.testId)) return "the numbers in its test id differ";
  if (otherTarget(a.href, b.href, title)) return "it leads to another address";
  const before = was.surroundings || {}, around = is.surroundings || {};
  if (otherNumbersAround(before, around)) return "what is around it belongs to another record";
  if (otherHost(was, is)) return "it is in the shadow root of another host";
  const translated = how.testId && !how.name;
  const row = compareRows(before, around);
  if (translated) {
    const left = numbersIn(((before.row || {}).texts || []).join(" ")), right = numbersIn(((around.row || {}).texts || []).join(" "));
    if (left.length && right.length && sorted(left) !== sorted(right)) return "the numbers in its row differ";
    // Its own name may be translated; of what a row says something must be left.
    const texts = [before, around].map((s) => ((s.row && s.row.kind === "item" && s.row.texts) || []).map(spoken));
    return texts[0].length && !texts[0].some((text) => texts[1].includes(text)) ? "it is in another row" : "";
  }
  const known = Boolean(was.surroundings);
  if (row === "other" && (known || !anchored(was, is))) return "it is in another row";
  if (!known) return "";
  if (row === "gone" && !how.testId && !anchored(was, is)) return "what stood beside it is gone";
  if (!how.testId && unknownRow(before.row || {}, around.row || {}) && !anchored(was, is, 100)) return "what is in the fields of its row is not known";
  if (otherPopup(before, around, "dialog")) return "it is in another dialog";
  if (how.testId) return "";
  if (disjoint(meaning(was.testId, title), meaning(is.testId, title))) return "it has another test id";
  const ids = (f, x) => [f.testId, x.id, x.name, x.autocomplete];
  const places = (s) => (s.containers || []).flatMap((c) => [c.id, c.action]);
  if (opposite([...ids(was, a), ...places(before)], [...ids(is, b), ...places(around)])) return "its ids say the contrary";
  if (!alone && (otherRecord(a.id, b.id, title) || otherRecord(a.name, b.name, title))) return "its id is that of another record";
  if (otherPopup(before, around, "menu")) return "it is in another menu";
  const step = innermostOf(before.containers || [], "step"), now = innermostOf(around.containers || [], "step");
  if (step && now && spoken(step.name) !== spoken(now.name)) return "it is in another step";
  if (otherHeadings(before, around, alone)) return "it is under another heading";
  const container = otherContainer(before, around, kind, alone) || otherPurpose(before, around);
  return container ? "it is in another " + container : "";
}

// unknownRow reports whether a row says by its fields alone which one it is. A key with
// a small number may be a position.
const unknownRow = (was, is) => (was.kind === "fields" || is.kind === "fields") &&
  !(was.id && was.id === is.id && !numbersIn(was.id).some((n) => Number(n) <= 100));
