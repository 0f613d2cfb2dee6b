// What an element is to people: its role and its accessible name. The
// name follows the accessible name computation (W3C accname) as far as tests
// need it.

const inputRoles = {
  button: "button", submit: "button", reset: "button", image: "button", file: "button", color: "", checkbox: "checkbox",
  radio: "radio", range: "slider", number: "spinbutton", search: "searchbox", hidden: "", date: "", time: "",
  month: "", week: "", "datetime-local": "",
};
const tagRoles = {
  button: "button", textarea: "textbox", option: "option", optgroup: "group", fieldset: "group", details: "group",
  summary: "button", nav: "navigation", main: "main", aside: "complementary", article: "article", form: "form",
  table: "table", thead: "rowgroup", tbody: "rowgroup", tfoot: "rowgroup", tr: "row", td: "cell", th: "columnheader",
  ul: "list", ol: "list", menu: "list", li: "listitem", dialog: "dialog", progress: "progressbar", meter: "meter",
  output: "status", hr: "separator", p: "paragraph", figure: "figure", svg: "img", h1: "heading", h2: "heading",
  h3: "heading", h4: "heading", h5: "heading", h6: "heading", datalist: "listbox",
};
const fromContent = new Set(["button", "cell", "checkbox", "columnheader", "gridcell", "heading", "link", "menuitem",
  "menuitemcheckbox", "menuitemradio", "option", "radio", "row", "rowheader", "switch", "tab", "tooltip", "treeitem"]);

function roleOf(el) {
  const given = (el.getAttribute("role") || "").trim().split(/\s+/)[0].toLowerCase();
  if (given) return given === "none" ? "presentation" : given;
  const tag = el.localName;
  if (tag === "a" || tag === "area") return el.hasAttribute("href") ? "link" : "";
  if (tag === "img") return el.getAttribute("alt") === "" ? "presentation" : "img";
  if (tag === "select") return el.multiple || el.size > 1 ? "listbox" : "combobox";
  if (tag === "input") {
    const role = inputRoles[el.type];
    if (role !== undefined && role !== "searchbox") return role;
    return el.hasAttribute("list") ? "combobox" : role || "textbox";
  }
  if (tag === "header" || tag === "footer") {
    if (el.closest("article, aside, main, nav, section")) return "";
    return tag === "header" ? "banner" : "contentinfo";
  }
  if (tag === "section") return el.hasAttribute("aria-label") || el.hasAttribute("aria-labelledby") ? "region" : "";
  return tagRoles[tag] || "";
}

// generated is the text that a style puts before or after an element.
function generated(el, where) {
  const content = el.ownerDocument.defaultView.getComputedStyle(el, where).content;
  const text = /^"((?:[^"\\]|\\.)*)"/.exec(content || "");
  return text ? text[1].replace(/\\(.)/g, "$1") : "";
}

function byIds(el, attribute, seen) {
  const root = el.getRootNode();
  return (el.getAttribute(attribute) || "").split(/\s+/).filter(Boolean).slice(0, 10)
    .map((id) => root.getElementById && root.getElementById(id)).filter(Boolean)
    .map((other) => nameOf(other, seen, true)).join(" ");
}

// content is the name that the text, images and controls in an element form.
function content(el, seen) {
  let text = generated(el, "::before");
  const nodes = el.localName === "slot" && el.assignedNodes().length ? el.assignedNodes() : (el.shadowRoot || el).childNodes;
  for (const node of nodes) {
    if (text.length > 1000) break;
    if (node.nodeType === Node.TEXT_NODE) {
      text += node.data;
    } else if (node.nodeType === Node.ELEMENT_NODE && !/^(script|style|template|noscript)$/.test(node.localName)) {
      const style = styleOf(node);
      if (style.display === "none" || style.visibility === "hidden" || node.getAttribute("aria-hidden") === "true") continue;
      const inner = nameOf(node, seen, true);
      text += style.display.startsWith("inline") && node.localName !== "br" ? inner : " " + inner + " ";
    }
  }
  return text + generated(el, "::after");
}

// valueIn is what a control inside of a label adds to the label's name.
function valueIn(el) {
  if (el.localName === "select") return Array.from(el.selectedOptions).map((o) => o.text).join(" ");
  if (el.localName === "textarea") return el.value.slice(0, 200);
  if (el.localName === "input" && texts.includes(el.type) && el.type !== "password") return el.value.slice(0, 200);
  return null;
}

// nameOf is the accessible name; inside means that it becomes part of another.
function nameOf(el, seen = new Set(), inside = false) {
  if (seen.has(el) || seen.size > 300) return "";
  seen.add(el);
  if (seen.size === 1 && el.hasAttribute("aria-labelledby")) {
    const text = clean(byIds(el, "aria-labelledby", seen));
    if (text) return text;
  }
  const given = clean(el.getAttribute("aria-label"));
  if (given) return given;
  const tag = el.localName;
  if (inside && seen.size > 1) {
    const value = valueIn(el);
    if (value !== null) return value;
  }
  if (tag === "input" && /^(submit|button|reset)$/.test(el.type) && !(el.labels && el.labels.length)) {
    return clean(el.value || { submit: "Submit", reset: "Reset", button: "" }[el.type] || el.title);
  }
  if (el.labels && el.labels.length && !inside) {
    const text = clean(Array.from(el.labels).map((label) => nameOf(label, seen, true)).join(" "));
    if (text) return text;
  }
  if (tag === "img" || tag === "area" || (tag === "input" && el.type === "image")) {
    if (el.hasAttribute("alt")) return clean(el.getAttribute("alt")) || clean(el.title);
  }
  const part = { fieldset: "legend", table: "caption", figure: "figcaption", svg: "title" }[tag];
  if (part) {
    const child = Array.from(el.children).find((c) => c.localName === part);
    if (child) return clean(tag === "svg" ? child.textContent : content(child, seen));
  }
  if (tag === "input" && el.type === "file") return "Choose File";
  if (inside || fromContent.has(roleOf(el))) {
    const text = content(el, seen);
    if (clean(text)) return inside ? text : clean(text);
  }
  return clean(el.getAttribute("title")) || clean(el.getAttribute("placeholder"));
}
