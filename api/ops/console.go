package ops

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"path"
	"regexp"
	"strings"

	"github.com/hibiken/asynqmon"

	"github.com/slipway-qa/slipway/tasks/dispatch"
)

// Console is the asynqmon page over Redis's side of the queues: a second look,
// for Redis holds deliveries and the ledger holds the truth. It is read-only, has no
// credentials of its own, and must be mounted at ConsolePath, itself and
// everything below, behind the operator's.
type Console struct {
	monitor *asynqmon.HTTPHandler
	policy  string
}

// NewConsole returns the console; Close ends its connections to Redis. It does not
// connect.
func NewConsole(redis *dispatch.Redis) (*Console, error) {
	monitor := asynqmon.New(asynqmon.Options{RootPath: ConsolePath, RedisConnOpt: redis.Options(), ReadOnly: true})
	c := &Console{monitor: monitor}
	hashes, err := c.scripts()
	if err != nil {
		return nil, errors.Join(err, monitor.Close())
	}
	// The page's two inline scripts are allowed by their hashes. Its styles are
	// made by script at run time. The web fonts that it asks another host for
	// stay out: they would tell that host of every look, and the browser's own
	// fonts do.
	c.policy = "default-src 'none'; script-src 'self' " + strings.Join(hashes, " ") +
		"; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:" +
		"; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	return c, nil
}

// Close ends the connections.
func (c *Console) Close() error { return c.monitor.Close() }

// ServeHTTP implements http.Handler.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", c.policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	// asynqmon refuses writes too; a second lock, for its routes are not ours.
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "the console is read-only", http.StatusMethodNotAllowed)
		return
	}
	p := r.URL.Path
	if p != ConsolePath && !strings.HasPrefix(p, ConsolePath+"/") {
		http.NotFound(w, r)
		return
	}
	// Charts would come from a Prometheus server that is not configured: the
	// request would go out to nowhere.
	if p == ConsolePath+"/api/metrics" {
		http.NotFound(w, r)
		return
	}
	if strings.HasPrefix(p, ConsolePath+"/static/") { // names hold a content hash
		h.Set("Cache-Control", "private, max-age=86400")
	}
	c.monitor.ServeHTTP(&typed{ResponseWriter: w, extension: path.Ext(p)}, r)
}

// inlineScript finds what stands between the tags of scripts without a source.
var inlineScript = regexp.MustCompile(`(?s)<script>(.*?)</script>`)

// scripts renders the page once and gives the hashes of its inline scripts.
func (c *Console) scripts() ([]string, error) {
	r, err := http.NewRequest(http.MethodGet, ConsolePath, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("console page: %w", err)
	}
	page := &pageBuffer{header: http.Header{}, status: http.StatusOK}
	c.monitor.ServeHTTP(page, r)
	if page.status != http.StatusOK {
		return nil, fmt.Errorf("console page: status %d", page.status)
	}
	var hashes []string
	for _, m := range inlineScript.FindAllSubmatch(page.Bytes(), -1) {
		sum := sha256.Sum256(m[1])
		hashes = append(hashes, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
	}
	if len(hashes) == 0 {
		return nil, errors.New("console page: no scripts")
	}
	return hashes, nil
}

// pageBuffer keeps a page instead of sending it.
type pageBuffer struct {
	bytes.Buffer
	header http.Header
	status int
}

func (p *pageBuffer) Header() http.Header    { return p.header }
func (p *pageBuffer) WriteHeader(status int) { p.status = status }

// typed corrects the content types that asynqmon guesses from the content:
// browsers show no image that is served as text.
type typed struct {
	http.ResponseWriter
	extension string
	done      bool
}

func (t *typed) correct() {
	if t.done {
		return
	}
	t.done = true
	h := t.Header()
	if guess := h.Get("Content-Type"); !strings.HasPrefix(guess, "text/plain") && !strings.HasPrefix(guess, "text/xml") {
		return
	}
	switch t.extension {
	case ".svg":
		h.Set("Content-Type", "image/svg+xml")
	case ".json", ".map":
		h.Set("Content-Type", "application/json; charset=utf-8")
	}
}

// WriteHeader implements http.ResponseWriter.
func (t *typed) WriteHeader(status int) {
	t.correct()
	t.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (t *typed) Write(b []byte) (int, error) {
	t.correct()
	return t.ResponseWriter.Write(b)
}
