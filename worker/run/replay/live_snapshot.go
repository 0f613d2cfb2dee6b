package replay

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/replay/page"
	"github.com/slipway-qa/slipway/worker/run/replay/session"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

const (
	// quietWait is how long a page may take to become quiet, and loadWait after a
	// navigation.
	quietWait = 3 * time.Second
	loadWait  = 10 * time.Second
	// maxNodes is page/nodes.js's bound; a page may have replaced what it uses.
	maxNodes = 3000
	// snapshotAttempts is how often a page is looked at that leaves meanwhile.
	snapshotAttempts = 50
)

var (
	pageScripts    = []string{"dom", "select", "css", "text", "name", "role", "element"}
	snapshotScript = page.Source(append(pageScripts[:len(pageScripts):len(pageScripts)], "fingerprint", "refs", "reaction", "opener", "survey",
		"nodes", "looks", "activity", "quiet", "snapshot")...)
	activityScript = "() => {" + page.Source("activity") + "activityOf(window);\n}"
	refScript      = page.Source(append(pageScripts[:len(pageScripts):len(pageScripts)], "surroundings", "fingerprint",
		"locate", "refs", "lasting", "finder", "coded", "refer")...)
)

// pageMemory is what a live session remembers of the pages it has looked at.
type pageMemory struct {
	next  int    // the first ref of a new document
	href  string // of the last snapshot
	acted bool   // something was done since the last snapshot
}

// snapshotQuery is the argument of snapshot.js.
type snapshotQuery struct {
	First int   `json:"first"` // the first ref of a new document
	Wait  int64 `json:"wait"`  // for quiet, ms
	Load  int64 `json:"load"`  // for quiet after a navigation, ms
	Acted bool  `json:"acted"` // something was done since the last snapshot
}

// pageSnapshot is what snapshot.js returns.
type pageSnapshot struct {
	snapshot.Snapshot
	Next int `json:"next"`
}

// Snapshot returns what the page shows, after it became quiet. An open dialog of the
// browser is all that there is to see.
func (l *Live) Snapshot(ctx context.Context) (*snapshot.Snapshot, error) {
	var found *snapshot.Snapshot
	err := l.guarded(ctx, func() (err error) {
		if l.t.Lease.Mobile {
			found, err = l.appSnapshot(ctx)
			return err
		}
		found, err = l.pageSnapshot(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

func (l *Live) pageSnapshot(ctx context.Context) (*snapshot.Snapshot, error) {
	x := l.look()
	x.Deadline = time.Now().Add(l.t.PageTimeout)
	for attempt := 0; ; attempt++ {
		got, err := l.snapshotOnce(ctx, x)
		switch {
		case webdriver.Is(err, webdriver.ErrUnexpectedAlert):
			text, failed := x.DialogText(ctx)
			if failed == nil {
				return l.withWindows(ctx, x, &snapshot.Snapshot{URL: l.pages.href, Quiet: true, Dialog: &snapshot.Dialog{Text: l.t.Quote(text, 1000)}})
			}
		case webdriver.Is(err, webdriver.ErrNoSuchWindow):
			if err := l.enterLastWindow(ctx, x); err != nil {
				return nil, err
			}
		case err == nil && got != nil:
			return l.withWindows(ctx, x, got)
		case err != nil && (!failure.Retriable(err) || failure.Lost(err)):
			return nil, err
		}
		if attempt > snapshotAttempts || time.Now().After(x.Deadline) {
			if err != nil {
				return nil, err
			}
			return nil, failure.Stepf("the page does not come to rest")
		}
		if err := session.Sleep(ctx, session.RetryPause); err != nil {
			return nil, err
		}
	}
}

// snapshotOnce looks at the page once; nil when it left meanwhile.
func (l *Live) snapshotOnce(ctx context.Context, x *session.Execution) (*snapshot.Snapshot, error) {
	x.ResetFrame(ctx)
	q := snapshotQuery{First: max(l.pages.next, 1), Wait: quietWait.Milliseconds(), Load: loadWait.Milliseconds(), Acted: l.pages.acted}
	var text string
	if err := l.evaluate(ctx, x, snapshotScript, &text, q); err != nil || text == "" {
		return nil, err
	}
	var got pageSnapshot
	if err := session.ReadResult(json.RawMessage(text), nil, &got); err != nil || got.URL == "" {
		return nil, err
	}
	if err := l.t.Arrived(ctx, got.URL); err != nil {
		return nil, err
	}
	l.pages.next = min(max(got.Next, l.pages.next), 1<<40)
	l.pages.href, l.pages.acted = got.URL, false
	s := got.Snapshot
	l.clean(&s)
	return &s, nil
}

// evaluate runs a page script that may wait and reads its result. In a browser with
// DevTools the script has the function that lists listeners.
func (l *Live) evaluate(ctx context.Context, x *session.Execution, code string, out any, args ...any) error {
	if !l.t.Lease.Local {
		return x.ExecuteFor(ctx, loadWait, code, out, args...)
	}
	var result json.RawMessage
	err := x.WithTimeout(ctx, loadWait+x.Grace, func(ctx context.Context) error {
		return webdriver.Evaluate(ctx, l.t.Driver, code, &result, args...)
	})
	return session.ReadResult(result, err, out)
}

// withWindows adds to a snapshot how many windows there are.
func (l *Live) withWindows(ctx context.Context, x *session.Execution, s *snapshot.Snapshot) (*snapshot.Snapshot, error) {
	if s.Dialog != nil {
		s.Windows = max(len(l.t.Windows), 1)
	} else if err := x.ListWindows(ctx); err != nil && (!failure.Retriable(err) || failure.Lost(err)) {
		return nil, err
	}
	s.Windows = max(len(l.t.Windows), 1)
	for i, handle := range l.t.Windows {
		if handle == l.t.Window {
			s.Window = i
		}
	}
	return s, nil
}

// enterLastWindow makes the window current that was opened last, in place of one that is
// closed.
func (l *Live) enterLastWindow(ctx context.Context, x *session.Execution) error {
	l.t.Framed = false
	if err := x.ListWindows(ctx); err != nil {
		return err
	}
	if len(l.t.Windows) == 0 {
		return failure.Stepf("all windows are closed")
	}
	return x.EnterWindow(ctx, l.t.Windows[len(l.t.Windows)-1])
}

// clean removes secrets from a snapshot, and what is not as page/nodes.js writes it.
func (l *Live) clean(s *snapshot.Snapshot) {
	if len(s.Nodes) > maxNodes {
		s.Nodes, s.Truncated = s.Nodes[:maxNodes], true
	}
	redactor := l.t.Secrets.Current()
	hide := func(texts ...*string) {
		for _, text := range texts {
			*text = redactor.Text(*text)
		}
	}
	hide(&s.URL, &s.Title)
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if n.Parent >= i {
			n.Parent = -1
		}
		hide(&n.Name, &n.Text, &n.Description, &n.Label, &n.Placeholder, &n.Title, &n.TestID, &n.ID, &n.NameAttr, &n.Class,
			&n.Href, &n.Value, &n.ColumnHeader, &n.RowHeader)
		if n.Password {
			n.Value = ""
		}
		for j := range n.Options {
			hide(&n.Options[j].Label, &n.Options[j].Value)
		}
		for _, list := range [][]string{n.Hints, n.Frame, n.Shadow} {
			for j := range list {
				hide(&list[j])
			}
		}
	}
}

// pageRef is what refer.js returns of a ref.
type pageRef struct {
	Selector    *page.Selector    `json:"selector"` // nil: the element is gone
	Place       *page.Selector    `json:"place"`
	Frames      []page.Selector   `json:"frames"`
	Fingerprint *step.Fingerprint `json:"fingerprint"`
}

// Locate returns how tests find the elements of refs of the last snapshot: the element
// of a ref that is gone has no selector (its type is "").
func (l *Live) Locate(ctx context.Context, refs ...string) ([]snapshot.Located, error) {
	located := make([]snapshot.Located, len(refs))
	if len(refs) == 0 {
		return located, nil
	}
	err := l.guarded(ctx, func() error {
		if l.t.Lease.Mobile {
			l.locateInApp(refs, located)
			return nil
		}
		x := l.look()
		x.ResetFrame(ctx)
		var found []pageRef
		err := x.PastDialogs(ctx, func() error { return x.Execute(ctx, refScript, &found, refs) })
		if err != nil {
			return x.Interrupted(ctx, err) // a page that has left has none of them
		}
		for i := range min(len(found), len(located)) {
			located[i] = l.locatedOf(found[i])
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return located, nil
}

// locatedOf returns what is stored of an element; nothing when a secret is in it.
func (l *Live) locatedOf(found pageRef) snapshot.Located {
	if found.Selector == nil {
		return snapshot.Located{}
	}
	selector, ok := l.storedSelector(*found.Selector)
	if !ok {
		return snapshot.Located{}
	}
	located := snapshot.Located{Selector: selector}
	located.Selector.Fingerprint = l.t.Storable(found.Fingerprint, nil)
	if found.Place != nil {
		if place, ok := l.storedSelector(*found.Place); ok {
			place.Fingerprint = located.Selector.Fingerprint
			located.Place = &place
		}
	}
	for _, frame := range found.Frames {
		stored, ok := l.storedSelector(frame)
		if !ok {
			return snapshot.Located{}
		}
		located.Frames = append(located.Frames, stored)
	}
	return located
}

// storedSelector returns a selector of the page scripts as a test stores it; false when
// a secret is in it.
func (l *Live) storedSelector(p page.Selector) (step.Selector, bool) {
	for _, text := range []string{p.Value, p.Name, p.HasText} {
		if l.t.WithoutSecret(text) != text || strings.Contains(text, "{{") {
			return step.Selector{}, false
		}
	}
	s := step.Selector{Type: p.Type, Value: p.Value, Name: p.Name, Exact: p.Exact, Level: p.Level, State: p.State,
		HasText: p.HasText, Index: p.Index}
	for from, to := range map[*page.Selector]**step.Selector{p.Within: &s.Within, p.Has: &s.Has} {
		if from == nil {
			continue
		}
		inner, ok := l.storedSelector(*from)
		if !ok {
			return step.Selector{}, false
		}
		*to = &inner
	}
	return s, true
}
