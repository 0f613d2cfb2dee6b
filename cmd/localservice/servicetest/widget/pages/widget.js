// What all pages share: the widget that the query names, and the record of what
// happened to it.
'use strict';

const entries = [];

// log adds to what a case asserts.
function log(...words) {
  entries.push(words.join(' '));
  document.getElementById('log').textContent = entries.join(', ');
}

// widgets shows one of many: all are [markup, script] or markup, by name.
function widgets(all) {
  const name = location.search.slice(1).split('&')[0];
  if (!(name in all)) throw new Error(`no widget ${name}`);
  const [markup, start] = [].concat(all[name]);
  document.body.insertAdjacentHTML('afterbegin', `<output id="log"></output><main>${markup}</main>`);
  if (start) start();
}

// range returns the numbers from 1 to n.
const range = (n) => Array.from({ length: n }, (_, i) => i + 1);

// by, on and clicks are for elements by their ids; clicks logs the ids.
const by = (id) => document.getElementById(id);
const on = (id, type, handler) => by(id).addEventListener(type, handler);
const clicks = (...ids) => ids.forEach((id) => on(id, 'click', () => log(id)));
