// Preparing a page for a picture of it, and where things are in that. What comes before: the
// scripts of the replay that find elements (dom.js to role.js).
//
// A page keeps still while its pictures are taken: animations and transitions are at their
// end, those without end at their begin, and carets and scroll bars are not shown. { off: true } takes that
// back.
//
// query: { hosts, selector, first, masks, whole, off }
// result: { href, box, masks, width, height, scrollX, scrollY, documentWidth, documentHeight,
//   scale, fonts, ready, several, missing, error }: boxes are in CSS pixels of what the window
// shows.

const memory = Symbol.for("slipway.look");

// documents returns this document and those of the frames of its origin.
function documents(top) {
  const list = [top];
  for (let i = 0; i < list.length && list.length < 50; i++) {
    for (const root of rootsIn(list[i], newLook(list[i], false))) {
      const frames = dom.all(root, "iframe, frame");
      for (let n = 0; n < frames.length; n++) {
        try {
          if (frames[n].contentDocument && frames[n].contentDocument.documentElement) list.push(frames[n].contentDocument);
        } catch { /* of another origin */ }
      }
    }
  }
  return list;
}

// Scroll bars come and go with the size of a picture, and differ between systems.
const still = "*, *::before, *::after { caret-color: transparent !important; transition: none !important; scroll-behavior: auto !important; " +
  "scrollbar-width: none !important; } ::-webkit-scrollbar { display: none !important; }";

function freeze(doc) {
  const view = doc.defaultView, kept = view[memory] || (view[memory] = { sheets: new Map(), endless: new Set() });
  for (const root of rootsIn(doc, newLook(doc, false))) {
    if (kept.sheets.has(root)) continue;
    const sheet = new view.CSSStyleSheet();
    sheet.replaceSync(still);
    root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
    kept.sheets.set(root, sheet);
  }
  for (const animation of doc.getAnimations()) {
    const effect = animation.effect;
    try {
      if (effect && effect.getComputedTiming().endTime === Infinity) {
        animation.cancel();
        kept.endless.add(animation);
      } else if (animation.timeline === doc.timeline && animation.playbackRate !== 0 && animation.playState !== "finished") {
        animation.finish();
      }
    } catch { /* one that cannot be brought to its end */ }
  }
}

function thaw(doc) {
  const view = doc.defaultView, kept = view[memory];
  if (!kept) return;
  delete view[memory];
  for (const [root, sheet] of kept.sheets) root.adoptedStyleSheets = root.adoptedStyleSheets.filter((other) => other !== sheet);
  for (const animation of kept.endless) {
    try {
      animation.play();
    } catch { /* its element is gone */ }
  }
}

// place is how far the document of a frame is from the top of the window; null where a frame
// around it is of another origin.
function place(doc) {
  let x = 0, y = 0, view = doc.defaultView;
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
  return { x, y, view };
}

// fontsOf is a digest of how a text that is always the same is drawn here.
function fontsOf() {
  const canvas = document.createElement("canvas");
  canvas.width = 360;
  canvas.height = 120;
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  if (!pen) return "";
  let y = 18;
  for (const font of ["16px sans-serif", "16px serif", "16px monospace", "bold 16px system-ui", "16px Arial"]) {
    pen.font = font;
    pen.fillText("Slipway 0123456789 gjpqy ÄÖÜß Ωλ №", 2, y);
    y += 22;
  }
  let hash = 0x811c9dc5, other = 0x1234567;
  for (const byte of pen.getImageData(0, 0, canvas.width, canvas.height).data) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
    other = Math.imul(other + byte, 0x9e3779b1) >>> 0;
  }
  return hash.toString(16).padStart(8, "0") + other.toString(16).padStart(8, "0");
}

async function prepare(query) {
  const docs = documents(document);
  if (query.off) {
    for (const doc of docs) thaw(doc);
    return null;
  }
  const result = { href: location.href, box: null, masks: [], ready: true };
  let el = null;
  try {
    if (query.selector) el = find(query, false)[0];
    if (query.selector && !(el && dom.rendered(el))) return { ...result, missing: true };
    if (el) el.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
  } catch (e) {
    if (!(e instanceof Several)) return { ...result, error: String(e.message).slice(0, 500) };
    return { ...result, several: e.found };
  }
  for (const doc of docs) freeze(doc);
  for (const doc of docs) {
    const late = new Promise((done) => setTimeout(done, 1000, "late"));
    if (doc.fonts && await Promise.race([doc.fonts.ready, late]) === "late") result.ready = false;
    for (const image of Array.from(doc.images)) {
      const box = image.getBoundingClientRect();
      if (!image.complete && image.loading !== "lazy" && box.width > 0) result.ready = false;
    }
  }
  await new Promise((done) => {
    const timer = setTimeout(done, 200);
    requestAnimationFrame(() => requestAnimationFrame(() => (clearTimeout(timer), done())));
  });
  const at = place(document);
  if (!at) return { ...result, error: "it lies in a frame of another origin, of which no picture can be compared" };
  const moved = (of) => {
    const box = dom.box(of);
    return { x: box.left + at.x, y: box.top + at.y, width: box.width, height: box.height };
  };
  try {
    for (const mask of query.masks) {
      for (const covered of find({ hosts: query.hosts, selector: mask, first: true }, true).slice(0, 200)) result.masks.push(moved(covered));
    }
  } catch (e) {
    return { ...result, error: "a mask: " + String(e.message).slice(0, 500) };
  }
  if (el) result.box = moved(el);
  const view = at.view, top = view.document.documentElement;
  return { ...result, width: view.innerWidth, height: view.innerHeight, scrollX: view.scrollX, scrollY: view.scrollY,
    documentWidth: Math.max(top.scrollWidth, view.innerWidth), documentHeight: Math.max(top.scrollHeight, view.innerHeight),
    scale: view.devicePixelRatio, fonts: fontsOf() };
}

return prepare(arguments[0]);
