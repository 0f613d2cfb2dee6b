package assertion

import (
	"context"
	"image"
	"time"

	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/looks"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/replay/page"
	"github.com/slipway-qa/slipway/worker/run/replay/session"
)

// look is a step that compares a picture of the page, or of an element, with its baseline.
type look struct {
	*session.Execution
	at *page.Location
}

// lookQuery is the argument of look.js.
type lookQuery struct {
	Hosts    []page.Selector `json:"hosts"`
	Selector *page.Selector  `json:"selector"`
	First    bool            `json:"first,omitempty"`
	Masks    []page.Selector `json:"masks"`
	Off      bool            `json:"off,omitempty"`
}

// lookPlaces is what look.js returns.
type lookPlaces struct {
	Href           string        `json:"href"`
	Box            *looks.Box    `json:"box"`
	Masks          []looks.Box   `json:"masks"`
	Width          int           `json:"width"`
	Height         int           `json:"height"`
	ScrollX        float64       `json:"scrollX"`
	ScrollY        float64       `json:"scrollY"`
	DocumentWidth  float64       `json:"documentWidth"`
	DocumentHeight float64       `json:"documentHeight"`
	Scale          float64       `json:"scale"`
	Fonts          string        `json:"fonts"`
	Ready          bool          `json:"ready"` // fonts and images are there
	Several        *page.Several `json:"several"`
	Missing        bool          `json:"missing"`
	Error          string        `json:"error"`
}

// lookState is what an assertion has found out so far.
type lookState struct {
	baseline *looks.Baseline
	read     bool   // the baseline was
	last     string // digest of the last picture
	verdict  looks.Verdict
	judged   string // digest of what the verdict is of
	picture  *image.NRGBA
	on       looks.Rendering
	why      *failure.Failure // there is no picture
	unready  bool             // the last picture lacks fonts or images
	pictures int
}

// leastPictures are taken however long each takes: a page that is still from the second one
// on, on a busy machine, does not fail for want of time.
const leastPictures = 3

// assert takes pictures until one is as the baseline, or two in a row are alike and the time
// is over. Without a baseline, two in a row that are alike are the first one.
func (l look) assert(ctx context.Context, args step.Args) error {
	if l.Looks == nil {
		return failure.Stepf("looks are compared when a test is run, and not while it is written")
	}
	l.Screenshotter.TakeDeferred(ctx, l.Execution)
	l.Screenshotter.Wait(ctx)
	defer l.thaw(ctx)
	state := &lookState{}
	for {
		over := time.Now().After(l.Deadline) && (state.pictures == 0 || state.pictures >= leastPictures-1)
		done, err := l.try(ctx, args.Matcher.Args, state, over)
		if err != nil {
			return err
		}
		if done {
			return l.conclude(ctx, args.Matcher.Args, state)
		}
		if over {
			return l.without(state)
		}
		if err := session.Sleep(ctx, session.RetryPause); err != nil {
			return err
		}
	}
}

// try takes one picture. done: the verdict stands.
func (l look) try(ctx context.Context, m step.MatcherArgs, s *lookState, over bool) (done bool, err error) {
	picture, places, err := l.take(ctx, m, s)
	if err != nil || picture == nil {
		return false, err
	}
	s.on = l.rendering(places)
	if !s.read {
		if s.baseline, err = l.Looks.Baseline(ctx, l.Steps[l.Index].ID, m.Name, s.on); err != nil {
			return false, err
		}
		s.read = true
	}
	digest := looks.Digest(picture)
	still := digest == s.last
	s.last, s.unready = digest, !places.Ready
	s.pictures++
	if s.unready && !over {
		return false, nil
	}
	if s.judged != digest {
		s.verdict, s.judged, s.picture = looks.Judge(m, s.baseline, picture, s.on), digest, picture
	}
	if s.verdict.Look.State == step.LookMatched {
		return true, nil
	}
	return still && (!s.verdict.Fails || over), nil
}

// take takes a picture of what the step names, with its masks. It is nil, and the state says
// why, when something is missing that may come.
func (l look) take(ctx context.Context, m step.MatcherArgs, s *lookState) (*image.NRGBA, *lookPlaces, error) {
	s.why = nil
	places, err := l.prepare(ctx, m, s)
	if err != nil || places == nil {
		return nil, nil, err
	}
	size := places.Scale * places.Scale * places.DocumentWidth * places.DocumentHeight
	view := looks.Box{X: 0, Y: 0, Width: float64(places.Width), Height: float64(places.Height)}
	document := m.FullPage || places.Box != nil && !view.Contains(*places.Box)
	if !(places.Scale > 0 && places.Scale <= 10) || document && !(size > 0 && size <= looks.MaxPixels) {
		return nil, nil, failure.Stepf("%v", looks.ErrTooLarge)
	}
	picture, err := pictureStep{l.Execution}.picture(ctx, document)
	if err != nil {
		return nil, nil, l.Interrupted(ctx, err)
	}
	masks := places.Masks
	if document { // boxes are of what the window shows
		for i := range masks {
			masks[i].X, masks[i].Y = masks[i].X+places.ScrollX, masks[i].Y+places.ScrollY
		}
		if places.Box != nil {
			places.Box.X, places.Box.Y = places.Box.X+places.ScrollX, places.Box.Y+places.ScrollY
		}
	}
	looks.Mask(picture, masks, places.Scale)
	if places.Box == nil {
		return picture, places, nil
	}
	part := looks.Cut(picture, *places.Box, places.Scale)
	if part == nil {
		s.why = failure.Newf(run.CodeAssertionFailed, "%s has no size", l.ShowSelector(l.at.Selector))
	}
	return part, places, nil
}

// prepare keeps the page still and asks where things are; nil when it has to be asked again.
func (l look) prepare(ctx context.Context, m step.MatcherArgs, s *lookState) (*lookPlaces, error) {
	missing, err := l.EnterFrames(ctx, l.at.Frames)
	if err != nil {
		return nil, err
	}
	if missing != nil {
		s.why = failure.Newf(run.CodeAssertionFailed, "%s", missing.Why)
		if missing.Several != nil {
			s.why = l.SeveralFailure(missing.Several)
		}
		return nil, nil
	}
	q := l.query()
	for i := range m.Masks {
		q.Masks = append(q.Masks, page.SelectorOf(&m.Masks[i]))
	}
	var places *lookPlaces
	if err := l.Execute(ctx, page.LookScript, &places, q); err != nil {
		return nil, l.Interrupted(ctx, err)
	}
	switch {
	case places == nil:
		return nil, nil
	case places.Error != "":
		return nil, failure.Stepf("%s", l.Quote(places.Error, 300))
	case places.Several != nil:
		s.why = l.SeveralFailure(places.Several)
		return nil, nil
	case places.Missing:
		s.why = failure.Newf(run.CodeAssertionFailed, "%s: expected to be compared; no such element is shown", l.ShowSelector(l.at.Selector))
		return nil, nil
	}
	if len(l.at.Frames) == 0 {
		if err := l.Arrived(ctx, places.Href); err != nil {
			return nil, err
		}
	}
	if session.IsErrorPage(l.Href) {
		s.why = failure.Newf(run.CodeAssertionFailed, "the page could not be loaded")
		return nil, nil
	}
	return places, nil
}

func (l look) query() lookQuery {
	q := lookQuery{Hosts: page.OrEmpty(l.at.Hosts), First: l.FirstMatch, Masks: []page.Selector{}}
	if l.at.Selector.Value != "" {
		q.Selector = &l.at.Selector
	}
	return q
}

// thaw lets the page move again.
func (l look) thaw(ctx context.Context) {
	if missing, err := l.EnterFrames(ctx, l.at.Frames); missing != nil || err != nil {
		return
	}
	q := l.query()
	q.Off = true
	_ = l.Execute(ctx, page.LookScript, nil, q) // a page that is gone needs nothing
}

func (l look) rendering(places *lookPlaces) looks.Rendering {
	text := func(name string) string {
		value, _ := l.Driver.Capabilities[name].(string)
		return failure.Bounded(value, 60)
	}
	return looks.Rendering{Browser: text("browserName"), Version: text("browserVersion"), Platform: text("platformName"),
		Width: places.Width, Height: places.Height, Scale: places.Scale, Fonts: failure.Bounded(places.Fonts, 60)}
}

// without is the failure of a step whose time is over and that has no verdict.
func (l look) without(s *lookState) error {
	switch {
	case s.why != nil:
		return s.why
	case l.Unresponsive:
		return failure.Stepf("the page does not respond")
	case s.last != "":
		return failure.Newf(run.CodeAssertionFailed, "the picture changed each time that one was taken: mask what moves")
	}
	return failure.Stepf("the page could not be looked at")
}

// conclude records the verdict and stores its pictures.
func (l look) conclude(ctx context.Context, m step.MatcherArgs, s *lookState) error {
	v := s.verdict
	if s.unready {
		l.Note("fonts or images of the page were not loaded when the picture was taken")
	}
	if v.Stored {
		data, err := looks.Write(s.picture)
		if err != nil {
			return failure.Stepf("%v", err)
		}
		id, err := l.Looks.Keep(ctx, looks.Candidate{StepID: l.Steps[l.Index].ID, Name: m.Name, Rendering: s.on, Digest: s.judged,
			Width: v.Look.Width, Height: v.Look.Height, Data: data})
		if err != nil {
			return err
		}
		v.Look.CandidateID = id
	}
	if v.Fails || v.Stored {
		pictureStep{l.Execution}.keepPicture(ctx, run.Actual, s.picture)
	}
	if v.Fails && s.baseline != nil {
		pictureStep{l.Execution}.keepPicture(ctx, run.Expected, s.baseline.Picture)
		pictureStep{l.Execution}.keepPicture(ctx, run.Difference, v.Difference)
	}
	l.Look = &v.Look
	if !v.Fails {
		if v.Text != "" {
			l.Note("%s", v.Text)
		}
		return nil
	}
	subject := "the page"
	if l.at.Selector.Value != "" {
		subject = l.ShowSelector(l.at.Selector)
	}
	return failure.Newf(run.CodeAssertionFailed, "%s: expected to look like the baseline; %s", subject, v.Text).
		Expecting(subject+" to look like the baseline", v.Text, nil)
}
