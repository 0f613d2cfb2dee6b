package processtest

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// site is what tests are run on: a sign-in, a shop whose ids move with each
// release, a page that repeats what it is told, and redirects to anywhere.
type site struct {
	*httptest.Server
	mu      sync.Mutex
	version int
	sent    []string
	visited int           // of the sign-in
	held    chan struct{} // not nil: the sign-in is not answered
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{version: 1}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.visited++
		held := s.held
		s.mu.Unlock()
		if held != nil {
			select {
			case <-held:
			case <-r.Context().Done():
			}
		}
		writePage(w, `<form method="post" action="/login"><label>User <input id="user" name="user"></label>
<label>Password <input id="password" name="password" type="password"></label><button id="login">Log in</button></form>`)
	})
	mux.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("password") != "correct horse" {
			writePage(w, `<h1>Wrong password</h1>`)
			return
		}
		writePage(w, `<h1>Hello `+html.EscapeString(r.FormValue("user"))+`</h1>`)
	})
	mux.HandleFunc("GET /shop", func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		v := s.version
		s.mu.Unlock()
		result, buy := "result", "lamp-button"
		if v > 1 {
			buy = "purchase"
		}
		if v == 3 {
			result = "outcome"
		}
		writePage(w, fmt.Sprintf(`<h1>Shop</h1><p>A lamp</p><button id="%s" onclick="document.querySelector('output').textContent='bought'">Buy the lamp</button>
<button id="wish-v%d">Put it on the wish list</button><output id="%s"></output>`, buy, v, result))
	})
	mux.HandleFunc("GET /echo", func(w http.ResponseWriter, r *http.Request) {
		word := r.FormValue("word")
		if word != "" {
			s.mu.Lock()
			s.sent = append(s.sent, word)
			s.mu.Unlock()
		}
		writePage(w, `<form><input id="word" name="word"><button id="send">Send</button></form><p id="heard">`+html.EscapeString(word)+`</p>
<script>console.log(document.getElementById('heard').textContent)</script>`)
	})
	mux.HandleFunc("GET /to", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.FormValue("address"), http.StatusFound)
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(func() {
		s.CloseClientConnections() // that of a page that is held
		s.Close()
	})
	return s
}

func writePage(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = fmt.Fprintf(w, `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Site</title></head><body>%s</body></html>`, body)
}

// release puts a version of the shop into use.
func (s *site) release(version int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version = version
}

// hold keeps the sign-in from being answered until the returned function is called.
func (s *site) hold() (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := make(chan struct{})
	s.held = held
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.held = nil
		close(held)
	}
}

func (s *site) words() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.sent...)
}

func (s *site) visits() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.visited
}
