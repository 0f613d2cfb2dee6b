// The agent: it answers the requests that rules are for, in a page of its own that
// nobody sees, with the DevTools protocol (Target.exposeDevToolsProtocol). While the
// driver runs a command over HTTP it starts no other: a request that the command waits
// for could not be answered from outside.
(() => {
  const waiting = new Map();
  const changing = new Map(); // rules by the request that waits for its response
  const troubles = [];
  // Of a page whose clock a step has fixed, those that go on.
  const { setTimeout } = (globalThis[Symbol.for("slipway.clock")] || { natives: globalThis }).natives;
  let rules = []; // the newest first
  let last = 0;
  let session;

  cdp.onmessage = (text) => {
    const message = JSON.parse(text);
    if (message.id !== undefined) {
      const settle = waiting.get(message.id);
      waiting.delete(message.id);
      if (settle) settle(message);
    } else if (message.method === "Fetch.requestPaused") {
      paused(message.params);
    }
  };

  function send(method, params = {}, to = session) {
    return new Promise((resolve, reject) => {
      const id = ++last;
      waiting.set(id, (message) => (message.error ? reject(new Error(message.error.message)) : resolve(message.result)));
      cdp.send(JSON.stringify({ id, method, params, ...(to ? { sessionId: to } : {}) }));
    });
  }

  // A request must not hang because its answer was refused; one that its page has given
  // up is none any more.
  function answered(request, promise) {
    promise.catch((error) => {
      if (/Invalid InterceptionId/.test(error.message)) return;
      if (troubles.length < 10) troubles.push(error.message);
      send("Fetch.failRequest", { requestId: request.requestId, errorReason: "Failed" }).catch(() => {});
    });
  }

  function header(request, name) {
    const found = Object.keys(request.request.headers).find((key) => key.toLowerCase() === name);
    return found === undefined ? undefined : request.request.headers[found];
  }

  function allowed(request) {
    const origin = header(request, "origin");
    return origin === undefined ? [] : [
      { name: "access-control-allow-origin", value: origin },
      { name: "access-control-allow-credentials", value: "true" },
      { name: "vary", value: "Origin" },
    ];
  }

  function ruleFor(url, method) {
    return rules.find((rule) => rule.pattern.test(url) && (!rule.method || rule.method === method));
  }

  function used(rule) {
    if (rule.times && --rule.left === 0) rules = rules.filter((other) => other !== rule);
  }

  function paused(request) {
    const { requestId } = request;
    if (request.responseStatusCode !== undefined || request.responseErrorReason !== undefined) {
      responded(request);
      return;
    }
    const { url, method } = request.request;
    const asked = method === "OPTIONS" ? header(request, "access-control-request-method") : undefined;
    const rule = ruleFor(url, asked || method);
    // Before a request to another origin the browser asks: what never reaches its server
    // is allowed here.
    if (asked !== undefined && (!rule || rule.answer || rule.abort)) {
      answered(request, !rule ? send("Fetch.continueRequest", { requestId }) : send("Fetch.fulfillRequest", { requestId, responseCode: 204, responseHeaders: [
        ...allowed(request),
        { name: "access-control-allow-methods", value: asked },
        { name: "access-control-allow-headers", value: header(request, "access-control-request-headers") || "*" },
      ] }));
      return;
    }
    if (!rule || asked !== undefined) {
      answered(request, send("Fetch.continueRequest", { requestId }));
      return;
    }
    used(rule);
    if (rule.delay) setTimeout(() => act(request, rule), rule.delay);
    else act(request, rule);
  }

  function act(request, rule) {
    const { requestId } = request;
    if (rule.abort) {
      answered(request, send("Fetch.failRequest", { requestId, errorReason: rule.abort }));
    } else if (rule.answer) {
      const headers = rule.answer.headers.slice();
      const has = headers.some((line) => line.name.toLowerCase() === "access-control-allow-origin");
      answered(request, send("Fetch.fulfillRequest", { requestId, responseCode: rule.answer.status, responsePhrase: rule.answer.phrase,
        responseHeaders: has ? headers : headers.concat(allowed(request)), body: rule.answer.body }));
    } else if (rule.change) {
      const { urlTo, response } = rule.change;
      if (response) changing.set(requestId, rule.change);
      answered(request, send("Fetch.continueRequest", { requestId, ...(urlTo ? { url: urlTo } : {}), interceptResponse: response }));
    } else {
      answered(request, send("Fetch.continueRequest", { requestId }));
    }
  }

  function responded(request) {
    const { requestId } = request;
    const change = changing.get(requestId);
    changing.delete(requestId);
    if (request.responseErrorReason !== undefined) {
      answered(request, send("Fetch.failRequest", { requestId, errorReason: request.responseErrorReason }));
      return;
    }
    if (!change) {
      answered(request, send("Fetch.continueResponse", { requestId }));
      return;
    }
    const replaced = new Set(change.headers.map((line) => line.name.toLowerCase()));
    if (change.body !== undefined) ["content-length", "content-encoding", "transfer-encoding"].forEach((name) => replaced.add(name));
    const responseHeaders = (request.responseHeaders || []).filter((line) => !replaced.has(line.name.toLowerCase()))
      .concat(change.headers.filter((line) => line.value !== ""));
    const status = change.status ? { responseCode: change.status, responsePhrase: change.phrase }
      : { responseCode: request.responseStatusCode, ...(request.responseStatusText ? { responsePhrase: request.responseStatusText } : {}) };
    const method = change.body === undefined ? "Fetch.continueResponse" : "Fetch.fulfillRequest";
    answered(request, send(method, { requestId, ...status, responseHeaders, ...(change.body === undefined ? {} : { body: change.body }) }));
  }

  // Without a pattern all requests would be stopped.
  function watch() {
    return send("Fetch.enable", { patterns: rules.map((rule) => rule.narrow).concat("none:").map((urlPattern) => ({ urlPattern })) });
  }

  // A page that is open sends its requests past what is stopped since then, until it is
  // stopped itself for a moment.
  async function renew({ targetId }) {
    const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
    await send("Fetch.enable", { patterns: [{ urlPattern: "none:" }] }, sessionId);
    await send("Target.detachFromTarget", { sessionId });
  }

  globalThis.agent = {
    async start() {
      session = (await send("Target.attachToBrowserTarget")).sessionId;
      await watch();
      const { targetInfos } = await send("Target.getTargets");
      const open = targetInfos.filter((target) => target.type === "page" || target.type === "iframe");
      await Promise.allSettled(open.map(renew)); // one may be closed meanwhile
    },
    async add(rule) {
      rules.unshift({ ...rule, pattern: new RegExp(rule.pattern, "s"), left: rule.times });
      await watch();
    },
    // A request that waits for its response stays one of its rule's.
    async remove(glob) {
      const before = rules.length;
      rules = glob === "" ? [] : rules.filter((rule) => rule.glob !== glob);
      await watch();
      return before - rules.length;
    },
    troubles() {
      return troubles.splice(0);
    },
  };
})();
