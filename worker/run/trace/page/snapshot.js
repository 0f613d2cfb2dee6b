// A snapshot of the page, for the trace: the tree of its nodes as a flat list of texts, with
// what a person sees and the tree does not say (values, scroll positions, style sheets that
// scripts have made). It changes nothing of the page.
//
// It runs in a world of its own where the browser has one: what the page has replaced does
// not matter there, and the snapshot before is kept, so that a page that has not changed
// costs no transfer. Same-origin frames are walked with it; others stay empty.
//
// The argument is JSON: { keep, frame, realm, seq, nodes, units, sheet, ms, point, call }. frame is
// the id of the top frame, of which those inside are named; realm and
// seq name the last snapshot that arrived; nodes, units (of UTF-16), sheet (units of one) and
// ms bound this one; point is where the pointer goes, and call marks the element there.
// The result is JSON: { realm, seq, same, width, height, cut, url, sheets, frames: [{ id, url,
// doctype, tokens }] }. The tokens: "E" + name opens an element, "A" + name and the next
// token are an attribute, "S" + name and the next one an attribute with the text of a sheet,
// "T" + text is a text, "C" + id the text of a sheet, "/" closes an element.
(text) => {
  const query = JSON.parse(text);
  const fresh = () => ({ realm: Math.random().toString(36).slice(2), seq: 0, body: "", last: 0, sheets: new WeakMap(), count: 0 });
  const kept = query.keep ? (globalThis.slipwaySnapshots = globalThis.slipwaySnapshots || fresh()) : fresh();
  const began = performance.now(), depthMost = 300, framesMost = 20;
  let nodes = 0, units = 0, cut = "";
  const sheets = {}, frames = [];
  kept.seq++;

  const room = (size) => {
    units += size;
    nodes++;
    if (!cut && units > query.units) cut = "the page is too large";
    if (!cut && nodes > query.nodes) cut = "the page has too many elements";
    if (!cut && nodes % 256 === 0 && performance.now() - began > query.ms) cut = "the page takes too long to read";
    return !cut;
  };
  const safe = (url) => (/^\s*(javascript|vbscript):/i.test(url) ? "" : url);

  const rulesText = (sheet) => {
    let out = "";
    for (const rule of sheet.cssRules) {
      if (out.length > query.sheet || performance.now() - began > query.ms) {
        cut = cut || "a style sheet is too large";
        break;
      }
      out += rule.cssText + "\n";
    }
    if (sheet.href) {
      out = out.replace(/url\("([^"]*)"\)/g, (all, url) => {
        try {
          return 'url("' + new URL(url, sheet.href).href + '")';
        } catch {
          return all;
        }
      });
    }
    return out.slice(0, query.sheet);
  };
  // sheetId returns the id of a sheet's text, which is sent until it has arrived once.
  const sheetId = (sheet) => {
    const rules = sheet.cssRules; // throws for one of another origin
    const last = rules.length ? rules[rules.length - 1].cssText.length : 0;
    let known = kept.sheets.get(sheet);
    if (!known || known.rules !== rules.length || known.last !== last || known.off !== sheet.disabled) {
      known = { id: kept.realm + "-" + ++kept.count, rules: rules.length, last, off: sheet.disabled, sent: kept.seq,
        text: sheet.disabled ? "" : rulesText(sheet) };
      kept.sheets.set(sheet, known);
      units += known.text.length / 4;
    }
    const arrived = query.realm === kept.realm && known.sent <= query.seq;
    if (arrived) known.text = "";
    else if (!known.text && !known.off && rules.length) known.text = rulesText(sheet);
    if (!arrived) {
      sheets[known.id] = known.text;
      known.sent = kept.seq;
    }
    return known.id;
  };

  const target = (() => {
    if (!query.point) return null;
    let el = document.elementFromPoint(query.point[0], query.point[1]);
    while (el && el.shadowRoot) {
      const inner = el.shadowRoot.elementFromPoint(query.point[0], query.point[1]);
      if (!inner || inner === el) break;
      el = inner;
    }
    return el;
  })();

  const rectangle = (el) => {
    const r = el.getBoundingClientRect();
    return JSON.stringify({ left: r.left, top: r.top, right: r.right, bottom: r.bottom });
  };

  const walkDocument = (doc, id) => {
    const frame = { id, url: doc.location ? doc.location.href : "", doctype: doc.doctype ? doc.doctype.name : "", tokens: [] };
    frames.push(frame);
    const out = frame.tokens;
    const attribute = (name, value) => {
      if (room(name.length + value.length)) out.push("A" + name, value);
    };
    const styled = (el, sheet) => {
      const sheetOf = sheetId(sheet);
      out.push("ESTYLE");
      if (el.media) attribute("media", el.media);
      out.push("C" + sheetOf, "/");
    };

    const walk = (node, depth, inHead) => {
      if (cut || depth > depthMost) return;
      if (node.nodeType === 3) {
        const value = node.nodeValue || "";
        if (room(value.length)) out.push("T" + value);
        return;
      }
      if (node.nodeType !== 1) return;
      const name = node.nodeName, tag = node.localName;
      if (tag === "script" || tag === "noscript") return;
      if (tag === "meta" && /^(content-security-policy|refresh|set-cookie)$/i.test(node.httpEquiv || "")) return;
      if ((tag === "iframe" || tag === "frame") && inHead) return;
      if (tag === "link") {
        if (/^(preload|prefetch|modulepreload)$/i.test(node.rel || "")) return;
        try {
          if (node.sheet) return styled(node, node.sheet);
        } catch { /* of another origin: the link stays */ }
      }
      if (!room(name.length)) return;
      if (tag === "style") {
        try {
          if (node.sheet) return styled(node, node.sheet);
        } catch { /* its text follows */ }
      }
      out.push("E" + name);
      for (const { name: key, value } of node.attributes) {
        if (/^on/i.test(key) || key === "integrity" || key === "nonce" || key.startsWith("__playwright_")) continue;
        if (/^(iframe|frame)$/.test(tag) && /^(src|srcdoc|sandbox)$/.test(key)) continue;
        if (tag === "dialog" && key === "open") continue;
        if (/^(input|button)$/.test(tag) && key === "value" && node.type === "password") continue;
        attribute(key, /^(src|href|action|formaction|data)$/.test(key) ? safe(value) : value);
      }
      if (tag === "input" || tag === "textarea") {
        const value = String(node.value);
        attribute("__playwright_value_", node.type === "password" && value ? "***" : value);
        if (node.type === "checkbox" || node.type === "radio") attribute("__playwright_checked_", String(node.checked));
      }
      if (tag === "option") attribute("__playwright_selected_", String(node.selected));
      if (/^(canvas|iframe|frame)$/.test(tag)) attribute("__playwright_bounding_rect__", rectangle(node));
      if (tag === "dialog" && node.open) attribute("__playwright_dialog_open_", node.matches(":modal") ? "modal" : "true");
      if (node.popover && node.matches(":popover-open")) attribute("__playwright_popover_open_", "true");
      if (tag === "img" && node.currentSrc) attribute("__playwright_current_src__", safe(node.currentSrc));
      if (node.scrollTop) attribute("__playwright_scroll_top_", String(node.scrollTop));
      if (node.scrollLeft) attribute("__playwright_scroll_left_", String(node.scrollLeft));
      if (node === target) attribute("__playwright_target__", query.call);
      if (/^i?frame$/.test(tag)) {
        let inner = null;
        try {
          inner = node.contentDocument;
        } catch { /* of another origin */ }
        if (inner && inner.documentElement && frames.length < framesMost) {
          const place = id + "-" + frames.length;
          attribute("src", "/snapshot/" + place);
          walkDocument(inner, place);
        }
      }
      if (node.shadowRoot) {
        out.push("Etemplate");
        attribute("__playwright_shadow_root_", "open");
        adopted(node.shadowRoot);
        for (let child = node.shadowRoot.firstChild; child; child = child.nextSibling) walk(child, depth + 1, false);
        out.push("/");
      }
      if (tag === "head") {
        out.push("EBASE");
        attribute("href", doc.baseURI);
        out.push("/");
      }
      for (let child = node.firstChild; child; child = child.nextSibling) walk(child, depth + 1, inHead || tag === "head");
      if (node === doc.documentElement) adopted(doc);
      out.push("/");
    };
    const adopted = (root) => {
      for (const sheet of root.adoptedStyleSheets || []) {
        const sheetOf = sheetId(sheet);
        out.push("Etemplate", "S__playwright_style_sheet_", sheetOf, "/");
      }
    };
    walk(doc.documentElement, 0, false);
  };
  if (document.documentElement) walkDocument(document, query.frame);

  const body = JSON.stringify({ width: innerWidth, height: innerHeight, url: location.href, frames });
  const same = query.keep && query.realm === kept.realm && query.seq === kept.last && body === kept.body;
  if (!same) [kept.body, kept.last] = [query.keep ? body : "", kept.seq];
  const head = JSON.stringify({ realm: kept.realm, seq: same ? kept.last : kept.seq, same, cut, sheets });
  return same ? head : head.slice(0, -1) + "," + body.slice(1);
}
