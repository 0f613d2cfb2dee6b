package replay

import (
	"context"
	"fmt"
	"maps"
	"runtime/debug"
	"sync"
	"time"

	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/replay/session"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// Live is a session in which steps are executed one at a time, each when it is known:
// a test is written in it. A step is executed as Play executes it, but for what Play
// knows of the step that follows: a dialog that a step opens stays open, and is
// dismissed and noted by the next step unless that handles it. Nothing is healed.
//
// Its methods must not be called concurrently.
type Live struct {
	t *testExecution
	// broken: the session cannot be used any more.
	broken bool
	closed bool
	pages  pageMemory
	app    *snapshot.App // of the last snapshot of an app
	// preload is the script that pages run before their own; "" for none.
	preload string

	mu          sync.Mutex // of the next one: captures store files in it
	screenshots map[string]string
}

// LiveError is why a live session cannot go on, or could not be opened: the code is
// one of storage/run's. Its text is for people, without secrets.
type LiveError struct{ Code, Text string }

func (e *LiveError) Error() string { return e.Code + ": " + e.Text }

// Open prepares a session as Play does: the test's address is open when it returns. The
// steps of cfg are not executed; when the first is go_to_url the address is not opened.
// After an error the session has been closed; broken is in the LiveError's code only for
// a browser that was lost, so the caller asks Close in any case.
func Open(ctx context.Context, cfg Config) (*Live, error) {
	opensItself := len(cfg.Steps) > 0 && cfg.Steps[0].Tool.Type == step.GoToURL
	cfg.Healing, cfg.Drift = capability.HealOff, capability.DriftOff
	cfg.Steps, cfg.Progress = nil, nil
	cfg = cfg.WithDefaults()
	l := &Live{screenshots: map[string]string{}}
	l.t = newTestExecution(ctx, cfg)
	l.t.Live = true
	l.t.screenshotter.StoreID = l.storeScreenshotID
	err := l.guarded(ctx, func() error {
		l.watchActivity(ctx)
		p := l.t.newPreparation()
		if opensItself {
			p.Next = step.GoToURL
		}
		if err := p.begin(ctx); err != nil {
			l.t.screenshotter.CaptureUnreached(ctx, p.Execution, err)
			return err
		}
		return l.begin(ctx)
	})
	return l, err
}

// watchActivity has pages note what they have not finished, from their first script on.
// Where the browser has no BiDi they begin to at the first snapshot.
func (l *Live) watchActivity(ctx context.Context) {
	l.pages.acted = true
	if l.t.Lease.Mobile || l.t.Driver.Capabilities["webSocketUrl"] == nil {
		return
	}
	conn, err := l.t.Driver.BiDi(ctx)
	if err != nil {
		return
	}
	var added struct {
		Script string `json:"script"`
	}
	err = conn.Command(ctx, "script.addPreloadScript", map[string]any{"functionDeclaration": activityScript}, &added)
	if err != nil {
		l.t.Log.DebugContext(ctx, "pages are watched from the first snapshot on", "error", err)
		return
	}
	l.preload = added.Script
}

// endWatch removes the script of watchActivity: the browser is used again.
func (l *Live) endWatch() {
	if l.preload == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), l.t.Grace)
	defer cancel()
	conn, err := l.t.Driver.BiDi(ctx)
	if err != nil {
		l.broken = true
		return
	}
	err = conn.Command(ctx, "script.removePreloadScript", map[string]string{"script": l.preload}, nil)
	l.broken = l.broken || err != nil
}

// begin prepares what only a live session needs.
func (l *Live) begin(ctx context.Context) error {
	if l.t.Lease.Mobile {
		return nil
	}
	x := l.look()
	if l.t.Window == "" {
		err := x.PastDialogs(ctx, func() (err error) {
			l.t.Window, err = l.t.Driver.Window(ctx)
			return err
		})
		if err != nil {
			return err
		}
		l.t.Windows = []string{l.t.Window}
	}
	return nil
}

// guarded runs something in the session; its error is a LiveError or that of ctx.
func (l *Live) guarded(ctx context.Context, command func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			l.t.Log.ErrorContext(ctx, "panic in a live session", "panic", l.t.Secrets.Redact(fmt.Sprint(r)), "stack", string(debug.Stack()))
			l.broken = true
			err = &LiveError{Code: run.CodeInternal, Text: "the step could not be executed"}
		}
	}()
	if l.broken || l.closed {
		return &LiveError{Code: run.CodeBrowserLost, Text: "the session has ended"}
	}
	if err = command(); err == nil {
		return nil
	}
	return l.ended(ctx, l.t.FailureOf(ctx, err))
}

// ended returns the error of a failure that is not one of a step.
func (l *Live) ended(ctx context.Context, f *failure.Failure) error {
	l.broken = l.broken || f.Broken
	if ctx.Err() != nil {
		l.broken = true
		return ctx.Err()
	}
	return &LiveError{Code: f.Code, Text: failure.Bounded(l.t.Secrets.Redact(f.Text), 2000)}
}

// Do executes a step. That it failed is in its record; an error is one of the session
// or of ctx. The tool of the record has the fingerprint that was learnt of the step's
// element if it had none.
func (l *Live) Do(ctx context.Context, s step.Step) (playback.Record, error) {
	var record playback.Record
	err := l.guarded(ctx, func() error {
		if err := l.meetDialog(ctx, s.Tool); err != nil {
			return err
		}
		l.pages.acted = true
		i := l.add(s)
		failed := l.t.runStep(ctx, i)
		record = l.t.firstRecords(i + 1)[i]
		if failed != nil && (failed.Broken || ctx.Err() != nil) {
			return failed
		}
		if print, ok := l.t.result.Fingerprints[s.ID]; ok {
			delete(l.t.result.Fingerprints, s.ID)
			record.Tool = withFingerprint(record.Tool, print)
		}
		return nil
	})
	return record, err
}

// add appends a step to those of the test.
func (l *Live) add(s step.Step) int {
	l.t.Steps = append(l.t.Steps, s)
	l.t.mu.Lock()
	defer l.t.mu.Unlock()
	l.t.records = append(l.t.records, playback.Record{StepID: s.ID, Tool: s.Tool, Status: playback.Skipped})
	return len(l.t.records) - 1
}

// meetDialog dismisses the dialog that a step meets which does not handle it, where the
// step itself would not find it.
func (l *Live) meetDialog(ctx context.Context, t step.Tool) error {
	switch t.Type {
	case step.Back, step.Forward, step.Reload, step.SetViewport, step.SwitchWindow:
	default:
		return nil
	}
	if l.t.Lease.Mobile {
		return nil
	}
	_, err := l.look().DialogText(ctx)
	if err != nil {
		return nil // there is none, or the step meets the error itself
	}
	return l.look().Dismiss(ctx, nil)
}

// look returns the execution of nothing: what looks at the page between steps.
func (l *Live) look() *session.Execution {
	x := &session.Execution{Session: l.t.Session, Screenshotter: l.t.screenshotter, Timeout: l.t.StepTimeout, Next: step.HandleDialog}
	x.Deadline = time.Now().Add(x.Timeout)
	return x
}

// withFingerprint returns a tool whose selector has a fingerprint; the tool itself is
// not changed.
func withFingerprint(t step.Tool, print step.Fingerprint) step.Tool {
	if t.Type == step.InFrame || t.Type == step.InShadowRoot {
		if t.Args.Tool != nil {
			inner := withFingerprint(*t.Args.Tool, print)
			t.Args.Tool = &inner
		}
		return t
	}
	if t.Args.Selector == nil {
		return t
	}
	selector := *t.Args.Selector
	selector.Fingerprint = &print
	t.Args.Selector = &selector
	return t
}

func (l *Live) storeScreenshotID(i int, id string) {
	l.t.mu.Lock()
	if i >= len(l.t.records) { // of a page that was not reached, before the first step
		l.t.mu.Unlock()
		return
	}
	stepID := l.t.records[i].StepID
	l.t.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.screenshots[stepID] = id
}

// Screenshots returns the files of the screenshots that are stored so far, by the ids of
// the steps. After Close all are.
func (l *Live) Screenshots() map[string]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.screenshots)
}

// Broken reports whether the state of the session is unknown, so that its lease is to
// be released as broken.
func (l *Live) Broken() bool { return l.broken }

// Close ends the live session, after its captures are stored, and reports whether the
// state of the browser's session is unknown.
func (l *Live) Close() (broken bool) {
	if l.closed {
		return l.broken
	}
	l.closed = true
	l.endWatch()
	l.t.screenshotter.Close()
	l.t.Console.Close()
	l.broken = l.t.CloseNetwork() || l.broken
	l.broken = l.t.CloseState(context.Background()) != nil || l.broken
	return l.broken
}
