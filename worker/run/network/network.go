// Package network executes the steps and assertions on what a browser requests,
// downloads and writes to its console.
//
// A Network is one test's. Prepare opens, before the first page, what its steps need: the
// recording of the traffic, the agent that answers requests, the folder of downloads
// (packages traffic, route and download). A test without such steps pays nothing. What a
// browser cannot do fails the step that needs it, at once, with words that say so.
//
// A step that waits looks at what came since the step before it began, so that a click
// and the wait for its request may follow each other. An assertion looks at all since the
// test began. Where so much came that the oldest is forgotten, what could depend on it is
// not true.
//
// Texts of failures are quoted without secrets by Config.Quote. A browser that is lost
// is the error of its connection.
package network

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/download"
	"github.com/slipway-qa/slipway/worker/run/route"
	"github.com/slipway-qa/slipway/worker/run/traffic"
)

const (
	// lookInterval bounds how often what came is looked through: a page can request
	// thousands of times a second.
	lookInterval = 20 * time.Millisecond
	// maxShown bounds what a message quotes.
	maxShown = 300
)

// Config is what a Network needs.
type Config struct {
	Session *webdriver.Session
	// Local is true for a browser of this machine: only its downloads can be had.
	Local bool
	// CheckURL refuses an address that requests may not be sent to; nil: none.
	CheckURL func(ctx context.Context, address string) error
	// Quote returns a text of a page or a test without secrets, most bytes of it at most.
	Quote func(text string, most int) string
	// Console returns the lines of the console that are errors; known is false where
	// they cannot be seen, lost is true when earlier lines were dropped.
	Console func(ctx context.Context) (errors []string, lost, known bool)
}

// Failure ends a step, in words for people, without secrets.
type Failure struct {
	Text string
	// Assertion is true when something was looked at and is not as it must be.
	Assertion bool
	// Expected and Actual are what did not come, and what came in its place; "" where Text says all.
	Expected, Actual string
}

func (f *Failure) Error() string { return f.Text }

func failf(format string, args ...any) *Failure { return &Failure{Text: fmt.Sprintf(format, args...)} }

// Network has what one test needs. Its methods must not be called concurrently.
type Network struct {
	cfg       Config
	traffic   *traffic.Recorder
	routes    *route.Router
	downloads *download.Downloads
	// none are the reasons why one of them is not there.
	none map[need]error
	// broken: a part was left in the browser.
	broken bool

	before, current moment // when the step before this one began, and when this one did
	bodies          map[bodyKey]body
}

// moment is when a step began.
type moment struct {
	traffic   traffic.Mark
	downloads download.Mark
}

// need is a part that a step uses.
type need int

const (
	needTraffic need = iota
	needRoutes
	needDownloads
)

// New returns the network of a test; it asks nothing of the browser before it is needed.
func New(cfg Config) *Network {
	return &Network{cfg: cfg, none: map[need]error{}, bodies: map[bodyKey]body{}}
}

// needOf returns which part a tool uses; false for none.
func needOf(t *step.Tool) (need, bool) {
	switch t.Type {
	case step.Route, step.Unroute:
		return needRoutes, true
	case step.WaitForRequest, step.WaitForResponse:
		return needTraffic, true
	case step.WaitForDownload:
		return needDownloads, true
	case step.Assert:
		if m := t.Args.Matcher; m != nil {
			switch m.Name {
			case step.RequestIs, step.ResponseIs:
				return needTraffic, true
			case step.DownloadIs:
				return needDownloads, true
			}
		}
	}
	return 0, false
}

// Prepare opens what steps need. Its error is that of a browser that is lost.
func (n *Network) Prepare(ctx context.Context, steps []step.Step) error {
	for i := range steps {
		if err := n.prepare(ctx, &steps[i].Tool); err != nil {
			return err
		}
	}
	return nil
}

// prepare opens what a tool needs, or one that it does in each row.
func (n *Network) prepare(ctx context.Context, t *step.Tool) error {
	if needed, ok := needOf(t); ok {
		if err := n.open(ctx, needed); err != nil {
			return err
		}
	}
	for i := range t.Args.Tools {
		if err := n.prepare(ctx, &t.Args.Tools[i]); err != nil {
			return err
		}
	}
	return nil
}

// open opens a part, once.
func (n *Network) open(ctx context.Context, part need) (err error) {
	if n.none[part] != nil {
		return nil
	}
	switch {
	case part == needTraffic && n.traffic == nil:
		n.traffic, err = traffic.Open(ctx, traffic.Config{Session: n.cfg.Session})
	case part == needRoutes && n.routes == nil:
		n.routes, err = route.Open(ctx, n.cfg.Session)
		n.broken = n.broken || err != nil && !unavailable(err)
	case part == needDownloads && n.downloads == nil:
		n.downloads, err = download.Open(ctx, n.cfg.Session, n.cfg.Local)
	}
	if unavailable(err) {
		n.none[part] = err
		return nil
	}
	return err
}

// Traffic returns the recording of the traffic, which it begins where no step needs it: the
// trace of a test reads the same one. Close ends it. The error is a *traffic.UnavailableError, or
// that of a browser that is lost.
func (n *Network) Traffic(ctx context.Context) (*traffic.Recorder, error) {
	if err := n.open(ctx, needTraffic); err != nil {
		return nil, err
	}
	return n.traffic, n.none[needTraffic]
}

func unavailable(err error) bool {
	var cannot *traffic.UnavailableError
	return errors.As(err, &cannot)
}

// EnterRows is called before the tools of a for_each begin, each with BeginStep, and what
// it returns after them: the step is one for those that follow it.
func (n *Network) EnterRows() (leave func()) {
	before, current := n.before, n.current
	return func() { n.before, n.current = before, current }
}

// BeginStep is called when a step begins, or a tool of a for_each.
func (n *Network) BeginStep() {
	n.before = n.current
	if n.traffic != nil {
		n.current.traffic = n.traffic.Mark()
	}
	if n.downloads != nil {
		n.current.downloads = n.downloads.Mark()
	}
}

// Run executes a step on the network, its variables replaced, until a deadline. The error
// is a *Failure, or that of a browser that is lost.
func (n *Network) Run(ctx context.Context, t step.Tool, deadline time.Time) error {
	part, ok := needOf(&t)
	if ok {
		if err := n.open(ctx, part); err != nil {
			return err
		}
		if err := n.none[part]; err != nil {
			return failf("%s", err.Error())
		}
	}
	a := t.Args
	switch t.Type {
	case step.Route:
		return n.route(ctx, a)
	case step.Unroute:
		return n.unroute(ctx, a.URL)
	case step.WaitForRequest:
		return n.waitForRequest(ctx, a, deadline)
	case step.WaitForResponse:
		return n.waitForResponse(ctx, a, deadline)
	case step.WaitForDownload:
		return n.waitForDownload(ctx, a.Name, deadline)
	case step.Assert:
		return n.assert(ctx, a, deadline)
	}
	return failf("the tool %s is unknown", n.cfg.Quote(t.Type, 60))
}

// Close ends what was opened. broken means that something of it may be left in the
// browser, which must end.
func (n *Network) Close(ctx context.Context) (broken bool) {
	if n == nil {
		return false
	}
	ctx = context.WithoutCancel(ctx)
	if n.downloads != nil {
		n.downloads.Close(ctx)
	}
	if n.routes != nil {
		n.broken = n.routes.Close(ctx) != nil || n.broken
	}
	if n.traffic != nil {
		n.traffic.Close(ctx)
	}
	return n.broken
}

func (n *Network) route(ctx context.Context, a step.Args) error {
	if c := a.Change; c != nil && c.URLTo != "" && n.cfg.CheckURL != nil {
		if err := n.cfg.CheckURL(ctx, c.URLTo); err != nil {
			return err
		}
	}
	err := n.routes.Add(ctx, a)
	if errors.Is(err, route.ErrTooMany) {
		return failf("a test has %d routes at most at a time", route.MaxRules)
	}
	return err
}

func (n *Network) unroute(ctx context.Context, glob string) error {
	ended, err := n.routes.Remove(ctx, glob)
	if err == nil && ended == 0 && glob != "" {
		return failf("there is no route of %s", n.cfg.Quote(glob, maxShown))
	}
	return err
}

// until looks each time that something came, until it is done, the deadline has passed
// (then the failure is what look last returned), or the browser is lost.
func until(ctx context.Context, deadline time.Time, changed func() <-chan struct{}, ended <-chan struct{},
	look func() (done bool, not *Failure, err error)) error {
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	pause := time.NewTicker(lookInterval)
	defer pause.Stop()
	for last := false; ; {
		next := changed() // before the look: what comes during it is not missed
		done, not, err := look()
		switch {
		case done || err != nil:
			return err
		case last:
			return not
		}
		select {
		case <-next:
		case <-ended:
			last = true // what had come before counts
		case <-timer.C:
			last = true
		case <-ctx.Done():
			return ctx.Err()
		}
		if last {
			continue
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
