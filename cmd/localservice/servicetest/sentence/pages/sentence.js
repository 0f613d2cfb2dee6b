// What all pages share: the record of what was done, and the changes. The site writes
// the constant change in front: its kind, and the name of what it is about.
'use strict';

// failures counts what went wrong in scripts.
let failures = 0;
addEventListener('error', () => { failures++; });

const load = (key, empty) => JSON.parse(localStorage.getItem(key) || empty);

// is reports whether the page has a kind of change.
const is = (kind) => change.kind === kind || (change.kind === 'other' && kind === 'order');

// did records an effect, and shows a message. On a page that behaves otherwise it
// has another effect, and shows so.
function did(effect, message) {
  const all = load('did', '[]');
  all.push(is('behaviour') ? `${effect}, but otherwise` : effect);
  localStorage.setItem('did', JSON.stringify(all));
  if (message !== undefined) say(is('behaviour') ? 'Sorry, that is not possible.' : message);
}

// state records a value; null takes it away. On a page that behaves otherwise it is
// shown and recorded otherwise.
function state(key, value, message) {
  const all = load('state', '{}');
  if (value === null) delete all[key];
  else all[key] = is('behaviour') ? `not ${value}` : String(value);
  localStorage.setItem('state', JSON.stringify(all));
  if (message !== undefined) say(is('behaviour') ? 'Sorry, that is not possible.' : message);
}

// say shows a message where the page has a place for it, else at its end.
function say(message) {
  let place = document.querySelector('[data-say]');
  if (!place) {
    place = document.body.appendChild(document.createElement('div'));
    place.dataset.say = '';
  }
  place.textContent = message;
}

// items returns a list of things, or of their names, as the page shows it.
function items(all, name = (item) => item.name ?? item) {
  const some = all.filter((item) => !is('removed') || name(item) !== change.target);
  return is('order') ? some.reverse() : some;
}

// $$ and on are for elements by a CSS selector.
const $1 = (css, from = document) => from.querySelector(css);
const $$ = (css, from = document) => [...from.querySelectorAll(css)];
const on = (css, type, handler, from = document) => $$(css, from).forEach((element) => element.addEventListener(type, (event) => handler(event, element)));

// make returns an element out of its markup.
function make(markup) {
  const template = document.createElement('template');
  template.innerHTML = markup.trim();
  return template.content.firstElementChild;
}

// task returns the name of what the page shows.
const task = location.search.slice(1).split('&')[0];

// tasks shows one of many small ones: [markup, script] by name. The text in front of
// it says what is asked for, as pages of this kind do.
function tasks(all) {
  const [markup, start, query] = all[task];
  if (query) document.body.append(make(`<div class="query">${query}</div>`));
  document.body.append(make(`<div class="area">${markup}</div>`));
  if (start) start();
}
