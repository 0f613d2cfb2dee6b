package sentence

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"log"
	"mime"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Site serves the pages of a set, with one change at a time, and the widget libraries
// under /npm/.
type Site struct {
	set    *Set
	files  fs.FS // of the packages
	server *http.Server
	base   string
	secure *httptest.Server // with a certificate that nobody trusts
	closed chan struct{}

	mu     sync.Mutex
	change string
	target string
}

// Start starts a site. The libraries are in the folder modules, a node_modules.
func (s *Set) Start(modules string) (*Site, error) {
	if _, err := os.Stat(modules); err != nil {
		return nil, errors.New("the packages of the pages are not installed: run make deps")
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	site := &Site{set: s, files: os.DirFS(modules), base: "http://" + listener.Addr().String(), closed: make(chan struct{})}
	mux := http.NewServeMux()
	mux.Handle("GET /npm/", http.StripPrefix("/npm", site.themed(modules)))
	mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("GET /private/{page}", site.servePrivate)
	mux.HandleFunc("GET /never", site.serveNever)
	for path, folder := range s.mounts {
		mux.Handle("GET "+path, http.StripPrefix(path, site.themed(filepath.Join(modules, folder))))
	}
	mux.HandleFunc("GET /{page...}", site.servePage)
	site.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	site.secure = httptest.NewUnstartedServer(mux)
	site.secure.Config.ErrorLog = log.New(io.Discard, "", 0) // of browsers that refuse it
	site.secure.StartTLS()
	go func() { _ = site.server.Serve(listener) }()
	return site, nil
}

// Address returns the address of a pair's page. Pages under tls: are served with a
// certificate that no browser trusts.
func (s *Site) Address(p *Pair) string {
	if path, ok := strings.CutPrefix(p.Page, "tls:"); ok {
		return s.secure.URL + path
	}
	return s.base + p.Page
}

// Change changes the pages that are served from now on, for a pair.
func (s *Site) Change(change string, p *Pair) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.change, s.target = change, p.Target
}

// Close stops the site. It is called once.
func (s *Site) Close() error {
	close(s.closed)
	s.secure.CloseClientConnections()
	s.secure.Close()
	return s.server.Close()
}

// servePrivate serves a page to those who log in as ann with the password k3.
func (s *Site) servePrivate(w http.ResponseWriter, r *http.Request) {
	if user, password, _ := r.BasicAuth(); user != "ann" || password != "k3" {
		w.Header().Set("WWW-Authenticate", `Basic realm="Private"`)
		http.Error(w, "Log in first.", http.StatusUnauthorized)
		return
	}
	s.servePage(w, r)
}

// serveNever serves a response that does not end.
func (s *Site) serveNever(w http.ResponseWriter, r *http.Request) {
	_ = http.NewResponseController(w).Flush()
	select {
	case <-r.Context().Done():
	case <-s.closed:
	}
}

// themed serves the files of the packages; its pages are changed.
func (s *Site) themed(modules string) http.Handler {
	folder := os.DirFS(modules)
	files := http.FileServerFS(folder)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		change, _ := s.present()
		if !makes(change, Parts...) || path.Ext(r.URL.Path) != ".html" {
			files.ServeHTTP(w, r)
			return
		}
		text, err := redesignFile(folder, path.Clean(r.URL.Path)[1:], change)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, text.page)
	})
}

// withTheme returns a page with other fonts, sizes and distances.
func withTheme(text string) string {
	const theme = `<style>body { font-family: monospace !important; font-size: 108% !important; padding: 9px 3px !important; filter: ` +
		`sepia(.6); } button, input, select, a { letter-spacing: .04em !important; }</style>`
	if before, after, ok := strings.Cut(text, "</head>"); ok {
		return before + theme + "</head>" + after
	}
	return theme + text
}

// present returns the change that is served now, and what it is about.
func (s *Site) present() (change, target string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.change, s.target
}

func (s *Site) servePage(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("page")
	text, err := fs.ReadFile(s.set.pages, name)
	if errors.Is(err, fs.ErrNotExist) && name == "sentence.js" {
		text, err = fs.ReadFile(own, "pages/sentence.js") // of another set
	}
	if err != nil {
		http.NotFound(w, r)
		return
	}
	change, target := s.present()
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	body := changed(string(text), change, target)
	if makes(change, Theme) && path.Ext(name) == ".html" {
		body = withTheme(body)
	}
	if name == "sentence.js" {
		what, _ := json.Marshal(map[string]string{"kind": change, "target": target})
		body = fmt.Sprintf("const change = %s;\n%s", what, body)
	}
	_, _ = w.Write([]byte(body))
}

var (
	word     = regexp.MustCompile(`~([a-z][a-z0-9-]*)~`)
	wrapped  = regexp.MustCompile(`(?s)<!--w-->(.*?)<!--/w-->`)
	siblings = regexp.MustCompile(`(?s)<!--o-->(.*?)<!--/o-->`)
	marked   = regexp.MustCompile(`(?s)<!--x ([^>]*?)-->(.*?)<!--/x-->`)
)

// changed returns the text of a page after a change.
func changed(text, change, target string) string {
	text = marked.ReplaceAllStringFunc(text, func(s string) string {
		m := marked.FindStringSubmatch(s)
		if change == Removed && m[1] == target {
			return ""
		}
		return m[2]
	})
	text = siblings.ReplaceAllStringFunc(text, func(s string) string {
		parts := strings.Split(siblings.FindStringSubmatch(s)[1], "<!--|-->")
		if makes(change, Order) {
			slices.Reverse(parts)
		}
		return strings.Join(parts, "")
	})
	around := "$1"
	if makes(change, Wrap) {
		around = `<div class="shell"><div>$1</div></div>`
	}
	text = wrapped.ReplaceAllString(text, around)
	return word.ReplaceAllStringFunc(text, func(s string) string {
		s = strings.Trim(s, "~")
		if !makes(change, IDs) {
			return s
		}
		return renamed(s)
	})
}

// makes reports whether a change makes one of some.
func makes(change string, some ...string) bool {
	return slices.Contains(some, change) ||
		change == Other && slices.ContainsFunc(some, func(s string) bool { return slices.Contains(Parts, s) })
}

// renamed returns the name that an id or a class gets.
func renamed(name string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	return fmt.Sprintf("u%07x", h.Sum32())
}
