package replay

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

// screenshotter captures pages and hands its captures to Config.Capture in the order
// of the steps, in the background.
//
// Over WebDriver BiDi (DevTools commands in it where the browser is a managed one) a
// screenshot is taken while the next step waits for its element; that step waits for
// it before it changes anything. Without BiDi it is taken by a command of the
// session.
type screenshotter struct {
	session  *session
	storeID  func(step int, fileID string) // of a screenshot that was stored
	ctx      context.Context
	parallel bool             // screenshots are taken beside the session
	source   screenshotSource // nil until the first screenshot
	window   string           // of the source

	running chan struct{} // closed when the screenshot that runs is done; nil: none
	queue   chan *capture
	tasks   sync.WaitGroup
}

// screenshotSource takes screenshots of one window beside the session.
type screenshotSource interface {
	screenshot(ctx context.Context) ([]byte, error)
	alive() bool
}

// capture is an artifact that is to be stored; ready is closed when its data is
// there.
type capture struct {
	Artifact
	ready chan struct{}
}

func newScreenshotter(ctx context.Context, session *session, storeID func(step int, fileID string)) *screenshotter {
	s := &screenshotter{session: session, storeID: storeID, ctx: ctx, queue: make(chan *capture, maxQueued)}
	if session.Lease != nil && session.driver != nil && !session.Lease.Mobile && session.Screenshots {
		s.parallel = session.driver.Capabilities["webSocketUrl"] != nil
	}
	s.tasks.Go(s.storeAll)
	return s
}

// storeAll stores captures until the queue is closed.
func (s *screenshotter) storeAll() {
	for c := range s.queue {
		<-c.ready
		if len(c.Data) == 0 || s.session.Capture == nil {
			continue
		}
		s.store(c)
	}
}

func (s *screenshotter) store(c *capture) {
	defer func() {
		if e := recover(); e != nil {
			s.session.Log.ErrorContext(s.ctx, "panic while storing a capture")
		}
	}()
	id := s.session.Capture(s.ctx, c.Artifact)
	if c.Kind == run.Screenshot && id != "" {
		s.storeID(c.Step, id)
	}
}

// close returns when everything is stored.
func (s *screenshotter) close() {
	close(s.queue)
	s.tasks.Wait()
}

// wait waits until the screenshot that is being taken is done.
func (s *screenshotter) wait(ctx context.Context) {
	if s.running == nil {
		return
	}
	timer := time.NewTimer(screenshotWait)
	defer timer.Stop()
	select {
	case <-s.running:
		s.running = nil
	case <-timer.C:
	case <-ctx.Done():
	}
}

// take takes a screenshot of the page as a step left it.
func (s *screenshotter) take(ctx context.Context, x *stepExecution) {
	s.wait(ctx)
	view := pageView{x}
	masked, ok := view.maskSecrets(ctx)
	if !ok {
		return
	}
	c := &capture{Artifact: Artifact{Kind: run.Screenshot, Step: x.index}, ready: make(chan struct{})}
	if source := s.currentSource(ctx); source != nil {
		s.running = c.ready
		s.tasks.Go(func() {
			defer close(c.ready)
			ctx, cancel := context.WithTimeout(ctx, captureTimeout)
			defer cancel()
			data, err := source.screenshot(ctx)
			s.encode(c, data, err)
		})
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
		view.unmaskSecrets(ctx)
	}
	s.queue <- c
}

// encode makes an artifact of a screenshot, unless it is too large or no image.
func (s *screenshotter) encode(c *capture, data []byte, err error) {
	if err != nil {
		s.session.Log.DebugContext(s.ctx, "no screenshot", "step", c.Step, "error", s.session.secrets.redact(err.Error()))
		return
	}
	c.Data, c.ContentType = data, http.DetectContentType(data)
	if !strings.HasPrefix(c.ContentType, "image/") || len(data) > maxScreenshot {
		c.Data = nil
	}
}

// currentSource returns the source of the current window; nil without one.
func (s *screenshotter) currentSource(ctx context.Context) screenshotSource {
	window := s.session.window
	if !s.parallel || window == "" {
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
	source, err := open(ctx, s.session.driver, window)
	if err != nil {
		s.session.Log.DebugContext(ctx, "screenshots are taken by the session", "error", err)
		s.parallel, s.source = false, nil
		return nil
	}
	s.source, s.window = source, window
	return source
}

// takeBySession takes a screenshot by a command of the session.
func (s *screenshotter) takeBySession(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, captureTimeout)
	defer cancel()
	if s.session.Lease.Local {
		return s.session.driver.JPEGScreenshot(ctx, jpegQuality)
	}
	return s.session.driver.Screenshot(ctx)
}
