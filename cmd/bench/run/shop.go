package run

import (
	"fmt"
	"html"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage/step"
)

// shopSite is the site that flows run on: a sign-in, a list of forty products, a cart in the
// visitor's session.
type shopSite struct {
	server *http.Server
	base   string

	mu    sync.Mutex
	carts map[string]int // by session
}

func startShop() (*shopSite, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &shopSite{base: "http://" + listener.Addr().String(), carts: map[string]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.signIn)
	mux.HandleFunc("POST /login", s.login)
	mux.HandleFunc("GET /products", s.products)
	mux.HandleFunc("POST /add", s.add)
	mux.HandleFunc("GET /cart", s.cart)
	s.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.server.Serve(listener) }()
	return s, nil
}

func (s *shopSite) stop() { _ = s.server.Close() }

func page(w http.ResponseWriter, title, body string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = fmt.Fprintf(w, `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>%s</title>
<style>body{font:16px sans-serif;margin:2em}ul{display:grid;grid-template-columns:repeat(4,1fr);gap:1em;list-style:none}
li{border:1px solid #ccc;padding:1em}button,input{font:inherit;padding:.4em}</style></head><body>%s</body></html>`, title, body)
}

func (s *shopSite) signIn(w http.ResponseWriter, _ *http.Request) {
	page(w, "Sign in", `<h1>Sign in</h1><form method="post" action="/login">
<p><label for="user">User</label> <input id="user" name="user" autocomplete="off"></p>
<p><label for="password">Password</label> <input id="password" name="password" type="password"></p>
<p><button id="login">Log in</button></p></form>`)
}

func (s *shopSite) login(w http.ResponseWriter, r *http.Request) {
	if r.FormValue("user") != "shopper" || r.FormValue("password") != "correct horse" {
		w.WriteHeader(http.StatusForbidden)
		page(w, "Refused", `<h1>Wrong user or password</h1>`)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: "session", Value: uuid.NewString(), Path: "/", HttpOnly: true})
	http.Redirect(w, r, "/products", http.StatusSeeOther)
}

func (s *shopSite) session(r *http.Request) (id string, items int) {
	if c, err := r.Cookie("session"); err == nil {
		id = c.Value
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return id, s.carts[id]
}

func (s *shopSite) products(w http.ResponseWriter, r *http.Request) {
	_, items := s.session(r)
	list := ""
	for n := 1; n <= 40; n++ {
		list += fmt.Sprintf(`<li><h2>Product %d</h2><p>%d.90</p><button id="add-%d" data-product="%d">Add to cart</button></li>`, n, n, n, n)
	}
	page(w, "Products", fmt.Sprintf(`<h1>Products</h1><nav><a id="cart" href="/cart">Cart (<span id="count">%d</span>)</a></nav><ul>%s</ul>
<script>document.querySelector('ul').addEventListener('click', async event => {
  const product = event.target.dataset.product;
  if (!product) return;
  const answer = await fetch('/add', {method: 'POST', body: new URLSearchParams({product})});
  document.getElementById('count').textContent = await answer.text();
});</script>`, items, list))
}

func (s *shopSite) add(w http.ResponseWriter, r *http.Request) {
	id, _ := s.session(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.carts[id]++
	_, _ = fmt.Fprint(w, s.carts[id])
}

func (s *shopSite) cart(w http.ResponseWriter, r *http.Request) {
	_, items := s.session(r)
	page(w, "Cart", `<h1>Cart</h1><p id="total">`+html.EscapeString(fmt.Sprint(items))+` item(s)</p>`)
}

// steps are the flow: open, two fills, log in, verify, add, open the cart,
// verify. flow.cjs does the same with Playwright.
func (s *shopSite) steps() []step.Step {
	element := func(css string) *step.Selector { return &step.Selector{Type: step.CSS, Value: css} }
	text := func(t string) *string { return &t }
	matches := func(css, value string) step.Tool {
		return step.Tool{Type: step.Assert, Args: step.Args{Selector: element(css),
			Matcher: &step.Matcher{Name: step.TextIs, Args: step.MatcherArgs{Value: value}}}}
	}
	tools := []step.Tool{
		{Type: step.GoToURL, Args: step.Args{URL: s.base + "/"}},
		{Type: step.InputText, Args: step.Args{Selector: element("#user"), Text: text("shopper")}},
		{Type: step.InputText, Args: step.Args{Selector: element("#password"), Text: text("correct horse")}},
		{Type: step.Click, Args: step.Args{Selector: element("#login")}},
		matches("h1", "Products"),
		{Type: step.Click, Args: step.Args{Selector: element("#add-3")}},
		{Type: step.Click, Args: step.Args{Selector: element("#cart")}},
		matches("h1", "Cart"),
	}
	steps := make([]step.Step, len(tools))
	for i, tool := range tools {
		steps[i] = step.Step{ID: fmt.Sprintf("s%d", i+1), Tool: tool}
	}
	return steps
}
