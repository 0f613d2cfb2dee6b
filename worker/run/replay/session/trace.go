package session

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/run/evidence"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/trace"
	"github.com/slipway-qa/slipway/worker/run/traffic"
)

// closeTimeout bounds what is asked of the browser when the test has ended, and brokenTimeout
// what is asked of one that ends with it.
const (
	closeTimeout  = 20 * time.Second
	brokenTimeout = time.Second
)

// Traced is the class of a trace's actions that are steps.
const Traced = "Slipway"

// Tracer records steps in Config.Trace. Snapshots are taken as screenshots are: over BiDi,
// while the next step waits for its element, and that step waits for them before it changes
// anything. Without BiDi they are commands of the session. Nothing of it fails a step. The
// nil tracer does nothing.
type Tracer struct {
	session   *Session
	recorder  *trace.Recorder
	snapshots *trace.Snapshotter
	readable  bool              // the test has pages
	parallel  bool              // they are read beside the session
	Traffic   *traffic.Recorder // of the session's network; nil: the browser does not say what it requests

	call    string        // the action that goes on
	wholes  []string      // the actions that it is a part of, from outside in
	step    int           // that goes on; -1 before the first, and for what is none
	running chan struct{} // closed when the snapshot that runs is there; nil: none
	Pages   *evidence.Recorder
	tasks   sync.WaitGroup
}

func newTracer(s *Session) *Tracer {
	if s.Trace == nil || s.Driver == nil {
		return nil
	}
	t := &Tracer{session: s, recorder: s.Trace, snapshots: s.Trace.NewSnapshotter(), readable: !s.Lease.Mobile, step: -1,
		Pages: evidence.New()}
	t.parallel = t.readable && s.Driver.Capabilities["webSocketUrl"] != nil
	switch {
	case !t.readable:
		t.recorder.Note("Only the steps are recorded: an app has no pages")
	case !t.parallel:
		t.recorder.Note("No network and no console: the hub gives no BiDi")
	}
	return t
}

// Begin begins an action, which is a part of what BeginWhole began last.
func (t *Tracer) Begin(a trace.Action) {
	if t != nil {
		if n := len(t.wholes); n > 0 {
			a.Parent = t.wholes[n-1]
		}
		t.call = t.recorder.Begin(a)
	}
}

// BeginStep says which step goes on.
func (t *Tracer) BeginStep(i int) {
	if t != nil {
		t.step = i
	}
}

// Acted says where a script did the action that goes on; nil: it is not known.
func (t *Tracer) Acted(point *trace.Point) {
	if t != nil && point != nil {
		t.recorder.Input(t.call, *point, nil)
	}
}

// Meets looks at the page right before the pointer does something at a point.
func (t *Tracer) Meets(ctx context.Context, x *Execution, point *trace.Point, framed bool) {
	if t == nil || point == nil || t.busy() {
		return
	}
	if framed { // the session is in the frame, which a snapshot of all would leave
		t.Acted(point)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, screenshotWait)
	defer cancel()
	doc, err := t.request(ctx, x, &trace.Mark{Point: *point, Call: t.call})()
	if err != nil {
		t.unseen(ctx, err)
		return
	}
	t.recorder.Input(t.call, *point, doc)
	t.Pages.Met(t.step, doc.Outline(evidence.MaxLines))
}

// End ends the action that goes on.
func (t *Tracer) End(ctx context.Context, x *Execution, err error) {
	if t == nil {
		return
	}
	failed := &failure.Failure{}
	if err != nil {
		failed = t.session.FailureOf(ctx, err)
	}
	t.finish(ctx, x, t.session.Quote(failed.Text, 2000), failed)
}

// EndStep ends the action of a step.
func (t *Tracer) EndStep(ctx context.Context, x *Execution, record playback.Record, failed *failure.Failure) {
	if t == nil {
		return
	}
	message := ""
	if record.Status == playback.Failed {
		message = record.Result.Message
	} else {
		t.recorder.Log(t.call, record.Result.Message)
	}
	t.finish(ctx, x, message, failed)
}

// finish ends the action, and looks at the page after it unless that cannot respond.
func (t *Tracer) finish(ctx context.Context, x *Execution, message string, failed *failure.Failure) {
	looks := t.readable && ctx.Err() == nil && !x.LeavesDialog(ctx)
	if looks && failed != nil && failed.Text != "" {
		looks = !failed.Broken && failed.Code != run.CodeBrowserLost && (View{x}).Responds(ctx)
	}
	t.Wait(ctx)
	if t.busy() {
		looks = false
	}
	t.recorder.End(t.call, message, looks)
	left := t.step
	t.call, t.step = "", -1
	if !looks {
		return
	}
	x.ResetFrame(ctx)
	result := t.request(ctx, x, nil)
	done := make(chan struct{})
	t.running = done
	look := func() {
		defer close(done)
		doc, err := result()
		if err != nil {
			t.recorder.Unseen()
			t.unseen(ctx, err)
			return
		}
		t.recorder.Seen(doc)
		t.Pages.Left(left, doc.Outline(evidence.MaxLines))
	}
	if !t.parallel {
		look()
		return
	}
	t.tasks.Go(func() {
		defer func() {
			if e := recover(); e != nil {
				t.session.Log.ErrorContext(ctx, "panic while recording a trace")
			}
		}()
		look()
	})
}

// request asks for a snapshot; the function that it returns waits for that.
func (t *Tracer) request(ctx context.Context, x *Execution, mark *trace.Mark) func() (*trace.Document, error) {
	window := t.session.Window
	if !t.parallel {
		return func() (*trace.Document, error) {
			return t.snapshots.Execute(window, mark, func(script string, out any, args ...any) error {
				return x.ExecuteFor(ctx, 0, script, out, args...)
			})
		}
	}
	conn, err := t.session.Driver.BiDi(ctx)
	if err != nil {
		return func() (*trace.Document, error) { return nil, fmt.Errorf("snapshot: %w", err) }
	}
	return t.snapshots.Request(ctx, conn, window, mark)
}

func (t *Tracer) unseen(ctx context.Context, err error) {
	if !errors.Is(err, context.Canceled) {
		t.session.Log.DebugContext(ctx, "no snapshot for the trace", "error", t.session.Secrets.Redact(err.Error()))
	}
}

// busy reports whether a snapshot still runs.
func (t *Tracer) busy() bool {
	if t.running == nil {
		return false
	}
	select {
	case <-t.running:
		t.running = nil
		return false
	default:
		return true
	}
}

// Wait waits until the snapshot that is being taken is there, for a second at most.
func (t *Tracer) Wait(ctx context.Context) {
	if t == nil || t.running == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, screenshotWait)
	defer cancel()
	select {
	case <-t.running:
		t.running = nil
	case <-ctx.Done():
	}
}

// WatchTraffic begins to record what the pages request.
func (t *Tracer) WatchTraffic(ctx context.Context) {
	if t == nil || !t.parallel {
		return
	}
	var err error
	if t.Traffic, err = t.session.Network.Traffic(ctx); err != nil {
		t.recorder.Note("No network: the browser does not report it")
		t.session.Log.DebugContext(ctx, "no network in the trace", "error", err)
	}
}

// Close returns when all is recorded. The network is gathered for a trace that is kept.
func (t *Tracer) Close(ctx context.Context, passed, broken bool) {
	if t == nil {
		return
	}
	t.tasks.Wait()
	if t.Traffic == nil || !t.recorder.Keeps(passed) {
		return
	}
	within := closeTimeout
	if broken { // a page that does not respond has no bodies, and the slot is to be free
		within = brokenTimeout
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), within)
	defer cancel()
	t.recorder.Traffic(ctx, t.Traffic, t.snapshots)
}

// BeginWhole begins an action of which those that follow are parts, until EndWhole.
func (t *Tracer) BeginWhole(a trace.Action) {
	if t != nil {
		t.Begin(a)
		t.wholes = append(t.wholes, t.call)
	}
}

// EndWhole ends the action that BeginWhole began last; failed is "" where it did what it should.
func (t *Tracer) EndWhole(failed string) {
	if t == nil || len(t.wholes) == 0 {
		return
	}
	last := len(t.wholes) - 1
	t.recorder.EndWhole(t.wholes[last], failed)
	t.call, t.wholes = "", t.wholes[:last]
}

// EndGroup ends the action of a step that ran a group.
func (t *Tracer) EndGroup(record playback.Record) {
	if t == nil || len(t.wholes) == 0 {
		return
	}
	failed := ""
	if record.Status == playback.Failed {
		failed = record.Result.Message
	} else {
		t.recorder.Log(t.wholes[len(t.wholes)-1], record.Result.Message)
	}
	t.EndWhole(failed)
}
