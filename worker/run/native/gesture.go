package native

import (
	"context"
	"encoding/json"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

const (
	// restPause is between two looks at the box of an element, which rests when it is the same.
	restPause = 100 * time.Millisecond
	// touchTime is how long a tap touches, and tapPause is between two: below what makes a
	// long press (500 ms), and short enough to be a double tap (300 ms).
	touchTime = 50 * time.Millisecond
	tapPause  = 80 * time.Millisecond
	// pressTime is a long press: both platforms take 500 ms for one.
	pressTime = time.Second
	// swipeTime is a swipe as a person does it, and holdTime ends one of scroll_to: a list
	// that goes on by itself would pass its element.
	swipeTime = 300 * time.Millisecond
	holdTime  = 200 * time.Millisecond
	pinchTime = 400 * time.Millisecond
	// defaultSwipes is how often scroll_to swipes, unless it says so: some 15 screens.
	defaultSwipes = 20
	// restWait is how long a list may take to come to rest after a swipe.
	restWait = 3 * time.Second
)

// centre is where a gesture is that names no point.
var centre = step.Point{X: 0.5, Y: 0.5}

// place returns a point of a box, in whole pixels and within the box.
func place(b webdriver.Box, p step.Point) (x, y int) {
	within := func(from, size, share float64) int {
		at := int(from + size*share)
		return max(int(from), min(at, int(from+size)-1))
	}
	return within(b.X, b.Width, p.X), within(b.Y, b.Height, p.Y)
}

// way returns the points of a swipe: those that it names, or most of the way in the
// direction in which the finger moves.
func way(a *step.Args) (from, to step.Point) {
	if a.Start != nil && a.End != nil {
		return *a.Start, *a.End
	}
	return along(a.Direction)
}

func along(direction string) (from, to step.Point) {
	const near, far = 0.25, 0.75 // away from the bars at the edges of screens
	switch direction {
	case "down":
		return step.Point{X: 0.5, Y: near}, step.Point{X: 0.5, Y: far}
	case "left":
		return step.Point{X: far, Y: 0.5}, step.Point{X: near, Y: 0.5}
	case "right":
		return step.Point{X: near, Y: 0.5}, step.Point{X: far, Y: 0.5}
	}
	return step.Point{X: 0.5, Y: far}, step.Point{X: 0.5, Y: near}
}

// opposite is the direction of the finger that scrolls in a direction.
var opposite = map[string]string{"up": "down", "down": "up", "left": "right", "right": "left", "": "up"}

// touches returns the sequences of a gesture in a box, one for each finger (WebDriver,
// 17.4.2; the pointer type touch).
func touches(t step.Tool, b webdriver.Box) []json.Marshaler {
	a := &t.Args
	point := centre
	if a.Point != nil {
		point = *a.Point
	}
	x, y := place(b, point)
	finger := webdriver.NewTouch("finger")
	switch t.Type {
	case step.Tap:
		count := 1
		if a.ClickCount != nil {
			count = *a.ClickCount
		}
		for i := range count {
			if i > 0 {
				finger.Pause(tapPause)
			}
			finger.MoveOn(x, y, 0).Down(webdriver.LeftButton).Pause(touchTime).Up(webdriver.LeftButton)
		}
	case step.LongPress:
		finger.MoveOn(x, y, 0).Down(webdriver.LeftButton).Pause(within(a.Time, pressTime)).Up(webdriver.LeftButton)
	case step.Swipe:
		from, to := way(a)
		swipe(finger, b, from, to, within(a.Time, swipeTime)).Up(webdriver.LeftButton)
	case step.Pinch, step.Zoom:
		return fingers(b, t.Type == step.Zoom)
	}
	return []json.Marshaler{finger}
}

// within returns milliseconds as a time, or the default.
func within(ms *int, otherwise time.Duration) time.Duration {
	if ms == nil {
		return otherwise
	}
	return time.Duration(*ms) * time.Millisecond
}

// swipe moves a finger, which stays on the screen.
func swipe(finger *webdriver.Pointer, b webdriver.Box, from, to step.Point, d time.Duration) *webdriver.Pointer {
	x, y := place(b, from)
	finger.MoveOn(x, y, 0).Down(webdriver.LeftButton).Pause(touchTime)
	x, y = place(b, to)
	return finger.MoveOn(x, y, d)
}

// fingers are two that move apart from the centre or together to it, along a diagonal.
func fingers(b webdriver.Box, apart bool) []json.Marshaler {
	ends := [2][2]step.Point{{{X: 0.45, Y: 0.45}, {X: 0.2, Y: 0.2}}, {{X: 0.55, Y: 0.55}, {X: 0.8, Y: 0.8}}}
	var list []json.Marshaler
	for i, name := range []string{"finger", "finger2"} {
		from, to := ends[i][0], ends[i][1]
		if !apart {
			from, to = to, from
		}
		list = append(list, swipe(webdriver.NewTouch(name), b, from, to, pinchTime).Up(webdriver.LeftButton))
	}
	return list
}

// gesture does a gesture in its element, or on the screen.
func (d *Device) gesture(ctx context.Context, t step.Tool) error {
	return d.until(ctx, func() (bool, *Failure, error) {
		box, not, err := d.box(ctx, t.Args.Selector)
		if err != nil || not != nil {
			return false, not, err
		}
		err = d.app.Input.Perform(ctx, touches(t, box)...)
		if not := d.passing(t.Type, err); not != nil {
			return false, not, nil
		}
		return err == nil, nil, d.said(t.Type, err)
	})
}

// passing returns the failure of what may be otherwise at the next look; nil for the rest.
func (d *Device) passing(command string, err error) *Failure {
	switch {
	case webdriver.Is(err, webdriver.ErrStaleElement, webdriver.ErrNoSuchElement):
		return failf("%s: the element went away", command)
	case webdriver.Is(err, webdriver.ErrUnexpectedAlert):
		return failf("%s: a dialog is open, which no step handles", command)
	case webdriver.Is(err, webdriver.ErrMoveOutOfBounds):
		return failf("%s: the point is not on the screen", command)
	}
	return nil
}

// box returns where an element is that is displayed and rests; nil: the screen.
func (d *Device) box(ctx context.Context, s *step.Selector) (box webdriver.Box, not *Failure, err error) {
	if s == nil {
		box, err = d.app.Screen(ctx)
		return box, nil, d.said("the size of the screen", err)
	}
	found, err := d.cfg.Find(ctx, s)
	switch {
	case webdriver.Is(err, webdriver.ErrUnexpectedAlert):
		return box, d.passing("find", err), nil
	case err != nil:
		return box, nil, err
	case found.Why != "":
		return box, failf("%s", found.Why), nil
	case !found.Displayed:
		return box, failf("%s is not visible", d.cfg.Show(s)), nil
	}
	box, rests, err := d.restingBox(ctx, found.Element)
	if not := d.passing("find", err); not != nil {
		return box, not, nil
	}
	switch {
	case err != nil:
		return box, nil, d.said("the place of an element", err)
	case !rests:
		return box, failf("%s moves, and does not come to rest", d.cfg.Show(s)), nil
	case box.Width < 1 || box.Height < 1:
		return box, failf("%s has no size", d.cfg.Show(s)), nil
	}
	return box, nil, nil
}

// restingBox returns where an element is, and whether it was there a moment before.
func (d *Device) restingBox(ctx context.Context, e webdriver.Element) (box webdriver.Box, rests bool, err error) {
	before, err := d.app.Box(ctx, e)
	if err != nil {
		return box, false, err
	}
	if err := pause(ctx, restPause); err != nil {
		return box, false, err
	}
	box, err = d.app.Box(ctx, e)
	return box, box == before, err
}

// scrollTo swipes until the element is displayed. A screen that a swipe does not change is
// the end of the list.
func (d *Device) scrollTo(ctx context.Context, a step.Args) error {
	most := defaultSwipes
	if a.Max != nil {
		most = *a.Max
	}
	from, to := along(opposite[a.Direction])
	for swipes := 0; ; swipes++ {
		found, err := d.cfg.Find(ctx, a.Selector)
		switch {
		case err != nil:
			return d.said(step.ScrollTo, err)
		case found.Final:
			return failf("%s", found.Why)
		case found.Why == "" && found.Displayed:
			if swipes > 0 {
				d.cfg.Note("after %d swipes", swipes)
			}
			return nil
		case swipes == most:
			return failf("%s was not found in %d swipes", d.cfg.Show(a.Selector), swipes)
		case time.Now().After(d.deadline):
			return failf("%s was not found in the time of the step, after %d swipes", d.cfg.Show(a.Selector), swipes)
		}
		moved, err := d.scroll(ctx, a.Container, from, to)
		if err != nil {
			return err
		}
		if !moved {
			return failf("%s was not found: the list ends after %d swipes", d.cfg.Show(a.Selector), swipes)
		}
	}
}

// scroll swipes once and reports whether the screen, once it rests, shows something else.
func (d *Device) scroll(ctx context.Context, container *step.Selector, from, to step.Point) (moved bool, err error) {
	var box webdriver.Box
	err = d.until(ctx, func() (bool, *Failure, error) {
		var not *Failure
		box, not, err = d.box(ctx, container)
		return err == nil && not == nil, not, err
	})
	if err != nil {
		return false, err
	}
	before, _, err := d.screen(ctx)
	if err != nil {
		return false, err
	}
	finger := swipe(webdriver.NewTouch("finger"), box, from, to, swipeTime).Pause(holdTime).Up(webdriver.LeftButton)
	if err := d.app.Input.Perform(ctx, finger); err != nil {
		return false, d.said(step.ScrollTo, err)
	}
	after, _, err := d.screen(ctx)
	for end := time.Now().Add(restWait); err == nil && time.Now().Before(end); {
		if err := pause(ctx, restPause); err != nil {
			return false, err
		}
		last := after
		if after, _, err = d.screen(ctx); after == last {
			break
		}
	}
	return after != before, err
}
