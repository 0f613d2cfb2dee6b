package plan

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// adjuster moves a number: of a slider, a spinner, or one with buttons beside it.
type adjuster struct {
	*planner
	in *intent.Instruction
}

// adjust moves what an instruction names to a number, or by one.
func adjust(ctx context.Context, p *planner, in *intent.Instruction) error {
	a := adjuster{p, in}
	refs, err := a.targets(ctx)
	if err != nil {
		return err
	}
	if len(in.Values) == 0 && in.By == 0 {
		return p.notUnderstood("it does not say to which number")
	}
	for i, ref := range refs {
		var wanted *float64
		if len(in.Values) > 0 {
			wanted = in.Values[min(i, len(in.Values)-1)].Number
			if wanted == nil && in.By == 0 {
				return p.notUnderstood(fmt.Sprintf("%q is no number", in.Values[min(i, len(in.Values)-1)].Text))
			}
		}
		if err := a.move(ctx, ref, wanted); err != nil {
			return err
		}
	}
	return nil
}

// targets returns what is moved: what the instruction names, else the only thing that can
// be; several where there are several numbers.
func (a adjuster) targets(ctx context.Context) ([]string, error) {
	v, err := a.look(ctx)
	if err != nil {
		return nil, err
	}
	all := v.within(-1, func(n *snapshot.Node) bool { return !n.Hidden && !n.Disabled && (isNumeric(n) || isHandle(n)) })
	all = slices.DeleteFunc(all, func(i int) bool { // a handle that is in another one
		return slices.ContainsFunc(all, func(other int) bool { return other != i && v.inside(i, other) })
	})
	if a.in.Target != nil {
		for _, w := range []want{toAdjust, toFill} {
			if m, err := a.pick(v, a.in.Target, w); err == nil {
				return []string{a.knob(v, m.index)}, nil
			}
		}
		if m, err := a.pick(v, a.in.Target, toHold); err == nil {
			inside := slices.DeleteFunc(slices.Clone(all), func(i int) bool { return !v.inside(i, m.index) })
			if len(inside) == 1 {
				return []string{v.Nodes[inside[0]].Ref}, nil
			}
		}
		generic := a.in.Target.Name == "" || len(all) == 1 && hasAny(strings.Fields(squeeze(a.in.Target.Name)), []string{"slider", "value", "number", "spinner", "handle", "wert"})
		if !generic || len(all) == 0 {
			m, err := a.resolve(ctx, a.in.Target, toAdjust)
			if err != nil {
				return nil, err
			}
			return []string{m.ref}, nil
		}
	}
	if len(all) == 0 || len(all) > max(len(a.in.Values), 1) {
		return nil, a.notUnderstood("it is not clear what to move")
	}
	refs := make([]string, len(all))
	for i, at := range all {
		refs[i] = v.Nodes[at].Ref
	}
	return refs, nil
}

// knob returns the ref of the slider or handle inside of a node, if there is just one.
func (a adjuster) knob(v *view, i int) string {
	if n := &v.Nodes[i]; isNumeric(n) || n.Editable {
		return n.Ref
	}
	inner := v.within(i, func(n *snapshot.Node) bool { return !n.Hidden && (isNumeric(n) || isHandle(n)) })
	if len(inner) == 1 {
		return v.Nodes[inner[0]].Ref
	}
	return v.Nodes[i].Ref
}

// isHandle reports whether an element without a role is the handle of a slider.
func isHandle(n *snapshot.Node) bool {
	return (n.Role == "" || n.Role == "generic") && strings.Contains(n.Reacts, "tabindex") && hasAny(n.Hints, []string{"slider", "handle", "thumb", "knob"})
}

// move moves one element.
func (a adjuster) move(ctx context.Context, ref string, wanted *float64) error {
	v, err := a.look(ctx)
	if err != nil {
		return err
	}
	at := v.find(ref)
	if at < 0 {
		return a.notUnderstood("the element has gone")
	}
	n := &v.Nodes[at]
	a.focus.target = ref
	goal, known := 0.0, false
	if wanted != nil {
		goal, known = *wanted, true
	}
	if a.in.By != 0 {
		now, ok := valueOfNode(n)
		if !ok {
			return a.pressed(ctx, v, at, nil)
		}
		by := 1.0
		if wanted != nil {
			by = *wanted
		} else if s, err := strconv.ParseFloat(n.Step, 64); err == nil && s > 0 {
			by = s
		}
		goal, known = now+float64(a.in.By)*by, true
	}
	if low, err := strconv.ParseFloat(n.Min, 64); err == nil && known && goal < low {
		return a.notUnderstood(fmt.Sprintf("%s begins at %s", describeNode(n), n.Min))
	}
	if high, err := strconv.ParseFloat(n.Max, 64); err == nil && known && goal > high {
		return a.notUnderstood(fmt.Sprintf("%s ends at %s", describeNode(n), n.Max))
	}
	switch {
	case n.Tag == "input" && (n.Type == "range" || n.Type == "number"), n.Editable && !n.ReadOnly:
		return a.filled(ctx, n, goal)
	case n.Role == "slider" || n.Role == "spinbutton" || isHandle(n):
		return a.keyed(ctx, n, goal)
	}
	return a.pressed(ctx, v, at, &goal)
}

// valueOfNode returns the number that an element holds.
func valueOfNode(n *snapshot.Node) (float64, bool) {
	f, err := strconv.ParseFloat(strings.TrimSpace(n.Value), 64)
	return f, err == nil
}

// filled sets the value of a field of numbers.
func (a adjuster) filled(ctx context.Context, n *snapshot.Node, goal float64) error {
	text := strconv.FormatFloat(goal, 'f', -1, 64)
	if err := a.do(ctx, action{tool: step.InputText, on: n.Ref, args: step.Args{Text: &text}, why: describeNode(n) + " takes the number"}); err != nil {
		return err
	}
	seen := ""
	_, ok, err := a.until(ctx, time.Second, func(v *view) bool {
		now := v.node(n.Ref)
		if now == nil {
			return true
		}
		seen = now.Value
		got, is := valueOfNode(now)
		return is && got == goal
	})
	if err != nil || ok {
		return err
	}
	return &FailedError{Code: codeStepFailed, Detail: fmt.Sprintf("%s: %s holds %q", a.understood(), describeNode(n), seen)}
}

// maxKeys bounds the keys that are pressed on one slider.
const maxKeys = 120

// keyed moves a slider by keys: what each of them does is seen from what it did.
func (a adjuster) keyed(ctx context.Context, n *snapshot.Node, goal float64) error {
	read, err := a.gauge(ctx, n.Ref)
	if err != nil {
		return err
	}
	moves := map[string]float64{} // of keys, as they were seen
	dead := map[string]bool{}
	pressed := false
	for range maxKeys {
		v, err := a.look(ctx)
		if err != nil {
			return err
		}
		now, ok := read(v)
		switch {
		case !ok:
			return a.notUnderstood("the value of " + describeNode(n) + " is not shown")
		case math.Abs(now-goal) < 1e-9:
			return nil
		}
		key := nextKey(n, now, goal, moves, dead)
		if key == "" {
			return &FailedError{Code: codeStepFailed, Detail: fmt.Sprintf("%s: it does not go nearer than %v", a.understood(), now)}
		}
		act := action{tool: step.PressKey, args: step.Args{Key: key}, why: "moves " + describeNode(n)}
		if !pressed {
			act.on = n.Ref
		}
		mark := a.mark()
		if err := a.do(ctx, act); err != nil {
			return err
		}
		v, err = a.look(ctx)
		if err != nil {
			return err
		}
		then, ok := read(v)
		if !ok || then == now {
			dead[key] = true
			if pressed { // the first one brings the focus
				a.drop(mark, nil)
			}
		}
		pressed = true
		if ok && then != now && key != "Home" && key != "End" {
			moves[key] = then - now
		}
	}
	return &FailedError{Code: codeStepFailed, Detail: a.understood() + ": it takes too many keys"}
}

// nextKey returns the key that brings a slider nearest to its goal without going past it.
func nextKey(n *snapshot.Node, now, goal float64, moves map[string]float64, dead map[string]bool) string {
	up := goal > now
	keys := []string{"PageUp", "ArrowRight", "ArrowUp"}
	if !up {
		keys = []string{"PageDown", "ArrowLeft", "ArrowDown"}
	}
	end, key := strconv.ParseFloat, "Home"
	bound := n.Min
	if up {
		bound, key = n.Max, "End"
	}
	if f, err := end(bound, 64); err == nil && math.Abs(f-goal) < 1e-9 && !dead[key] {
		return key
	}
	distance := math.Abs(goal - now)
	for _, key := range keys {
		move, known := moves[key]
		switch {
		case dead[key]:
		case known && (move > 0) != up:
		case known && math.Abs(move) > distance+1e-9:
		case !known && strings.HasPrefix(key, "Page") && distance < 8:
		default:
			return key
		}
	}
	return ""
}

// gauge returns how the value of a slider is read: from the slider, or from the one number
// of the page that a key moves.
func (a adjuster) gauge(ctx context.Context, ref string) (func(v *view) (float64, bool), error) {
	v, err := a.look(ctx)
	if err != nil {
		return nil, err
	}
	own := func(v *view) (float64, bool) {
		n := v.node(ref)
		if n == nil {
			return 0, false
		}
		return valueOfNode(n)
	}
	if _, ok := own(v); ok {
		return own, nil
	}
	if err := a.do(ctx, action{tool: step.PressKey, on: ref, args: step.Args{Key: "ArrowRight"}, why: "moves it"}); err != nil {
		return nil, err
	}
	now, err := a.look(ctx)
	if err != nil {
		return nil, err
	}
	var moved []string
	for i := range now.Nodes {
		n := &now.Nodes[i]
		old := v.node(n.Ref)
		if old == nil || n.Hidden {
			continue
		}
		before, ok := readNumber(readable(old))
		after, also := readNumber(readable(n))
		if ok && also && before != after && len(now.children[i]) == 0 {
			moved = append(moved, n.Ref)
		}
	}
	if len(moved) == 0 {
		return nil, a.notUnderstood("the slider does not show its value")
	}
	display := moved[0]
	return func(v *view) (float64, bool) {
		n := v.node(display)
		if n == nil {
			return 0, false
		}
		return readNumber(readable(n))
	}, nil
}

func readable(n *snapshot.Node) string {
	switch {
	case n.HasValue:
		return n.Value
	case n.Text != "":
		return n.Text
	}
	return n.Name
}
