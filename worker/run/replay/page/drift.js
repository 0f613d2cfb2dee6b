// Drift: whether the element that a selector finds is another one than the fingerprint
// of the step describes. It contradicts where its name differs, or where it is in
// another row; what a page changes by itself does not: numbers and dates in a text,
// case, white space, columns that come and go. What is not known contradicts nothing.

// wordsAlone are the words of a text, each once, without numbers and dates: a list says
// the same of each of its entries.
function wordsAlone(text) {
  const plain = spoken(text).replace(/\d+(st|nd|rd|th)\b/g, "").split(/[^\p{L}\p{M}]+/u);
  return [...new Set(plain.filter((word) => !dateWords().has(word)))].join("");
}

// dateWords are the names of months and days in the language of the document and in
// English, as the browser knows them.
let knownDates = null;
function dateWords() {
  if (knownDates) return knownDates;
  knownDates = new Set();
  for (const language of [document.documentElement.lang || "en", "en"]) {
    for (const form of ["long", "short"]) {
      try {
        const month = new Intl.DateTimeFormat(language, { month: form, timeZone: "UTC" }), day = new Intl.DateTimeFormat(language, { weekday: form, timeZone: "UTC" });
        for (let n = 0; n < 12; n++) knownDates.add(spoken(month.format(new Date(Date.UTC(2024, n, 15)))).replace(/\.$/, ""));
        for (let n = 1; n < 8; n++) knownDates.add(spoken(day.format(new Date(Date.UTC(2024, 0, n)))).replace(/\.$/, ""));
      } catch { /* no language that the browser knows */ }
    }
  }
  return knownDates;
}

// A longer text of an element that is no control is what it shows, not what it is.
const longestName = 80;

// otherName reports whether the names of two elements contradict each other.
function otherName(was, is, kind) {
  const before = nameAs(kind, was.name || was.text), now = nameAs(kind, is.name || is.text);
  if (!before || !now || before === now) return false;
  if (kind === "plain" && before.length > longestName) return false;
  const label = nameAs(kind, was.label);
  if (label && label === nameAs(kind, is.label)) return false;
  const left = wordsAlone(before), right = wordsAlone(now);
  return left !== "" && right !== "" && left !== right;
}

// textsOf are the texts of a row that are its own, as they are compared.
function textsOf(row, shared, form) {
  return ((row && row.texts) || []).filter((text) => !shared.includes(spoken(text))).map(form).filter(Boolean);
}

// otherRow reports whether an element is in another row than the recorded one: the row
// that was recorded is elsewhere now, or what the two rows begin with has nothing in
// common. A text beside an element that is in no row only says so in the first way.
function otherRow(was, is, el, kind) {
  const before = was.surroundings, around = is.surroundings;
  if (!before || !before.row || !around.row || anchored(was, is, 100)) return false;
  if (before.row.id && before.row.id === around.row.id && keysIn(before.row.id).length > 0) return false;
  const shared = [...namesOf(before)].filter((name) => namesOf(around).has(name));
  const exact = [before.row, around.row].map((row) => textsOf(row, shared, spoken));
  if (!exact[0].length || !exact[1].length || exact[0][0] === exact[1][0]) return false;
  if (elsewhereNow(was, exact[0], shared, el, kind)) return true;
  if (before.row.kind !== "item" || around.row.kind !== "item") return false;
  const [left, right] = [before.row, around.row].map((row) => textsOf(row, shared, wordsAlone));
  if (!left.length || !right.length || right.includes(left[0]) || left.includes(right[0])) return false;
  return !left[0].startsWith(right[0]) && !right[0].startsWith(left[0]);
}

// alikeIn walks through the other elements of the page that are called as the recorded
// one, for some time at most.
function* alikeIn(was, el, kind) {
  const title = nameAs(kind, was.name || was.text), until = performance.now() + 200;
  let looked = 0;
  for (const other of everything(topOf(el.ownerDocument))) {
    if (++looked > 30000 || performance.now() > until) return;
    if (other === el || !possible(other, kind) || kindIn(other) !== kind) continue;
    if (title ? called(other, title) && nameAs(kind, titleOf(other)) === title : other.localName === was.tag && !titleOf(other)) yield other;
  }
}

// elsewhereNow reports whether another element of the page is in the recorded row.
function elsewhereNow(was, texts, shared, el, kind) {
  const whole = JSON.stringify(texts);
  for (const other of alikeIn(was, el, kind)) {
    if (visible(other) && JSON.stringify(textsOf(rowOf(other, titleOf(other)), shared, spoken)) === whole) return true;
  }
  return false;
}

// otherEntry reports whether the recorded element is another entry of the same list now:
// what has its name stands in another row beside that of the element.
function otherEntry(was, el, kind) {
  const entries = rows + ", [role=option], [role=tab], [role=menuitem]", mine = el.closest(entries);
  if (!mine) return false;
  for (const other of alikeIn(was, el, kind)) {
    const theirs = other.closest(entries);
    if (theirs && theirs !== mine && theirs.parentNode === mine.parentNode && visible(other)) return true;
  }
  return false;
}

// shownAs is what people see of an element: its role, name and row.
function shownAs(print) {
  const row = print.surroundings && print.surroundings.row;
  return { role: print.role || print.tag, name: print.name || print.text || "", row: ((row && row.texts) || []).slice(0, 4) };
}

// driftOf compares an element with a fingerprint. It returns null where nothing
// contradicts, else what does: other ("name" or "row"), whether a test id that only the
// recorded element had is the same, and what was expected and found.
function driftOf(was, el) {
  const kind = kindOf(was.tag, was.role || "", (was.attributes || {}).type || (was.tag === "input" ? "text" : ""));
  const is = candidatePrint(el), named = otherName(was, is, kind);
  let other = "";
  if (otherRow(was, is, el, kind) || (named && otherEntry(was, el, kind))) other = "row";
  else if (named) other = "name";
  if (!other) return null;
  const alike = (was.surroundings || {}).alike, testId = Boolean(was.testId) && testIdOf(el) === was.testId && (!alike || alike.sameTestId === 1);
  return { other, testId, expected: shownAs(was), found: shownAs(is) };
}

// sameDrift reports whether a drift is the one that was accepted. Numbers and dates may
// have changed since.
function sameDrift(accepted, drift) {
  if (!accepted || accepted.any) return Boolean(accepted);
  if (accepted.other !== drift.other || accepted.testId !== drift.testId) return false;
  const left = accepted.found, right = drift.found, texts = (shown) => JSON.stringify((shown.row || []).map(wordsAlone));
  return left.role === right.role && wordsAlone(left.name) === wordsAlone(right.name) && (drift.other !== "row" || texts(left) === texts(right));
}
