// Lasting: which texts will be the same when a test runs again.

// What changes from day to day, or counts: times, dates in words, ages, counters in
// brackets, generated ids.
const moment = /(?<!\d)\d{1,2}:\d{2}(:\d{2})?(?!\d)|\d+\s*(s|secs?|seconds?|mins?|minutes?|hours?|hrs?|days?|weeks?|months?|years?)\s+(ago|left|remaining)\b|\bvor \d+ \p{L}+|\b(just now|today|yesterday|gerade eben|heute|gestern)\b/iu;
const counter = /\s*[([]\s*\d[\d.,kK+]*\s*[)\]]|\s+\d+\+?$/;
const madeText = /[0-9a-f]{8}-[0-9a-f]{4}|\b(?=[a-z]*\d)[0-9a-f]{8,}\b|\d{7,}/i;
const privateUse = /[\ue000-\uf8ff]/;

// lasts reports whether a text is one that a test can find things by.
function lasts(text) {
  return text !== "" && text.length <= 100 && /[\p{L}\p{N}\p{S}\p{P}]/u.test(text) && !privateUse.test(text) && !text.includes("{{") &&
    !moment.test(text) && !madeText.test(text) && !/[([]\s*\d[\d.,kK+]*\s*[)\]]/.test(text);
}

// labelLike reports whether a text says what something is, and is no value itself.
function labelLike(text) {
  return lasts(text) && text.length <= 40 && /\p{L}{2}/u.test(text) && !/\d/.test(text);
}

// lastingPart is what of a text will stay: without counters, and of a long one its
// beginning. It is "" when that is too little.
function lastingPart(text) {
  if (privateUse.test(text)) text = clean(text.replace(/[\ue000-\uf8ff]/g, " "));
  let part = text.replace(counter, "");
  if (part.length > 80) part = part.slice(0, 60).replace(/\s+\S*$/, "");
  return part.length >= 3 && part !== text && lasts(part) ? part : "";
}

// runsIn are the texts in an element as they stand in its text nodes, outside of
// another one, up to a number.
function runsIn(node, without, most) {
  const found = [], walker = dom.owner(node).createTreeWalker(node, NodeFilter.SHOW_TEXT);
  for (let text = walker.nextNode(), looked = 0; text && found.length < most && looked < 300; text = walker.nextNode(), looked++) {
    const up = dom.parent(text);
    if (!up || unread(up) || /^(option|textarea)$/.test(dom.tag(up)) || (without && dom.contains(without, text)) || !dom.rendered(up)) continue;
    const run = clean(dom.text(text));
    if (run !== "" && !found.includes(run)) found.push(run);
  }
  return found;
}
