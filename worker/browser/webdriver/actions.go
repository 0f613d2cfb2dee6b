package webdriver

import (
	"context"
	"encoding/json"
	"time"
)

// Actions performs sequences of low-level input (WebDriver, section 15): Pointer,
// Keyboard and Wheel are its sources. The first actions of all sources
// happen at once, then the second ones, and so on. Keys and buttons that are not
// let go of stay held. Nothing scrolls by itself: a pointer that would leave the
// viewport is ErrMoveOutOfBounds.
func (s *Session) Actions(ctx context.Context, sources ...json.Marshaler) error {
	return s.post(ctx, "/actions", map[string]any{"actions": sources}, nil)
}

// ReleaseActions lets go of all keys and buttons that are held.
func (s *Session) ReleaseActions(ctx context.Context) error { return s.delete(ctx, "/actions", nil) }

// source is what all input sources have: a type, an id by which the remote end
// knows it again, and actions.
type source struct {
	Type       string            `json:"type"`
	ID         string            `json:"id"`
	Parameters map[string]string `json:"parameters,omitempty"`
	Actions    []action          `json:"actions"`
}

type action struct {
	Type     string `json:"type"`
	Duration *int64 `json:"duration,omitempty"` // ms
	Value    string `json:"value,omitempty"`
	Button   *int   `json:"button,omitempty"`
	X        *int   `json:"x,omitempty"`
	Y        *int   `json:"y,omitempty"`
	DeltaX   *int   `json:"deltaX,omitempty"`
	DeltaY   *int   `json:"deltaY,omitempty"`
	Origin   any    `json:"origin,omitempty"` // an Element, "viewport" or "pointer"
}

func (s *source) add(a action) { s.Actions = append(s.Actions, a) }

func (s *source) pause(d time.Duration) { s.add(action{Type: "pause", Duration: milliseconds(d)}) }

// MarshalJSON writes the source as the protocol has it.
func (s *source) MarshalJSON() ([]byte, error) {
	type plain source // without this method
	return json.Marshal((*plain)(s))
}

func milliseconds(d time.Duration) *int64 {
	ms := d.Milliseconds()
	return &ms
}

// The kinds of pointers.
const (
	Mouse = "mouse"
	Touch = "touch"
	Pen   = "pen"
)

// The buttons of a mouse; a touch has the left one only.
const (
	LeftButton   = 0
	MiddleButton = 1
	RightButton  = 2
)

// Pointer is a sequence of a mouse, a finger or a pen.
type Pointer struct{ source }

// NewPointer makes an empty sequence of a kind of pointer. Two of one kind in one
// session are the same pointer.
func NewPointer(kind string) *Pointer {
	return &Pointer{source{Type: "pointer", ID: kind, Parameters: map[string]string{"pointerType": kind}, Actions: []action{}}}
}

// Move goes to a point of the viewport, in CSS pixels, in the course of d.
func (p *Pointer) Move(x, y int, d time.Duration) *Pointer { return p.move("viewport", x, y, d) }

// MoveBy goes on from where the pointer is.
func (p *Pointer) MoveBy(x, y int, d time.Duration) *Pointer { return p.move("pointer", x, y, d) }

// MoveTo goes to a point from the centre of the part of an element that is seen.
func (p *Pointer) MoveTo(e Element, x, y int, d time.Duration) *Pointer { return p.move(e, x, y, d) }

func (p *Pointer) move(origin any, x, y int, d time.Duration) *Pointer {
	p.add(action{Type: "pointerMove", Origin: origin, X: &x, Y: &y, Duration: milliseconds(d)})
	return p
}

// Down presses a button.
func (p *Pointer) Down(button int) *Pointer {
	p.add(action{Type: "pointerDown", Button: &button})
	return p
}

// Up lets go of a button.
func (p *Pointer) Up(button int) *Pointer {
	p.add(action{Type: "pointerUp", Button: &button})
	return p
}

// Pause waits.
func (p *Pointer) Pause(d time.Duration) *Pointer {
	p.pause(d)
	return p
}

// Keyboard is a sequence of keys. A key is a character or one of the Key
// constants.
type Keyboard struct{ source }

// NewKeyboard makes an empty sequence.
func NewKeyboard() *Keyboard {
	return &Keyboard{source{Type: "key", ID: "keyboard", Actions: []action{}}}
}

// Down presses a key.
func (k *Keyboard) Down(key string) *Keyboard {
	k.add(action{Type: "keyDown", Value: key})
	return k
}

// Up lets go of a key.
func (k *Keyboard) Up(key string) *Keyboard {
	k.add(action{Type: "keyUp", Value: key})
	return k
}

// Pause waits.
func (k *Keyboard) Pause(d time.Duration) *Keyboard {
	k.pause(d)
	return k
}

// Wheel is a sequence of turns of a wheel.
type Wheel struct{ source }

// NewWheel makes an empty sequence.
func NewWheel() *Wheel { return &Wheel{source{Type: "wheel", ID: "wheel", Actions: []action{}}} }

// Scroll turns the wheel over a point of the viewport: by dx to the right and dy
// down, in CSS pixels.
func (w *Wheel) Scroll(x, y, dx, dy int) *Wheel { return w.scroll("viewport", x, y, dx, dy) }

// ScrollOver does so over the centre of an element.
func (w *Wheel) ScrollOver(e Element, dx, dy int) *Wheel { return w.scroll(e, 0, 0, dx, dy) }

func (w *Wheel) scroll(origin any, x, y, dx, dy int) *Wheel {
	w.add(action{Type: "scroll", Origin: origin, X: &x, Y: &y, DeltaX: &dx, DeltaY: &dy, Duration: milliseconds(0)})
	return w
}

// Pause waits.
func (w *Wheel) Pause(d time.Duration) *Wheel {
	w.pause(d)
	return w
}
