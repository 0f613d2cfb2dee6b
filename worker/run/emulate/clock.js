// The clock of a page: replaces what scripts tell the time by and wait with, and lets
// them stand, go on by a time, or go again. It is installed before a page's own scripts.
//
// options: { time, at, running }: the time in ms since 1970, and, where it runs, the real
// time at which it was that. What it replaced is in natives, for the scripts of the test.
(options) => {
  const key = Symbol.for("slipway.clock");
  const held = globalThis[key];
  if (held) return held.set(options);

  const RealDate = Date, realPerformance = performance;
  const realNow = performance.now.bind(performance), realOrigin = performance.timeOrigin;
  const natives = {
    Date: RealDate,
    performance: { now: realNow, timeOrigin: realOrigin, getEntriesByType: performance.getEntriesByType.bind(performance) },
  };
  for (const name of ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "requestAnimationFrame", "cancelAnimationFrame",
    "requestIdleCallback", "cancelIdleCallback"]) {
    if (globalThis[name]) natives[name] = globalThis[name].bind(globalThis);
  }

  const frameTime = 16, most = 10000;
  let time = 0, since = 0, running = false; // running: time was the time at since, on the real clock
  const now = () => (running ? time + (RealDate.now() - since) : time);
  const begin = now0(options), ownStart = realNow();
  function now0(o) {
    return o.running ? o.time + (RealDate.now() - o.at) : o.time;
  }
  const ticks = () => ownStart + (now() - begin) + moved;
  let moved = 0; // by how much set has put the time elsewhere, which performance.now does not follow

  let last = 1e9, pump = null;
  const timers = new Map();
  function add(kind, fn, wait, args, every) {
    const id = ++last;
    timers.set(id, { id, kind, fn, args, at: now() + wait, every });
    if (running) schedule();
    return id;
  }
  const delay = (ms) => Math.max(0, Math.min(Number(ms) || 0, 0x7fffffff));
  const replaced = {
    setTimeout: (fn, ms, ...args) => add("timeout", fn, delay(ms), args),
    setInterval: (fn, ms, ...args) => add("timeout", fn, Math.max(1, delay(ms)), args, Math.max(1, delay(ms))),
    clearTimeout: (id) => { if (!timers.delete(id)) natives.clearTimeout(id); },
    clearInterval: (id) => { if (!timers.delete(id)) natives.clearInterval(id); },
    requestAnimationFrame: (fn) => add("frame", fn, frameTime - (Math.floor(now()) % frameTime), []),
    cancelAnimationFrame: (id) => { if (!timers.delete(id)) natives.cancelAnimationFrame(id); },
    requestIdleCallback: (fn) => add("idle", fn, 0, []),
    cancelIdleCallback: (id) => { if (!timers.delete(id) && natives.cancelIdleCallback) natives.cancelIdleCallback(id); },
  };

  function next(until) {
    let found = null;
    for (const t of timers.values()) if (t.at <= until && (!found || t.at < found.at || (t.at === found.at && t.id < found.id))) found = t;
    return found;
  }
  function fire(t) {
    if (t.every) t.at += t.every;
    else timers.delete(t.id);
    try {
      if (t.kind === "frame") t.fn.call(globalThis, ticks());
      else if (t.kind === "idle") t.fn.call(globalThis, { didTimeout: false, timeRemaining: () => 10 });
      else if (typeof t.fn === "function") t.fn.apply(globalThis, t.args);
      else (0, eval)(String(t.fn));
    } catch (e) {
      reportError(e);
    }
  }
  // A task of its own after each timer, as pages expect, that is not slowed as timers are.
  const channel = new MessageChannel(), waiting = [];
  channel.port1.onmessage = () => waiting.shift()();
  const task = () => new Promise((done) => { waiting.push(done); channel.port2.postMessage(0); });

  // go moves the time on and fires what becomes due, in its order. After many callbacks
  // the rest of the way is one step: each timer fires once more.
  async function go(ms) {
    const until = time + ms;
    for (let count = 0; ; count++) {
      const t = next(until);
      if (!t) break;
      if (count >= most) {
        time = until;
        for (const rest of [...timers.values()].filter((r) => r.at <= until)) {
          if (!timers.has(rest.id)) continue;
          if (rest.every) rest.at = until;
          fire(rest);
          await task();
        }
        break;
      }
      time = Math.max(time, t.at);
      fire(t);
      await task();
    }
    time = until;
  }

  function schedule() {
    natives.clearTimeout(pump);
    let first = Infinity;
    for (const t of timers.values()) first = Math.min(first, t.at);
    if (first === Infinity) return;
    pump = natives.setTimeout(() => {
      const until = now();
      for (let t = next(until), count = 0; running && t && count < most; t = next(until), count++) {
        if (t.every && t.at + t.every < until) t.at = until; // late: once, as browsers do
        fire(t);
      }
      if (running) schedule();
    }, Math.max(0, Math.min(first - now(), 0x7fffffff)));
  }

  const clock = {
    natives, going: 0, now,
    set(o) {
      const before = now();
      time = o.time;
      since = o.at || 0;
      running = Boolean(o.running);
      moved += before - now();
      // Timers wait for as long as before.
      for (const t of timers.values()) t.at += now() - before;
      if (running) schedule();
      else natives.clearTimeout(pump);
      return now();
    },
    // resume lets the time go on from where it is, and returns the options of that.
    resume() {
      const options = { time: now(), at: RealDate.now(), running: true };
      clock.set(options);
      return options;
    },
    // advance moves a standing or a running clock; going counts what is not done.
    advance(ms) {
      clock.going++;
      natives.setTimeout(async () => {
        const ran = running;
        time = now();
        running = false;
        natives.clearTimeout(pump);
        try {
          await go(ms);
        } finally {
          since = RealDate.now();
          running = ran;
          if (running) schedule();
          clock.going--;
        }
      }, 0);
      return now() + ms;
    },
  };
  Object.defineProperty(globalThis, key, { value: clock });

  function FakeDate(...args) {
    if (!new.target) return new RealDate(now()).toString();
    return Reflect.construct(RealDate, args.length ? args : [now()], new.target === FakeDate ? FakeDate : new.target);
  }
  Object.setPrototypeOf(FakeDate, RealDate);
  Object.defineProperties(FakeDate, { name: { value: "Date" }, length: { value: 7 }, prototype: { value: RealDate.prototype },
    now: { value: () => Math.floor(now()), writable: true, configurable: true } });
  RealDate.prototype.constructor = FakeDate;
  const put = (on, name, value) => Object.defineProperty(on, name, { value, writable: true, configurable: true });
  put(globalThis, "Date", FakeDate);
  for (const [name, value] of Object.entries(replaced)) if (natives[name]) put(globalThis, name, value);
  put(realPerformance, "now", () => ticks());
  Object.defineProperty(realPerformance, "timeOrigin", { get: () => now() - ticks(), configurable: true });
  const format = Object.getOwnPropertyDescriptor(Intl.DateTimeFormat.prototype, "format");
  Object.defineProperty(Intl.DateTimeFormat.prototype, "format", { ...format, get() {
    const own = format.get.call(this);
    return (date) => own(date === undefined ? now() : date);
  } });
  const parts = Intl.DateTimeFormat.prototype.formatToParts;
  put(Intl.DateTimeFormat.prototype, "formatToParts", function (date) { return parts.call(this, date === undefined ? now() : date); });

  time = options.running ? options.time : begin;
  since = options.at || 0;
  running = Boolean(options.running);
  return now();
}
