package action

import (
	"context"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/replay/page"
)

// gesture is something that the mouse does to an element.
type gesture struct {
	want string
	// event is what the element must receive of it; "": it is not watched.
	event string
	at    *step.Position // nil: the centre
	keys  []string       // that are held meanwhile, by their names
	// perform is what the mouse does at a point from the centre of what is in view.
	perform func(ctx context.Context, e webdriver.Element, x, y int) error
}

// buttonNumbers are the buttons of the mouse by their names; "" is the left one.
var buttonNumbers = map[string]int{"": webdriver.LeftButton, "left": webdriver.LeftButton, "middle": webdriver.MiddleButton,
	"right": webdriver.RightButton}

// clickEvents are what an element receives of a click with a button.
var clickEvents = map[string]string{"": "click", "left": "click", "right": "contextmenu"}

// Click clicks with the mouse. The page script has just seen that the element
// receives the events, so on the managed chromedriver the pointer is moved and
// pressed by one call, in half the time of the click endpoint, which looks once
// more. Other remote ends (touch devices) get the endpoint, and so do frames: those
// of another origin learn late that the page around them was scrolled.
func (a Action) Click(ctx context.Context, p step.Pointing) error {
	plain := p.Position == nil && p.Button == "" && len(p.Modifiers) == 0
	event := clickEvents[p.Button]
	count := 1
	if p.ClickCount != nil {
		count, plain = *p.ClickCount, plain && *p.ClickCount == 1
	}
	if event == "click" && count == 2 {
		event = "dblclick"
	}
	return a.point(ctx, gesture{page.WantClick, event, p.Position, p.Modifiers, func(ctx context.Context, e webdriver.Element,
		x, y int) error {
		if plain && (!a.Lease.Local || a.Framed) {
			return a.Driver.Click(ctx, e)
		}
		return a.Driver.Input.Perform(ctx, pressed(e, x, y, buttonNumbers[p.Button], count))
	}})
}

// pressed is the mouse that goes to a point and presses a button so often.
func pressed(e webdriver.Element, x, y, button, count int) *webdriver.Pointer {
	mouse := webdriver.NewMouse().MoveTo(e, x, y, 0)
	for range count {
		mouse.Down(button).Up(button)
	}
	return mouse
}

// DoubleClick clicks twice.
func (a Action) DoubleClick(ctx context.Context, p step.Pointing) error {
	plain := p.Position == nil && (p.Button == "" || p.Button == "left") && len(p.Modifiers) == 0
	event := ""
	if buttonNumbers[p.Button] == webdriver.LeftButton {
		event = "dblclick"
	}
	return a.point(ctx, gesture{page.WantClick, event, p.Position, p.Modifiers, func(ctx context.Context, e webdriver.Element,
		x, y int) error {
		if plain && a.Lease.Local && !a.Framed {
			return a.Driver.Input.DoubleClick(ctx, e)
		}
		return a.Driver.Input.Perform(ctx, pressed(e, x, y, buttonNumbers[p.Button], 2))
	}})
}

// RightClick opens what the page has for the right button of the mouse.
func (a Action) RightClick(ctx context.Context, p step.Pointing) error {
	p.Button = "right"
	return a.Click(ctx, p)
}

// Hover moves the mouse over an element.
func (a Action) Hover(ctx context.Context, p step.Pointing) error {
	return a.point(ctx, gesture{want: page.WantHover, at: p.Position, keys: p.Modifiers, perform: func(ctx context.Context,
		e webdriver.Element, x, y int) error {
		return a.Driver.Input.Perform(ctx, webdriver.NewMouse().MoveTo(e, x, y, 0))
	}})
}

// holding performs a gesture while keys are held, and releases them whatever happens.
func (a Action) holding(ctx context.Context, keys []string, perform func() error) error {
	if len(keys) == 0 {
		return perform()
	}
	down, up := webdriver.NewKeyboard(), webdriver.NewKeyboard()
	for _, name := range keys {
		key, err := webdriver.Keys(name)
		if err != nil {
			return err
		}
		down.Down(key)
		up.Up(key)
	}
	if err := a.Driver.Input.Perform(ctx, down); err != nil {
		return err
	}
	err := perform()
	if released := a.Driver.Input.Perform(ctx, up); err == nil && !webdriver.Is(released, webdriver.ErrUnexpectedAlert,
		webdriver.ErrNoSuchWindow) {
		err = released
	}
	return err
}

// point waits for an element and points at it; when that misses because the page
// changed between the two calls, both are repeated. A click that has led to another
// page has not missed, whatever the driver reports; one that the driver reports as
// done may have missed, which the page has seen.
func (a Action) point(ctx context.Context, g gesture) error {
	query := page.ActQuery{Want: g.want, Gesture: g.event, Position: g.at}
	if g.event != "" {
		query.Watch = watchName()
	}
	for {
		got, err := a.Act(ctx, query)
		if err != nil {
			return err
		}
		a.Screenshotter.Wait(ctx)
		a.Tracer.Meets(ctx, a.Execution, got.Point, len(a.At.Frames) > 0)
		x, y := 0, 0
		if len(got.Offset) == 2 {
			x, y = got.Offset[0], got.Offset[1]
		}
		err = a.WithPageTimeout(ctx, func(ctx context.Context) error {
			return a.holding(ctx, g.keys, func() error { return g.perform(ctx, got.Element, x, y) })
		})
		if g.want == page.WantClick {
			err = a.inputOutcome(ctx, got, err)
		}
		again, err := a.afterGesture(ctx, got, query.Watch, err, a.ShowSelector(a.At.Selector)+" was found")
		if !again {
			return err
		}
	}
}

// Missed reports whether the input never reached the element.
func Missed(err error) bool {
	return webdriver.Is(err, webdriver.ErrClickIntercepted, webdriver.ErrStaleElement, webdriver.ErrNoSuchElement,
		webdriver.ErrNotInteractable, webdriver.ErrMoveOutOfBounds, webdriver.ErrNavigated)
}
