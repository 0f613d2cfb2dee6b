package replay

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/evidence"
	"github.com/slipway-qa/slipway/worker/run/trace"
	"github.com/slipway-qa/slipway/worker/run/traffic"
)

// closeTimeout bounds what is asked of the browser when the test has ended, and brokenTimeout
// what is asked of one that ends with it.
const (
	closeTimeout  = 20 * time.Second
	brokenTimeout = time.Second
)

// traced is the class of a trace's actions that are steps.
const traced = "Slipway"

// tracer records steps in Config.Trace. Snapshots are taken as screenshots are: over BiDi,
// while the next step waits for its element, and that step waits for them before it changes
// anything. Without BiDi they are commands of the session. Nothing of it fails a step. The
// nil tracer does nothing.
type tracer struct {
	session   *session
	recorder  *trace.Recorder
	snapshots *trace.Snapshotter
	readable  bool              // the test has pages
	parallel  bool              // they are read beside the session
	traffic   *traffic.Recorder // of the session's network; nil: the browser does not say what it requests

	call    string        // the action that goes on
	wholes  []string      // the actions that it is a part of, from outside in
	step    int           // that goes on; -1 before the first, and for what is none
	running chan struct{} // closed when the snapshot that runs is there; nil: none
	pages   *evidence.Recorder
	tasks   sync.WaitGroup
}

func newTracer(s *session) *tracer {
	if s.Trace == nil || s.driver == nil {
		return nil
	}
	t := &tracer{session: s, recorder: s.Trace, snapshots: s.Trace.NewSnapshotter(), readable: !s.Lease.Mobile, step: -1, pages: evidence.New()}
	t.parallel = t.readable && s.driver.Capabilities["webSocketUrl"] != nil
	switch {
	case !t.readable:
		t.recorder.Note("Only the steps are recorded: an app has no pages")
	case !t.parallel:
		t.recorder.Note("No network and no console: the hub gives no BiDi")
	}
	return t
}

func (t *tracer) begin(a trace.Action) {
	if t != nil {
		if n := len(t.wholes); n > 0 {
			a.Parent = t.wholes[n-1]
		}
		t.call = t.recorder.Begin(a)
	}
}

// beginStep says which step goes on.
func (t *tracer) beginStep(i int) {
	if t != nil {
		t.step = i
	}
}

// acted says where a script did the action that goes on; nil: it is not known.
func (t *tracer) acted(point *trace.Point) {
	if t != nil && point != nil {
		t.recorder.Input(t.call, *point, nil)
	}
}

// meets looks at the page right before the pointer does something at a point.
func (t *tracer) meets(ctx context.Context, x *stepExecution, point *trace.Point, framed bool) {
	if t == nil || point == nil || t.busy() {
		return
	}
	if framed { // the session is in the frame, which a snapshot of all would leave
		t.acted(point)
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
	t.pages.Met(t.step, doc.Outline(evidence.MaxLines))
}

// end ends the action that goes on.
func (t *tracer) end(ctx context.Context, x *stepExecution, err error) {
	if t == nil {
		return
	}
	failed := &failure{}
	if err != nil {
		failed = t.session.failureOf(ctx, err)
	}
	t.finish(ctx, x, t.session.quote(failed.text, 2000), failed)
}

// endStep ends the action of a step.
func (t *tracer) endStep(ctx context.Context, x *stepExecution, record step.Record, failed *failure) {
	if t == nil {
		return
	}
	message := ""
	if record.Status == step.Failed {
		message = record.Result.Message
	} else {
		t.recorder.Log(t.call, record.Result.Message)
	}
	t.finish(ctx, x, message, failed)
}

// finish ends the action, and looks at the page after it unless that cannot respond.
func (t *tracer) finish(ctx context.Context, x *stepExecution, message string, failed *failure) {
	looks := t.readable && ctx.Err() == nil && !x.leavesDialog(ctx)
	if looks && failed != nil && failed.text != "" {
		looks = !failed.broken && failed.code != run.CodeBrowserLost && (pageView{x}).responds(ctx)
	}
	t.wait(ctx)
	if t.busy() {
		looks = false
	}
	t.recorder.End(t.call, message, looks)
	left := t.step
	t.call, t.step = "", -1
	if !looks {
		return
	}
	x.resetFrame(ctx)
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
		t.pages.Left(left, doc.Outline(evidence.MaxLines))
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
func (t *tracer) request(ctx context.Context, x *stepExecution, mark *trace.Mark) func() (*trace.Document, error) {
	window := t.session.window
	if !t.parallel {
		return func() (*trace.Document, error) {
			return t.snapshots.Execute(window, mark, func(script string, out any, args ...any) error {
				return x.executeFor(ctx, 0, script, out, args...)
			})
		}
	}
	conn, err := t.session.driver.BiDi(ctx)
	if err != nil {
		return func() (*trace.Document, error) { return nil, fmt.Errorf("snapshot: %w", err) }
	}
	return t.snapshots.Request(ctx, conn, window, mark)
}

func (t *tracer) unseen(ctx context.Context, err error) {
	if !errors.Is(err, context.Canceled) {
		t.session.Log.DebugContext(ctx, "no snapshot for the trace", "error", t.session.secrets.redact(err.Error()))
	}
}

// busy reports whether a snapshot still runs.
func (t *tracer) busy() bool {
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

// wait waits until the snapshot that is being taken is there, for a second at most.
func (t *tracer) wait(ctx context.Context) {
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

// watchTraffic begins to record what the pages request.
func (t *tracer) watchTraffic(ctx context.Context) {
	if t == nil || !t.parallel {
		return
	}
	var err error
	if t.traffic, err = t.session.network.Traffic(ctx); err != nil {
		t.recorder.Note("No network: the browser does not report it")
		t.session.Log.DebugContext(ctx, "no network in the trace", "error", err)
	}
}

// close returns when all is recorded. The network is gathered for a trace that is kept.
func (t *tracer) close(ctx context.Context, result *Result) {
	if t == nil {
		return
	}
	t.tasks.Wait()
	if t.traffic == nil || !t.recorder.Keeps(result.Status == step.Passed) {
		return
	}
	within := closeTimeout
	if result.Broken { // a page that does not respond has no bodies, and the slot is to be free
		within = brokenTimeout
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), within)
	defer cancel()
	t.recorder.Traffic(ctx, t.traffic, t.snapshots)
}
