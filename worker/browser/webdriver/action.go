package webdriver

import (
	"encoding/json"
	"time"
)

// source is what all input sources have: a type, an id by which the remote end
// recognizes it in later commands, and actions.
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
	Origin   any    `json:"origin,omitempty"` // an Element, "pointer" or "viewport"
	DeltaX   *int   `json:"deltaX,omitempty"`
	DeltaY   *int   `json:"deltaY,omitempty"`
}

func (s *source) add(a action) { s.Actions = append(s.Actions, a) }

// MarshalJSON writes the source as the protocol has it.
func (s *source) MarshalJSON() ([]byte, error) {
	type plain source // without this method
	return json.Marshal((*plain)(s))
}

// The numbers of the mouse's buttons.
const (
	LeftButton   = 0
	MiddleButton = 1
	RightButton  = 2
)

// Pointer is a sequence of actions of a mouse.
type Pointer struct{ source }

// NewMouse returns an empty sequence of the session's mouse: it is the same pointer
// in all sequences of a session.
func NewMouse() *Pointer {
	return &Pointer{source{Type: "pointer", ID: "mouse", Parameters: map[string]string{"pointerType": "mouse"}, Actions: []action{}}}
}

// NewTouch returns an empty sequence of a finger; several have names of their own.
func NewTouch(finger string) *Pointer {
	return &Pointer{source{Type: "pointer", ID: finger, Parameters: map[string]string{"pointerType": "touch"}, Actions: []action{}}}
}

// MoveOn moves to a point of the viewport, in the course of d.
func (p *Pointer) MoveOn(x, y int, d time.Duration) *Pointer { return p.move("viewport", x, y, d) }

// Pause lets the pointer rest.
func (p *Pointer) Pause(d time.Duration) *Pointer {
	ms := d.Milliseconds()
	p.add(action{Type: "pause", Duration: &ms})
	return p
}

// MoveBy moves on from where the pointer is, in CSS pixels, in the course of d.
func (p *Pointer) MoveBy(x, y int, d time.Duration) *Pointer { return p.move("pointer", x, y, d) }

// MoveTo moves to a point from the centre of the part of an element that is seen.
func (p *Pointer) MoveTo(e Element, x, y int, d time.Duration) *Pointer { return p.move(e, x, y, d) }

func (p *Pointer) move(origin any, x, y int, d time.Duration) *Pointer {
	ms := d.Milliseconds()
	p.add(action{Type: "pointerMove", Origin: origin, X: &x, Y: &y, Duration: &ms})
	return p
}

// Down presses a button.
func (p *Pointer) Down(button int) *Pointer {
	p.add(action{Type: "pointerDown", Button: &button})
	return p
}

// Up releases a button.
func (p *Pointer) Up(button int) *Pointer {
	p.add(action{Type: "pointerUp", Button: &button})
	return p
}

// Keyboard is a sequence of keys. A key is a character or one of the Key
// constants.
type Keyboard struct{ source }

// NewKeyboard returns an empty sequence.
func NewKeyboard() *Keyboard {
	return &Keyboard{source{Type: "key", ID: "keyboard", Actions: []action{}}}
}

// Down presses a key.
func (k *Keyboard) Down(key string) *Keyboard {
	k.add(action{Type: "keyDown", Value: key})
	return k
}

// Up releases a key.
func (k *Keyboard) Up(key string) *Keyboard {
	k.add(action{Type: "keyUp", Value: key})
	return k
}

// Wheel is a sequence of turns of the mouse's wheel.
type Wheel struct{ source }

// NewWheel returns an empty sequence.
func NewWheel() *Wheel { return &Wheel{source{Type: "wheel", ID: "wheel", Actions: []action{}}} }

// Turn turns the wheel over the centre of the part of an element that is seen, by as
// much as scrolls x and y CSS pixels to the right and down.
func (w *Wheel) Turn(e Element, x, y int) *Wheel {
	zero, ms := 0, int64(0)
	w.add(action{Type: "scroll", Origin: e, X: &zero, Y: &zero, DeltaX: &x, DeltaY: &y, Duration: &ms})
	return w
}
