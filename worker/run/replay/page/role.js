// Roles: what an element is to assistive technology, by its role attribute or else by
// its tag (HTML-AAM), and selectors by role. Elements that assistive technology does
// not see have no role for a selector.

const tagRoles = {
  article: "article", aside: "complementary", blockquote: "blockquote", button: "button", caption: "caption", code: "code",
  datalist: "listbox", dd: "definition", del: "deletion", details: "group", dfn: "term", dialog: "dialog", dt: "term",
  em: "emphasis", fieldset: "group", figure: "figure", h1: "heading", h2: "heading", h3: "heading", h4: "heading",
  h5: "heading", h6: "heading", hr: "separator", html: "document", ins: "insertion", li: "listitem", main: "main",
  mark: "mark", math: "math", menu: "list", meter: "meter", nav: "navigation", ol: "list", optgroup: "group",
  option: "option", output: "status", p: "paragraph", progress: "progressbar", search: "search", strong: "strong",
  sub: "subscript", sup: "superscript", svg: "img", table: "table", tbody: "rowgroup", textarea: "textbox",
  tfoot: "rowgroup", thead: "rowgroup", time: "time", tr: "row", ul: "list",
};
const inputRoles = {
  button: "button", checkbox: "checkbox", file: "button", hidden: "", image: "button", number: "spinbutton",
  radio: "radio", range: "slider", reset: "button", submit: "button",
};
// The tags whose role depends on more than the tag, with the roles they may have.
const severalRoles = {
  a: "link", area: "link", footer: "contentinfo", form: "form", header: "banner", img: "img", section: "region",
  input: "button checkbox combobox radio searchbox slider spinbutton textbox", select: "combobox listbox",
  td: "cell gridcell", th: "columnheader rowheader",
};
const roles = wordSet(`alert alertdialog application article banner blockquote button caption cell checkbox code
  columnheader combobox complementary contentinfo definition deletion dialog directory document emphasis feed figure
  form generic grid gridcell group heading img insertion link list listbox listitem log main mark marquee math meter
  menu menubar menuitem menuitemcheckbox menuitemradio navigation none note option paragraph presentation progressbar
  radio radiogroup region row rowgroup rowheader scrollbar search searchbox separator slider spinbutton status strong
  subscript superscript switch tab table tablist tabpanel term textbox time timer toolbar tooltip tree treegrid
  treeitem`);
// What takes part in a role that its parent gave up.
const parentTags = {
  dd: "dl div", div: "dl", dt: "dl div", li: "ol ul", tbody: "table", td: "tr", tfoot: "table", th: "tr", thead: "table",
  tr: "thead tbody tfoot table",
};
const noLandmarkIn = `article:not([role]), aside:not([role]), main:not([role]), nav:not([role]), section:not([role]),
  [role=article], [role=complementary], [role=main], [role=navigation], [role=region]`;
const globalAria = `[aria-atomic], [aria-busy], [aria-controls], [aria-current], [aria-describedby], [aria-details],
  [aria-dropeffect], [aria-flowto], [aria-grabbed], [aria-hidden], [aria-keyshortcuts], [aria-live], [aria-owns],
  [aria-relevant]`;
const unnamed = wordSet(`caption code definition deletion emphasis generic insertion mark paragraph presentation strong
  subscript suggestion superscript term time`);

const neverLabelled = wordSet(`caption code deletion emphasis generic insertion paragraph presentation strong subscript
  superscript`);

function wordSet(text) {
  const set = new Set();
  for (const word of text.split(/\s+/)) set.add(word);
  return set;
}

// tagOf is the tag of an element in lower case, whichever language it is of.
function tagOf(el) {
  return dom.tag(el).toLowerCase();
}

function givenRole(el) {
  for (const word of (dom.attribute(el, "role") || "").toLowerCase().split(/\s+/)) if (roles.has(word)) return word;
  return "";
}

function parentOf(el) {
  const up = dom.parent(el);
  if (!up || dom.kind(up) === 1) return up;
  return dom.kind(up) === 11 ? dom.host(up) || null : null;
}

function closestOf(el, css) {
  for (let node = el; node; node = dom.host(dom.root(node))) {
    const found = dom.closest(node, css);
    if (found) return found;
    if (dom.kind(dom.root(node)) !== 11) return null;
  }
  return null;
}

// keepsRole reports whether an element keeps its role although it is marked as
// presentation, because people can reach it.
function keepsRole(el, role) {
  if (dom.matches(el, globalAria)) return true;
  if (role !== "generic" && dom.has(el, "aria-roledescription")) return true;
  if (!neverLabelled.has(role) && (dom.has(el, "aria-label") || dom.has(el, "aria-labelledby"))) return true;
  const tag = tagOf(el);
  if (disabledControl(el)) return false;
  if (/^(button|details|select|textarea)$/.test(tag)) return true;
  if (/^(a|area)$/.test(tag) && dom.has(el, "href")) return true;
  if (tag === "input" && !dom.has(el, "hidden")) return true;
  return tabStop(el);
}

function tabStop(el) {
  const index = dom.attribute(el, "tabindex");
  return index !== null && !Number.isNaN(Number(index));
}

function disabledControl(el) {
  if (!/^(button|input|select|textarea|option|optgroup)$/.test(tagOf(el))) return false;
  return dom.matches(el, ":disabled");
}

// plainRole is the role that an element has by its tag.
function plainRole(el) {
  const tag = tagOf(el);
  switch (tag) {
    case "a": case "area": return dom.has(el, "href") ? "link" : "";
    case "header": case "footer":
      return closestOf(el, noLandmarkIn) ? "" : tag === "header" ? "banner" : "contentinfo";
    case "form": case "section":
      return dom.has(el, "aria-label") || dom.has(el, "aria-labelledby") ? severalRoles[tag] : "";
    case "img": {
      const shows = dom.attribute(el, "alt") !== "" || dom.attribute(el, "title") || tabStop(el) || dom.matches(el, globalAria) ||
        dom.has(el, "aria-label") || dom.has(el, "aria-labelledby") || dom.has(el, "aria-roledescription");
      return shows ? "img" : "presentation";
    }
    case "input": {
      if (!/^(|email|search|tel|text|url)$/.test(el.type)) return inputRoles[el.type] === undefined ? "textbox" : inputRoles[el.type];
      const list = referred(el, "list")[0];
      if (list && dom.tag(list) === "datalist") return "combobox";
      return el.type === "search" ? "searchbox" : "textbox";
    }
    case "select": return el.multiple || el.size > 1 ? "listbox" : "combobox";
    case "td": {
      const table = closestOf(el, "table");
      return table && /^(tree)?grid$/.test(givenRole(table)) ? "gridcell" : "cell";
    }
    case "th": return headerRole(el);
  }
  return tagRoles[tag] || "";
}

// headerRole is what a th heads, by its scope or else by the cells beside it.
function headerRole(el) {
  const scope = dom.attribute(el, "scope");
  if (/^col(group)?$/.test(scope)) return "columnheader";
  if (/^row(group)?$/.test(scope)) return "rowheader";
  const left = before(el, null), right = after(el);
  const header = (cell) => cell && tagOf(cell) === "th";
  const data = (cell) => cell && tagOf(cell) === "td" && (clean(dom.text(cell)) !== "" || dom.all(cell, "*").length > 0);
  if (!left && !right) {
    const table = tagOf(parentOf(el) || el) === "tr" ? closestOf(el, "table") : null;
    return table && table.rows.length <= 1 ? "" : "columnheader";
  }
  if (header(left) && header(right)) return "columnheader";
  return data(left) || data(right) ? "rowheader" : "columnheader";
}

function after(el) {
  let node = dom.next(el);
  while (node && dom.kind(node) !== 1) node = dom.next(node);
  return node;
}

// implicitRole is the plain role, unless what the element is a part of is marked as
// presentation.
function implicitRole(el) {
  const role = plainRole(el);
  for (let node = el; role; ) {
    const up = parentOf(node);
    if (!up || !(" " + (parentTags[tagOf(node)] || "") + " ").includes(" " + tagOf(up) + " ")) break;
    const given = givenRole(up);
    if ((given === "none" || given === "presentation") && !keepsRole(up, given)) return given;
    node = up;
  }
  return role;
}

function roleOf(el) {
  const given = givenRole(el);
  if (given === "") return implicitRole(el);
  if (given !== "none" && given !== "presentation") return given;
  const own = implicitRole(el);
  return keepsRole(el, own) ? own : given;
}

function roleIn(el, look) {
  let role = look.roles.get(el);
  if (role === undefined) {
    role = roleOf(el);
    look.roles.set(el, role);
  }
  return role;
}

const stateRoles = {
  checked: wordSet("checkbox menuitemcheckbox option radio switch menuitemradio treeitem"),
  expanded: wordSet(`application button checkbox combobox gridcell link listbox menuitem row rowheader tab treeitem
    columnheader menuitemcheckbox menuitemradio switch`),
  pressed: wordSet("button"),
  selected: wordSet("gridcell option row tab rowheader columnheader treeitem"),
  disabled: wordSet(`application button composite gridcell group input link menuitem scrollbar separator tab checkbox
    columnheader combobox grid listbox menu menubar menuitemcheckbox menuitemradio option radio radiogroup row rowheader
    searchbox select slider spinbutton switch tablist textbox toolbar tree treegrid treeitem`),
};

// stateOf returns true or false, or something else where an element is neither.
function stateOf(el, state, role) {
  const tag = tagOf(el);
  const aria = (dom.attribute(el, "aria-" + state) || "").toLowerCase();
  switch (state) {
    case "checked":
      if (tag === "input" && el.indeterminate) return "mixed";
      if (tag === "input" && /^(checkbox|radio)$/.test(el.type)) return el.checked;
      break;
    case "expanded":
      if (tag === "details") return el.open;
      if (!dom.has(el, "aria-expanded")) return "unknown";
      break;
    case "selected":
      if (tag === "option") return el.selected;
      break;
    case "disabled":
      if (disabledControl(el)) return true;
      if (!stateRoles.disabled.has(role)) return false;
      for (let node = el; node; node = parentOf(node)) {
        const value = (dom.attribute(node, "aria-disabled") || "").toLowerCase();
        if (value === "true" || value === "false") return value === "true";
      }
      return false;
  }
  if (!stateRoles[state] || !stateRoles[state].has(role)) return state === "expanded" ? "unknown" : false;
  return aria === "mixed" && (state === "checked" || state === "pressed") ? "mixed" : aria === "true";
}

function levelOf(el, role) {
  const tag = /^h([1-6])$/.exec(tagOf(el));
  if (tag) return Number(tag[1]);
  if (!/^(heading|listitem|row|treeitem)$/.test(role)) return 0;
  const level = Number(dom.attribute(el, "aria-level") || NaN);
  return Number.isInteger(level) && level >= 1 ? level : 0;
}

// possibleTags returns CSS for the elements that may have a role.
function possibleTags(role) {
  if (role === "presentation" || role === "none") return "*";
  let css = "[role]";
  for (const tag of Object.keys(tagRoles)) if (tagRoles[tag] === role) css += ", " + tag;
  for (const tag of Object.keys(severalRoles)) if ((" " + severalRoles[tag] + " ").includes(" " + role + " ")) css += ", " + tag;
  return css;
}

// byRole looks at the name last: it takes longest. A name is that of the elements that
// have it as a whole; only where there is none it is a part: "Continue" is not "Continue
// without saving" as long as there is a "Continue".
function byRole(selector, scope, look) {
  const role = selector.value.trim().toLowerCase();
  if (!roles.has(role)) throw new Error("there is no role " + JSON.stringify(selector.value.slice(0, 60)));
  const compare = selector.name ? textMatcher(selector.name, selector.exact) : null;
  const found = only(queryAll(possibleTags(role), scope, look), (el) => {
    if (roleIn(el, look) !== role || (selector.level && levelOf(el, role) !== selector.level)) return false;
    for (const state of Object.keys(selector.state || {})) if (stateOf(el, state, role) !== selector.state[state]) return false;
    if (unseen(el, look)) return false;
    return !compare || compare.equal(nameOf(el, look));
  });
  if (!compare || selector.exact || found.length < 2) return found;
  const wanted = collapsed(selector.name).toLowerCase();
  const whole = only(found, (el) => collapsed(nameOf(el, look).toLowerCase()) === wanted);
  return whole.length > 0 ? whole : found;
}
