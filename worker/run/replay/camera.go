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
	// shutter is how long an action waits for the screenshot of the step before
	// it: a dialog that opened meanwhile holds the screenshot, and only the action
	// finds that out.
	shutter = time.Second
	// stored is how many captures may wait for their storing: each is some
	// hundred KB.
	stored = 8
	// quality of JPEGs: text stays clean at a third of a PNG's size.
	quality = 70
	// maxPicture bounds a screenshot, in bytes: the page is behind it.
	maxPicture = 10 << 20
)

// camera captures pages and hands what it captured to Config.Capture, in the order
// of the steps, off their way.
//
// Over WebDriver BiDi (DevTools commands in it where the browser is an own one) a
// screenshot is taken while the next step waits for its element; that
// step waits for it before it changes anything. Without one it is taken by a
// command of the session.
type camera struct {
	p        *player
	ctx      context.Context
	parallel bool
	lens     lens
	window   string // of the lens

	taking chan struct{} // closed when the capture that runs is done; nil: none
	rolls  chan *roll
	done   sync.WaitGroup
}

// lens takes screenshots of one window beside the session.
type lens interface {
	picture(ctx context.Context) ([]byte, error)
	alive() bool
}

// roll is an artifact on its way; ready is closed when it is there.
type roll struct {
	Artifact
	ready chan struct{}
}

func newCamera(ctx context.Context, p *player) *camera {
	c := &camera{p: p, ctx: ctx, rolls: make(chan *roll, stored)}
	if p.Lease != nil && p.s != nil && !p.Lease.Mobile && p.Screenshots {
		c.parallel = p.s.Capabilities["webSocketUrl"] != nil
	}
	c.done.Go(c.store)
	return c
}

// store hands out what was captured.
func (c *camera) store() {
	for r := range c.rolls {
		<-r.ready
		if len(r.Data) == 0 || c.p.Capture == nil {
			continue
		}
		c.deliver(r)
	}
}

func (c *camera) deliver(r *roll) {
	defer func() {
		if e := recover(); e != nil {
			c.p.Log.ErrorContext(c.ctx, "panic while storing a capture")
		}
	}()
	id := c.p.Capture(c.ctx, r.Artifact)
	if r.Kind == run.Screenshot && id != "" {
		c.p.mu.Lock()
		c.p.records[r.Step].ScreenshotID = id
		c.p.mu.Unlock()
	}
}

// close ends when everything is stored.
func (c *camera) close() {
	close(c.rolls)
	c.done.Wait()
}

// wait waits until the screenshot that is being taken has been taken.
func (c *camera) wait(ctx context.Context) {
	if c.taking == nil {
		return
	}
	timer := time.NewTimer(shutter)
	defer timer.Stop()
	select {
	case <-c.taking:
		c.taking = nil
	case <-timer.C:
	case <-ctx.Done():
	}
}

// take takes a screenshot of the page as a step left it.
func (c *camera) take(ctx context.Context, i int) {
	c.wait(ctx)
	masked, ok := c.mask(ctx)
	if !ok {
		return
	}
	r := &roll{Artifact: Artifact{Kind: run.Screenshot, Step: i}, ready: make(chan struct{})}
	if l := c.aim(ctx); l != nil {
		c.taking = r.ready
		c.done.Go(func() {
			defer close(r.ready)
			ctx, cancel := context.WithTimeout(ctx, captureTimeout)
			defer cancel()
			data, err := l.picture(ctx)
			c.develop(r, data, err)
		})
		if masked {
			select { // not for as long as the shutter: what is masked must stay so
			case <-r.ready:
			case <-ctx.Done():
			}
		}
	} else {
		data, err := c.inline(ctx)
		c.develop(r, data, err)
		close(r.ready)
	}
	if masked {
		c.unmask(ctx)
	}
	c.rolls <- r
}

func (c *camera) develop(r *roll, data []byte, err error) {
	if err != nil {
		c.p.Log.DebugContext(c.ctx, "no screenshot", "step", r.Step, "error", c.p.vault.redact(err.Error()))
		return
	}
	r.Data, r.ContentType = data, http.DetectContentType(data)
	if !strings.HasPrefix(r.ContentType, "image/") || len(data) > maxPicture {
		r.Data = nil
	}
}

// aim gives the lens of the current window; nil without one.
func (c *camera) aim(ctx context.Context) lens {
	if !c.parallel || c.p.window == "" {
		return nil
	}
	if c.lens != nil && c.window == c.p.window && c.lens.alive() {
		return c.lens
	}
	ctx, cancel := context.WithTimeout(ctx, captureTimeout)
	defer cancel()
	var err error
	if c.p.Lease.Local {
		c.lens, err = openDevTools(ctx, c.p.s, c.p.window)
	} else {
		c.lens, err = openBiDi(ctx, c.p.s, c.p.window)
	}
	if err != nil {
		c.p.Log.DebugContext(ctx, "screenshots are taken by the session", "error", err)
		c.parallel, c.lens = false, nil
		return nil
	}
	c.window = c.p.window
	return c.lens
}

// inline takes a screenshot by a command of the session.
func (c *camera) inline(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, captureTimeout)
	defer cancel()
	if c.p.Lease.Local {
		return c.p.s.JPEGScreenshot(ctx, quality)
	}
	return c.p.s.Screenshot(ctx)
}
