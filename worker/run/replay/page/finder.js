// Finder: the selector by which a test finds an element again. It is what people know
// the element by, as long as that finds nothing else; then the same within a row,
// dialog or section that they know; then where it stands beside a text; and only then
// what the code calls it, or where it is in the document. Each is tried as a replay
// evaluates it.

const finderTries = 80;

// newFinder returns what is remembered while elements of one document are looked for.
function newFinder(doc) {
  return { doc, look: newLook(doc, false), tries: 0 };
}

// foundBy returns the only element that a selector finds, else null.
function foundBy(selector, finder) {
  if (++finder.tries > finderTries) return null;
  try {
    const found = evaluate(selector, finder.doc, finder.look, true);
    return found.length === 1 ? found[0] : null;
  } catch {
    return null;
  }
}

// selectorFor returns the selector of an element, with the element that it finds: in
// place of one without a role that reacts to presses it may be the text in it.
// blind: the content of the element itself, which may be what a test compares, is not
// used.
function selectorFor(el, finder, blind) {
  finder.tries = 0;
  const own = ownWays(el, finder, blind);
  const only = (selector) => {
    const { inner, bare, ...plain } = selector;
    const found = foundBy(plain, finder);
    return found && (found === el || (inner && dom.contains(el, found) && !ownPress(found, el))) ? { selector: plain, found } : null;
  };
  const first = (list) => {
    for (const selector of list) {
      const got = only(selector);
      if (got) return got;
    }
    return null;
  };
  const known = own.filter((selector) => !selector.bare), bare = own.filter((selector) => selector.bare);
  return first(known) || anchored(el, known, finder, only) || first(codeNames(el)) || anchored(el, codeNames(el), finder, only) ||
    (blind && (first(bare.filter((selector) => announces.has(selector.value))) || (isLabelledValue(el) && first(besideText(el, finder))) || first(codeIds(el)))) || first(bare) ||
    anchored(el, bare, finder, only) || first(besideText(el, finder)) || first(codeMarks(el)) || first(codeIds(el)) || (blind ? placed(el, bare, finder, only) : first(passing(el, finder))) ||
    first(besideText(el, finder, true)) || countedBeside(el, finder) || first(classesOf(el)) || byPlace(el, finder);
}

// isLabelledValue reports whether what stands before an element says what its text is.
function isLabelledValue(el) {
  return dom.tag(el) === "dd" || /\p{L}:$/u.test(nextRun(el, "preceding", 4));
}

// ownPress reports whether a text in an element is that of a link or button of its own: its press
// is not the one of the element.
function ownPress(found, el) {
  for (let node = found; node && node !== el; node = parentOf(node)) {
    if (dom.matches(node, "a, button, summary, input, select, textarea, [role=button], [role=link], [role=menuitem], [role=option], [role=tab]")) return true;
  }
  return false;
}

const untold = wordSet("none presentation generic document paragraph rowgroup strong emphasis code");
const announces = wordSet("status alert log"); // of which a page has one
const byTexts = wordSet("row listitem treeitem article option gridcell group tabpanel list");

// ownWays are selectors by what people know of an element. bare ones say only what
// kind of an element it is.
function ownWays(el, finder, blind) {
  const { look } = finder, list = [], tag = tagOf(el);
  const role = unseen(el, look) ? "" : roleIn(el, look), name = nameOf(el, look);
  for (const attribute of testIds) {
    const value = dom.attribute(el, attribute);
    if (value && value.length <= 200 && !made(value)) list.push({ type: "testId", value });
  }
  const told = role !== "" && !untold.has(role);
  const content = fromContent.has(role) && !dom.has(el, "aria-label") && !dom.has(el, "aria-labelledby");
  if (told && !(blind && content) && role !== "row") {
    if (lasts(name)) list.push({ type: "role", value: role, name, exact: true });
    else if (lastingPart(name)) list.push({ type: "role", value: role, name: lastingPart(name) });
  }
  if (dom.matches(el, labelled)) {
    for (const text of labelsOf(el, look)) if (lasts(collapsed(text)) && !(blind && tag === "button")) list.push({ type: "label", value: collapsed(text), exact: true });
  }
  for (const [type, attribute] of [["placeholder", "placeholder"], ["altText", "alt"], ["title", "title"]]) {
    const value = collapsed(dom.attribute(el, attribute));
    if (lasts(value)) list.push({ type, value, exact: true });
  }
  if (!blind) list.push(...textWays(el, role, told, finder));
  if (told && !unnamed.has(role)) list.push({ type: "role", value: role, bare: true });
  else if (!/^(div|span|p|b|i|em|strong|td|li|body|html|a)$/.test(tag) && !el.ownerSVGElement) list.push({ type: "css", value: CSS.escape(tag), bare: true });
  return list;
}

// textWays are selectors by the text of an element. Rows and entries are found by one
// of the texts in them; so is what reacts to presses and has no role.
function textWays(el, role, told, finder) {
  const list = [];
  if (/^(input|select|textarea|html|body|iframe)$/.test(tagOf(el))) return list;
  const large = dom.text(el).length > 500 || dom.all(el, "a[href], button, input, select, textarea").length > 0;
  const text = collapsed(textOf(el, finder.look)), several = runsIn(el, null, 6);
  // The texts of blocks stand beside each other in the document without a space.
  const whole = several.length < 2 || (text.length <= 100 && clean(el.innerText) === text);
  if (lasts(text) && whole) list.push({ type: "text", value: text, exact: true, inner: !told && !large });
  if (byTexts.has(role)) {
    for (const run of several) if (lasts(run) && run.length > 1) list.push({ type: "role", value: role, hasText: run });
  } else if (!told && !large) {
    for (const run of several) if (lasts(run) && run !== text) list.push({ type: "text", value: run, exact: true, inner: true });
  }
  if (!lasts(text) && whole && lastingPart(text)) list.push({ type: "text", value: lastingPart(text), inner: !told });
  return list;
}

const namedAnchors = wordSet(`dialog alertdialog form group radiogroup region navigation tabpanel menu menubar toolbar search table grid list listbox
  tree article main complementary banner contentinfo figure`);
const textAnchors = wordSet("row listitem article treeitem dialog alertdialog group region tabpanel form option");

// anchored returns a selector of an element within something around it.
function anchored(el, own, finder, only) {
  if (own.length === 0) return null;
  for (let node = parentOf(el), depth = 0; node && depth < 40; node = parentOf(node), depth++) {
    for (const anchor of anchorsOf(node, el, finder)) {
      if (foundBy(anchor, finder) !== node) continue;
      for (const selector of own) {
        const got = only({ ...selector, within: anchor });
        if (got) return got;
      }
      break; // by another name the same element holds the same
    }
    if (finder.tries > finderTries) return null;
  }
  return null;
}

// anchorsOf are the selectors by which people know what is around an element.
function anchorsOf(node, el, finder) {
  const { look } = finder, list = [], tag = tagOf(node);
  const role = unseen(node, look) ? "" : roleIn(node, look);
  for (const attribute of testIds) {
    const value = dom.attribute(node, attribute);
    if (value && value.length <= 200 && !made(value)) list.push({ type: "testId", value });
  }
  if (namedAnchors.has(role)) {
    const name = nameOf(node, look);
    if (lasts(name) && name.length <= 60) list.push({ type: "role", value: role, name, exact: true });
  }
  if (textAnchors.has(role)) {
    const runs = runsIn(node, el, 8).filter((run) => lasts(run) && run.length > 1 && run.length <= 60);
    // What says which one it is has letters and no numbers.
    runs.sort((a, b) => Number(labelLike(b)) - Number(labelLike(a)));
    for (const run of runs.slice(0, 5)) list.push({ type: "role", value: role, hasText: run });
  }
  if (/^(dialog|alertdialog|main|navigation|search|banner|contentinfo|table|grid|tree|listbox|menu)$/.test(role)) list.push({ type: "role", value: role });
  if (/^(form|section|fieldset|article|aside|table)$/.test(tag)) {
    for (const heading of Array.from(dom.all(node, "h1, h2, h3, h4, h5, h6, legend, caption")).slice(0, 2)) {
      const text = collapsed(textOf(heading, look));
      if (lasts(text) && !dom.contains(heading, el)) list.push({ type: "css", value: tag, has: { type: "css", value: dom.tag(heading), hasText: text } });
    }
    if (tag === "form") list.push({ type: "css", value: "form" });
  }
  return list;
}

const quotedPath = (text) => (text.includes("'") ? (text.includes('"') ? "" : '"' + text + '"') : "'" + text + "'");

// kindsFor are steps of XPath for an element by what kind of an element it is.
function kindsFor(el) {
  const tag = dom.tag(el), list = [];
  if (el.ownerSVGElement || tag === "svg") return ["*[local-name()='" + tag + "']"];
  const role = dom.attribute(el, "role");
  if (role && /^[a-z]+$/.test(role)) list.push("*[@role='" + role + "']");
  if (tag === "input") list.push("input[@type='" + el.type + "']");
  if (!/^(div|span)$/.test(tag) && /^[a-z][a-z0-9-]*$/.test(tag)) list.push(tag);
  for (const name of ["contenteditable", "tabindex", "draggable", "onclick"]) if (dom.has(el, name)) list.push("*[@" + name + "]");
  if (/^(div|span)$/.test(tag)) list.push(clean(dom.text(el)) === "" ? tag + "[not(normalize-space())]" : tag);
  return list;
}

// besideText are XPaths that lead from a text to an element: the next one of its kind
// after the label, or the one in the same row or card. Each says what makes it so, or
// else it would lead to another element once this one is gone: no other text is between,
// and the row is not the whole list. loose: also from values.
function besideText(el, finder, loose = false) {
  const list = [];
  if (dom.kind(dom.root(el)) !== 9) return list;
  const fits = (text) => quotedPath(text) !== "" && (loose ? lasts(text) && text.length <= 60 : labelLike(text));
  const kinds = kindsFor(el);
  const nearest = (axis) => "[" + axis + "::text()[normalize-space()][1]";
  for (const [axis, back] of [["following", "preceding"], ["preceding", "following"]]) {
    const run = nextRun(el, back, 4);
    if (!fits(run) || (axis === "preceding" && dom.tag(el) !== "input")) continue;
    const is = "[normalize-space()=" + quotedPath(run) + "]";
    for (const kind of kinds) if (!followed(el, axis, back, kind, run)) list.push({ type: "xpath", value: "//text()" + is + "/" + axis + "::" + kind + "[1]" + nearest(back) + is + "]" });
  }
  for (let node = parentOf(el), depth = 0; node && depth < 4 && list.length < 24 && tagOf(node) !== "body"; node = parentOf(node), depth++) {
    const outside = textOutside(node);
    for (const run of runsIn(node, el, 6).filter(fits).slice(0, 3)) {
      for (const kind of kinds) list.push({ type: "xpath", value: rowOfText(run, kind, outside) + "//" + kind });
    }
  }
  return list;
}

// rowOfText is the XPath of the nearest element around a text that has one of a kind.
// outside is a text of another row.
function rowOfText(run, kind, outside) {
  const not = outside ? "[not(.//text()[normalize-space()=" + quotedPath(outside) + "])]" : "";
  return "//text()[normalize-space()=" + quotedPath(run) + "]/ancestor::*[.//" + kind + "][1]" + not;
}

// textOutside is a text right beside an element, "" without one.
function textOutside(el) {
  const inside = runsIn(el, null, 40);
  for (let node = el, depth = 0; node && depth < 4 && tagOf(node) !== "body"; node = parentOf(node), depth++) {
    for (const sibling of [after(node), before(node, null)]) {
      const run = sibling && runsIn(sibling, null, 3).find((text) => lasts(text) && text.length <= 60 && quotedPath(text) !== "" && !inside.includes(text));
      if (run) return run;
    }
  }
  return "";
}

// nextRun is the text in the text node before or after an element, "" for one that is
// further than some levels away.
function nextRun(el, axis, levels) {
  const result = dom.evaluate(axis + "::text()[normalize-space()][1]", el);
  if (result.snapshotLength === 0) return "";
  const text = result.snapshotItem(0);
  if (dom.tag(dom.parent(text)) === "textarea") return ""; // what it holds is no label
  let up = el;
  for (let i = 0; i < levels && up && !dom.contains(up, text); i++) up = parentOf(up);
  return up && dom.contains(up, text) ? clean(dom.text(text)) : "";
}

// followed reports whether behind an element another one of its kind has the same text
// nearest to it: one of several icons.
function followed(el, axis, back, kind, run) {
  const next = dom.evaluate(axis + "::" + kind + "[1]", el);
  return next.snapshotLength > 0 && nextRun(next.snapshotItem(0), back, 100) === run;
}

// countedBeside returns the selector of one of some elements of a kind in the row or card
// of a text, by its position. There must be as many of them: where one is missing nobody
// knows which the others are.
function countedBeside(el, finder) {
  if (dom.kind(dom.root(el)) !== 9) return null;
  for (let node = parentOf(el), depth = 0; node && depth < 4 && tagOf(node) !== "body"; node = parentOf(node), depth++) {
    const outside = textOutside(node);
    for (const run of runsIn(node, el, 6).filter((text) => lasts(text) && text.length <= 60 && quotedPath(text) !== "").slice(0, 3)) {
      for (const kind of kindsFor(el)) {
        const start = rowOfText(run, kind, outside);
        let all = [];
        try {
          all = evaluate({ type: "xpath", value: start + "//" + kind }, finder.doc, finder.look, true);
        } catch { /* it finds nothing */ }
        const index = all.indexOf(el);
        if (index < 0 || all.length > 20 || !all.every((other) => dom.contains(node, other))) continue;
        const selector = { type: "xpath", value: start + "[count(.//" + kind + ")=" + all.length + "]//" + kind, index };
        if (foundBy(selector, finder) === el) return { selector, found: el };
      }
    }
  }
  return null;
}
