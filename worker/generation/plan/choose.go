package plan

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// chooser chooses values out of what holds them: native lists, groups of radio buttons
// and check boxes, lists that open, fields that suggest, and menus.
type chooser struct {
	*planner
	in *intent.Instruction
	// seen are the refs that were visible before the first step: an open list is what is
	// not among them.
	seen map[string]bool
}

// choose chooses the values of an instruction, one after the other.
func choose(ctx context.Context, p *planner, in *intent.Instruction) error {
	v, err := p.look(ctx)
	if err != nil {
		return err
	}
	c := chooser{p, in, v.visibleRefs()}
	if in.Item != nil {
		return c.item(ctx)
	}
	if len(in.Values) == 0 {
		if in.Target == nil {
			return p.notUnderstood("it does not say what to choose")
		}
		return c.described(ctx, in.Target)
	}
	if slices.ContainsFunc(in.Values, isWhole) && !c.isOption(v, in.Values[0].Text) {
		return pickDates(ctx, p, in)
	}
	var root *match
	if in.Target != nil {
		m, err := c.holder(ctx)
		if err != nil {
			return err
		}
		if isNumeric(m.node) && len(in.Values) == 1 && in.Values[0].Number != nil {
			return adjust(ctx, p, in)
		}
		root = &m
	}
	texts, err := c.texts(ctx, v)
	if err != nil {
		return err
	}
	for i, text := range texts {
		next := ""
		if i+1 < len(texts) {
			next = texts[i+1]
		}
		if err := c.value(ctx, root, text, next); err != nil {
			return err
		}
	}
	return nil
}

// texts returns what is chosen, one after the other. A path through menus ("File > New")
// is several, unless something is called just so.
func (c chooser) texts(ctx context.Context, v *view) ([]string, error) {
	var list []string
	for _, value := range c.in.Values {
		text, err := asserter{c.planner}.valueText(ctx, v, value)
		if err != nil {
			return nil, err
		}
		parts := strings.FieldsFunc(text, func(r rune) bool { return r == '>' || r == '›' || r == '→' || r == '»' })
		if len(parts) < 2 || c.isOption(v, text) {
			list = append(list, text)
			continue
		}
		for _, part := range parts {
			list = append(list, strings.TrimSpace(part))
		}
	}
	return list, nil
}

// isWhole reports whether a value is a date or a time, and not only a month or a year.
func isWhole(v intent.Value) bool {
	return v.Date != nil && (v.Date.Day > 0 || v.Date.Relative != "" || v.Date.Hour >= 0)
}

// isOption reports whether a native list has a text as one of its options, or something
// to choose is called so.
func (c chooser) isOption(v *view, text string) bool {
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if n.Hidden {
			continue
		}
		if optionOf(n, text) >= 0 || slices.Contains(choosable, n.Role) && likeness(n.Name, text) >= 0.8 {
			return true
		}
	}
	return false
}

// holder returns what the target of the instruction is: it holds what can be chosen, or
// opens it.
func (c chooser) holder(ctx context.Context) (match, error) {
	v, err := c.look(ctx)
	if err != nil {
		return match{}, err
	}
	for _, w := range []want{toChoose, toFill, toAdjust, toHold} {
		if m, err := c.pick(v, c.in.Target, w); err == nil {
			return m, nil
		}
	}
	return c.resolve(ctx, c.in.Target, toChoose)
}

// value chooses one value; next is the one that follows, which a sub-menu may have.
func (c chooser) value(ctx context.Context, root *match, text, next string) error {
	v, err := c.look(ctx)
	if err != nil {
		return err
	}
	if root == nil {
		return c.anywhere(ctx, v, text, next)
	}
	at := v.find(root.ref)
	if at < 0 {
		return c.anywhere(ctx, v, text, next)
	}
	at = standIn(v, at)
	c.focus.target = v.Nodes[at].Ref
	if list, ok, err := c.nativeIn(v, at, text); ok || err != nil {
		if err != nil {
			return err
		}
		return c.native(ctx, v, list, text)
	}
	if i, err := c.optionIn(v, at, text, nil); err != nil || i >= 0 {
		if err != nil {
			return err
		}
		return c.take(ctx, v, i, text, next)
	}
	if i, err := c.optionIn(v, -1, text, c.seen); err == nil && i >= 0 { // the list is open
		return c.take(ctx, v, i, text, next)
	}
	return c.opened(ctx, v, at, text, next)
}

// choosable are the roles of what is chosen out of something.
var choosable = []string{"option", "radio", "checkbox", "switch", "menuitem", "menuitemradio", "menuitemcheckbox", "treeitem", "tab"}

// choiceWeight says how likely an element is one that is chosen, by its role; negative if
// it is not at all.
func choiceWeight(n *snapshot.Node) float64 {
	switch {
	case n.Editable, len(n.Options) > 0, n.Role == "combobox", n.Role == "listbox", n.Role == "heading", n.Role == "dialog":
		return -1
	case slices.Contains(choosable, n.Role):
		return 0.3
	case n.Interactive:
		return 0.2
	case n.Reacts != "" || slices.Contains(itemRoles, n.Role) || n.Role == "cell":
		return 0.15
	case n.Role == "text" || n.Role == "":
		return 0
	}
	return -1
}

// optionIn returns what is chosen by a text inside of a node: the element that is called
// so, -1 without one. Unseen: only what is not among these refs. Two that are called so
// are an error.
func (c chooser) optionIn(v *view, root int, text string, unseen map[string]bool) (int, error) {
	best, bestScore := -1, 0.0
	var rivals []int
	for _, i := range v.within(root, func(n *snapshot.Node) bool { return !n.Hidden && !unseen[n.Ref] && choiceWeight(n) >= 0 }) {
		n := &v.Nodes[i]
		weight := choiceWeight(n)
		if root < 0 && unseen == nil && weight == 0 {
			continue // a text of the page is no choice
		}
		score := v.likenessOf(i, text)
		if score < 0.5 || root < 0 && unseen == nil && score < 0.8 {
			continue
		}
		if score += weight; score > bestScore {
			best, bestScore, rivals = i, score, nil
		} else if score == bestScore {
			if v.inside(i, best) && v.likenessOf(i, text) >= v.likenessOf(best, text) {
				best = i
				continue
			}
			rivals = append(rivals, i)
		}
	}
	for _, r := range rivals {
		if !v.inside(r, best) && !v.inside(best, r) && foldText(v.shown(r)) == foldText(v.shown(best)) || bestScore < 0.8 {
			return -1, c.notUnderstood("several are called "+strconv.Quote(text), v.candidate(best), v.candidate(r))
		}
	}
	return best, nil
}

func (v *view) candidate(i int) Candidate {
	return Candidate{What: describeNode(&v.Nodes[i]), Why: "it has the name"}
}

// take chooses an element by a click, unless it is chosen already, and looks whether the
// page changed. What brings the next value when it is pointed at is not clicked on.
func (c chooser) take(ctx context.Context, v *view, i int, text, next string) error {
	n := &v.Nodes[i]
	if n.Disabled {
		return c.notUnderstood(describeNode(n) + " is disabled")
	}
	chosen := n.Checked == "true" || n.Selected == "true"
	if chosen && slices.Contains([]string{"checkbox", "switch", "option", "menuitemcheckbox"}, n.Role) {
		c.note("choose", describeNode(n)+" is chosen already")
		return nil
	}
	why := strconv.Quote(text) + " is " + describeNode(n)
	if next != "" && !slices.Contains([]string{"checkbox", "radio", "switch", "option"}, n.Role) {
		offered := c.offers(v, next) // then the next is no part of this one
		mark := c.mark()
		var record step.Record
		var err error
		if !offered {
			if record, err = c.try(ctx, action{tool: step.Hover, on: n.Ref, why: why}); err != nil {
				return err
			}
		}
		if record.Result.Success {
			_, opened, err := c.until(ctx, hoverTime, func(now *view) bool { return c.offers(now, next) })
			if err != nil || opened {
				return err
			}
		}
		c.drop(mark, nil)
		if v, err = c.look(ctx); err != nil {
			return err
		}
		if i = v.find(n.Ref); i < 0 {
			return c.notUnderstood(describeNode(n) + " has gone")
		}
	}
	return c.clickOn(ctx, v, i, why)
}

// hoverTime is how long a menu may take to come when it is pointed at.
const hoverTime = 800 * time.Millisecond

// offers reports whether something to choose is seen that was not there at first.
func (c chooser) offers(v *view, text string) bool {
	i, err := c.optionIn(v, -1, text, c.seen)
	return err == nil && i >= 0
}

// clickOn clicks on an element, and looks that the page changed. Where it cannot be
// reached, as a box that a style replaces, its label is clicked on.
func (p *planner) clickOn(ctx context.Context, v *view, i int, why string) error {
	n := &v.Nodes[i]
	label := labelNode(v, i)
	tries := []int{i}
	if label >= 0 && (n.Covered || n.Box[2] < 3 || n.Box[3] < 3) {
		tries = []int{label}
	} else if label >= 0 {
		tries = append(tries, label)
	}
	var record step.Record
	var err error
	for _, at := range tries {
		if record, err = p.try(ctx, action{tool: step.Click, on: v.Nodes[at].Ref, why: why}); err != nil {
			return err
		}
		if record.Result.Success {
			return p.changedSince(ctx, v, n)
		}
	}
	return &FailedError{Code: codeStepFailed, Detail: p.understood() + ": " + record.Result.Message}
}

// labelNode returns the node of the label of a box or radio button; -1 without one.
func labelNode(v *view, i int) int {
	n := &v.Nodes[i]
	if n.Role != "checkbox" && n.Role != "radio" && n.Role != "switch" || n.Name == "" {
		return -1
	}
	if up := n.Parent; up >= 0 && v.Nodes[up].Tag == "label" {
		return up
	}
	best := -1
	for at := range v.Nodes {
		other := &v.Nodes[at]
		if at == i || other.Hidden || other.Box[2] < 3 || foldText(v.textHere(at)) != foldText(n.Name) || other.Role == "heading" || v.inside(i, at) {
			continue
		}
		if best < 0 || other.Tag == "label" && v.Nodes[best].Tag != "label" || v.Nodes[best].Tag != "label" && abs(at-i) < abs(best-i) {
			best = at
		}
	}
	return best
}

// changedSince fails unless the page shows something else than before.
func (p *planner) changedSince(ctx context.Context, before *view, n *snapshot.Node) error {
	_, ok, err := p.until(ctx, settle, func(now *view) bool { return differs(before, now) || refocused(before, now) })
	if err == nil && !ok {
		return &FailedError{Code: codeStepFailed, Detail: p.understood() + ": nothing happened with " + describeNode(n)}
	}
	return err
}

// refocused reports whether another element has the focus.
func refocused(a, b *view) bool {
	for i := range a.Nodes {
		if i < len(b.Nodes) && a.Nodes[i].Focused != b.Nodes[i].Focused {
			return true
		}
	}
	return false
}

// visibleRefs are the refs of what is seen.
func (v *view) visibleRefs() map[string]bool {
	refs := make(map[string]bool, len(v.Nodes))
	for i := range v.Nodes {
		if !v.Nodes[i].Hidden {
			refs[v.Nodes[i].Ref] = true
		}
	}
	return refs
}

// isNumeric reports whether an element holds a number that is moved.
func isNumeric(n *snapshot.Node) bool {
	return n.Role == "slider" || n.Role == "spinbutton" || n.Type == "range" || n.Type == "number"
}
