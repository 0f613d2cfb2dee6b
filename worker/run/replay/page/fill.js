// What actions do to an element in the page.

function fire(el, name) {
  el.dispatchEvent(new Event(name, { bubbles: true, composed: true }));
}

// put sets a value as the browser does for its user: by the setter of the
// prototype, because frameworks put one of their own on the element and take a
// change through that for theirs.
function put(el, value) {
  const type = el.localName === "textarea" ? "HTMLTextAreaElement" : "HTMLInputElement";
  const proto = el.ownerDocument.defaultView[type].prototype;
  Object.getOwnPropertyDescriptor(proto, "value").set.call(el, value);
}

// fill makes text the value of an element. Where the page does not let a value
// stay, its result asks the caller for real keys.
async function fill(query, el) {
  let text = query.text;
  if (el.isContentEditable && !el.matches("input, textarea")) return fillContent(query, el);
  const setter = setters.includes(el.type);
  if (el.localName === "textarea") text = text.replace(/\r\n?/g, "\n");
  // Typing ends at the field's limit, and so does this.
  if (el.maxLength >= 0) text = text.slice(0, el.maxLength);
  if (query.hidden) blind(el);
  // A dialog that a change opens interrupts this script after the change.
  if (query.repeated && el.value === text) return {};
  if (el.ownerDocument.activeElement !== el) el.focus({ preventScroll: true });
  put(el, text);
  if (setter && el.value === "" && text !== "") {
    throw new Never("the field of type " + el.type + " does not take this text");
  }
  if (el.type === "number" && el.value === "" && text !== "") {
    throw new Never("the number field does not take this text");
  }
  const valueSet = el.value;
  if (setter && !sameSetting(el.type, text, valueSet)) {
    throw new Never("the field of type " + el.type + " makes " + JSON.stringify(valueSet) + " of this text");
  }
  el.dispatchEvent(new InputEvent("input", { bubbles: true, composed: true, inputType: "insertText", data: text }));
  fire(el, "change");
  return (await stays(query, el, valueSet)) || (valueSet === text || el.type === "password" ? {} : { held: valueSet });
}

// stays looks whether the page lets a value stay: frameworks set their own back before
// the next task, or when they have rendered. It returns what asks for real keys where
// those may help.
async function stays(query, el, value) {
  let rendered = false;
  const changes = new MutationObserver(() => (rendered = true));
  changes.observe(el.isConnected ? el.getRootNode() : el.ownerDocument, { subtree: true, childList: true, attributes: true, characterData: true });
  try {
    await task();
    for (let looks = 1; ; looks++) {
      const fields = standIns(query, el).filter((field) => field.matches("input, textarea"));
      if (fields.length > 0 && !fields.some((field) => field.value === value)) {
        if (fields[0] === el && !setters.includes(el.type)) return { keys: true, element: el };
        throw new Never("the page did not keep the text: " + shows(fields[0]));
      }
      // The third look is for a page that still rendered before the second.
      if (fields.length === 0 || looks === 3 || (looks === 2 && !rendered)) return null;
      await Promise.all([frame(), new Promise((done) => setTimeout(done, 12))]);
    }
  } finally {
    changes.disconnect();
  }
}

// task waits until the tasks before it are done.
function task() {
  return new Promise((done) => {
    const channel = new MessageChannel();
    channel.port1.onmessage = done;
    channel.port2.postMessage(0);
  });
}

// sameSetting reports whether a field whose value is set has taken a text, in the form
// that it has for it: one of a range moves what is out of its bounds.
function sameSetting(type, text, value) {
  if (type === "range") return Number(value) === Number(text);
  if (type === "color") return value.toLowerCase() === text.trim().toLowerCase();
  return true;
}

// standIns returns the element that was acted on, or what the page has put in its place.
function standIns(query, el) {
  if (el.isConnected) return [el];
  try {
    return find(query, true).map(editable);
  } catch {
    return [];
  }
}

function shows(field) {
  if (field.value === "") return "the field is empty";
  return field.type === "password" ? "the field holds another one" : "the field holds " + JSON.stringify(field.value.slice(0, 200));
}

// fillContent replaces the content of an editor as typing does: editors listen to
// the events that come with it.
async function fillContent(query, el) {
  const doc = el.ownerDocument;
  if (query.repeated && clean(el.innerText) === clean(query.text)) return {};
  if (query.hidden) blind(el);
  el.focus({ preventScroll: true });
  const selection = doc.defaultView.getSelection();
  const range = doc.createRange();
  range.selectNodeContents(el);
  selection.removeAllRanges();
  selection.addRange(range);
  if (query.text === "") doc.execCommand("delete");
  else doc.execCommand("insertText", false, query.text);
  await new Promise((done) => setTimeout(done, 0));
  if (clean(el.innerText) === clean(query.text)) return {};
  return { keys: true, element: el };
}

// blind hides a secret in a frame of another origin, where nothing can be masked
// when a screenshot is taken.
function blind(el) {
  el.style.setProperty("filter", "blur(12px)", "important");
}

// pick finds an option: by its value, else by its label, else by index=N.
function pick(el, wanted) {
  const options = Array.from(el.options);
  let found = options.find((o) => o.value === wanted);
  if (!found) found = options.find((o) => clean(o.label) === clean(wanted) || clean(o.text) === clean(wanted));
  if (!found && /^index=\d+$/.test(wanted)) found = options[Number(wanted.slice(6))];
  return found;
}

// select chooses an option; in a list of several it stays with those chosen. A
// framework may set the list back, and may build it anew: what counts is what is
// selected when it has rendered.
async function select(query, el) {
  const option = pick(el, query.option);
  if (query.repeated && option.selected) return {};
  el.focus({ preventScroll: true });
  option.selected = true;
  fire(el, "input");
  fire(el, "change");
  const value = option.value;
  let kept = 0;
  for (const until = performance.now() + Math.min(1000, query.left / 2); ; ) {
    await frame();
    const list = standIns(query, el)[0];
    if (!list || list.localName !== "select") return {};
    const now = list === el && option.isConnected ? option : Array.from(list.options).find((o) => o.value === value);
    kept = now && now.selected ? kept + 1 : 0;
    if (kept === 2) return {};
    if (kept === 1 || performance.now() < until) continue;
    const shows = Array.from(list.selectedOptions).map((o) => clean(o.label)).join(", ").slice(0, 200);
    throw new Never("the page did not keep the option: " + (shows ? "it selected " + JSON.stringify(shows) : "none is selected"));
  }
}

// upload puts files into an input. They are made in the page, so that the machine of
// the browser needs no copy. An input of several files keeps those that it has; one of
// a single file takes the new one in place of the old, and the step says so.
async function upload(query, el) {
  const held = Array.from(el.files);
  const last = query.files[query.files.length - 1];
  if (query.repeated && held.length > 0 && held[held.length - 1].name === last.name) return {};
  if (query.files.length > 1 && !el.multiple) throw new Never("the input takes one file");
  const transfer = new DataTransfer();
  if (el.multiple) for (const file of held) transfer.items.add(file);
  for (const file of query.files) {
    const bytes = Uint8Array.from(atob(file.content), (c) => c.charCodeAt(0));
    transfer.items.add(new File([bytes], file.name, { type: file.type }));
  }
  el.files = transfer.files;
  fire(el, "input");
  fire(el, "change");
  await task();
  // Those that send a file at once empty themselves for the next; so may one that refuses it.
  if (el.isConnected && el.files.length === 0) return { note: "the page took the file, and the input is empty again" };
  if (held.length === 0 || el.multiple) return {};
  return { note: "the input takes one file: it replaced " + JSON.stringify(held[0].name.slice(0, 100)) };
}

