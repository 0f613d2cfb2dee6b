package demo

import (
	"fmt"
	"html"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// shop is what the tests test: a small shop on this machine, for as long as the demo runs. It
// changes from run to run as real pages do, which gives the tests a history: an id is renamed,
// an order fails once, and a search finds nothing at last.
type shop struct {
	listener net.Listener
	server   *http.Server
	run      atomic.Int64 // from 1
	runs     atomic.Int64
}

func openShop() (*shop, error) {
	l, err := listen()
	if err != nil {
		return nil, err
	}
	s := &shop{listener: l}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.lamps)
	mux.HandleFunc("GET /order", s.order)
	mux.HandleFunc("GET /search", s.search)
	s.server = &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() { _ = s.server.Serve(l) }()
	return s, nil
}

func (s *shop) close() { _ = s.server.Close() }

func (s *shop) url() string { return "http://" + s.listener.Addr().String() }

const shopPage = `<!doctype html><html lang="en"><meta charset="utf-8"><title>%[1]s</title>
<style>body{font:18px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:44rem;color:#222}li{margin:.6rem 0}
button{font:inherit;padding:.3rem .9rem;border:0;border-radius:.4rem;background:#205493;color:#fff}#cart{background:#eef4fb;padding:.6rem 1rem}</style>
<h1>%[1]s</h1>
%[2]s
</html>
`

func show(w http.ResponseWriter, title, body string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, shopPage, title, body)
}

// lamps is the list. From the second run on its buttons have other ids.
func (s *shop) lamps(w http.ResponseWriter, _ *http.Request) {
	prefix := "add"
	if s.run.Load() > 1 {
		prefix = "buy"
	}
	show(w, "Lamps", fmt.Sprintf(`<ul>
<li>Red lamp <button id="%[1]s-red" aria-label="Add the red lamp">Add to cart</button></li>
<li>Blue lamp <button id="%[1]s-blue" aria-label="Add the blue lamp">Add to cart</button></li>
</ul><p id="cart">Your cart is empty</p><p><a href="/order">Order</a> <a href="/search?q=blue">Blue ones</a></p>
<script>for (const b of document.querySelectorAll("button")) b.onclick = () => cart.textContent = "1 " + b.parentNode.firstChild.data.trim()</script>`, prefix))
}

// order fails in the second run.
func (s *shop) order(w http.ResponseWriter, _ *http.Request) {
	text := "Thank you for your order"
	if s.run.Load() == 2 {
		text = "The payment took too long. Please try again"
	}
	show(w, "Order", `<p id="result">`+text+`</p>`)
}

// search finds nothing in the last of several runs.
func (s *shop) search(w http.ResponseWriter, r *http.Request) {
	text := "2 lamps are blue"
	if s.run.Load() > 1 && s.run.Load() == s.runs.Load() {
		text = "0 lamps are blue"
	}
	show(w, "Search: "+html.EscapeString(r.URL.Query().Get("q")), `<p id="found">`+text+`</p>`)
}
