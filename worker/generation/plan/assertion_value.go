package plan

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// text claims what a named thing says: its own text, the value beside it, or what a field
// holds. "It says ..." may also be about the page.
func (a asserter) text(ctx context.Context, v *view, want *intent.Assertion) ([]claim, error) {
	claims, err := a.textOf(ctx, v, want)
	if err == nil || want.Not || want.Subject == nil || !want.Subject.Pronoun || want.Subject.Name != "" {
		return claims, err
	}
	for _, value := range want.Values {
		text, err := a.valueText(ctx, v, value)
		if err != nil {
			return nil, err
		}
		shown, err := a.showsText(v, want, text, value.Quoted)
		if err != nil {
			return nil, err
		}
		claims = append(claims, shown...)
	}
	if len(claims) == 0 {
		return nil, err
	}
	return claims, nil
}

func (a asserter) textOf(ctx context.Context, v *view, want *intent.Assertion) ([]claim, error) {
	if cell, _ := cellNamed(v, want.Subject); cell >= 0 {
		return a.texts(ctx, v, want, match{})
	}
	m, err := a.subject(v, want.Subject)
	if err != nil {
		return nil, err
	}
	if isField(m.node) {
		return a.valueOf(ctx, v, want, m)
	}
	return a.texts(ctx, v, want, m)
}

// texts claims each of the texts of an assertion.
func (a asserter) texts(ctx context.Context, v *view, want *intent.Assertion, m match) ([]claim, error) {
	var claims []claim
	for _, value := range want.Values {
		text, err := a.valueText(ctx, v, value)
		if err != nil {
			return nil, err
		}
		c, named, err := a.saysCell(v, want, text)
		if !named && err == nil {
			c, named, err = a.saysAt(v, want, m, text)
		}
		if !named {
			c, err = a.saysText(v, want, m, text)
		}
		if err != nil {
			return nil, err
		}
		if selector, ok := a.placed(ctx, v, want.Subject); ok {
			c.on, c.selector = "", selector
		}
		claims = append(claims, c)
	}
	if len(claims) == 0 {
		return nil, a.notUnderstood("it does not say what is expected")
	}
	return claims, nil
}

// subject returns the element that an assertion is about: the smallest one that is read.
func (a asserter) subject(v *view, s *intent.Phrase) (match, error) {
	if i := v.valueCell(s); i >= 0 {
		return v.matchOf(scored{fieldIn(v, i), 1, ""}, "the cell of the row and the column"), nil
	}
	m, err := a.pick(v, s, toRead)
	if isNotUnderstood(err) {
		if other, again := a.pick(v, s, toFind); again == nil {
			return other, nil
		}
	}
	return m, err
}

// saysText claims that an element says a text: all of it, a part of it, or behind its
// name ("Total: 12.50"), which may also stand beside it.
func (a asserter) saysText(v *view, want *intent.Assertion, m match, text string) (claim, error) {
	has := v.shown(m.index)
	if has == "" {
		has = m.node.Name
	}
	c := claim{on: m.ref, not: want.Not, why: m.why, matcher: step.Matcher{Name: step.TextIs}}
	args := &c.matcher.Args
	if want.Mode == step.AtLeast || want.Mode == step.AtMost {
		return compares(a, v, want, m, text)
	}
	if want.Mode == step.Matches || strings.Contains(text, "{{") {
		args.Value, args.Mode = text, want.Mode
		if want.Mode != step.Matches {
			args.Mode = step.Contains
		}
		if !holdsText(has, text, args.Mode, want.Not) {
			return c, a.seen(want, "text", has)
		}
		return c, nil
	}
	part, inside := occurrence(has, text)
	name := want.Subject.Name
	named := name != "" && likeness(has, name) >= 0.5
	switch {
	case foldText(has) == foldText(text):
		args.Value, args.Mode = strings.Join(strings.Fields(has), " "), step.Equals
	case inside && (want.Mode == step.Contains || want.Mode == "" || showsPart(v, m.index, text)):
		args.Value, args.Mode = part, step.Contains
	case inside && onlyLabel(a, has, name, text):
		args.Value, args.Mode = part, step.Contains
		if named {
			args.Value, args.Mode = belongs(name, text), step.Matches
		}
	case want.Not && !named:
		args.Value, args.Mode = text, step.Equals
		if want.Mode == step.Contains || want.Mode == "" {
			args.Mode = step.Contains
		}
		return c, nil
	default:
		return a.saysBeside(v, want, m, text)
	}
	if want.Not {
		return c, a.seen(want, "text", has)
	}
	return c, nil
}

// onlyLabel reports whether a text has nothing but a name, a value, and signs around it.
func onlyLabel(a asserter, has, name, value string) bool {
	rest := " " + squeeze(has) + " "
	for _, part := range []string{squeeze(value), squeeze(name)} {
		if part != "" {
			rest = strings.Replace(rest, " "+part+" ", " ", 1)
		}
	}
	rest = strings.TrimSpace(rest)
	return rest == "" || currencies[rest]
}

// currencies are words that may stand beside an amount.
var currencies = map[string]bool{"usd": true, "eur": true, "euro": true, "gbp": true, "chf": true, "kr": true}

// maxBeside is how far up from a name its value is looked for.
const maxBeside = 3

// saysBeside claims that a value stands beside its name, in what is around both.
func (a asserter) saysBeside(v *view, want *intent.Assertion, m match, text string) (claim, error) {
	name := want.Subject.Name
	has := v.shown(m.index)
	if name == "" || likeness(has, name) < 0.5 {
		return claim{}, a.seen(want, "text", has)
	}
	seen := has
	at := m.index
	for range maxBeside {
		at = v.Nodes[at].Parent
		if at < 0 {
			break
		}
		around := v.shown(at)
		if len(around) > 20*len(has)+400 {
			break
		}
		seen = around
		pattern := belongs(name, text)
		compiled, err := step.Pattern(pattern)
		if err != nil {
			return claim{}, a.notUnderstood("the text is too long to be compared")
		}
		if compiled.MatchString(around) {
			c := claim{on: v.Nodes[at].Ref, why: "what is around " + describeNode(m.node),
				matcher: step.Matcher{Name: step.TextIs, Args: step.MatcherArgs{Value: pattern, Mode: step.Matches}}}
			if want.Not {
				return c, a.seen(want, "text", around)
			}
			return c, nil
		}
		if want.Not && len(around) > len(has) { // the value is another one, and stays that
			return claim{on: v.Nodes[at].Ref, not: true, why: "what is around " + describeNode(m.node),
				matcher: step.Matcher{Name: step.TextIs, Args: step.MatcherArgs{Value: pattern, Mode: step.Matches}}}, nil
		}
	}
	if c, ok := cellOf(v, m.index, text); ok && !want.Not {
		return c, nil
	}
	return claim{}, a.seen(want, "text", seen)
}

// cellOf claims the value in the cell below a column's header, where a table has one row.
func cellOf(v *view, header int, text string) (claim, bool) {
	h := &v.Nodes[header]
	var cells []int
	for i := range v.Nodes {
		if n := &v.Nodes[i]; h.Table != "" && n.Table == h.Table && n.Column == h.Column && n.Row > h.Row {
			cells = append(cells, i)
		}
	}
	if len(cells) != 1 || foldText(v.shown(cells[0])) != foldText(text) {
		return claim{}, false
	}
	return claim{on: v.Nodes[cells[0]].Ref, why: "the cell below " + describeNode(h),
		matcher: step.Matcher{Name: step.TextIs, Args: step.MatcherArgs{Value: v.shown(cells[0])}}}, true
}

// value claims what a field holds.
func (a asserter) value(ctx context.Context, v *view, want *intent.Assertion) ([]claim, error) {
	if want.Subject == nil {
		return nil, a.notUnderstood("it does not say of which field")
	}
	if v.valueCell(want.Subject) >= 0 {
		return a.text(ctx, v, want)
	}
	m, err := a.pick(v, want.Subject, toFill)
	if err != nil {
		if other, again := a.pick(v, want.Subject, toChoose); again == nil {
			m, err = other, nil
		} else if other, again := a.pick(v, want.Subject, toAdjust); again == nil {
			m, err = other, nil
		} else if other, again := a.subject(v, want.Subject); again == nil {
			m, err = other, nil
		}
	}
	if err != nil {
		return nil, err
	}
	if !isField(m.node) {
		return a.text(ctx, v, want)
	}
	return a.valueOf(ctx, v, want, m)
}

// valueOf claims what a field holds: of a list the option that is selected, of a slider
// its position.
func (a asserter) valueOf(ctx context.Context, v *view, want *intent.Assertion, m match) ([]claim, error) {
	text, err := a.expected(ctx, v, want)
	if err != nil {
		return nil, err
	}
	n := m.node
	mode := want.Mode
	if mode == "" {
		mode = step.Equals
	}
	c := claim{on: m.ref, not: want.Not, why: m.why, matcher: step.Matcher{Name: step.ValueIs, Args: step.MatcherArgs{Value: text, Mode: mode}}}
	has := n.Value
	switch {
	case len(n.Options) > 0:
		option := -1
		for i, o := range n.Options {
			if foldText(o.Label) == foldText(text) || o.Value == text {
				option = i
			}
			if o.Selected {
				has = o.Label
			}
		}
		if option < 0 {
			return nil, &FailedError{Code: codeAssertion, Detail: a.says(want) + ": the list has no such option"}
		}
		c.matcher.Args = step.MatcherArgs{Value: n.Options[option].Value}
		if n.Options[option].Selected == want.Not {
			return nil, a.seen(want, "option that is selected", has)
		}
		return []claim{c}, nil
	case !n.Editable && n.Tag != "input":
		c.matcher.Name = step.AttributeIs
		c.matcher.Args.Name = "aria-valuenow"
		if n.Role == "combobox" || n.Role == "textbox" {
			c.matcher = step.Matcher{Name: step.TextIs, Args: step.MatcherArgs{Value: text, Mode: step.Contains}}
			has = v.shown(m.index)
		}
	}
	if mode == step.AtLeast || mode == step.AtMost {
		pattern, ok := numberPattern(text, mode, true)
		if !ok {
			return nil, a.notUnderstood(strconv.Quote(text) + " is no number to compare with")
		}
		c.matcher.Args.Value, c.matcher.Args.Mode = pattern, step.Matches
	}
	if m.node.Password || holdsText(has, c.matcher.Args.Value, c.matcher.Args.Mode, want.Not) {
		return []claim{c}, nil
	}
	return nil, a.seen(want, "value", has)
}

// compares claims that the number which a thing says is at least or at most another one.
func compares(a asserter, v *view, want *intent.Assertion, m match, text string) (claim, error) {
	pattern, ok := numberPattern(text, want.Mode, false)
	if !ok {
		return claim{}, a.notUnderstood(strconv.Quote(text) + " is no number to compare with")
	}
	for at, n := m.index, 0; at >= 0 && n <= maxBeside; at, n = v.Nodes[at].Parent, n+1 {
		has := v.shown(at)
		numbers := numbersIn(has)
		if len(numbers) > 1 {
			break
		}
		if len(numbers) == 0 {
			continue
		}
		c := claim{on: v.Nodes[at].Ref, not: want.Not, why: m.why,
			matcher: step.Matcher{Name: step.TextIs, Args: step.MatcherArgs{Value: pattern, Mode: step.Matches}}}
		if !holdsText(has, pattern, step.Matches, want.Not) {
			return c, a.seen(want, "text", has)
		}
		return c, nil
	}
	return claim{}, a.notUnderstood(describeNode(m.node) + " does not show just one number")
}

// numberPattern is a pattern of the whole numbers, with any fraction, that are at least or
// at most a number. Whole: the text is nothing else.
func numberPattern(text, mode string, whole bool) (string, bool) {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < 0 || n > 1_000_000_000 {
		return "", false
	}
	digits := strconv.Itoa(n)
	var parts []string
	fraction := `([.,]\d+)?`
	for i, d := range digits {
		rest := len(digits) - i - 1
		if mode == step.AtLeast && d < '9' {
			parts = append(parts, fmt.Sprintf(`%s[%c-9]\d{%d}%s`, digits[:i], d+1, rest, fraction))
		}
		low := '0'
		if i == 0 && rest > 0 {
			low = '1'
		}
		if mode == step.AtMost && d > low {
			parts = append(parts, fmt.Sprintf(`%s[%c-%c]\d{%d}%s`, digits[:i], low, d-1, rest, fraction))
		}
	}
	switch {
	case mode == step.AtLeast:
		parts = append(parts, digits+fraction, fmt.Sprintf(`[1-9]\d{%d,}%s`, len(digits), fraction))
	case len(digits) > 1:
		parts = append(parts, digits+`([.,]0+)?`, fmt.Sprintf(`\d{1,%d}%s`, len(digits)-1, fraction))
	default:
		parts = append(parts, digits+`([.,]0+)?`)
	}
	pattern := "(" + strings.Join(parts, "|") + ")"
	if whole {
		return "^" + pattern + "$", true
	}
	return `(^|[^\d.,-])` + pattern + `($|[^\d.,]|[.,]($|\D))`, true
}

// numbersIn returns the numbers in a text, as they are written.
func numbersIn(text string) []string {
	var list []string
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return (r < '0' || r > '9') && r != '.' && r != ',' }) {
		if word = strings.Trim(word, ".,"); word != "" {
			list = append(list, word)
		}
	}
	return list
}
