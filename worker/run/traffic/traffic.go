// Package traffic records what the pages of a test request: each request with its
// response, in the order of sending.
//
// The browser sends events over WebDriver BiDi (network.beforeRequestSent,
// responseStarted, responseCompleted, fetchError), for the user context of the window
// that is current when Open is called: a browser that other tests have used, or use, has
// other contexts. They arrive while a command over HTTP runs. What never leaves the
// browser (data:, blob:) is not recorded.
//
// Bodies are not in the events. A data collector (network.addDataCollector) keeps them
// in the browser, also after the page was left, until RequestBody or ResponseBody asks
// for one or the window is closed; a body above MaxBody is never asked for, since it
// would come in one message. Such a command waits while one over HTTP runs, so bodies are
// asked for between the steps.
//
// A page can request without end: above MaxEntries and MaxBytes the oldest entries are
// forgotten, and Lost counts them. Secrets are not replaced: whoever stores or shows an
// entry does that.
//
// A remote end without BiDi, or with one that has no events of the network, gives an
// *UnavailableError from Open; one without data collectors gives it from the bodies
// alone. A browser that ends gives what was recorded, and errors for bodies.
package traffic

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

const (
	// defaultEntries is more than a test of a thousand steps requests, and some 30 MiB.
	defaultEntries = 10_000
	defaultBytes   = 32 << 20
	// defaultBody is what a person reads of a body, and what fits a message many times.
	defaultBody = 1 << 20
	// maxPart bounds an address and the value of a header, maxHeaders their number.
	maxPart    = 16 << 10
	maxHeaders = 200
	// settleTimeout bounds the wait for events that are on their way: a browser that does not
	// respond must not use up the time of a step, and one that is slow must be waited for, or
	// a check that nothing was requested holds too early.
	settleTimeout = 5 * time.Second
	// closeTimeout bounds what Close asks of the browser.
	closeTimeout = 5 * time.Second
)

// Config is what is recorded.
type Config struct {
	Session *webdriver.Session
	// MaxEntries and MaxBytes bound what is kept, without bodies; default 10,000 and
	// 32 MiB.
	MaxEntries, MaxBytes int
	// MaxBody bounds a body, in bytes after its encoding is undone; default 1 MiB.
	MaxBody int
}

// UnavailableError is the error of a browser whose traffic cannot be recorded, or whose
// bodies cannot be had, in words for people.
type UnavailableError struct {
	Text string
	Err  error // for the log; nil where the remote end offers no BiDi
}

func (e *UnavailableError) Error() string { return e.Text }

// Unwrap returns the cause.
func (e *UnavailableError) Unwrap() error { return e.Err }

// Mark is a moment of a recording.
type Mark int

// Recorder records the traffic of one test. Its methods may be called concurrently.
type Recorder struct {
	cfg          Config
	conn         *webdriver.BiDi
	subscription string
	collector    string // "" where the remote end has none
	noBodies     error  // why
	handlers     []func()

	mu       sync.Mutex
	entries  []*Entry
	open     map[key]*Entry
	size     int
	lost     int
	last     int  // number of the last entry
	now      Mark // events so far
	watchers map[int]func(Entry)
	watcher  int // number of the last one
	received chan struct{}
}

// key is how events name an exchange: a redirect keeps the request's id.
type key struct {
	request   string
	redirects int
}

// events are those that a recorder subscribes to.
var events = []string{"network.beforeRequestSent", "network.responseStarted", "network.responseCompleted", "network.fetchError"}

// Open begins to record. The error is an *UnavailableError where the remote end cannot.
func Open(ctx context.Context, cfg Config) (*Recorder, error) {
	if cfg.MaxEntries <= 0 {
		cfg.MaxEntries = defaultEntries
	}
	if cfg.MaxBytes <= 0 {
		cfg.MaxBytes = defaultBytes
	}
	if cfg.MaxBody <= 0 {
		cfg.MaxBody = defaultBody
	}
	conn, err := cfg.Session.BiDi(ctx)
	if errors.Is(err, webdriver.ErrNoBiDi) {
		return nil, &UnavailableError{Text: "this browser's driver offers no WebDriver BiDi, so its requests cannot be seen"}
	}
	if err != nil {
		return nil, err
	}
	r := &Recorder{cfg: cfg, conn: conn, open: map[key]*Entry{}, watchers: map[int]func(Entry){}, received: make(chan struct{})}
	userContext, err := UserContext(ctx, cfg.Session, conn)
	if err != nil {
		return nil, err
	}
	for i, handle := range []func(json.RawMessage){r.sent, r.started, r.completed, r.failed} {
		r.handlers = append(r.handlers, conn.On(events[i], handle))
	}
	if err := r.subscribe(ctx, userContext); err != nil {
		r.unhandle()
		if unsupported(err) {
			return nil, &UnavailableError{Text: "this browser's driver reports no requests over WebDriver BiDi", Err: err}
		}
		return nil, err
	}
	r.collect(ctx, userContext)
	return r, nil
}

// unsupported reports whether a remote end refused a command that it does not have, or
// has in another form.
func unsupported(err error) bool {
	return webdriver.Is(err, webdriver.ErrUnknownCommand, webdriver.ErrUnsupported, webdriver.ErrInvalidArgument,
		webdriver.ErrUnknownMethod, webdriver.ErrUnknown)
}

// UserContext returns the user context that the current window of a session is in.
func UserContext(ctx context.Context, s *webdriver.Session, conn *webdriver.BiDi) (string, error) {
	window, err := s.Window(ctx)
	if err != nil {
		return "", err
	}
	var tree struct {
		Contexts []struct {
			UserContext string `json:"userContext"`
		} `json:"contexts"`
	}
	err = conn.Command(ctx, "browsingContext.getTree", map[string]any{"root": window, "maxDepth": 0}, &tree)
	if unsupported(err) {
		return "", &UnavailableError{Text: "this browser's driver knows no windows over WebDriver BiDi", Err: err}
	}
	if err != nil || len(tree.Contexts) == 0 {
		return "", err
	}
	return tree.Contexts[0].UserContext, nil
}

// subscribe asks for the events of the user context. A remote end that does not know
// subscriptions of one sends those of the session, which the test has alone there.
func (r *Recorder) subscribe(ctx context.Context, userContext string) error {
	var result struct {
		Subscription string `json:"subscription"`
	}
	params := map[string]any{"events": events, "userContexts": []string{userContext}}
	err := r.conn.Command(ctx, "session.subscribe", params, &result)
	if userContext == "" || webdriver.Is(err, webdriver.ErrInvalidArgument) {
		delete(params, "userContexts")
		err = r.conn.Command(ctx, "session.subscribe", params, &result)
	}
	r.subscription = result.Subscription
	return err
}

// collect has the browser keep bodies. Without it everything but them is recorded.
func (r *Recorder) collect(ctx context.Context, userContext string) {
	var result struct {
		Collector string `json:"collector"`
	}
	params := map[string]any{"dataTypes": []string{"request", "response"}, "maxEncodedDataSize": r.cfg.MaxBody}
	if userContext != "" {
		params["userContexts"] = []string{userContext}
	}
	err := r.conn.Command(ctx, "network.addDataCollector", params, &result)
	if webdriver.Is(err, webdriver.ErrInvalidArgument) { // one that knows bodies of responses alone
		params["dataTypes"] = []string{"response"}
		err = r.conn.Command(ctx, "network.addDataCollector", params, &result)
	}
	r.collector, r.noBodies = result.Collector, err
}

// Close ends the recording; what was recorded stays. The browser forgets the bodies.
func (r *Recorder) Close(ctx context.Context) {
	r.unhandle()
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	// A browser that does not respond is ended by whoever has the lease.
	if r.subscription != "" {
		_ = r.conn.Command(ctx, "session.unsubscribe", map[string]any{"subscriptions": []string{r.subscription}}, nil)
	}
	if r.collector != "" {
		_ = r.conn.Command(ctx, "network.removeDataCollector", map[string]any{"collector": r.collector}, nil)
	}
}

func (r *Recorder) unhandle() {
	for _, unsubscribe := range r.handlers {
		unsubscribe()
	}
}

// Mark returns the present moment.
func (r *Recorder) Mark() Mark {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

// Entries returns all that is kept, in the order of sending.
func (r *Recorder) Entries() []Entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]Entry, 0, len(r.entries))
	for _, e := range r.entries {
		list = append(list, *e)
	}
	return list
}

// Find returns a copy of the newest entry that is meant, nil when there is none. meant
// must be quick, and must not keep its argument.
func (r *Recorder) Find(meant func(*Entry) bool) *Entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := len(r.entries) - 1; i >= 0; i-- {
		if meant(r.entries[i]) {
			found := *r.entries[i]
			return &found
		}
	}
	return nil
}

// Lost returns how many of the oldest entries were forgotten, and how many events the
// browser sent faster than they could be read: of those nothing is known.
func (r *Recorder) Lost() (entries, events int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lost, int(r.conn.Dropped())
}

// Watch calls watch with an entry each time that it changes: when the request is sent,
// when the response begins, and when it ends. It must be quick, and must not send
// commands. The returned function ends it.
func (r *Recorder) Watch(watch func(Entry)) (cancel func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watcher++
	n := r.watcher
	r.watchers[n] = watch
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.watchers, n)
	}
}

// Changed returns a channel that is closed with the next event.
func (r *Recorder) Changed() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.received
}

// Ended is closed when the connection to the browser ended.
func (r *Recorder) Ended() <-chan struct{} { return r.conn.Done() }

// Settle waits until the events that the browser has sent are recorded, at most for
// settleTimeout.
func (r *Recorder) Settle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	_ = r.conn.Settle(ctx)
}
