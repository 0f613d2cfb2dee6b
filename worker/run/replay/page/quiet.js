// Quiet: waits until a page has done what it was going to do: no request or short timer
// is pending, no animation with an end moves anything, and for some frames nothing
// changes. What never stops (clocks, polls) is remembered, and does not count again.

const quietFrames = 3; // without a change, after one

// documentsIn returns a document with those of its frames of the same origin.
function documentsIn(doc, list = []) {
  list.push(doc);
  const all = list.length < 50 ? dom.all(doc, "iframe, frame") : [];
  for (let i = 0; i < all.length && i < 50; i++) {
    try {
      if (all[i].contentDocument && dom.top(all[i].contentDocument)) documentsIn(all[i].contentDocument, list);
    } catch { /* of another origin */ }
  }
  return list;
}

// pendingIn reports whether a document has begun something that it has not finished.
function pendingIn(doc, began) {
  const view = doc.defaultView, activity = view && activityOf(view);
  if (!activity) return false;
  const now = view.performance.now();
  if (doc.readyState !== "complete" && !activity.loaded) {
    if (performance.now() - began < 2000) return true;
    activity.loaded = true;
  }
  for (const request of activity.requests.values()) if (!activity.polls.has(request.url) && now - request.began < 10000) return true;
  for (const due of activity.timers.values()) if (now < due + 500) return true;
  return movingIn(doc);
}

// movingIn reports whether an animation is under way that ends soon.
function movingIn(doc) {
  const all = doc.getAnimations ? doc.getAnimations() : [];
  for (let i = 0; i < all.length && i < 200; i++) {
    const animation = all[i], effect = animation.effect;
    if (animation.playState !== "running" || !effect || !effect.target || effect.pseudoElement || animation.timeline !== doc.timeline) continue;
    const timing = effect.getComputedTiming();
    const rest = (timing.endTime - timing.localTime) / Math.abs(animation.playbackRate || 1);
    if (timing.progress === null || !(rest > 0 && rest <= 2000)) continue;
    if (effect.getKeyframes().some((step) => Object.keys(step).some((name) => motion.test(name)))) return true;
  }
  return false;
}

// restless reports whether a node changes all the time. Such nodes are remembered.
function restless(doc, node, now) {
  const activity = doc.defaultView && activityOf(doc.defaultView);
  if (!activity) return true;
  let known = activity.restless.get(node);
  if (!known || (!known.always && now - known.last > 500)) activity.restless.set(node, (known = { first: now, last: now, count: 0, always: false }));
  known.last = now;
  known.count++;
  if (known.count >= 8 && now - known.first > 1200) known.always = true;
  return known.always;
}

// settle returns whether the page became quiet within the time.
//
// query: { wait, load, acted }
async function settle(query) {
  const began = performance.now();
  const own = activityOf(window), most = own.looked ? query.wait : query.load;
  own.looked = true;
  let changed = 0, recent = [], docs = documentsIn(document);
  const observer = new MutationObserver((list) => {
    const now = performance.now();
    recent = recent.filter((one) => now - one.at < 500).slice(-200);
    for (let i = 0; i < list.length && i < 500; i++) {
      const node = list[i].target, doc = dom.kind(node) === 9 ? node : dom.owner(node);
      if (restless(doc, node, now)) continue;
      changed = now;
      recent.push({ at: now, node, doc });
    }
  });
  const observed = new Set();
  const observe = (root) => {
    if (observed.has(root) || observed.size > 300) return;
    observed.add(root);
    observer.observe(root, { childList: true, subtree: true, attributes: true, characterData: true });
  };
  try {
    for (const doc of docs) for (const root of rootsIn(doc, newLook(doc, false))) observe(root);
    let busy = docs.some((doc) => pendingIn(doc, began));
    if (!query.acted && !busy) return true;
    let since = busy ? 1 : quietFrames - 2;
    for (;;) {
      await frame();
      docs = documentsIn(document);
      for (const doc of docs) observe(doc);
      busy = docs.some((doc) => pendingIn(doc, began));
      since = busy || changed > 0 ? 0 : since + 1;
      changed = 0;
      if (since >= quietFrames) return true;
      if (performance.now() - began >= most) break;
    }
    for (const { node, doc } of recent) if (doc.defaultView) activityOf(doc.defaultView).restless.set(node, { first: 0, last: performance.now(), count: 0, always: true });
    for (const doc of docs) {
      const activity = doc.defaultView && activityOf(doc.defaultView);
      if (activity) for (const request of activity.requests.values()) activity.polls.add(request.url);
    }
    return false;
  } finally {
    observer.disconnect();
  }
}
