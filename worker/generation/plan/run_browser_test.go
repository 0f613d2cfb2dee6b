package plan

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const shopPage = `<style>i { display: inline-block; width: 16px; height: 16px; background: red }</style>
	<h1>Shop</h1><nav><a href="#a">Home</a> <a href="#b" onclick="say('cart')">Cart</a></nav>
	<form onsubmit="say('hello ' + n.value + ' ' + m.value); return false"><label>Name <input id=n></label> <label>E-Mail <input id=m type=email></label><button>Send</button></form>
	<table><tr><th>User<th>Role<th></tr><tr><td>Ann<td>Admin<td><button onclick="say('deleted Ann')">Delete</button>
	<tr><td>Anna<td>Guest<td><button onclick="say('deleted Anna')">Delete</button></table>
	<div class=card><b>Lamp</b> <span>$12</span> <i class="icon-heart" onclick="say('liked Lamp')"></i></div>
	<div class=card><b>Chair</b> <span>$30</span> <i class="icon-heart" onclick="say('liked Chair')"></i></div>
	<details><summary>More</summary><button onclick="say('secret')">Hidden treasure</button></details>
	<p>Some words with a <a href="#w" onclick="say('words')">few words</a> in them.</p>`

// barePage has divs and listeners alone: no roles, no names but what is seen.
const barePage = `<style>.x { cursor: pointer } .box { border: 1px solid; padding: 4px; margin: 4px }</style>
	<div class=box><div>Ann</div><div>Lunch on Friday</div><span class="x trash" onclick="say('trash Ann')">&#128465;</span><span class="x star" onclick="say('star Ann')">&#9734;</span></div>
	<div class=box><div>Bob</div><div>Budget</div><span class="x trash" onclick="say('trash Bob')">&#128465;</span><span class="x star" onclick="say('star Bob')">&#9734;</span></div>
	<div>First name</div><input id=a><div>Last name</div><input id=b>
	<div class=x id=send>Send</div><div class="x" id=s2>Send later</div>
	<script>send.addEventListener('click', () => say(a.value + ' ' + b.value)); s2.addEventListener('click', () => say('later'))</script>`

const tabsPage = `<style>[hidden] { display: none }</style>
	<div role=tablist><button role=tab aria-selected=true aria-controls=p1>General</button><button role=tab aria-selected=false aria-controls=p2>Advanced</button></div>
	<div role=tabpanel id=p1>Nothing here</div><div role=tabpanel id=p2 hidden><button onclick="say('reset')">Restart engine</button></div>
	<script>for (const t of document.querySelectorAll('[role=tab]')) t.onclick = () => { for (const o of document.querySelectorAll('[role=tab]')) {
	o.setAttribute('aria-selected', o === t); document.getElementById(o.getAttribute('aria-controls')).hidden = o !== t } }</script>`

// pagerPage has a list in pages, and sections without ARIA whose content comes when they open.
const pagerPage = `<ul id=list></ul><a href="javascript:void 0" onclick="turn(1)">&gt;</a>
	<div class=accordion><h3 class=x>Fruit</h3><div></div><h3 class=x>Tools</h3><div></div></div><style>.x { cursor: pointer }</style>
	<script>let at = 0; const names = ['Ada', 'Bea', 'Cleo', 'Dora', 'Eve', 'Flo'];
	function turn(n) { at = Math.min(at + n, 2); list.innerHTML = ''; for (const name of names.slice(at * 2, at * 2 + 2)) {
	const li = document.createElement('li'); li.innerHTML = '<a href="#x">' + name + '</a>'; li.firstChild.onclick = () => say(name); list.append(li) } } turn(0);
	document.querySelectorAll('h3').forEach((h, i) => { h.classList.add('accordion-header'); h.onclick = () => { document.querySelectorAll('h3 + div').forEach((d) => d.innerHTML = '');
	h.nextElementSibling.innerHTML = '<button>' + ['Apple', 'Hammer'][i] + '</button>'; h.nextElementSibling.firstChild.onclick = (e) => say(e.target.textContent) } })</script>`

const bannerPage = `<div id=banner style="position:fixed;inset:0;background:#fffe;z-index:9"><p>We use cookies.</p><button onclick="banner.remove()">Accept all</button><button>Settings</button></div>
	<button onclick="say('pressed')">Press me</button>`

const latePage = `<p>Loading</p><script>setTimeout(() => document.body.innerHTML = '<button onclick="say(1+1)">Late one</button>', 1200)</script>`

// Sentences that are done on small pages, which say in their title what happened.
func TestRunOnPages(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ page, sentence, said string }{
		"link":      {shopPage, `Click on the link "Cart".`, "cart"},
		"form":      {shopPage, `Enter "Ann" as the name, type ann@example.com into the email field and click Send.`, "hello Ann ann@example.com"},
		"row":       {shopPage, `Click the Delete button in the row of Anna.`, "deleted Anna"},
		"for":       {shopPage, `Press delete for Ann`, "deleted Ann"},
		"ordinal":   {shopPage, `Click the second Delete button.`, "deleted Anna"},
		"last":      {shopPage, `Click on the last link`, "words"},
		"details":   {shopPage, `Click the button "Hidden treasure".`, "secret"},
		"icon":      {shopPage, `Click the heart icon of the Chair.`, "liked Chair"},
		"words":     {shopPage, `Click on the link "few words".`, "words"},
		"bare form": {barePage, `Fill in the first name with Ada and the last name with Byron, then click Send`, "Ada Byron"},
		"bare icon": {barePage, `Click the trash icon of Bob`, "trash Bob"},
		"bare star": {barePage, `Click on the star next to Lunch on Friday.`, "star Ann"},
		"tabs":      {tabsPage, `Click "Restart engine"`, "reset"},
		"pages":     {pagerPage, `Click on the link "Eve".`, "Eve"},
		"accordion": {pagerPage, `Find Hammer and click it.`, "Hammer"},
		"banner":    {bannerPage, `Click "Press me".`, "pressed"},
		"late":      {latePage, `Click the button "Late one".`, "2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := write(t, site(t, map[string]string{"/": c.page}), Config{Intent: c.sentence, MaxSteps: 30})
			require.NoError(t, w.err)
			require.Equal(t, c.said, w.said(), "%v", w.Reasoning)
			t.Log(w.tools())
		})
	}
}
