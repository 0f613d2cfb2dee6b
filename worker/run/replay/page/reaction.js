// Reactions: how an element reacts that has no interactive role. What is listened for
// at the document or at a container of half the page says nothing of an element in
// it, unless it is jQuery's, which knows for which of them it listens.

const interactiveRoles = wordSet(`button checkbox combobox gridcell link listbox menuitem menuitemcheckbox menuitemradio
  option radio scrollbar searchbox slider spinbutton switch tab textbox treeitem`);
const pressEvents = wordSet("click mousedown mouseup pointerdown pointerup touchstart touchend");
const hoverEvents = wordSet("mouseenter mouseover pointerenter pointerover");
const dropEvents = wordSet("dragover dragenter drop");

// reactionsIn returns what is known of the listeners of a document: delegated are
// elements that jQuery listens for elsewhere.
function reactionsIn(doc, listeners) {
  const delegated = new Map();
  const view = doc.defaultView, jquery = view && view.jQuery;
  const note = (el, kind) => {
    if (!delegated.has(el)) delegated.set(el, new Set());
    delegated.get(el).add(kind);
  };
  const from = (node) => {
    try {
      const events = jquery._data(node, "events") || {};
      for (const type of Object.keys(events).slice(0, 50)) {
        const kind = kindOfEvent(type);
        if (!kind) continue;
        for (const handler of Array.from(events[type]).slice(0, 100)) {
          if (!handler.selector) continue;
          for (const el of Array.from(jquery(node).find(handler.selector)).slice(0, 500)) note(el, kind);
        }
      }
    } catch { /* another library by this name, or a selector of its own */ }
  };
  const of = { listeners, delegated, from, jquery: Boolean(jquery && jquery._data), seen: 0 };
  if (of.jquery) for (const node of [doc, doc.documentElement, doc.body]) if (node) from(node);
  return of;
}

function kindOfEvent(type) {
  if (pressEvents.has(type)) return "listener";
  if (type === "dblclick" || type === "contextmenu") return type;
  if (hoverEvents.has(type)) return "hover";
  if (dropEvents.has(type)) return "drop";
  if (/^(keydown|keyup|keypress|input|change)$/.test(type)) return "key";
  if (type === "dragstart") return "draggable";
  return "";
}

const handlerProperties = ["onclick", "onmousedown", "onmouseup", "onpointerdown", "onpointerup", "ondblclick", "oncontextmenu", "onmouseenter",
  "onmouseover", "ondrop", "ondragover", "ondragstart"];

// reactionsOf returns how an element reacts, as a set of words: cursor, listener,
// dblclick, contextmenu, hover, drop, key, tabindex, draggable, editable.
function reactionsOf(el, style, parentCursor, known) {
  const found = new Set();
  if (style.cursor === "pointer" && parentCursor !== "pointer") found.add("cursor");
  if (/^(grab|move|grabbing|-webkit-grab)$/.test(style.cursor) && parentCursor !== style.cursor) found.add("draggable");
  const index = dom.attribute(el, "tabindex");
  if (index !== null && Number(index) >= 0 && index.trim() !== "") found.add("tabindex");
  if (dom.attribute(el, "draggable") === "true") found.add("draggable");
  const editable = dom.attribute(el, "contenteditable");
  if (editable !== null && editable.toLowerCase() !== "false") found.add("editable");
  for (const name of handlerProperties) {
    if (typeof el[name] === "function") found.add(kindOfEvent(name.slice(2)));
  }
  for (const key of Object.keys(el)) {
    if (!key.startsWith("__reactProps$")) continue;
    const props = el[key] || {};
    for (const name of Object.keys(props)) {
      const kind = /^on[A-Z]/.test(name) && typeof props[name] === "function" && kindOfEvent(name.slice(2).toLowerCase().replace("doubleclick", "dblclick"));
      if (kind) found.add(kind);
    }
  }
  if (known.listeners && known.seen < 30000) {
    known.seen++;
    try {
      const all = known.listeners(el);
      let any = false;
      for (const type of Object.keys(all)) {
        any = true;
        const kind = kindOfEvent(type);
        if (kind) found.add(kind);
      }
      if (any && known.jquery) withoutDelegated(el, known, found, all);
    } catch { /* an element of a window that is gone */ }
  }
  const elsewhere = known.delegated.get(el);
  if (elsewhere) for (const kind of elsewhere) found.add(kind);
  return found;
}

// withoutDelegated removes what jQuery listens for on behalf of elements inside of el alone.
function withoutDelegated(el, known, found, all) {
  known.from(el);
  try {
    const events = known.jquery && el.ownerDocument.defaultView.jQuery._data(el, "events");
    if (!events) return;
    for (const type of Object.keys(events)) {
      const kind = kindOfEvent(type);
      const mine = Array.from(events[type]).some((handler) => !handler.selector);
      if (kind && !mine && (all[type] || []).length <= 1) found.delete(kind);
    }
  } catch { /* as above */ }
}

// usable reports whether reactions are of an element that people use by itself.
function usable(found) {
  for (const kind of ["cursor", "listener", "dblclick", "contextmenu", "tabindex", "draggable", "editable"]) if (found.has(kind)) return true;
  return false;
}
