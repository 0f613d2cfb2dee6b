package session

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/slipway-qa/slipway/storage/run"
)

const (
	// captureTimeout bounds one screenshot; a page that renders without end has
	// none.
	captureTimeout = 5 * time.Second
	// screenshotWait is how long an action waits for the screenshot of the step before
	// it: a dialog that opened meanwhile blocks the screenshot, and only the action
	// finds that out.
	screenshotWait = time.Second
	// maxQueued is how many captures may wait to be stored: each is some hundred KB.
	maxQueued = 8
	// jpegQuality of 100: text stays clean at a third of a PNG's size.
	jpegQuality = 70
	// maxScreenshot bounds a screenshot, in bytes: the page decides how large it is.
	maxScreenshot = 10 << 20
)

// Screenshotter captures pages and hands its captures to Config.Capture in the order
// of the steps, in the background.
//
// Over WebDriver BiDi (DevTools commands in it where the browser is a managed one) a
// screenshot is taken while the next step waits for its element; that step waits for
// it before it changes anything. Without BiDi it is taken by a command of the
// session.
//
// An assertion changes nothing. So the screenshot of the step before it is taken after
// the assertion has looked at the page once: where that was enough, the screenshot is
// that of both steps, and shows what was asserted. Else it is taken then, before the
// assertion looks again.
type Screenshotter struct {
	session  *Session
	StoreID  func(step int, fileID string) // of a screenshot that was stored
	ctx      context.Context
	Parallel bool             // screenshots are taken beside the session
	source   screenshotSource // nil until the first screenshot
	window   string           // of the source

	running  chan struct{} // closed when the screenshot that runs is done; nil: none
	deferred []int         // the steps whose screenshot waits for the next assertion
	queue    chan *capture
	tasks    sync.WaitGroup
}

// screenshotSource takes screenshots of one window beside the session.
type screenshotSource interface {
	// request requests one; the function that it returns waits for that.
	request(ctx context.Context) func() ([]byte, error)
	alive() bool
}

// capture is what is to be stored: an artifact for each of some steps. ready is
// closed when its data is there.
type capture struct {
	Artifact
	steps []int
	ready chan struct{}
}

// NewScreenshotter returns what captures the pages of a session. storeID is told the file of
// each screenshot that was stored.
func NewScreenshotter(ctx context.Context, session *Session, storeID func(step int, fileID string)) *Screenshotter {
	s := &Screenshotter{session: session, StoreID: storeID, ctx: ctx, queue: make(chan *capture, maxQueued)}
	if session.Lease != nil && session.Driver != nil && !session.Lease.Mobile && session.Screenshots {
		s.Parallel = session.Driver.Capabilities["webSocketUrl"] != nil
	}
	s.tasks.Go(s.storeAll)
	return s
}

// storeAll stores captures until the queue is closed.
func (s *Screenshotter) storeAll() {
	for c := range s.queue {
		<-c.ready
		if len(c.Data) == 0 || s.session.Capture == nil {
			continue
		}
		s.store(c)
	}
}

func (s *Screenshotter) store(c *capture) {
	defer func() {
		if e := recover(); e != nil {
			s.session.Log.ErrorContext(s.ctx, "panic while storing a capture")
		}
	}()
	for _, c.Step = range c.steps {
		id := s.session.Capture(s.ctx, c.Artifact)
		if c.Kind == run.Screenshot && id != "" {
			s.StoreID(c.Step, id)
		}
	}
}

// Close returns when everything is stored.
func (s *Screenshotter) Close() {
	close(s.queue)
	s.tasks.Wait()
}

// Wait waits until the screenshot and the snapshot that are being taken are done: the page
// changes after it.
func (s *Screenshotter) Wait(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, screenshotWait)
	defer cancel()
	s.waitPicture(ctx)
	s.session.Tracer.Wait(ctx)
}

// waitPicture waits until the screenshot that is being taken is done.
func (s *Screenshotter) waitPicture(ctx context.Context) {
	if s.running == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, screenshotWait)
	defer cancel()
	select {
	case <-s.running:
		s.running = nil
	case <-ctx.Done():
	}
}

// Take takes a screenshot of the page as a step left it, now or with the assertion
// that follows.
func (s *Screenshotter) Take(ctx context.Context, x *Execution) {
	s.deferred = append(s.deferred, x.Index)
	if !x.AssertedNext {
		s.TakeDeferred(ctx, x)
	}
}

// TakeDeferred takes the screenshot of the steps that wait for one. x is the step
// that is executed now.
func (s *Screenshotter) TakeDeferred(ctx context.Context, x *Execution) {
	if len(s.deferred) == 0 {
		return
	}
	c := &capture{Artifact: Artifact{Kind: run.Screenshot}, steps: s.deferred, ready: make(chan struct{})}
	s.deferred = nil
	s.waitPicture(ctx)
	x.ResetFrame(ctx)
	view := View{x}
	if len(x.Secrets.typed) > 0 { // the snapshot shows no blur
		s.session.Tracer.Wait(ctx)
	}
	masked, ok := view.MaskSecrets(ctx)
	if !ok {
		return
	}
	if source := s.currentSource(ctx); source != nil {
		s.takeBeside(ctx, source, c)
		if masked {
			select { // without screenshotWait: what is masked must stay so
			case <-c.ready:
			case <-ctx.Done():
			}
		}
	} else {
		data, err := s.takeBySession(ctx)
		s.encode(c, data, err)
		close(c.ready)
	}
	if masked {
		view.UnmaskSecrets(ctx)
	}
	s.queue <- c
}

// takeBeside requests a screenshot and waits for it in the background.
func (s *Screenshotter) takeBeside(ctx context.Context, source screenshotSource, c *capture) {
	ctx, cancel := context.WithTimeout(ctx, captureTimeout)
	result := source.request(ctx)
	s.running = c.ready
	s.tasks.Go(func() {
		defer cancel()
		defer close(c.ready)
		data, err := result()
		if err != nil && ctx.Err() == nil { // a page that is just being replaced has none
			data, err = source.request(ctx)()
		}
		s.encode(c, data, err)
	})
}

// encode makes an artifact of a screenshot, unless it is too large or no image.
func (s *Screenshotter) encode(c *capture, data []byte, err error) {
	if err != nil {
		s.session.Log.DebugContext(s.ctx, "no screenshot", "steps", c.steps, "error", s.session.Secrets.Redact(err.Error()))
		return
	}
	c.Data, c.ContentType = data, http.DetectContentType(data)
	if !strings.HasPrefix(c.ContentType, "image/") || len(data) > maxScreenshot {
		c.Data = nil
		return
	}
	s.session.Trace.Picture(data, time.Now())
}

// currentSource returns the source of the current window; nil without one.
func (s *Screenshotter) currentSource(ctx context.Context) screenshotSource {
	window := s.session.Window
	if !s.Parallel || window == "" {
		return nil
	}
	if s.source != nil && s.window == window && s.source.alive() {
		return s.source
	}
	ctx, cancel := context.WithTimeout(ctx, captureTimeout)
	defer cancel()
	open := openBiDiSource
	if s.session.Lease.Local {
		open = openDevToolsSource
	}
	source, err := open(ctx, s.session.Driver, window)
	if err != nil {
		s.session.Log.DebugContext(ctx, "screenshots are taken by the session", "error", err)
		s.Parallel, s.source = false, nil
		return nil
	}
	s.source, s.window = source, window
	return source
}

// takeBySession takes a screenshot by a command of the session.
func (s *Screenshotter) takeBySession(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, captureTimeout)
	defer cancel()
	if s.session.Lease.Local {
		return s.session.Driver.JPEGScreenshot(ctx, jpegQuality)
	}
	return s.session.Driver.Screenshot(ctx)
}
