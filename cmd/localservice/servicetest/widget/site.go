package widget

import (
	"context"
	"embed"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

//go:embed pages
var pages embed.FS

// maxUpload is far above the files of the cases.
const maxUpload = 1 << 20

// Site serves the pages of the cases and the libraries on an address of this
// machine. It can be reached as 127.0.0.1 and as localhost, so that a page may have
// frames of another origin.
type Site struct {
	server *http.Server
	base   string
	closed chan struct{}
}

// Start starts a site. The libraries are in the folder modules, a node_modules.
func Start(modules string) (*Site, error) {
	if _, err := os.Stat(filepath.Join(modules, "jquery-ui")); err != nil {
		return nil, errors.New("the widget libraries are not installed: run make deps")
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Site{base: "http://" + listener.Addr().String(), closed: make(chan struct{})}
	mux := http.NewServeMux()
	mux.Handle("GET /npm/", http.StripPrefix("/npm", http.FileServer(http.Dir(modules))))
	mux.HandleFunc("GET /{page}", servePage)
	mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("GET /late/{page}", s.serveLate)
	mux.HandleFunc("GET /unfinished/{page}", s.serveUnfinished)
	mux.HandleFunc("POST /upload", readUpload)
	s.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.server.Serve(listener) }()
	return s, nil
}

// BaseURL returns the address of the site, without a slash at the end.
func (s *Site) BaseURL() string { return s.base }

// Close stops the site. It is called once.
func (s *Site) Close() error {
	close(s.closed)
	return s.server.Close()
}

func servePage(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	http.ServeFileFS(w, r, pages, "pages/"+r.PathValue("page"))
}

// serveLate serves a page after as many milliseconds as the query member ms says.
func (s *Site) serveLate(w http.ResponseWriter, r *http.Request) {
	ms, _ := strconv.Atoi(r.URL.Query().Get("ms"))
	if s.wait(r.Context(), time.Duration(ms)*time.Millisecond) {
		servePage(w, r)
	}
}

// serveUnfinished serves a page whose end never comes: its document stays at the
// state "loading", while what was sent is shown.
func (s *Site) serveUnfinished(w http.ResponseWriter, r *http.Request) {
	body, err := pages.ReadFile("pages/" + r.PathValue("page"))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(body)
	_ = http.NewResponseController(w).Flush()
	s.wait(r.Context(), time.Hour)
}

// wait reports whether a time passed before the request or the site ended.
func (s *Site) wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
	case <-s.closed:
	}
	return false
}

// readUpload responds with the name and the content of the file in the form.
func readUpload(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxUpload)
	file, header, err := r.FormFile("file")
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	defer file.Close()
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, header.Filename+": ")
	_, _ = io.Copy(w, file)
}
