package assertion

import (
	"context"
	"fmt"
	"time"

	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/accessible"
	"github.com/slipway-qa/slipway/worker/run/looks"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/replay/page"
	"github.com/slipway-qa/slipway/worker/run/replay/session"
)

const (
	// checkTimeout bounds one check of a page, in which its scripts stand still.
	checkTimeout = 30 * time.Second
	// checkPause is the time between checks of a page that may not be complete.
	checkPause = 250 * time.Millisecond
	// frameDepth bounds how deep frames are checked.
	frameDepth = 5
	// aroundFinding is how much of the page a picture of a finding shows around its
	// element, in CSS pixels.
	aroundFinding = 40
)

// accessibility is a step that checks the page, or an element, for faults of accessibility.
type accessibility struct {
	*session.Execution
	at *page.Location
}

// foundOnPage is what the script returns.
type foundOnPage struct {
	accessible.Found
	Several *page.Several `json:"several"`
}

// assert checks until nothing fails or the step's time is over.
func (c accessibility) assert(ctx context.Context, args step.Args) error {
	if c.Looks == nil {
		return failure.Stepf("accessibility is checked when a test is run, and not while it is written")
	}
	accepted, err := c.Looks.Accepted(ctx)
	if err != nil {
		return err
	}
	c.Screenshotter.TakeDeferred(ctx, c.Execution)
	c.Screenshotter.Wait(ctx)
	for {
		over := time.Now().After(c.Deadline)
		found, not, err := c.check(ctx, args.Matcher.Args)
		if err != nil {
			return err
		}
		if found != nil {
			sorted := accessible.Sort(&found.Found, args.Matcher.Args.Impact, accepted, c.Quote)
			if sorted.Failing == 0 || over {
				return c.conclude(ctx, &sorted)
			}
		} else if over {
			return not
		}
		if err := session.Sleep(ctx, checkPause); err != nil {
			return err
		}
	}
}

// conclude records what was found. It is a failure where something fails the step.
func (c accessibility) conclude(ctx context.Context, s *accessible.Sorted) error {
	c.Findings = &s.Findings
	if s.Unseen > 0 {
		c.Note("%d frames of other origins were not checked", s.Unseen)
	}
	if s.Accepted > 0 {
		c.Note("%d findings were accepted before", s.Accepted)
	}
	if s.Failing == 0 {
		return nil
	}
	c.keepPictures(ctx, s)
	found := fmt.Sprintf("%d findings: %s", s.Failing, s.Text())
	return failure.Newf(run.CodeAssertionFailed, "%s: expected to be accessible; %s", c.subject(), found).Expecting(c.subject()+
		" to be accessible", found, nil)
}

func (c accessibility) subject() string {
	if c.at.Selector.Value == "" {
		return "the page"
	}
	return c.ShowSelector(c.at.Selector)
}

// check checks once. Without a result, not says what is missing.
func (c accessibility) check(ctx context.Context, m step.MatcherArgs) (found *foundOnPage, not *failure.Failure, err error) {
	again := failure.Stepf("the page could not be checked")
	missing, err := c.EnterFrames(ctx, c.at.Frames)
	switch {
	case err != nil:
		return nil, nil, err
	case missing != nil && missing.Several != nil:
		return nil, c.SeveralFailure(missing.Several), nil
	case missing != nil:
		return nil, failure.Newf(run.CodeAssertionFailed, "%s", missing.Why), nil
	}
	frames := &checkedFrames{}
	if err := c.loadInto(ctx, frames, 0); err != nil {
		return nil, again, c.Interrupted(ctx, err)
	}
	if found, err = c.run(ctx, m); err != nil {
		return nil, again, c.Interrupted(ctx, err)
	}
	switch {
	case found == nil:
		return nil, again, nil
	case found.Error != "":
		return nil, nil, failure.Stepf("axe-core: %s", c.Quote(found.Error, 300))
	case found.Several != nil:
		return nil, c.SeveralFailure(found.Several), nil
	case found.Missing:
		return nil, failure.Newf(run.CodeAssertionFailed, "%s: expected to be accessible; no such element", c.ShowSelector(c.at.Selector)), nil
	}
	if len(c.at.Frames) == 0 {
		if err := c.Arrived(ctx, found.Href); err != nil {
			return nil, nil, err
		}
	}
	if session.IsErrorPage(c.Href) {
		return nil, failure.Newf(run.CodeAssertionFailed, "the page could not be loaded"), nil
	}
	found.Unseen = frames.unseen
	return found, nil, nil
}

// run runs axe-core in the current document.
func (c accessibility) run(ctx context.Context, m step.MatcherArgs) (*foundOnPage, error) {
	q := accessible.NewQuery(m)
	q.Hosts, q.First = page.OrEmpty(c.at.Hosts), c.FirstMatch
	if c.at.Selector.Value != "" {
		q.Selector = c.at.Selector
	}
	if err := c.Driver.SetTimeouts(ctx, webdriver.Timeouts{PageLoad: c.PageTimeout, Script: checkTimeout}); err != nil {
		return nil, err
	}
	var found *foundOnPage
	err := c.ExecuteFor(ctx, checkTimeout, page.AccessibleScript, &found, q)
	if restored := c.Driver.SetTimeouts(ctx, webdriver.Timeouts{PageLoad: c.PageTimeout, Script: c.ScriptTimeout()}); err == nil {
		err = restored
	}
	return found, err
}

// checkedFrames counts frames that axe-core is in, and those in which nothing is checked.
type checkedFrames struct {
	loaded, unseen int
}

type frameElement struct {
	Frame webdriver.Element `json:"frame"`
	Same  bool              `json:"same"`
}

// loadInto puts axe-core into the frames of the current document, and of those. The document
// that was current is so again.
func (c accessibility) loadInto(ctx context.Context, in *checkedFrames, depth int) error {
	var frames []frameElement
	if err := c.Execute(ctx, accessible.Frames(), &frames, accessible.MaxFrames); err != nil {
		return err
	}
	for _, frame := range frames {
		if !frame.Same || depth == frameDepth || in.loaded == accessible.MaxFrames {
			in.unseen++
			continue
		}
		in.loaded++
		err := c.inFrame(ctx, frame.Frame, func() error {
			if err := c.Execute(ctx, accessible.Load(), nil); err != nil {
				return err
			}
			return c.loadInto(ctx, in, depth+1)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// inFrame does something in a frame of the current document.
func (c accessibility) inFrame(ctx context.Context, frame webdriver.Element, do func() error) error {
	nested := c.Framed
	c.Framed = true
	if err := c.Driver.SwitchFrame(ctx, frame); err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	c.Framed = nested
	return c.Driver.ParentFrame(ctx)
}

// keepPictures takes pictures of the first findings that fail.
func (c accessibility) keepPictures(ctx context.Context, s *accessible.Sorted) {
	var places *lookPlaces
	if c.LeaveFrames(ctx) != nil || c.Execute(ctx, page.LookScript, &places, lookQuery{Hosts: []page.Selector{},
		Masks: []page.Selector{}}) != nil || places == nil {
		return
	}
	defer func() {
		_ = c.Execute(ctx, page.LookScript, nil, lookQuery{Hosts: []page.Selector{}, Masks: []page.Selector{}, Off: true})
	}()
	size := places.Scale * places.Scale * places.DocumentWidth * places.DocumentHeight
	document := c.Driver.Capabilities["webSocketUrl"] != nil && size > 0 && size <= looks.MaxPixels
	page, err := pictureStep{c.Execution}.picture(ctx, document)
	if err != nil {
		c.Log.DebugContext(ctx, "no pictures of findings", "error", c.Secrets.Redact(err.Error()))
		return
	}
	pictures := 0
	for i := range s.List {
		box := s.Boxes[i]
		if box == nil || !s.List[i].Fails || pictures == accessible.MaxPictures {
			continue
		}
		at := *box
		if !document {
			at.X, at.Y = at.X-places.ScrollX, at.Y-places.ScrollY
		}
		part := looks.Cut(page, at.Grown(aroundFinding), places.Scale)
		if part == nil {
			continue
		}
		looks.Frame(part, at.From(at.Grown(aroundFinding)), places.Scale)
		s.List[i].FileID = pictureStep{c.Execution}.keepPicture(ctx, run.Finding, part)
		pictures++
	}
}
