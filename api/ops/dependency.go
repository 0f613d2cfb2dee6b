package ops

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// Names of the dependencies, which are also those of their readiness checks.
const (
	Postgres   = "postgres"
	Redis      = "redis"
	Objects    = "objects"
	MailServer = "mail_server"
	Browsers   = "browsers"
	Model      = "model"
)

const (
	// checkEvery is the time between two looks at a dependency that serves. At one that
	// does not, a look is made failFactor times as often: it is used again that much
	// after its return.
	checkEvery = 16 * time.Second
	failFactor = 8
	// settle is how long after a reported failure the look at it is made: what broke
	// one connection may be over by then.
	settle = time.Second
	// lineEvery is the time between two log lines about a dependency that stays away.
	lineEvery = time.Minute
	// quietFor is how long nothing may have failed before a dependency whose check goes
	// well counts as well again: some serve reads and refuse writes.
	quietFor = 10 * time.Second
	// maxMessages bounds the kinds of lines that a summary names.
	maxMessages = 8
)

// Dependency is something outside of the process that it needs.
type Dependency struct {
	Name string
	// Host is where it is, without credentials.
	Host string
	// Check returns nil when it serves, and ends within two seconds.
	Check func(context.Context) error
	// Every is the time between two looks while it serves; default 16 s.
	Every time.Duration
	// Caused reports whether the error of a log line is its failure; nil: none is.
	Caused func(error) bool
}

// Dependencies watches the dependencies of a process and is the one place that
// logs their troubles: a line at once when one fails, with its host and the reason, one
// each minute while it does, and one when it is well again. What others log of the
// same trouble meanwhile is held back and counted (Handler): an outage of a minute is
// three lines, and not one for each task, loop and request.
type Dependencies struct {
	log *slog.Logger

	mu   sync.Mutex
	list []*dependency
}

// dependency is what is known of one.
type dependency struct {
	Dependency
	call call
	wake chan struct{} // holds one token when somebody reported a failure

	// Below the lock of Dependencies.
	checked  bool
	err      error     // of the last failure; nil: well
	since    time.Time // of the failure
	reported time.Time // when somebody last reported a failure
	line     time.Time // of the last line
	passed   time.Time // of the last line of others that passed while it was well
	told     bool      // this failure has a line
	held     int       // lines held back since the last one
	messages []string  // what they said
}

// NewDependencies returns a watch without dependencies; its lines go to log.
func NewDependencies(log *slog.Logger) *Dependencies { return &Dependencies{log: log} }

// Add has a dependency watched, from the next Run on.
func (d *Dependencies) Add(of Dependency) {
	if of.Every <= 0 {
		of.Every = checkEvery
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list = append(d.list, &dependency{Dependency: of, call: call{limit: callLimit}, wake: make(chan struct{}, 1)})
}

// Run looks at all dependencies until ctx ends.
func (d *Dependencies) Run(ctx context.Context) {
	d.mu.Lock()
	list := slices.Clone(d.list)
	d.mu.Unlock()
	var loops sync.WaitGroup
	for _, w := range list {
		loops.Go(func() { d.watch(ctx, w) })
	}
	loops.Wait()
}

// watch looks at one dependency, more often while it fails.
func (d *Dependencies) watch(ctx context.Context, w *dependency) {
	for {
		wait := w.Every
		if d.look(ctx, w) != nil {
			wait /= failFactor
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		case <-w.wake:
			select {
			case <-ctx.Done():
				return
			case <-time.After(settle):
			}
		}
	}
}

// look checks a dependency once, and returns how it stands.
func (d *Dependencies) look(ctx context.Context, w *dependency) error {
	_, err := do(&w.call, func(ctx context.Context) (struct{}, error) { return struct{}{}, w.Check(ctx) })
	if ctx.Err() != nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	w.checked = true
	switch {
	case err != nil:
		d.failed(w, err)
	case w.err != nil && time.Since(w.reported) >= quietFor:
		d.recovered(w)
	case w.err != nil:
		d.failed(w, w.err)
	}
	return w.err
}

// report notes a failure that somebody met, and returns whether it is logged here.
func (d *Dependencies) report(err error, message string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, w := range d.list {
		if w.Caused == nil || !w.Caused(err) {
			continue
		}
		w.reported = time.Now()
		d.failed(w, err)
		w.hold(message)
		w.ring()
		return true
	}
	return false
}

// mentioned notes a line about a dependency, and returns whether it is held back: while
// the dependency fails, and while it is well all but one a minute, which has the summary of
// what was held back before it.
func (d *Dependencies) mentioned(name, message string) (held bool, summary []any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, w := range d.list {
		if w.Name != name {
			continue
		}
		w.ring()
		// Before the first look, which says more, it is as if it failed.
		if w.err != nil || !w.checked || !w.passed.IsZero() && time.Since(w.passed) < lineEvery {
			w.hold(message)
			return true, nil
		}
		w.passed = time.Now()
		return false, w.summary()
	}
	return false, nil
}

// ring has a dependency looked at soon, where that is not under way.
func (w *dependency) ring() {
	if w.err != nil && w.checked {
		return // it is looked at often
	}
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *dependency) hold(message string) {
	w.held++
	if len(w.messages) < maxMessages && !slices.Contains(w.messages, message) {
		w.messages = append(w.messages, message)
	}
}

// failed notes a failure, and writes the line that is due.
func (d *Dependencies) failed(w *dependency, err error) {
	now := time.Now()
	if w.err == nil {
		w.since, w.told = now, false
	}
	w.err = err
	if !w.line.IsZero() && now.Sub(w.line) < lineEvery {
		return
	}
	args := []any{"dependency", w.Name, "host", w.Host, "reason", reason(err), "error", err, "since", w.since.UTC()}
	d.log.Warn("dependency not available", append(args, w.summary()...)...)
	w.line, w.told = now, true
}

// recovered ends a failure; a line says so where one told of it.
func (d *Dependencies) recovered(w *dependency) {
	if w.told {
		args := []any{"dependency", w.Name, "host", w.Host, "after", time.Since(w.since).Round(time.Second).String()}
		d.log.Info("dependency available again", append(args, w.summary()...)...)
	}
	w.err, w.told = nil, false
}

// summary returns what was held back since the last line, and forgets it.
func (w *dependency) summary() []any {
	if w.held == 0 {
		return nil
	}
	args := []any{"lines_held_back", w.held, "messages", w.messages}
	w.held, w.messages = 0, nil
	return args
}

// Last returns the check of a dependency that reports how the last look at it went.
// It waits for nobody.
func (d *Dependencies) Last(name string) func(context.Context) error {
	return func(context.Context) error {
		d.mu.Lock()
		defer d.mu.Unlock()
		for _, w := range d.list {
			if w.Name == name {
				return w.err
			}
		}
		return nil
	}
}
