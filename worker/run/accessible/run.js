// Checking the document of a frame with axe-core, and the frames of its origin in which
// axe-core is. What comes before: axe-core, dom.js to locate.js of the replay.
//
// query: { hosts, selector, first, rules, withoutRules, tags, most, html, wait }
// result: { href, total, findings, several, missing, error }: findings has the first
// most, the worst impact first, each with the selectors that find its element again.

const impacts = ["minor", "moderate", "serious", "critical"];

// elementAt follows a target of axe-core: a selector for each frame, the element last. A list
// of selectors goes through shadow roots.
function elementAt(target) {
  let root = document, el = null;
  for (let i = 0; i < target.length; i++) {
    for (const [n, css] of [].concat(target[i]).entries()) {
      if (n > 0) root = el.shadowRoot;
      el = root && root.querySelector(css);
      if (!el) return null;
    }
    if (i < target.length - 1) root = el.contentDocument;
  }
  return el;
}

// identityOf is what an element is known again by: what people know it by, before any path.
// In frames, those of the frames stand before it.
function identityOf(el) {
  const parts = [];
  for (let at = el; at; at = at.ownerDocument.defaultView.frameElement) {
    parts.unshift(locate(at));
    if (at.ownerDocument === document) break;
  }
  return JSON.stringify(parts);
}

// boxOf is where an element is in the document of the window, in CSS pixels; null in a frame
// that lies in a page of another origin.
function boxOf(el) {
  const own = el.getBoundingClientRect();
  let x = own.left, y = own.top, view = el.ownerDocument.defaultView;
  while (view !== view.top) {
    let frame = null;
    try {
      frame = view.frameElement;
    } catch { /* of another origin */ }
    if (!frame) return null;
    const outer = frame.getBoundingClientRect();
    x += outer.left + frame.clientLeft;
    y += outer.top + frame.clientTop;
    view = frame.ownerDocument.defaultView;
  }
  return { x: x + view.scrollX, y: y + view.scrollY, width: own.width, height: own.height };
}

function ruleOptions(query) {
  const options = { resultTypes: ["violations"], frameWaitTime: query.wait, pingWaitTime: 500, rules: {} };
  if (query.rules.length > 0) options.runOnly = { type: "rule", values: query.rules };
  if (query.tags.length > 0) options.runOnly = { type: "tag", values: query.tags };
  for (const rule of query.withoutRules) {
    if (!axe.getRules().some((known) => known.ruleId === rule)) throw new Error("unknown rule `" + rule + "` in withoutRules");
    options.rules[rule] = { enabled: false };
  }
  return options;
}

async function check(query) {
  const result = { href: location.href, total: 0, findings: [] };
  let scope = document;
  if (query.selector) {
    try {
      scope = find(query, false)[0];
    } catch (e) {
      if (!(e instanceof Several)) return { ...result, error: String(e.message).slice(0, 500) };
      return { ...result, several: e.found };
    }
    if (!scope) return { ...result, missing: true };
  }
  const list = [];
  try {
    const found = await axe.run(scope, ruleOptions(query));
    for (const rule of found.violations) for (const node of rule.nodes) list.push({ rule, node });
  } catch (e) {
    return { ...result, error: String((e && e.message) || e).slice(0, 500) };
  }
  const weight = (of) => impacts.indexOf(of.node.impact || of.rule.impact);
  list.sort((a, b) => weight(b) - weight(a)); // stable: rules and elements keep their order
  result.total = list.length;
  for (const { rule, node } of list.slice(0, query.most)) {
    const el = elementAt(node.target), place = node.target.map((part) => [].concat(part).join(" >> ")).join(" >> ");
    result.findings.push({ rule: rule.id, impact: node.impact || rule.impact, help: rule.help, helpUrl: rule.helpUrl,
      element: place.slice(0, 1000), html: (node.html || "").slice(0, query.html), identity: (el && identityOf(el)) || place,
      box: el && boxOf(el) });
  }
  return result;
}

return check(arguments[0]);
