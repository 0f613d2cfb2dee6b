package network

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/download"
	"github.com/slipway-qa/slipway/worker/run/traffic"
)

// wanted is which requests are meant.
type wanted struct {
	glob   step.Glob
	method string
	status *int // of the response; nil: any, or none yet
}

func newWanted(address, method string, status *int) (wanted, error) {
	glob, err := step.ParseGlob(address)
	if err != nil {
		return wanted{}, failf("the address %v", err)
	}
	return wanted{glob, method, status}, nil
}

func (w wanted) fits(e *traffic.Entry) bool {
	return (w.method == "" || w.method == e.Method) && (w.status == nil || *w.status == e.Status) && w.glob.Match(e.URL)
}

// describe is a request for people.
func (n *Network) describe(e traffic.Entry) string {
	text := e.Method + " " + n.cfg.Quote(step.ShownURL(e.URL), maxShown)
	switch {
	case e.Failure != "":
		return text + " failed: " + n.cfg.Quote(e.Failure, 60)
	case e.Status != 0:
		return fmt.Sprintf("%s: %d", text, e.Status)
	}
	return text + ": no response yet"
}

// waitForRequest waits for a request since the step before began.
func (n *Network) waitForRequest(ctx context.Context, a step.Args, deadline time.Time) error {
	w, err := newWanted(a.URL, a.Method, nil)
	if err != nil {
		return err
	}
	since := n.before.traffic
	return n.untilTraffic(ctx, deadline, func() (bool, *Failure, error) {
		found := n.traffic.Find(func(e *traffic.Entry) bool { return e.SentAt > since && w.fits(e) })
		return found != nil, n.missing("request", a, since), nil
	})
}

// waitForResponse waits for a response that began since the step before did.
func (n *Network) waitForResponse(ctx context.Context, a step.Args, deadline time.Time) error {
	w, err := newWanted(a.URL, a.Method, a.Status)
	if err != nil {
		return err
	}
	since := n.before.traffic
	return n.untilTraffic(ctx, deadline, func() (bool, *Failure, error) {
		found := n.traffic.Find(func(e *traffic.Entry) bool { return e.AnsweredAt > since && w.fits(e) })
		return found != nil, n.missing("response", a, since), nil
	})
}

// missing is the failure of what did not come: with the nearest that did.
func (n *Network) missing(what string, a step.Args, since traffic.Mark) *Failure {
	method := a.Method
	if method == "" {
		method = "any method"
	}
	status := ""
	if a.Status != nil {
		status = fmt.Sprintf(" with status %d", *a.Status)
	}
	expected := fmt.Sprintf("%s of %s to %s%s since the step before began", what, method, n.cfg.Quote(a.URL, maxShown), status)
	near, err := newWanted(a.URL, "", nil)
	if err != nil {
		return failf("no %s", expected)
	}
	not := func(format string, args ...any) *Failure {
		actual := fmt.Sprintf(format, args...)
		return &Failure{Text: "no " + expected + "; " + actual, Expected: expected, Actual: actual}
	}
	if e := n.traffic.Find(func(e *traffic.Entry) bool { return (e.SentAt > since || e.AnsweredAt > since) && near.fits(e) }); e != nil {
		return not("there is %s", n.describe(*e))
	}
	if e := n.traffic.Find(func(e *traffic.Entry) bool { return near.fits(e) }); e != nil {
		return not("an earlier one is %s", n.describe(*e))
	}
	if e := n.traffic.Find(func(e *traffic.Entry) bool { return e.SentAt > since }); e != nil {
		return not("the last request is %s", n.describe(*e))
	}
	return not("the page requested nothing")
}

// untilTraffic looks until it is done. A browser that is lost is an error; what it
// refused of a route is said with the failure.
func (n *Network) untilTraffic(ctx context.Context, deadline time.Time, look func() (bool, *Failure, error)) error {
	n.traffic.Settle(ctx)
	err := until(ctx, deadline, n.traffic.Changed, n.traffic.Ended(), look)
	var not *Failure
	if !errors.As(err, &not) || n.routes == nil {
		return n.orLost(ctx, err)
	}
	troubles, lost := n.routes.Troubles(ctx)
	if lost != nil {
		return lost
	}
	if len(troubles) > 0 {
		not.Text += "; the browser refused the answer of a route: " + n.cfg.Quote(strings.Join(troubles, ", "), maxShown)
	}
	return not
}

// orLost returns the error of the connection where the browser is gone, in place of a
// failure.
func (n *Network) orLost(ctx context.Context, err error) error {
	var failure *Failure
	if !errors.As(err, &failure) {
		return err
	}
	conn, lost := n.cfg.Session.BiDi(ctx)
	if lost == nil {
		// The driver answers for a while what it need not ask the browser.
		lost = conn.Command(ctx, "browsingContext.getTree", map[string]any{"maxDepth": 0}, nil)
	}
	if lost != nil {
		return lost
	}
	return err
}

// waitForDownload waits for a download that has ended since the step before began.
func (n *Network) waitForDownload(ctx context.Context, name string, deadline time.Time) error {
	glob, err := nameGlob(name)
	if err != nil {
		return err
	}
	since := n.before.downloads
	err = until(ctx, deadline, n.downloads.Changed, n.downloads.Ended(), func() (bool, *Failure, error) {
		text := "no download has ended since the step before began"
		for _, f := range n.downloads.Files() {
			fits := glob.Match(f.Name)
			switch {
			case !f.Done:
				text = fmt.Sprintf("the download of %q has not ended", n.cfg.Quote(f.Name, maxShown))
			case f.EndedAt <= since:
			case fits && f.Failure != "":
				return false, nil, failf("%q: %s", n.cfg.Quote(f.Name, maxShown), f.Failure)
			case fits:
				return true, nil, nil
			default:
				text = fmt.Sprintf("%s is not the name of the download, which is %q", n.cfg.Quote(name, maxShown), n.cfg.Quote(f.Name, maxShown))
			}
		}
		return false, failf("%s", text), nil
	})
	return n.orLost(ctx, err)
}

// nameGlob reads the name of a file; "" is any.
func nameGlob(name string) (step.Glob, error) {
	if name == "" {
		name = "**"
	}
	glob, err := step.ParseGlob(name)
	if err != nil {
		return step.Glob{}, failf("the name %v", err)
	}
	return glob, nil
}

// contentOf returns the text of a download for a comparison.
func (n *Network) contentOf(f download.File) (string, error) {
	content, err := n.downloads.Content(f, maxContent)
	return string(content), err
}
