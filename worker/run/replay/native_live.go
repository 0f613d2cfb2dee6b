package replay

import (
	"context"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/replay/session"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

const (
	// appQuietWait is how long the screen of an app may take to come to rest, and
	// appQuietPause is between two looks: one takes half a second on slow devices.
	appQuietWait  = 3 * time.Second
	appQuietPause = 150 * time.Millisecond
)

// appSnapshot returns what the screen of an app shows. After a step it looks until it
// has seen the same screen twice.
func (l *Live) appSnapshot(ctx context.Context) (*snapshot.Snapshot, error) {
	source, err := webdriver.PageSource(ctx, l.t.Driver)
	if err != nil {
		return nil, err
	}
	quiet := true
	for deadline := time.Now().Add(appQuietWait); l.pages.acted; {
		if err := session.Sleep(ctx, appQuietPause); err != nil {
			return nil, err
		}
		next, err := webdriver.PageSource(ctx, l.t.Driver)
		if err != nil {
			return nil, err
		}
		if next == source {
			break
		}
		source = next
		if time.Now().After(deadline) {
			quiet = false
			break
		}
	}
	l.pages.acted = false
	app, err := snapshot.ReadApp([]byte(source), l.t.WithoutSecret)
	if err != nil {
		return nil, failure.Stepf("the app cannot be looked at: %s", failure.Bounded(err.Error(), 300))
	}
	app.Snapshot.Quiet = quiet
	l.app = app
	return app.Snapshot, nil
}

// locateInApp returns how tests find elements of the last snapshot of an app. What would
// have a secret in its selector is not located.
func (l *Live) locateInApp(refs []string, located []snapshot.Located) {
	if l.app == nil {
		return
	}
	for i, ref := range refs {
		at := l.app.Locate(ref)
		if !l.storableInApp(&at.Selector) {
			continue
		}
		if at.Place != nil && !l.storableInApp(at.Place) {
			at.Place = nil
		}
		located[i] = at
	}
}

func (l *Live) storableInApp(s *step.Selector) bool {
	return l.t.WithoutSecret(s.Value) == s.Value && !strings.Contains(s.Value, "{{")
}
