// Drift: whether the element that a selector finds is another one than the fingerprint
// of the step describes. It contradicts where its name differs, or where it is in
// another row or card; what a page changes by itself does not: numbers and dates in a
// name and beside the first text of a row, case, white space, columns that come and go.
// What is not known contradicts nothing.

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

// otherName returns how the names of two elements contradict each other: "name", or
// "number" where only numbers and dates differ and they count (exact).
function otherName(was, is, kind, exact) {
  const before = nameAs(kind, was.name || was.text), now = nameAs(kind, is.name || is.text);
  if (!before || !now || before === now || (!was.tag && hinted(was, is, kind))) return "";
  if (kind === "plain" && before.length > longestName) return "";
  const label = nameAs(kind, was.label);
  if (label && label === nameAs(kind, is.label)) return "";
  if (wordsAlone(before) !== wordsAlone(now)) return "name";
  return exact && wordsWithNumbers(before).join(" ") !== wordsWithNumbers(now).join(" ") ? "number" : "";
}

// hinted reports whether a text of an element is the name that an incomplete fingerprint
// has. A text without a name may be a part of it.
function hinted(was, is, kind) {
  const own = [is.name, is.text, is.label, is.placeholder, (is.attributes || {}).title, (is.attributes || {}).alt];
  const want = nameAs(kind, was.name || was.text), texts = own.map((text) => nameAs(kind, text)).filter(Boolean);
  return texts.includes(want) || (!was.name && texts.some((text) => text.includes(want) || want.includes(text)));
}

// otherRole reports whether an element is of another family than the role of an
// incomplete fingerprint: of what is pressed, entered in or checked.
function otherRole(was, kind) {
  if (was.tag || !was.role) return false;
  const fields = /^(text|password|select|file|color|range|date|time|month|week|datetime-local|textbox|searchbox|spinbutton|combobox|listbox|slider)$/;
  const family = (kind) => (/^(check|radio)$/.test(kind) ? kind : fields.test(kind) ? "field" : "press");
  return family(kindOf("", was.role, "")) !== family(kind);
}

const wordsWithNumbers = (text) => spoken(text).split(/[^\p{L}\p{M}\p{N}]+/u).filter(Boolean);

// Counts in brackets, prices and parts change by themselves.
const amounts = /\(\s*\d[\d.,]*\+?\s*\)|\p{Sc}\s*\d[\d.,]*|\d[\d.,]*\s*(\p{Sc}|%)/gu;

// ageWords are the words of "3 minutes ago" in the language of the document and in
// English, as the browser knows them.
let knownAges = null;
function ageWords() {
  if (knownAges) return knownAges;
  knownAges = new Set();
  for (const language of [document.documentElement.lang || "en", "en"]) {
    for (const style of ["long", "short"]) {
      try {
        const format = new Intl.RelativeTimeFormat(language, { style });
        for (const unit of ["second", "minute", "hour", "day", "week", "month", "year"]) {
          for (const n of [-1, -2, -5]) for (const word of wordsWithNumbers(format.format(n, unit))) if (!/\d/.test(word)) knownAges.add(word);
        }
      } catch { /* no language that the browser knows */ }
    }
  }
  return knownAges;
}

// identifying are the words of a text that say which row it is of, numbers and dates
// included, amounts and ages left out.
function identifying(text) {
  const words = wordsWithNumbers(spoken(text).replace(amounts, " ")), ages = ageWords(), kept = [];
  for (let i = 0; i < words.length; i++) {
    if (!/^\d+$/.test(words[i]) || !ages.has(words[i + 1])) {
      kept.push(words[i]);
      continue;
    }
    while (ages.has(kept[kept.length - 1])) kept.pop();
    while (ages.has(words[i + 1])) i++;
  }
  return kept;
}

// sameIdentity reports whether two texts are those of one row. Words may have been added
// at the end, but for numbers and dates: "Backup 2" is not "Backup".
function sameIdentity(a, b) {
  const [short, long] = [identifying(a), identifying(b)].sort((x, y) => x.length - y.length);
  return short.length > 0 && short.every((word, i) => word === long[i]) && long.slice(short.length).every((word) => !/\d/.test(word) && !dateWords().has(word));
}

// passes reports whether a text of a row does not say which one it is: its place in the
// list, an amount or an age; of a row that had no like also a date.
const passes = (text, alone) => {
  const words = identifying(text);
  if (!words.length || (/^\W*\d+\W*$/.test(text) && Number(words[0]) <= 100)) return true;
  return alone && /\d/.test(text) && words.every((word) => /^\d+$/.test(word) || dateWords().has(word)) && (words.length > 1 || dateWords().has(words[0]));
};

// textsOf are the texts of a row that are its own, as they are compared.
function textsOf(row, shared, form) {
  return ((row && row.texts) || []).filter((text) => !shared.includes(spoken(text))).map(form).filter(Boolean);
}

// otherTexts reports whether what identifies two rows, of which texts are given, has
// nothing in common. alone: the recorded one had no like.
function otherTexts(left, right, alone) {
  const first = (texts) => texts.find((text) => !passes(text, alone)) || texts[0];
  const within = (text, list) => list.some((other) => spoken(other) === spoken(text) || identifying(other).join(" ") === identifying(text).join(" "));
  const a = first(left), b = first(right);
  return !within(a, right) && !within(b, left) && !sameIdentity(a, b);
}

// toldApart reports whether several elements were alike when one was recorded, of which
// fewer had the same: sameRow or sameContainers.
const toldApart = (around, same) => Boolean(around.alike) && around.alike.count > 1 && around.alike[same] < around.alike.count;

// otherRow reports whether an element is in another row than the recorded one: the row
// that was recorded is elsewhere now, or what identifies the two rows has nothing in
// common. Texts beside an element that is in no row say so in the second way only where
// they told several elements apart.
function otherRow(was, is, el, kind) {
  const before = was.surroundings, around = is.surroundings;
  if (!before || !before.row || !around.row || anchored(was, is, 100)) return false;
  if (before.row.id && before.row.id === around.row.id && keysIn(before.row.id).length > 0) return false;
  const shared = [...namesOf(before)].filter((name) => namesOf(around).has(name));
  const [left, right] = [before.row, around.row].map((row) => textsOf(row, shared, spoken));
  const alone = !before.alike || before.alike.count < 2, several = left.length > 1 && right.length > 1;
  if (!left.length || !right.length || (left[0] === right[0] && !(several && passes(left[0], alone)))) return false;
  if (JSON.stringify(left) === JSON.stringify(right)) return false;
  if (elsewhereNow(was, left, shared, el, kind)) return true;
  if (before.row.kind !== around.row.kind || (before.row.kind !== "item" && !toldApart(before, "sameRow"))) return false;
  // What is around a day or a page number are other numbers.
  if (!letters.test(was.name || was.text || "")) return otherWords(before.row, around.row, shared);
  return otherTexts(left, right, alone);
}

// otherWords compares the first texts of two rows without their numbers and dates.
function otherWords(before, around, shared) {
  const [left, right] = [before, around].map((row) => textsOf(row, shared, wordsAlone));
  if (!left.length || !right.length || right.includes(left[0]) || left.includes(right[0])) return false;
  return !left[0].startsWith(right[0]) && !right[0].startsWith(left[0]);
}

// otherHeading reports whether the nearest heading above an element, which tells it from
// its like, is another one than that of the recorded element: it is in another card.
function otherHeading(was, is, el, kind) {
  const before = was.surroundings, around = is.surroundings, alike = (before && before.alike) || {};
  const headings = [before, around].map((s) => ((s && s.headings) || []).map(spoken));
  const [left, right] = headings.map((list) => list[list.length - 1]);
  if (!left || !right || headings[0].includes(right) || headings[1].includes(left) || sameIdentity(left, right)) return false;
  if (anchored(was, is, 100) || (was.testId && alike.sameTestId === 1 && testIdOf(el) === was.testId)) return false;
  if (!identifying(left).length || !identifying(right).length) return false;
  // A row that is still the same one says more.
  const first = [before.row, around.row].map((row) => row && row.kind === "item" && textsOf(row, [], spoken)[0]);
  if (first[0] && first[0] === first[1]) return false;
  let others = 0, apart = false;
  for (const other of alikeIn(was, el, kind)) {
    if (!visible(other)) continue;
    others++;
    const nearest = spoken(headingsOf(other).pop() || "");
    if (nearest === left) return true;
    apart = apart || nearest !== right;
  }
  return toldApart(before, "sameContainers") && (others === 0 || apart);
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

// shownAs is what people see of an element: its role, its name, and its row or what its
// card is called.
function shownAs(print, other) {
  const around = print.surroundings || {}, texts = other === "heading" ? around.headings.slice(-1) : (around.row || {}).texts;
  return { role: print.role || print.tag || "", name: print.name || print.text || "", row: (texts || []).slice(0, 4) };
}

// driftOf compares an element with a fingerprint; exact: numbers in names count too. It
// returns null where nothing contradicts, else what does: other ("row", "heading",
// "role", "name" or "number"), whether a test id that only the recorded element had is
// the same, and what was expected and found.
function driftOf(was, el, exact) {
  const kind = was.tag ? kindOf(was.tag, was.role || "", (was.attributes || {}).type || (was.tag === "input" ? "text" : "")) : kindIn(el);
  const is = candidatePrint(el), named = otherName(was, is, kind, exact);
  let other = named;
  if (otherRow(was, is, el, kind) || (named && otherEntry(was, el, kind))) other = "row";
  else if (otherHeading(was, is, el, kind)) other = "heading";
  else if (otherRole(was, kind)) other = "role";
  if (!other) return null;
  const alike = (was.surroundings || {}).alike, testId = Boolean(was.testId) && testIdOf(el) === was.testId && (!alike || alike.sameTestId === 1);
  return { other, testId, expected: shownAs(was, other), found: shownAs(is, other) };
}

// sameDrift reports whether a drift is the one that was accepted. What changes by itself
// may have changed since.
function sameDrift(accepted, drift) {
  if (!accepted || accepted.any) return Boolean(accepted);
  if (accepted.other !== drift.other || accepted.testId !== drift.testId) return false;
  const left = accepted.found, right = drift.found, named = drift.other === "number" ? (text) => wordsWithNumbers(text).join(" ") : wordsAlone;
  if (left.role !== right.role || named(left.name) !== named(right.name)) return false;
  return !/^(row|heading)$/.test(drift.other) || !(left.row.length && right.row.length) || !otherTexts(left.row, right.row, false);
}
