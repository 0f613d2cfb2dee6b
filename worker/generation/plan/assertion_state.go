package plan

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// wantOf is what an element must be, for a property to be told of it.
var wantOf = map[intent.Property]want{
	intent.IsChecked: toCheck, intent.IsEmpty: toFill, intent.IsExpanded: toExpand,
	intent.IsEnabled: toUse, intent.IsSelected: toUse, intent.IsFocused: toUse, intent.IsRequired: toFill,
}

// state claims a state of elements.
func (a asserter) state(ctx context.Context, v *view, want *intent.Assertion) ([]claim, error) {
	if want.Subject == nil {
		return nil, a.notUnderstood("it does not say of what")
	}
	if want.Property == intent.IsSelected {
		if c, ok := optionIs(v, want); ok {
			return ofOption(a, v, want, c)
		}
	}
	phrases := append([]intent.Phrase{*want.Subject}, want.Subject.Others...)
	phrases[0].Others = nil
	var claims []claim
	for i := range phrases {
		m, err := a.pick(v, &phrases[i], wantOf[want.Property])
		if err != nil {
			other, again := a.pick(v, &phrases[i], toFind)
			if again != nil {
				return nil, err
			}
			m = other
		}
		c, holds, err := a.stateOf(ctx, v, want, m)
		if err != nil {
			return nil, err
		}
		if holds == want.Not {
			return nil, &FailedError{Code: codeAssertion, Detail: fmt.Sprintf("%s: %s is not so", a.says(want), describeNode(m.node))}
		}
		c.why = m.why
		claims = append(claims, c)
	}
	return claims, nil
}

// stateOf claims a state of one element, and reports whether it has it.
func (a asserter) stateOf(ctx context.Context, v *view, want *intent.Assertion, m match) (c claim, holds bool, err error) {
	n := m.node
	c = claim{on: m.ref, not: want.Not}
	switch want.Property {
	case intent.IsEnabled:
		c.matcher.Name = step.Enabled
		return c, !n.Disabled, nil
	case intent.IsChecked:
		c.matcher.Name = step.Checked
		if n.Checked == "" && n.Selected != "" {
			return a.attribute(c, "aria-selected", "true"), n.Selected == "true", nil
		}
		if n.Checked == "" {
			return c, false, a.notUnderstood(describeNode(n) + " is neither checked nor unchecked")
		}
		return c, n.Checked == "true", nil
	case intent.IsSelected:
		switch {
		case n.Checked != "":
			c.matcher.Name = step.Checked
			return c, n.Checked == "true", nil
		case n.Selected != "":
			selector, err := a.withState(ctx, n, m.ref, "selected", !want.Not)
			if err != nil {
				return c, false, err
			}
			return claim{selector: selector, matcher: step.Matcher{Name: step.Visible}}, n.Selected == "true", nil
		}
	case intent.IsExpanded:
		if n.Tag == "details" || n.Tag == "summary" {
			break
		}
		if n.Expanded != "" {
			return a.attribute(c, "aria-expanded", "true"), n.Expanded == "true", nil
		}
	case intent.IsRequired:
		c.matcher = step.Matcher{Name: step.AttributeIs, Args: step.MatcherArgs{Name: "aria-required", Value: "true"}}
		if n.Tag == "input" || n.Tag == "select" || n.Tag == "textarea" {
			c.matcher.Args = step.MatcherArgs{Name: "required", Value: ".*", Mode: step.Matches}
		}
		return c, n.Required, nil
	case intent.IsEmpty:
		return emptyOf(a, v, c, m)
	case intent.IsFocused:
		return focused(a, c, n)
	case intent.HasAttr:
		return ofAttribute(ctx, a, v, want, m, c)
	}
	return c, false, a.notUnderstood(fmt.Sprintf("whether %s is %s cannot be seen", describeNode(n), want.Property))
}

func (a asserter) attribute(c claim, name, value string) claim {
	c.matcher = step.Matcher{Name: step.AttributeIs, Args: step.MatcherArgs{Name: name, Value: value}}
	return c
}

// withState returns the selector of an element with a state that it has: without the
// state it finds nothing.
func (a asserter) withState(ctx context.Context, n *snapshot.Node, ref, state string, is bool) (*step.Selector, error) {
	found, err := a.page.Locate(ctx, ref)
	if err != nil {
		return nil, err
	}
	selector := &step.Selector{Type: step.ByRole, Value: n.Role, Name: n.Name, Exact: n.Name != ""}
	if len(found) > 0 && found[0].Selector.Type == step.ByRole {
		one := found[0].Selector
		selector = &one
	}
	selector.Fingerprint = nil
	selector.State = map[string]bool{state: is}
	return selector, nil
}

// emptyOf claims that a field holds nothing, or that a container shows nothing.
func emptyOf(a asserter, v *view, c claim, m match) (claim, bool, error) {
	if isField(m.node) {
		c.matcher = step.Matcher{Name: step.ValueIs}
		return c, m.node.Value == "", nil
	}
	c.matcher = step.Matcher{Name: step.TextIs}
	return c, v.shown(m.index) == "", nil
}

// focused claims that an element has the focus, by what distinguishes it in CSS.
func focused(a asserter, c claim, n *snapshot.Node) (claim, bool, error) {
	attributes := []struct{ name, value string }{{"data-testid", n.TestID}, {"id", n.ID}, {"name", n.NameAttr}, {"placeholder", n.Placeholder}, {"aria-label", n.Label}}
	for _, attribute := range attributes {
		if attribute.value == "" || len(n.Frame) > 0 {
			continue
		}
		quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\a `).Replace(attribute.value)
		if attribute.name == "aria-label" && n.Name != n.Label {
			continue
		}
		c.on, c.selector = "", &step.Selector{Type: step.CSS, Value: fmt.Sprintf(`[%s="%s"]:focus`, attribute.name, quoted)}
		c.matcher = step.Matcher{Name: step.Visible}
		return c, n.Focused, nil
	}
	return c, false, a.notUnderstood("nothing distinguishes " + describeNode(n) + " by which a step could say that it has the focus")
}

// ofAttribute claims the value of an attribute, which only the step itself sees.
func ofAttribute(ctx context.Context, a asserter, v *view, want *intent.Assertion, _ match, c claim) (claim, bool, error) {
	if want.Name == "" {
		return c, false, a.notUnderstood("it does not say which attribute")
	}
	c.matcher = step.Matcher{Name: step.AttributeIs, Args: step.MatcherArgs{Name: want.Name, Value: ".*", Mode: step.Matches}}
	if len(want.Values) > 0 {
		text, err := a.expected(ctx, v, want)
		if err != nil {
			return c, false, err
		}
		c.matcher.Args.Value, c.matcher.Args.Mode = text, want.Mode
	}
	return c, !want.Not, nil
}

// option is one of a native list.
type option struct {
	list, index int
}

// optionIs returns the option of a native list that an assertion calls selected: "Red is
// selected", "Red is selected in Color".
func optionIs(v *view, want *intent.Assertion) (option, bool) {
	name := want.Subject.Name
	if len(want.Values) > 0 {
		name = want.Values[0].Text
	}
	var found []option
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if n.Hidden {
			continue
		}
		for k, o := range n.Options {
			if foldText(o.Label) != foldText(name) {
				continue
			}
			if len(want.Subject.Relations) > 0 && v.likenessOf(i, want.Subject.Relations[0].Name) < 0.5 ||
				len(want.Values) > 0 && v.likenessOf(i, want.Subject.Name) < 0.5 {
				continue
			}
			found = append(found, option{i, k})
		}
	}
	if len(found) != 1 {
		return option{}, false
	}
	return found[0], true
}

// ofOption claims that an option of a native list is selected.
func ofOption(a asserter, v *view, want *intent.Assertion, o option) ([]claim, error) {
	n := &v.Nodes[o.list]
	chosen := n.Options[o.index]
	if chosen.Selected == want.Not {
		return nil, a.seen(want, "option that is selected", selectedLabel(n))
	}
	c := claim{on: n.Ref, not: want.Not, why: "the list with the option " + strconv.Quote(chosen.Label),
		matcher: step.Matcher{Name: step.ValueIs, Args: step.MatcherArgs{Value: chosen.Value}}}
	if n.Multiple { // its value is the first of those that are selected
		return nil, a.notUnderstood("the options of a list of several cannot be told apart")
	}
	return []claim{c}, nil
}
