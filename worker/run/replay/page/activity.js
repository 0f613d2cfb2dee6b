// Activity: what a page has begun and not finished: requests of fetch and
// XMLHttpRequest, and timers of a second at most. Functions of the browser are replaced
// by proxies, which look and behave as the functions do. The live session has this run
// before the page's own scripts where it can, else at its first look.

const activityKey = Symbol.for("slipway.activity");
// A timer that a timer has set, and so on, is a clock.
const longestTimer = 1000, longestChain = 3;

function activityOf(view) {
  if (view[activityKey]) return view[activityKey];
  const activity = { requests: new Map(), timers: new Map(), polls: new Set(), restless: new WeakMap(), loaded: false, looked: false };
  Object.defineProperty(view, activityKey, { value: activity, configurable: true });
  let depth = 0, number = 0;
  const now = () => view.performance.now();
  const wrap = (owner, name, apply) => {
    const found = owner && Object.getOwnPropertyDescriptor(owner, name);
    if (!found || typeof found.value !== "function" || !found.configurable) return;
    Object.defineProperty(owner, name, { ...found, value: new Proxy(found.value, { apply }) });
  };
  const begin = (url) => {
    const id = ++number;
    if (activity.requests.size < 1000) activity.requests.set(id, { url: String(url).split(/[?#]/)[0].slice(0, 500), began: now() });
    return () => activity.requests.delete(id);
  };
  wrap(view, "fetch", (target, self, args) => {
    const made = Reflect.apply(target, self, args);
    try {
      const end = begin((args[0] && args[0].url) || args[0]);
      made.then(end, end);
    } catch { /* the page has a fetch of its own */ }
    return made;
  });
  const addresses = new WeakMap(), xhr = view.XMLHttpRequest && view.XMLHttpRequest.prototype;
  wrap(xhr, "open", (target, self, args) => {
    if (self) addresses.set(self, args[1]);
    return Reflect.apply(target, self, args);
  });
  wrap(xhr, "send", (target, self, args) => {
    try {
      const end = begin(addresses.get(self));
      self.addEventListener("loadend", end, { once: true });
    } catch { /* it is none */ }
    return Reflect.apply(target, self, args);
  });
  wrap(view, "setTimeout", (target, self, args) => {
    const [run, delay] = args, due = Number(delay) || 0;
    if (typeof run !== "function" || due > longestTimer || depth >= longestChain) return Reflect.apply(target, self, args);
    const at = depth + 1;
    let id = 0;
    const wrapped = function (...values) {
      activity.timers.delete(id);
      const outer = depth;
      depth = at;
      try {
        return Reflect.apply(run, this, values);
      } finally {
        depth = outer;
      }
    };
    id = Reflect.apply(target, self, [wrapped, ...args.slice(1)]);
    if (activity.timers.size < 1000) activity.timers.set(id, now() + due);
    return id;
  });
  wrap(view, "clearTimeout", (target, self, args) => {
    activity.timers.delete(args[0]);
    return Reflect.apply(target, self, args);
  });
  return activity;
}
