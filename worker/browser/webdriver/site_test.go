package webdriver_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// pages are what the tests' site serves, by path.
var pages = map[string]string{
	"/form": `<title>Form</title><h1 class="big head" style="color: rgb(1, 2, 3)">A form</h1>
<form action="/done"><label for="name">Your name</label><input id="name" name="name" value="old">
<input type="checkbox" id="box"><select id="list"><option>one<option id="two">two</select>
<input id="off" disabled><input type="file" id="file"><input type="hidden" id="hidden">
<button id="send">Send it</button></form><p id="gone" style="display:none">gone</p><a href="/done">To the end</a>`,
	"/done": `<title>Done</title><p id="said"></p><script>said.textContent = location.search</script>`,
	"/frames": `<title>Outer</title><p id="where">outer</p><iframe id="middle" srcdoc='<p id="where">middle</p>
<iframe id="inner" srcdoc="&lt;p id=where&gt;inner&lt;/p&gt;"></iframe>'></iframe>`,
	"/windows": `<title>First</title><a id="open" target="_blank" href="/done">open</a>`,
	"/dialogs": `<title>Dialogs</title><button id="alert" onclick="alert('Hello')">a</button>
<button id="confirm" onclick="document.title = confirm('Sure?')">c</button>
<button id="prompt" onclick="document.title = prompt('Name?')">p</button>
<button id="stay" onclick="onbeforeunload = e => e.preventDefault()">s</button><a id="leave" href="/done">leave</a>`,
	"/actions": `<title>Actions</title><style>#menu ul { display: none } #menu:hover ul { display: block }
.box { width: 80px; height: 80px; position: absolute } #low { position: absolute; top: 3000px }</style>
<div id="menu">Menu<ul><li id="item" onclick="say('chosen')">Item</li></ul></div>
<input id="text" style="position:absolute; top: 150px">
<div id="from" class="box" style="top: 300px; background: red">from</div>
<div id="to" class="box" style="top: 2000px; left: 300px; background: green">to</div>
<div id="card" class="box" draggable="true" style="top: 300px; left: 500px; background: blue">card</div>
<div id="shelf" class="box" style="top: 500px; left: 500px; background: gray">shelf</div>
<p id="low" onclick="say('low')">low</p>
<script>
const log = []; const say = what => log.push(what);
let dragging = false;
from.onmousedown = () => { dragging = true };
addEventListener('mouseup', e => { if (dragging && e.target.id === 'to') say('dropped'); dragging = false });
card.ondragstart = e => e.dataTransfer.setData('text/plain', 'the card');
shelf.ondragover = e => e.preventDefault();
shelf.ondrop = e => { e.preventDefault(); say('shelved ' + e.dataTransfer.getData('text/plain')) };
addEventListener('keydown', e => say([e.ctrlKey && 'Control', e.shiftKey && 'Shift', e.key].filter(Boolean).join('+')));
</script>`,
	"/cookies": `<title>Cookies</title>`,
	"/console": `<title>Console</title><script>console.log('to the log'); console.error('an error')</script>`,
	"/tall":    `<title>Tall</title><p style="height: 3000px">tall</p>`,
}

func site(t *testing.T) string { return siteWith(t, nil) }

// siteWith sends to called for each request of /called.
func siteWith(t *testing.T, called chan<- struct{}) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/called":
			called <- struct{}{}
			return
		case "/favicon.ico":
			w.WriteHeader(http.StatusNoContent)
			return
		}
		page, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<!doctype html>"+page)
	}))
	t.Cleanup(server.Close)
	return server.URL
}
