package plan

import (
	"context"
	"math"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// Words of the buttons that step a number.
var (
	upWords   = []string{"+", "＋", "▲", "↑", "up", "increase", "increment", "plus", "more", "add", "mehr", "erhöhen", "^"}
	downWords = []string{"-", "−", "–", "▼", "↓", "down", "decrease", "decrement", "minus", "less", "weniger", "verringern"}
)

// maxPresses bounds how often a button beside a number is pressed.
const maxPresses = 60

// pressed moves a number by the buttons beside it until it is the goal; without a goal
// once.
func (a adjuster) pressed(ctx context.Context, v *view, at int, goal *float64) error {
	up, down, root := steppers(v, at)
	if up < 0 && down < 0 {
		return a.notUnderstood("nothing moves " + describeNode(&v.Nodes[at]))
	}
	upRef, downRef, rootRef := refOf(v, up), refOf(v, down), refOf(v, root)
	if goal == nil || a.in.By != 0 {
		return a.stepped(ctx, v, upRef, downRef)
	}
	for range maxPresses {
		v, err := a.look(ctx)
		if err != nil {
			return err
		}
		now, ok := onlyNumber(v, v.find(rootRef))
		if !ok {
			return a.notUnderstood("it is not shown what number " + describeNode(&v.Nodes[at]) + " has")
		}
		ref := upRef
		switch {
		case math.Abs(now-*goal) < 1e-9:
			return nil
		case now > *goal:
			ref = downRef
		}
		if ref == "" {
			return a.notUnderstood("nothing moves it in that direction")
		}
		if err := a.do(ctx, action{tool: step.Click, on: ref, why: "towards the number"}); err != nil {
			return err
		}
		v, err = a.look(ctx)
		if err != nil {
			return err
		}
		then, ok := onlyNumber(v, v.find(rootRef))
		if !ok || math.Abs(then-*goal) >= math.Abs(now-*goal) {
			return &FailedError{Code: codeStepFailed, Detail: a.understood() + ": the button did not bring it nearer"}
		}
	}
	return &FailedError{Code: codeStepFailed, Detail: a.understood() + ": it takes too many clicks"}
}

// stepped presses the button of a direction as often as the intent says.
func (a adjuster) stepped(ctx context.Context, v *view, up, down string) error {
	times := max(a.in.Times, 1)
	if len(a.in.Values) > 0 && a.in.Values[0].Number != nil {
		times = int(*a.in.Values[0].Number)
	}
	ref := up
	if a.in.By < 0 {
		ref = down
	}
	if ref == "" || times < 1 || times > maxPresses {
		return a.notUnderstood("nothing moves it in that direction")
	}
	for range times {
		if err := a.do(ctx, action{tool: step.Click, on: ref, why: "one step"}); err != nil {
			return err
		}
		if err := a.changedSince(ctx, v, v.node(ref)); err != nil {
			return err
		}
		next, err := a.look(ctx)
		if err != nil {
			return err
		}
		if v = next; v.node(ref) == nil {
			return a.notUnderstood("the button has gone")
		}
	}
	return nil
}

func refOf(v *view, i int) string {
	if i < 0 {
		return ""
	}
	return v.Nodes[i].Ref
}

// steppers returns the buttons that step the number which a node is or stands beside, and
// the nearest node around them.
func steppers(v *view, at int) (up, down, root int) {
	for root, n := at, 0; root >= 0 && n <= maxBeside; root, n = v.Nodes[root].Parent, n+1 {
		up, down = -1, -1
		several := false
		for _, i := range v.within(root, func(n *snapshot.Node) bool { return !n.Hidden && (n.Interactive || n.Reacts != "") && !n.Editable }) {
			words := strings.Fields(strings.ToLower(v.Nodes[i].Name + " " + v.Nodes[i].Title + " " + v.shown(i)))
			if len(words) == 0 || len(words) > 6 {
				words = v.Nodes[i].Hints
			}
			switch isUp, isDown := hasAny(words, upWords), hasAny(words, downWords); {
			case isUp && !isDown:
				several = several || up >= 0
				up = i
			case isDown && !isUp:
				several = several || down >= 0
				down = i
			}
		}
		if several {
			return -1, -1, -1
		}
		if up >= 0 || down >= 0 {
			return up, down, root
		}
	}
	return -1, -1, -1
}

// onlyNumber returns the only number that a container shows or holds by itself.
func onlyNumber(v *view, root int) (float64, bool) {
	var found []float64
	for _, i := range v.within(root, func(n *snapshot.Node) bool { return !n.Hidden }) {
		n := &v.Nodes[i]
		if len(v.children[i]) > 0 || n.Interactive && !n.Editable && n.Role != "spinbutton" {
			continue
		}
		text := strings.TrimSpace(readable(n))
		if number, ok := readNumber(text); ok && strings.Trim(text, "0123456789.,-− ") == "" {
			found = append(found, number)
		}
	}
	if len(found) != 1 {
		return 0, false
	}
	return found[0], true
}
