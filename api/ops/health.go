package ops

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/tasks/dispatch"
)

// Health answers 200 {"status":"ok","version":...} while the process can answer
// at all.
func Health(version string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, struct {
			Status  string `json:"status"`
			Version string `json:"version"`
		}{"ok", version})
	})
}

// Check is one thing that readiness looks at.
type Check struct {
	// Name stands in the answer; unique in a process.
	Name string
	// Func returns nil when all is well. It should end with its context; one
	// that does not is reported as a timeout until it returns.
	Func func(context.Context) error
	// Critical: a failure makes the process unavailable instead of degraded.
	Critical bool
}

// Readiness is the handler of /readyz. It answers
//
//	{"status":"degraded",
//	 "capabilities":{"crash_intake":{"status":"ok"},
//	  "uploads":{"status":"unavailable","failing":{"objects":"connection refused"}}},
//	 "checks":{"objects":{"status":"failed","critical":false,"took_ms":3,"error":"connection refused"}}}
//
// with 200 when the status is ok or degraded, and with 503 when it is unavailable: the
// process can do nothing of what it is for, or not what Require names, or Drain was
// called. The query parameter capability, several with commas, asks for some
// capabilities only: 503 when one of them is unavailable, 400 when the process does not
// have it.
type Readiness struct {
	checks       []*watched
	capabilities []Capability
	required     []string
	cache        cached[report]
	draining     atomic.Bool
	log          *slog.Logger
}

// watched is a check and how it last went.
type watched struct {
	Check
	always bool // critical whatever the capabilities say
	call   call
	failed bool // touched by one load at a time
}

type report struct {
	Status       string             `json:"status"`
	Capabilities map[string]ability `json:"capabilities,omitempty"`
	Checks       map[string]outcome `json:"checks"`
}

type outcome struct {
	Status   string `json:"status"` // ok or failed
	Critical bool   `json:"critical"`
	TookMS   int64  `json:"took_ms"`
	Error    string `json:"error,omitempty"`

	always bool // its failure makes the process unavailable
}

// The states of a process.
const (
	statusOK          = "ok"
	statusDegraded    = "degraded"
	statusUnavailable = "unavailable"
)

// NewReadiness returns the handler. With capabilities a check is critical where they
// say so, or where it is marked; Process.Readiness returns that of a tier.
func NewReadiness(checks []Check, log *slog.Logger, capabilities ...Capability) *Readiness {
	r := &Readiness{log: log, capabilities: capabilities}
	for _, c := range checks {
		limit := besideLimit
		if c.Critical {
			limit = callLimit
		}
		r.checks = append(r.checks, &watched{Check: c, always: c.Critical, call: call{limit: limit}})
	}
	if len(capabilities) > 0 {
		r.mark()
	}
	r.cache = cached[report]{load: r.look, now: time.Now}
	return r
}

// Drain makes the process unready for good, so that balancers take it out
// before its listener closes.
func (r *Readiness) Drain() { r.draining.Store(true) }

// ServeHTTP implements http.Handler.
func (r *Readiness) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if r.draining.Load() {
		answer(w, http.StatusServiceUnavailable, report{Status: statusUnavailable,
			Checks: map[string]outcome{"process": {Status: "failed", Critical: true, Error: "stopping"}}})
		return
	}
	var names []string
	for _, list := range req.URL.Query()["capability"] {
		names = append(names, strings.Split(list, ",")...)
	}
	for _, name := range names {
		if !r.has(name) {
			answer(w, http.StatusBadRequest, struct {
				Error string `json:"error"`
			}{r.unknown(name).Error()})
			return
		}
	}
	rep, err := r.cache.get(req.Context())
	if err != nil {
		return // nobody reads the answer
	}
	if len(names) > 0 {
		rep = r.only(rep, names)
	}
	status := http.StatusOK
	if rep.Status == statusUnavailable {
		status = http.StatusServiceUnavailable
	}
	answer(w, status, rep)
}

// look runs all checks.
func (r *Readiness) look() report {
	outcomes := make([]outcome, len(r.checks))
	var wg sync.WaitGroup
	for i, c := range r.checks {
		wg.Go(func() { outcomes[i] = r.run(c) })
	}
	wg.Wait()
	rep := report{Checks: make(map[string]outcome, len(r.checks))}
	for i, c := range r.checks {
		rep.Checks[c.Name] = outcomes[i]
	}
	rep.Capabilities = r.abilities(rep.Checks)
	rep.Status = r.status(rep.Checks, rep.Capabilities)
	return rep
}

func (r *Readiness) run(c *watched) outcome {
	started := time.Now()
	_, err := do(&c.call, func(ctx context.Context) (struct{}, error) { return struct{}{}, c.Func(ctx) })
	o := outcome{Status: "ok", Critical: c.Critical, TookMS: time.Since(started).Milliseconds(), always: c.always}
	if err != nil {
		o.Status, o.Error = "failed", reason(err)
	}
	if failed := err != nil; failed != c.failed {
		c.failed = failed
		if failed {
			of := c.Name
			if of == checkLag { // which is read from the ledger
				of = Postgres
			}
			r.log.Warn("readiness check failed", "check", c.Name, "critical", c.Critical, "error", err, dependencyKey, of)
		} else {
			r.log.Info("readiness check recovered", "check", c.Name)
		}
	}
	return o
}

// openError is an error whose text was written for the answer.
type openError struct{ text string }

func (e *openError) Error() string { return e.text }

// reason puts an error into words that name no host, user or secret: the answer
// is open to everybody who reaches the api.
func reason(err error) string {
	var (
		open  *openError
		files *object.UnavailableError
		queue *dispatch.UnavailableError
		dns   *net.DNSError
		neter net.Error
	)
	switch {
	case errors.As(err, &open):
		return open.text
	case errors.As(err, &files):
		return files.Reason
	case errors.As(err, &queue):
		return queue.Reason()
	case storage.Unavailable(err) && storage.Reason(err) != "":
		return storage.Reason(err)
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.As(err, &dns):
		return "host name not resolved"
	case errors.As(err, &neter) && neter.Timeout():
		return "timeout"
	case errors.Is(err, storage.ErrUnavailable), errors.As(err, &neter):
		return "not reachable"
	}
	return "failed"
}

// answer writes a JSON document that nobody may keep.
func answer(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		http.Error(w, `{"status":"unavailable"}`, http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // a client that left is no event
}
