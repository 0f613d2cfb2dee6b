// Stands in for the runner of Cypress, whose program cannot be had everywhere: it plays the
// commands that exports use as Cypress documents them. Commands are queued; a query runs again,
// with the claims behind it, until they hold; an action looks for its element anew and waits until
// that can be used; what is queued in a then comes right behind it.
const $ = window.jQuery;
const frame = document.querySelector('iframe');
const settings = { timeout: 4_000 };
const queries = {};
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
let queue = [];
let place = 0; // at which commands are queued

class Chain {
  constructor() {
    for (const name of [...Object.keys(queries), ...Object.keys(commands), 'should']) {
      this[name] = (...given) => {
        queue.splice(place++, 0, { chain: this, name, given });
        return this;
      };
    }
  }
}

const own = () => frame.contentDocument;
const timeoutOf = (given) => given.find((one) => one && typeof one === 'object' && 'timeout' in one)?.timeout ?? settings.timeout;

/** Tries until something works out or the time is over. */
async function retry(timeout, attempt) {
  for (const end = Date.now() + timeout; ; await sleep(30)) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() >= end) throw error;
    }
  }
}

function usable(subject) {
  if (subject.length !== 1) throw new Error(`an action needs one element, there are ${subject.length}`);
  const [el] = subject;
  if (!el.isConnected) throw new Error('the element is not in the page');
  if (el.matches(':disabled')) throw new Error('the element is disabled');
  const box = el.getBoundingClientRect();
  if (!el.matches('option') && (!el.checkVisibility() || box.width === 0 || box.height === 0)) throw new Error('the element cannot be seen');
  return el;
}

/** Runs an action on the element of its chain. */
function action(act, { force = () => false } = {}) {
  return async (chain, ...given) => {
    const el = await retry(timeoutOf(given), () => {
      chain.subject = chain.again ? chain.again() : chain.subject;
      if (force(given)) return chain.subject[0] ?? fail('there is no element');
      return usable(chain.subject);
    });
    el.scrollIntoView({ block: 'nearest' });
    await act(el, ...given);
    await loaded();
  };
}

const fail = (text) => { throw new Error(text); };

function pointer(el, types, options, position) {
  const box = el.getBoundingClientRect();
  const [x, y] = position ?? [box.width / 2, box.height / 2];
  for (const [type, detail] of types) {
    const Kind = type.startsWith('pointer') ? PointerEvent : MouseEvent;
    if (type === 'mousedown') (el.closest('a, button, input, select, textarea, [tabindex]') ?? own().body).focus();
    el.dispatchEvent(new Kind(type, { bubbles: true, cancelable: true, composed: true, view: frame.contentWindow, detail,
      clientX: box.left + x, clientY: box.top + y, button: types.button ?? 0, ...options }));
  }
}

const press = (detail) => [['pointerdown', 0], ['mousedown', detail], ['pointerup', 0], ['mouseup', detail]];
const click = (types) => action((el, ...given) => {
  const position = typeof given[0] === 'number' ? given.slice(0, 2) : undefined;
  pointer(el, types, given.find((one) => one && typeof one === 'object'), position);
});

function typeInto(el, text, { parseSpecialCharSequences = true } = {}) {
  const view = el.ownerDocument.defaultView;
  const field = () => /^(input|textarea)$/.test(el.localName);
  if (el.ownerDocument.activeElement !== el) pointer(el, [...press(1), ['click', 1]]);
  const put = (value) => {
    if (!field()) el.textContent = value;
    else Object.getOwnPropertyDescriptor(view[el.localName === 'input' ? 'HTMLInputElement' : 'HTMLTextAreaElement'].prototype, 'value').set.call(el, value);
    el.dispatchEvent(new view.InputEvent('input', { bubbles: true }));
  };
  const value = () => (field() ? el.value : el.textContent);
  if (/^(date|time|month|week)$/.test(el.type)) return put(text);
  const names = { enter: 'Enter', esc: 'Escape', backspace: 'Backspace', del: 'Delete', '{': '{', ctrl: 'Control', shift: 'Shift' };
  const keys = parseSpecialCharSequences ? text.match(/\{(?:[^}]+|\{)\}|[^]/gu) : [...text];
  const held = {};
  for (const key of keys ?? []) {
    const name = key.length > 1 && key[0] === '{' && parseSpecialCharSequences ? names[key.slice(1, -1)] ?? key.slice(1, -1) : key;
    if (name === 'Control' || name === 'Shift') { held[name === 'Control' ? 'ctrlKey' : 'shiftKey'] = true; continue; }
    const event = { key: name === '\n' ? 'Enter' : name, bubbles: true, cancelable: true, ...held };
    const goes = el.dispatchEvent(new view.KeyboardEvent('keydown', event));
    if (goes && name === 'Enter' && el.localName === 'input') el.form?.requestSubmit();
    else if (goes && name === 'Backspace') put(value().slice(0, -1));
    else if (goes && name.length === 1 && !held.ctrlKey) put(value() + name);
    el.dispatchEvent(new view.KeyboardEvent('keyup', event));
  }
  el.dispatchEvent(new view.Event('change', { bubbles: true }));
}

async function loaded() {
  for (let quiet = 0; quiet < 2; await sleep(10)) quiet = frame.contentDocument?.readyState === 'complete' ? quiet + 1 : 0;
}

function load(begin, prepare) {
  return new Promise((done) => {
    frame.addEventListener('load', done, { once: true });
    begin();
    if (prepare) prepare();
  });
}

const commands = {
  async visit(chain, address, { onBeforeLoad } = {}) {
    if (onBeforeLoad) onBeforeLoad(window); // of the same origin, and so of the same storage
    await load(() => { frame.src = address; });
  },
  async go(chain, way) { await load(() => frame.contentWindow.history[way]()); },
  async reload() { await load(() => frame.contentWindow.location.reload()); },
  async viewport(chain, width, height) { Object.assign(frame.style, { width: `${width}px`, height: `${height}px` }); await sleep(50); },
  async wait(chain, ms) { await sleep(ms); },
  async wrap(chain, value) { [chain.subject, chain.again] = [value, null]; },
  async window(chain) { chain.subject = frame.contentWindow; },
  async focused(chain) {
    chain.again = () => $(own().activeElement === own().body ? [] : own().activeElement);
    chain.subject = chain.again();
  },
  async then(chain, body) {
    const result = body(chain.subject); // a chain is no promise: what it queued comes next
    if (result !== undefined && !(result instanceof Chain)) chain.subject = await result;
  },
  click: click([...press(1), ['click', 1]]),
  dblclick: click([...press(1), ['click', 1], ...press(2), ['click', 2], ['dblclick', 2]]),
  rightclick: click(Object.assign([...press(1), ['contextmenu', 0]], { button: 2 })),
  clear: action((el) => {
    const view = el.ownerDocument.defaultView;
    if (!/^(input|textarea)$/.test(el.localName)) fail('clear needs a field');
    pointer(el, [...press(1), ['click', 1]]);
    Object.getOwnPropertyDescriptor(view[el.localName === 'input' ? 'HTMLInputElement' : 'HTMLTextAreaElement'].prototype, 'value').set.call(el, '');
    el.dispatchEvent(new view.InputEvent('input', { bubbles: true }));
  }),
  type: action((el, text, options) => (text === '' ? fail('type takes no empty text') : typeInto(el, text, options))),
  select: action(async (el, wanted) => {
    const fits = (one, index) => index === wanted || one.value === wanted || one.label === wanted;
    const option = await retry(settings.timeout, () => [...el.options].find(fits) ?? fail('there is no such option'));
    option.selected = true;
    for (const type of ['input', 'change']) el.dispatchEvent(new Event(type, { bubbles: true }));
  }),
  selectFile: action((el, files) => {
    const view = el.ownerDocument.defaultView;
    const transfer = new view.DataTransfer();
    for (const { fileName, contents } of [files].flat()) transfer.items.add(new view.File([contents], fileName));
    el.files = transfer.files;
    for (const type of ['input', 'change']) el.dispatchEvent(new view.Event(type, { bubbles: true }));
  }, { force: (given) => given.some((one) => one?.force) }),
  async setCookie(chain, name, value, { path = '/' } = {}) { document.cookie = `${name}=${encodeURIComponent(value)}; path=${path}`; },
  async clearAllCookies() { for (const one of document.cookie.split('; ')) document.cookie = `${one.split('=')[0]}=; max-age=0; path=/`; },
  async clearAllLocalStorage() { localStorage.clear(); },
  async clearAllSessionStorage() { frame.contentWindow.sessionStorage.clear(); sessionStorage.clear(); },
};

queries.document = () => () => own();
queries.getCookie = (name) => () => {
  const found = document.cookie.split('; ').find((one) => one.startsWith(`${name}=`));
  return found ? { name, value: decodeURIComponent(found.slice(name.length + 1)), path: '/', secure: false, httpOnly: false } : null;
};

async function run() {
  while (queue.length > 0) {
    const { chain, name, given } = queue.shift();
    place = 0;
    window.doing = `${name} ${given.map((one) => (typeof one === 'object' ? JSON.stringify(one) : String(one))).join(' ')}`.slice(0, 300);
    if (!queries[name]) {
      if (!commands[name]) throw new Error(`the stand-in has no command ${name}`);
      await commands[name](chain, ...given);
      continue;
    }
    let timeout = timeoutOf(given);
    const again = queries[name].apply({ set: (what, value) => { if (what === 'timeout') timeout = value; } }, given);
    const claims = [];
    while (queue[0]?.chain === chain && queue[0].name === 'should') claims.push(queue.shift().given);
    chain.again = again;
    chain.subject = await retry(timeout, () => {
      const subject = again(chain.subject);
      if (claims.length === 0 && subject?.jquery && subject.length === 0) throw new Error('there is no such element');
      for (const [claim, ...wanted] of claims) {
        if (typeof claim === 'function') claim(subject);
        else claim.split('.').slice(0, -1).reduce((so, word) => so[word], window.expect(subject).to)[claim.split('.').at(-1)](...wanted);
      }
      return subject;
    });
  }
}

window.Cypress = {
  $, env: (name) => window.variables[name], on() {},
  Buffer: { from: (text) => Uint8Array.from(atob(text), (one) => one.charCodeAt(0)) },
  Commands: { addQuery(name, query) { queries[name] = query; } },
};
window.cy = new Proxy({}, {
  get: (_, name) => (name === 'now' ? (query, ...given) => queries[query](...given) : (...given) => new Chain()[name](...given)),
});
window.expect = (actual, what = '') => {
  let not = false;
  const claim = (holds, text) => { if (holds === not) throw new Error(`expected ${what} ${JSON.stringify(actual)} ${not ? 'not ' : ''}${text}`); return words; };
  const words = {
    get to() { return words; }, get be() { return words; }, get and() { return words; }, get at() { return words; },
    get not() { not = true; return words; },
    a: (type) => claim(typeof actual === type, `to be a ${type}`),
    equal: (wanted) => claim(actual === wanted, `to equal ${JSON.stringify(wanted)}`),
    include: (part) => claim(typeof actual === 'string' && actual.includes(part), `to include ${JSON.stringify(part)}`),
    match: (pattern) => claim(pattern.test(actual), `to match ${pattern}`),
    least: (wanted) => claim(actual >= wanted, `to be at least ${wanted}`), most: (wanted) => claim(actual <= wanted, `to be at most ${wanted}`),
    within: (low, high) => claim(actual >= low && actual <= high, `to be within ${low} and ${high}`),
  };
  return words;
};
window.it = (name, options, body) => {
  const play = async () => {
    settings.timeout = options.defaultCommandTimeout;
    [queue, place] = [[], 0];
    body();
    place = 0;
    await run();
    return '';
  };
  window.ended = (window.ended ?? Promise.resolve('')).then((before) => before || play().catch((error) => `${name}: ${error?.stack ?? error}`));
};
