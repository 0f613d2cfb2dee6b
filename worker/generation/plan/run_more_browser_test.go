package plan

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const dialogPage = `<style>#m { display: none; position: fixed; inset: 0; background: #0008 } #m.on { display: block } #m > div { background: #fff; margin: 80px auto; width: 300px; padding: 20px }</style>
	<button onclick="say('page delete')">Delete</button> <button onclick="m.className='on'">Remove account</button>
	<div id=m><div role=dialog aria-modal=true aria-label="Are you sure?"><p>This cannot be undone.</p><label>Type your name <input id=n></label>
	<button onclick="m.className=''; say('cancelled')">Cancel</button><button onclick="say('deleted ' + n.value)">Delete</button></div></div>`

const formsPage = `<h2>Billing address</h2><form onsubmit="say('billing ' + s1.value + ' ' + c1.value); return false"><div>Street</div><input id=s1 placeholder="e.g. 12 Main St"><div>City</div><input id=c1><button>Save</button></form>
	<h2>Shipping address</h2><form onsubmit="say('shipping ' + s2.value + ' ' + c2.value); return false"><div>Street</div><input id=s2 placeholder="e.g. 12 Main St"><div>City</div><input id=c2><button>Save</button></form>
	<p><input type=password id=p1><input type=text id=t1><button onclick="say(p1.value + '/' + t1.value)">Submit</button></p>`

const listPage = `<style>.row { display: flex; gap: 8px; padding: 4px; cursor: pointer } .sel { background: #cdf }</style><div id=l></div>
	<script>[['Red lamp', '12.00'], ['Blue lamp', '15.50'], ['Green chair', '40.00']].forEach(([n, p]) => { const d = document.createElement('div'); d.className = 'row';
	d.innerHTML = '<span>' + n + '</span><span>$' + p + '</span><a href="#">Details</a><button>+</button>'; d.onclick = () => say('row ' + n);
	d.querySelector('a').onclick = (e) => { e.preventDefault(); e.stopPropagation(); say('details ' + n) }; d.querySelector('button').onclick = (e) => { e.stopPropagation(); say('added ' + n) }; l.append(d) })</script>`

const menuPage = `<style>li ul { display: none } li:hover > ul { display: block } li { width: 120px; list-style: none; padding: 4px }</style>
	<nav><ul><li><a href="#">Products</a><ul><li><a href="#" onclick="say('lamps')">Lamps</a></li><li><a href="#" onclick="say('chairs')">Chairs</a></li></ul></li>
	<li><a href="#">Company</a><ul><li><a href="#" onclick="say('jobs')">Jobs</a></li></ul></li></ul></nav>`

const framePage = `<p>Outer</p><button onclick="say('outer')">OK</button><iframe title="Payment" srcdoc="<label>Card number <input id=c></label><button onclick=&quot;parent.document.title = 'paid ' + c.value&quot;>Pay now</button>" width=400 height=200></iframe>`

const shadowPage = `<my-box></my-box><script>customElements.define('my-box', class extends HTMLElement { connectedCallback() { const r = this.attachShadow({ mode: 'open' });
	r.innerHTML = '<label>Nickname <input></label><button>Join</button>'; r.querySelector('button').onclick = () => say('joined ' + r.querySelector('input').value) } })</script>`

const scrollPage = `<div id=v style="height:200px;overflow-y:auto;border:1px solid"><div id=in style="position:relative;height:6000px"></div></div>
	<script>const draw = () => { const from = Math.floor(v.scrollTop / 30); document.getElementById('in').innerHTML = ''; for (let i = from; i < from + 8 && i < 200; i++) { const d = document.createElement('div');
	d.textContent = 'Entry ' + i; d.style = 'position:absolute;height:30px;cursor:pointer;top:' + i * 30 + 'px'; d.onclick = () => say('entry ' + i); document.getElementById('in').append(d) } }; v.onscroll = draw; draw()</script>`

const colorsPage = `<style>.b { display: inline-block; width: 40px; height: 40px }</style><div class=b style="background:red" onclick="say('red')"></div><div class=b style="background:blue" onclick="say('blue')"></div>
	<div class=b style="background:green" onclick="say('green')"></div><br><textarea placeholder="Notes">old</textarea><button onclick="say(document.querySelector('textarea').value)">Keep</button>`

const editPage = `<ul><li><label ondblclick="this.hidden=true;e.hidden=false;e.value=this.textContent;e.focus()">Buy milk</label><input id=e hidden onkeydown="if (event.key=='Enter') say(e.value)"></li></ul><input placeholder="New entry">`

const maskPage = `<label>Phone <input id=t oninput="let d=this.value.replace(/\D/g,'').slice(0,10); this.value = d.length > 3 ? '(' + d.slice(0,3) + ') ' + d.slice(3) : d"></label>
	<div contenteditable id=ce style="border:1px solid;min-height:20px" aria-label="Message"></div><button onclick="say(t.value + '|' + ce.innerText)">Done</button>`

// Further pages: dialogs, forms that are alike, menus, frames, lists that draw what is seen.
func TestRunOnFurtherPages(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ page, sentence, said string }{
		"dialog":        {dialogPage, `Click on "Remove account". In the dialog, enter Ann as your name and click Delete.`, "deleted Ann"},
		"dialog cancel": {dialogPage, `Press Remove account and then press Cancel`, "cancelled"},
		"second form":   {formsPage, `Under the heading "Shipping address", enter "Elm 3" as street and "Bonn" as city, then click Save.`, "shipping Elm 3 Bonn"},
		"first form":    {formsPage, `Fill "Oak 1" into the street field of the billing address and press Save.`, "billing Oak 1"},
		"both fields":   {formsPage, `Enter "k3" into the password field and click submit.`, "k3/"},
		"row click":     {listPage, `Click on the Blue lamp.`, "row Blue lamp"},
		"row details":   {listPage, `Open the details of the Green chair`, "details Green chair"},
		"row plus":      {listPage, `Click the + button next to "Red lamp".`, "added Red lamp"},
		"row third":     {listPage, `Click the third Details link.`, "details Green chair"},
		"hover menu":    {menuPage, `Hover over Products and click Chairs.`, "chairs"},
		"hidden menu":   {menuPage, `Click on Jobs`, "jobs"},
		"frame":         {framePage, `Enter 4111 as the card number and click "Pay now"`, "paid 4111"},
		"shadow":        {shadowPage, `Type Bo into Nickname and click Join`, "joined Bo"},
		"virtual":       {scrollPage, `Click "Entry 40"`, "entry 40"},
		"color":         {colorsPage, `Click on the blue box.`, "blue"},
		"append":        {colorsPage, `Append " and new" to the notes and click Keep`, "old and new"},
		"clear":         {colorsPage, `Clear the notes field, then press Keep.`, ""},
		"edit":          {editPage, `Double click on "Buy milk", change it to "Buy oat milk" and hit Enter`, "Buy oat milk"},
		"mask":          {maskPage, `Set the phone to 5551234567, write "Hi there" into the message box and click Done`, "(555) 1234567|Hi there"},
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
