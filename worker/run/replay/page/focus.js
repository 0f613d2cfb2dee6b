// The focus.

// focus moves the focus to an element, or into it; keys then go there. With
// query.gesture "append" the cursor is put behind what the element holds.
function focus(query, el) {
  el = editable(el);
  if (query.gesture === "append" && el.matches("input, textarea") && el.readOnly) throw new Wait("it is read-only");
  const root = el.getRootNode();
  if (!root.activeElement || !contains(el, root.activeElement)) el.focus({ preventScroll: false });
  if (!root.activeElement || !contains(el, root.activeElement)) throw new Wait("it does not take the focus");
  if (query.hidden) blind(el);
  if (query.gesture !== "append" || root.activeElement !== el) return {};
  if (el.isContentEditable) {
    const selection = el.ownerDocument.defaultView.getSelection();
    selection.selectAllChildren(el);
    selection.collapseToEnd();
  } else if (el.matches("input, textarea")) {
    try {
      el.setSelectionRange(el.value.length, el.value.length);
    } catch {
      return { keys: true }; // types without a selection: the key End goes there
    }
  }
  return {};
}
