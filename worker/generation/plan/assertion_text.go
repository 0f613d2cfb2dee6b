package plan

import (
	"context"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// holdsText reports whether a text compares with a value as an assertion says. A value
// with variables is only known when the step is executed, which decides then.
func holdsText(has, value, mode string, not bool) bool {
	if strings.Contains(value, "{{") {
		return true
	}
	switch mode {
	case step.Contains:
		return strings.Contains(has, strings.Join(strings.Fields(value), " ")) != not
	case step.Matches:
		pattern, err := step.Pattern(value)
		return err == nil && pattern.MatchString(has) != not
	}
	return (has == strings.Join(strings.Fields(value), " ")) != not
}

// occurrence returns the part of a text that is a value but for case and white space, as
// it stands there, and whether nothing that belongs to it stands around it: 2 is not
// in 12, and "in" is not in "information".
func occurrence(text, value string) (part string, ok bool) {
	text, value = strings.Join(strings.Fields(text), " "), strings.Join(strings.Fields(value), " ")
	if value == "" {
		return "", false
	}
	low, want := strings.ToLower(text), strings.ToLower(value)
	if len(low) != len(text) { // letters whose lower case has another size
		text = low
	}
	for from := 0; ; {
		at := strings.Index(low[from:], want)
		if at < 0 {
			return "", false
		}
		at += from
		end := at + len(want)
		before, _ := utf8.DecodeLastRuneInString(low[:at])
		after, _ := utf8.DecodeRuneInString(low[end:])
		first, _ := utf8.DecodeRuneInString(want)
		last, _ := utf8.DecodeLastRuneInString(want)
		if !joined(before, first) && !joined(last, after) && !decimal(low[end:], last) && !fraction(low[:at], first) {
			return text[at:end], true
		}
		_, size := utf8.DecodeRuneInString(low[at:])
		from = at + size
	}
}

// joined reports whether two characters belong to one word or number.
func joined(a, b rune) bool {
	return unicode.IsLetter(a) && unicode.IsLetter(b) || unicode.IsDigit(a) && unicode.IsDigit(b)
}

// decimal reports whether a number goes on behind a point or comma.
func decimal(rest string, last rune) bool {
	return unicode.IsDigit(last) && len(rest) > 1 && (rest[0] == '.' || rest[0] == ',') && unicode.IsDigit(rune(rest[1]))
}

// fraction reports whether a number began before a point or comma.
func fraction(before string, first rune) bool {
	n := len(before)
	return unicode.IsDigit(first) && n > 1 && (before[n-1] == '.' || before[n-1] == ',') && unicode.IsDigit(rune(before[n-2]))
}

// visible claims that something is seen: an element of a kind, or a text.
func (a asserter) visible(ctx context.Context, v *view, want *intent.Assertion) ([]claim, error) {
	if want.Subject == nil {
		text, err := a.expected(ctx, v, want)
		if err != nil {
			return nil, err
		}
		if want.Not {
			return a.hidden(ctx, v, &intent.Assertion{Text: want.Text, Property: intent.IsHidden, Subject: &intent.Phrase{Text: text, Name: text, Exact: true}})
		}
		return a.showsText(v, want, text, true)
	}
	s := want.Subject
	if s.Count > 0 && !s.All && len(s.Others) == 0 && s.Ordinal == 0 {
		number := float64(s.Count)
		counted := *want
		counted.Property, counted.Values = intent.HasCount, []intent.Value{{Number: &number}}
		return a.count(ctx, v, &counted)
	}
	plain := len(s.Relations) == 0 && s.Ordinal == 0 && len(s.Looks) == 0 && len(s.State) == 0 && !s.Pronoun
	if plain && s.Name != "" && (len(s.Roles) == 0 || isTextKind(s)) {
		claims, err := a.showsText(v, want, s.Name, s.Exact)
		if err == nil || len(s.Roles) == 0 {
			return claims, err
		}
	}
	targets, err := pickEach(a, v, s)
	if err != nil {
		if plain && s.Name != "" && isNotUnderstood(err) {
			return nil, a.missing(want)
		}
		return nil, err
	}
	var claims []claim
	for _, m := range targets {
		c, err := isShown(ctx, a, v, m, s.Name)
		if err != nil {
			return nil, err
		}
		claims = append(claims, c)
	}
	return claims, nil
}

// pickEach returns the elements that a phrase and its further names mean.
func pickEach(a asserter, v *view, s *intent.Phrase) ([]match, error) {
	one := *s
	one.Others = nil
	m, err := a.pick(v, &one, toFind)
	if err != nil {
		return nil, err
	}
	list := []match{m}
	for i := range s.Others {
		m, err := a.pick(v, &s.Others[i], toFind)
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
}

// isTextKind reports whether a phrase means something that is only read.
func isTextKind(s *intent.Phrase) bool {
	for _, role := range s.Roles {
		switch role {
		case "text", "alert", "status", "paragraph", "heading", "log", "tooltip":
			return true
		}
	}
	return false
}

// isShown claims that an element is visible, by what it is called: a selector that does
// not say it is not enough.
func isShown(ctx context.Context, a asserter, v *view, m match, name string) (claim, error) {
	found, err := a.page.Locate(ctx, m.ref)
	if err != nil {
		return claim{}, err
	}
	if len(found) == 0 || found[0].Selector.Type == "" {
		return claim{}, &FailedError{Code: codeAssertion, Detail: a.understood() + ": the element has gone"}
	}
	if name != "" && !named(&found[0].Selector) {
		if part, ok := occurrence(v.shown(m.index), name); ok {
			return claim{on: m.ref, why: m.why, matcher: step.Matcher{Name: step.TextIs, Args: step.MatcherArgs{Value: part, Mode: step.Contains}}}, nil
		}
	}
	return claim{on: m.ref, why: m.why, matcher: step.Matcher{Name: step.Visible}}, nil
}

// showsText claims that the page shows a text. Exact ones may be a part of a longer text;
// others must be all of one.
func (a asserter) showsText(v *view, want *intent.Assertion, text string, exact bool) ([]claim, error) {
	i, part := v.findText(text, exact)
	if i < 0 {
		return nil, a.missing(want)
	}
	n := &v.Nodes[i]
	if n.Editable && n.HasValue {
		return []claim{{on: n.Ref, why: describeNode(n), matcher: step.Matcher{Name: step.ValueIs, Args: step.MatcherArgs{Value: n.Value}}}}, nil
	}
	c := claim{on: n.Ref, why: describeNode(n), matcher: step.Matcher{Name: step.TextIs, Args: step.MatcherArgs{Value: part, Mode: step.Contains}}}
	if _, ok := occurrence(v.shown(i), text); !ok { // it is only its name: an image
		c.matcher = step.Matcher{Name: step.Visible}
	}
	return []claim{c}, nil
}

// findText returns the smallest node that shows a text, and the text as it stands there;
// -1 without one. What is not interactive comes first, and then what has the whole text.
func (v *view) findText(text string, exact bool) (int, string) {
	best, bestScore, bestPart := -1, 0.0, ""
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if n.Hidden || v.echo[i] {
			continue
		}
		has := v.textHere(i)
		if len(has) < len(text) || has == "" {
			continue
		}
		part, ok := occurrence(has, text)
		score := likeness(has, text)
		if !ok || score < 0.8 && (!exact || n.Interactive && n.Reacts == "") {
			continue
		}
		if !n.Interactive {
			score += 0.3
		}
		if n.Role == "alert" || n.Role == "status" || n.Role == "heading" {
			score += 0.2
		}
		if score > bestScore || score == bestScore && v.inside(i, best) {
			best, bestScore, bestPart = i, score, part
		}
	}
	return best, bestPart
}

// textHere returns the text of a node that is no large container.
func (v *view) textHere(i int) string {
	n := &v.Nodes[i]
	switch {
	case n.Password:
		return ""
	case n.Text != "":
		return n.Text
	case n.Editable && n.HasValue:
		return n.Value
	case n.Name != "":
		return n.Name
	case v.last[i]-i <= 20:
		return v.shown(i)
	}
	return ""
}

// hidden claims that something is not seen. It is said by name, since there is nothing
// to be found now.
func (a asserter) hidden(ctx context.Context, v *view, want *intent.Assertion) ([]claim, error) {
	s := want.Subject
	if s == nil && len(want.Values) > 0 {
		s = &intent.Phrase{Name: want.Values[0].Text, Exact: true}
	}
	if s == nil || s.Name == "" && len(s.Roles) == 0 {
		return nil, a.notUnderstood("it does not say what must not be there")
	}
	plain := len(s.Relations) == 0 && s.Ordinal == 0
	if m, err := a.pick(v, s, toFind); err == nil && (m.score >= 0.8 || len(s.Roles) > 0) && !m.node.Hidden {
		return nil, &FailedError{Code: codeAssertion, Detail: a.says(want) + ": the page shows " + describeNode(m.node)}
	}
	if i, _ := v.findText(s.Name, s.Exact); plain && i >= 0 && len(s.Roles) == 0 {
		return nil, &FailedError{Code: codeAssertion, Detail: a.says(want) + ": the page shows " + describeNode(&v.Nodes[i])}
	}
	selector := &step.Selector{Type: step.ByText, Value: s.Name, Exact: partlyOf(v, s.Name)}
	if role := selectorRole(s.Roles); role != "" && !isTextKind(s) || s.Name == "" {
		selector = &step.Selector{Type: step.ByRole, Value: role, Name: s.Name}
		if role == "" {
			return nil, a.notUnderstood("it does not say what must not be there")
		}
	}
	if !plain {
		within, err := a.container(ctx, v, s)
		if err != nil {
			return nil, err
		}
		if selector.Within = within; within == nil {
			return nil, a.notUnderstood("it does not say clearly where that must not be")
		}
	}
	return []claim{{selector: selector, why: "what the intent calls it", matcher: step.Matcher{Name: step.Hidden}}}, nil
}

// container returns a selector of what a phrase's only relation says that it is in; nil
// where it does not.
func (a asserter) container(ctx context.Context, v *view, s *intent.Phrase) (*step.Selector, error) {
	if len(s.Relations) != 1 || s.Relations[0].Kind != intent.In && s.Relations[0].Kind != intent.Of {
		return nil, nil
	}
	in := s.Relations[0]
	m, err := a.pick(v, &in.Phrase, toHold)
	if err != nil {
		return nil, err
	}
	found, err := a.page.Locate(ctx, m.ref)
	if err != nil || len(found) == 0 || found[0].Selector.Type == "" || len(found[0].Frames) > 0 {
		return nil, err
	}
	selector := found[0].Selector
	selector.Fingerprint = nil
	return &selector, nil
}

// partlyOf reports whether a text is only a part of longer ones that are visible.
func partlyOf(v *view, text string) bool {
	folded := foldText(text)
	for i := range v.Nodes {
		if n := &v.Nodes[i]; !n.Hidden && strings.Contains(foldText(v.textHere(i)), folded) {
			return true
		}
	}
	return false
}

// selectorRole returns the role by which a selector finds what a phrase means.
func selectorRole(roles []string) string {
	if len(roles) == 0 || roles[0] == "text" {
		return ""
	}
	return roles[0]
}

// aside is what may stand between a name and its value: "Total: $ ". It has no bound: a
// repetition of these classes is too large for a step.
const aside = `[^\pL\pN]*`

// belongs is a pattern of a name with its value behind it.
func belongs(name, value string) string {
	pattern := `(?i)(^|\W)` + spaced(name) + aside + spaced(value)
	if last, _ := utf8.DecodeLastRuneInString(value); unicode.IsDigit(last) {
		return pattern + `($|[^\d.,]|[.,]($|\D))`
	}
	return pattern + `($|\W)`
}

// spaced is a pattern of a text in which white space may be of any kind.
func spaced(text string) string {
	words := strings.Fields(text)
	for i := range words {
		words[i] = regexp.QuoteMeta(words[i])
	}
	return strings.Join(words, `\s+`)
}

func isAddress(text string) bool { return strings.Contains(text, "://") }

// isField reports whether an element holds a value that people set.
func isField(n *snapshot.Node) bool {
	return n.Editable || len(n.Options) > 0 || n.Role == "slider" || n.Role == "spinbutton" || n.Role == "combobox" || n.Role == "textbox"
}
