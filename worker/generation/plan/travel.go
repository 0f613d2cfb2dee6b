package plan

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// travel does what moves through pages and time: addresses, history, keys, scrolling.
func travel(ctx context.Context, p *planner, in *intent.Instruction) error {
	switch in.Kind {
	case intent.Open:
		return open(ctx, p, in)
	case intent.Press:
		return press(ctx, p, in)
	case intent.Scroll:
		return scroll(ctx, p, in)
	case intent.Find:
		return find(ctx, p, in)
	case intent.Wait:
		ms := int(min(in.Duration.Milliseconds(), step.MaxWaitMS))
		return p.do(ctx, action{tool: step.Pause, args: step.Args{Time: &ms}, why: "as the intent says"})
	case intent.Resize:
		return resize(ctx, p, in)
	}
	for range max(in.Times, 1) {
		if err := p.do(ctx, action{tool: historyTools[in.Kind], why: "as the intent says"}); err != nil {
			return err
		}
	}
	return nil
}

var historyTools = map[intent.Kind]string{intent.Back: step.Back, intent.Forward: step.Forward, intent.Reload: step.Reload}

// open opens an address, or follows what leads to the page that is named.
func open(ctx context.Context, p *planner, in *intent.Instruction) error {
	if in.URL != "" {
		return p.do(ctx, action{tool: step.GoToURL, args: step.Args{URL: in.URL}, why: "the address that the intent has"})
	}
	if in.Target == nil {
		return p.notUnderstood("it does not say what to open")
	}
	m, err := p.resolve(ctx, in.Target, toUse)
	if err != nil {
		return err
	}
	p.focus.target = m.ref
	return p.do(ctx, action{tool: step.Click, on: m.ref, why: m.why})
}

// press presses a key, in the element that the instruction names or where the focus is.
func press(ctx context.Context, p *planner, in *intent.Instruction) error {
	if _, _, ok := step.ParseKey(in.Key); !ok {
		return p.notUnderstood("there is no key " + strconv.Quote(in.Key))
	}
	a := action{tool: step.PressKey, args: step.Args{Key: in.Key}, why: "pressed where the focus is"}
	if in.Target != nil {
		m, err := p.resolve(ctx, in.Target, toFill)
		if isNotUnderstood(err) {
			m, err = p.resolve(ctx, in.Target, toUse)
		}
		if err != nil {
			return err
		}
		a.on, a.why, p.focus.target = m.ref, m.why, m.ref
	}
	for range max(in.Times, 1) {
		if err := p.do(ctx, a); err != nil {
			return err
		}
		a.on = "" // it has the focus now
	}
	return nil
}

// isNotUnderstood reports whether an error says that nothing was clearly meant.
func isNotUnderstood(err error) bool {
	var not *NotUnderstoodError
	return errors.As(err, &not)
}

// scroll scrolls to an element, or the page or one of its parts in a direction.
func scroll(ctx context.Context, p *planner, in *intent.Instruction) error {
	if in.Direction == "" {
		return find(ctx, p, in)
	}
	a := action{tool: step.ScrollDocument, args: step.Args{Direction: in.Direction}, why: "the page"}
	if in.Target != nil {
		m, err := p.resolve(ctx, in.Target, toHold)
		if err != nil {
			return err
		}
		a.tool, a.on, a.why = step.ScrollElement, m.ref, m.why
	} else {
		v, err := p.look(ctx)
		if err != nil {
			return err
		}
		if i := onlyScroller(v, in.Direction); i >= 0 {
			a.tool, a.on, a.why = step.ScrollElement, v.Nodes[i].Ref, "the only part of the page that scrolls"
		}
	}
	for range max(in.Times, 1) {
		if err := p.do(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// onlyScroller returns the one node that scrolls in a direction; -1 where there are
// several, or where the page itself scrolls.
func onlyScroller(v *view, direction string) int {
	axis := "y"
	if direction == "left" || direction == "right" {
		axis = "x"
	}
	found := -1
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if !strings.Contains(n.Scrolls, axis) || n.Hidden || n.Editable {
			continue
		}
		if n.Tag == "html" || n.Tag == "body" || found >= 0 {
			return -1
		}
		found = i
	}
	for i := range v.Nodes { // what is below the viewport and in no scroller scrolls with the page
		if n := &v.Nodes[i]; !n.Hidden && (found < 0 || !v.inside(i, found)) && n.Box[1] > v.Height && axis == "y" {
			return -1
		}
	}
	return found
}

// find brings an element into view: by the pointer over it, which scrolls to it at each
// replay and changes nothing else.
func find(ctx context.Context, p *planner, in *intent.Instruction) error {
	if in.Target == nil {
		return p.notUnderstood("it does not say what to find")
	}
	mark := p.mark()
	m, err := p.resolve(ctx, in.Target, toFind)
	if err != nil {
		return err
	}
	p.focus.target = m.ref
	if m.node.InView && p.mark() == mark && in.Kind == intent.Find {
		return nil // whatever comes next acts on it
	}
	return p.do(ctx, action{tool: step.Hover, on: m.ref, why: m.why})
}

func resize(ctx context.Context, p *planner, in *intent.Instruction) error {
	if len(in.Values) != 2 || in.Values[0].Number == nil || in.Values[1].Number == nil {
		return p.notUnderstood("it does not say which width and height")
	}
	width, height := int(*in.Values[0].Number), int(*in.Values[1].Number)
	return p.do(ctx, action{tool: step.SetViewport, args: step.Args{Width: &width, Height: &height}, why: "as the intent says"})
}

// settle is how long an effect of a step may take to be seen.
const settle = 3 * time.Second
