package webdriver

import (
	"context"
	"encoding/json"
	"time"
)

// Gestures are actions as people know them. Those on elements scroll them into
// view first, which Actions does not.

const (
	// dragStart is how far a pointer must go with its button held before pages
	// and browsers take it for a drag: browsers ask for 3 to 5 pixels.
	dragStart = 8
	// dragTime makes the way to the target a series of moves, as pages that
	// follow the pointer expect.
	dragTime = 60 * time.Millisecond
	// letGo bounds the release of what is held after a gesture failed.
	letGo = 5 * time.Second
)

// Hover moves the mouse over the centre of an element.
func (s *Session) Hover(ctx context.Context, e Element) error {
	if err := s.reveal(ctx, e); err != nil {
		return err
	}
	return s.Actions(ctx, NewPointer(Mouse).MoveTo(e, 0, 0, 0))
}

// DoubleClick clicks an element twice.
func (s *Session) DoubleClick(ctx context.Context, e Element) error {
	if err := s.reveal(ctx, e); err != nil {
		return err
	}
	return s.gesture(ctx, NewPointer(Mouse).MoveTo(e, 0, 0, 0).
		Down(LeftButton).Up(LeftButton).Down(LeftButton).Up(LeftButton))
}

// DragTo takes the centre of an element to the centre of another with the left
// button of the mouse. The page is scrolled to the target while the button is
// held.
func (s *Session) DragTo(ctx context.Context, from, to Element) error {
	if err := s.reveal(ctx, from); err != nil {
		return err
	}
	if err := s.gesture(ctx, NewPointer(Mouse).MoveTo(from, 0, 0, 0).Down(LeftButton).
		MoveBy(dragStart, 0, 0).MoveBy(0, dragStart, 0)); err != nil {
		return err
	}
	if err := s.reveal(ctx, to); err != nil {
		s.release(ctx)
		return err
	}
	// A second move on the target: some pages take the drop from the last one.
	return s.gesture(ctx, NewPointer(Mouse).MoveTo(to, 1, 1, dragTime).MoveTo(to, 0, 0, 0).Up(LeftButton))
}

// PressKeys presses the keys of a chord, named as for Keys, where the focus is,
// and lets go of them.
func (s *Session) PressKeys(ctx context.Context, chord string) error {
	keys, err := Keys(chord)
	if err != nil {
		return err
	}
	board := NewKeyboard()
	for _, key := range keys {
		board.Down(string(key))
	}
	runes := []rune(keys)
	for i := len(runes) - 1; i >= 0; i-- {
		board.Up(string(runes[i]))
	}
	return s.gesture(ctx, board)
}

// ScrollBy turns the wheel over an element ("": over the middle of the viewport)
// by CSS pixels to the right and down.
func (s *Session) ScrollBy(ctx context.Context, over Element, dx, dy int) error {
	if over != "" {
		if err := s.reveal(ctx, over); err != nil {
			return err
		}
		return s.Actions(ctx, NewWheel().ScrollOver(over, dx, dy))
	}
	var middle [2]int
	if err := s.Execute(ctx, "return [innerWidth >> 1, innerHeight >> 1]", &middle); err != nil {
		return err
	}
	return s.Actions(ctx, NewWheel().Scroll(middle[0], middle[1], dx, dy))
}

// reveal scrolls an element to the middle unless its centre is seen already: what
// is in view may still be scrolled out of a box around it, or lie below a bar.
func (s *Session) reveal(ctx context.Context, e Element) error {
	return s.Execute(ctx, `const e = arguments[0], r = e.getBoundingClientRect();
const hit = e.getRootNode().elementFromPoint(r.left + r.width / 2, r.top + r.height / 2);
if (!hit || !e.contains(hit)) e.scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'});`, nil, e)
}

// gesture performs one source; when that fails, nothing stays held.
func (s *Session) gesture(ctx context.Context, source json.Marshaler) error {
	err := s.Actions(ctx, source)
	if err != nil {
		s.release(ctx)
	}
	return err
}

func (s *Session) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), letGo)
	defer cancel()
	_ = s.ReleaseActions(ctx) // the failure before is what matters
}
