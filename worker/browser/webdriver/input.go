package webdriver

import (
	"context"
	"encoding/json"
	"time"
)

const (
	// dragStart is how far a pointer must go with its button held before pages
	// and browsers take it for a drag: browsers require 3 to 5 pixels.
	dragStart = 8
	// dragTime makes the way to the target a series of moves, as pages that
	// follow the pointer expect.
	dragTime = 60 * time.Millisecond
	// dragPause lets a page handle one move before the next.
	dragPause = 20 * time.Millisecond
	// dragPast is how far a drag ends behind the centre of its target: more than the
	// rounding of centres, and less than half of any target that people hit.
	dragPast = 3
	// releaseTimeout bounds the release of what is held after a gesture failed.
	releaseTimeout = 5 * time.Second
)

// Input is the mouse and the keyboard of a session: sequences of low-level actions
// (WebDriver, section 15), and the gestures that are made of them.
type Input struct{ session *Session }

// Perform performs the sequences of sources, each a *Pointer or a *Keyboard. The
// first actions of all sources happen at the same time, then the second ones, and
// so on. Keys and buttons that are not released stay held. Nothing scrolls by
// itself: a pointer that would leave the viewport is ErrMoveOutOfBounds.
func (in Input) Perform(ctx context.Context, sources ...json.Marshaler) error {
	return in.session.post(ctx, "/actions", map[string]any{"actions": sources}, nil)
}

// Release releases all keys and buttons that are held.
func (in Input) Release(ctx context.Context) error { return in.session.delete(ctx, "/actions", nil) }

// centreScript returns the centre of the part of an element that is in view (WebDriver,
// 12.1), in CSS pixels of the viewport.
const centreScript = `const box = arguments[0].getClientRects()[0];
if (!box) return null;
const middle = (from, to, most) => Math.floor((Math.max(0, from) + Math.min(most, to)) / 2);
return {x: middle(box.left, box.right, innerWidth), y: middle(box.top, box.bottom, innerHeight)};`

// DoubleClick clicks the centre of an element of the top frame twice, where the remote
// end is chromedriver. A page gets the two as one double click however long it takes for
// the first: chromedriver's actions count them by their times, of which a large page on
// a slow machine takes more than half a second.
func (in Input) DoubleClick(ctx context.Context, e Element) error {
	var at *struct {
		X int `json:"x"`
		Y int `json:"y"`
	}
	if err := in.session.Execute(ctx, centreScript, &at, e); err != nil {
		return err
	}
	if at == nil {
		return &Error{Code: ErrNotInteractable, Message: "the element has no place in the page"}
	}
	if err := in.Perform(ctx, NewMouse().MoveTo(e, 0, 0, 0)); err != nil {
		return err
	}
	for count := 1; count <= 2; count++ {
		for _, kind := range []string{"mousePressed", "mouseReleased"} {
			params := map[string]any{"type": kind, "x": at.X, "y": at.Y, "button": "left", "clickCount": count}
			if err := devTools(ctx, in.session, "Input.dispatchMouseEvent", params, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// Way is the way of a drag: from centre to centre in CSS pixels, and the directions
// (1 or -1) in which it may begin without leaving the viewport.
type Way struct{ X, Y, AlongX, AlongY int }

// Drag drags the centre of an element to the centre of another with the left button
// of the mouse, in one sequence: pages that follow the pointer lose it between two.
// The first move is a pixel long, as a hand's is: a longer one may leave a small
// handle before the page sees that a drag begins. There is a second move on the target,
// from which some pages take the drop: it ends a little behind the centre (see past). It
// does not follow the target: a list that is sorted under the pointer has moved it, and would be sorted back. Both elements must be
// in view.
func (in Input) Drag(ctx context.Context, from, to Element, way Way) error {
	x, y := dragStart*way.AlongX, dragStart*way.AlongY
	return in.gesture(ctx, NewMouse().MoveTo(from, 0, 0, 0).Down(LeftButton).
		MoveBy(way.AlongX, way.AlongY, 0).MoveBy(x-way.AlongX, 0, dragPause).MoveBy(0, y-way.AlongY, dragPause).
		MoveBy(way.X/2-x, way.Y/2-y, dragPause).
		MoveTo(to, 1, 1, dragTime).MoveBy(past(way.X)-1, past(way.Y)-1, dragPause).Up(LeftButton))
}

// past is how far a drag goes on behind the centre of its target: lists that are sorted
// by dragging let an item pass when the pointer is over the far half of another.
func past(way int) int {
	switch {
	case way >= 8:
		return dragPast
	case way <= -8:
		return -dragPast
	}
	return 0
}

// DragTo drags the centre of an element to the centre of another with the left
// button of the mouse. Both are scrolled into view, the target while the button is
// held.
func (in Input) DragTo(ctx context.Context, from, to Element) error {
	if err := in.reveal(ctx, from); err != nil {
		return err
	}
	if err := in.gesture(ctx, NewMouse().MoveTo(from, 0, 0, 0).Down(LeftButton).
		MoveBy(dragStart, 0, 0).MoveBy(0, dragStart, 0)); err != nil {
		return err
	}
	if err := in.reveal(ctx, to); err != nil {
		in.releaseAll(ctx)
		return err
	}
	return in.gesture(ctx, NewMouse().MoveTo(to, 1, 1, dragTime).MoveBy(-1, -1, 0).Up(LeftButton))
}

// PressKeys presses the keys of a chord, named as for Keys, where the focus is,
// and releases them in reverse order.
func (in Input) PressKeys(ctx context.Context, chord string) error {
	keys, err := Keys(chord)
	if err != nil {
		return err
	}
	keyboard := NewKeyboard()
	for _, key := range keys {
		keyboard.Down(string(key))
	}
	runes := []rune(keys)
	for i := len(runes) - 1; i >= 0; i-- {
		keyboard.Up(string(runes[i]))
	}
	return in.gesture(ctx, keyboard)
}

// reveal scrolls an element to the middle unless its centre is seen already: what
// is in view may still be scrolled out of a box around it, or lie below a bar.
func (in Input) reveal(ctx context.Context, e Element) error {
	return in.session.Execute(ctx, `const e = arguments[0], r = e.getBoundingClientRect();
const hit = e.getRootNode().elementFromPoint(r.left + r.width / 2, r.top + r.height / 2);
if (!hit || !e.contains(hit)) e.scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'});`, nil, e)
}

// gesture performs one source; when that fails, nothing stays held.
func (in Input) gesture(ctx context.Context, source json.Marshaler) error {
	err := in.Perform(ctx, source)
	if err != nil {
		in.releaseAll(ctx)
	}
	return err
}

func (in Input) releaseAll(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	_ = in.Release(ctx) // the failure before is what matters
}
