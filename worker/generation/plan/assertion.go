package plan

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// assertion is one thing that a step compares.
type assertion struct {
	node     int // -1: selector, or the page
	selector *step.Selector
	matcher  step.Matcher
	not      bool
	// own: the element is found by the text that is compared; it must be found otherwise.
	own bool
	// there: that the text is there is all that is claimed, so it is found by it rather than by a position.
	there bool
	why   string
}

// assertAll executes the assertions of a claim that holds, and keeps them as steps. All of it must
// become steps: a test that leaves out a part of what was asked would pass without it.
func (p *planner) assertAll(ctx context.Context, m *page.Model, g *intent.Goal, e *find.Evidence) error {
	if g.Claim.Property == intent.Asked { // the step that answers the question compares it
		return nil
	}
	made, left := 0, 0
	for i := range e.Checks {
		if e.Checks[i].Part && made >= maxParts {
			left++
			continue
		}
		list, ok := assertionsOf(m, &e.Checks[i])
		if !ok && e.Checks[i].Part {
			continue
		}
		if !ok {
			return p.unkept(e)
		}
		mark := p.mark()
		message, err := p.assertEach(ctx, m, g, list)
		if err == nil && message != "" && e.Checks[i].Kind == "place" { // what is not seen is counted as well
			if order, ok := orderOf(m, &e.Checks[i]); ok && !e.Checks[i].Not {
				p.drop(mark)
				message, err = p.assertEach(ctx, m, g, order)
			}
		}
		if err == nil && message != "" && e.Checks[i].Kind == "count" && g.Claim.Property == intent.Counts {
			now, lost := p.lookAnew(ctx)
			if lost != nil {
				return lost
			}
			if a, ok := toldCountOf(m, &e.Checks[i]); ok && same(m, now) { // the page has more of the role, which nobody sees
				p.drop(mark)
				message, err = p.assertEach(ctx, m, g, []assertion{a})
			}
		}
		if err != nil {
			return err
		}
		if message == notFound && e.Checks[i].Part {
			p.drop(mark)
			continue
		}
		if message != "" {
			return &FailedError{Code: codeAssertion, Detail: "expected: " + p.words(g.Span) + "; " + message}
		}
		made += len(list)
	}
	if made == 0 {
		return p.unkept(e)
	}
	if left > 0 {
		p.note("uncertain", fmt.Sprintf("the test leaves out the last %d parts of what is to be as it was", left))
	}
	return nil
}

// maxParts is how many parts of a thing a test compares one by one that is to be as it was.
const maxParts = 20

// assertEach executes the assertions of one check, and returns what the page says where one does not
// hold.
func (p *planner) assertEach(ctx context.Context, m *page.Model, g *intent.Goal, list []assertion) (string, error) {
	for _, a := range list {
		a.why = p.words(g.Span)
		message, err := p.assert(ctx, m, a, int(g.Within.Milliseconds()))
		if err != nil {
			return "", err
		}
		if message == "" {
			continue
		}
		if a.matcher.Name != step.TextIs || a.matcher.Args.Mode != step.Contains || a.not {
			return message, nil
		}
		a.matcher.Args.Mode, a.matcher.Args.Value = step.Matches, "(?i)"+regexp.QuoteMeta(a.matcher.Args.Value) // a style draws it in capitals
		if message, err = p.assert(ctx, m, a, int(g.Within.Milliseconds())); err != nil || message != "" {
			return message, err
		}
	}
	return "", nil
}

// unkept is the error for a claim that holds now, and that no step can compare.
func (p *planner) unkept(e *find.Evidence) error {
	return p.say("the page shows it now, and no step of a test can check it (" + strings.TrimSuffix(e.Why, "; ") + ")")
}

// assertionsOf returns what a check compares, as steps have it.
func assertionsOf(m *page.Model, c *find.Check) ([]assertion, bool) {
	switch c.Kind {
	case "order":
		return orderOf(m, c)
	case "place":
		return placeOf(m, c)
	}
	a, ok := assertionOf(m, c)
	return []assertion{a}, ok
}

// assertionOf returns what a check compares, as a step has it.
func assertionOf(m *page.Model, c *find.Check) (assertion, bool) {
	text := strings.Join(strings.Fields(c.Text), " ")
	switch c.Kind {
	case "visible":
		return visibleOf(m, c.Node, text), c.Node >= 0
	case "hidden":
		if c.Node >= 0 {
			return assertion{node: c.Node, matcher: step.Matcher{Name: step.Hidden}}, true
		}
		return assertion{node: -1, selector: &step.Selector{Type: step.ByText, Value: text}, matcher: step.Matcher{Name: step.Hidden}}, text != ""
	case "text", "contains":
		return textOf(m, c, text)
	case "value":
		return valueOf(m, c, text)
	case "state":
		return stateOf(m, c)
	case "count":
		return countOf(m, c)
	case "address":
		return assertion{node: -1, not: c.Not, matcher: step.Matcher{Name: step.URLIs, Args: step.MatcherArgs{Value: text,
			Mode: step.Contains}}}, true
	case "title":
		return assertion{node: -1, not: c.Not, matcher: step.Matcher{Name: step.TitleIs, Args: step.MatcherArgs{Value: text,
			Mode: step.Contains}}}, true
	}
	return assertion{}, false
}

// visibleOf asserts that a thing is seen, by the words that it was found by where it shows them.
func visibleOf(m *page.Model, node int, text string) assertion {
	if part := occurrence(nodeShows(m, node), text); part != "" {
		return assertion{node: node, own: true, there: true, matcher: step.Matcher{Name: step.TextIs, Args: step.MatcherArgs{Value: part,
			Mode: step.Contains}}}
	}
	return assertion{node: node, matcher: step.Matcher{Name: step.Visible}}
}

// textOf asserts what an element shows, as it is written there.
func textOf(m *page.Model, c *find.Check, text string) (assertion, bool) {
	if c.Node < 0 {
		return assertion{}, false
	}
	n := &m.Nodes[c.Node]
	if n.Editable && n.HasValue {
		return valueOf(m, c, text)
	}
	shown := nodeShows(m, c.Node)
	part := occurrence(shown, text)
	if part == "" {
		part = shown
	}
	if c.Not {
		part = text
	}
	return assertion{node: c.Node, own: true, not: c.Not,
		matcher: step.Matcher{Name: step.TextIs, Args: step.MatcherArgs{Value: part, Mode: step.Contains}}}, part != ""
}

// valueOf asserts what a field holds: of a list its chosen option.
func valueOf(m *page.Model, c *find.Check, text string) (assertion, bool) {
	if c.Node < 0 {
		return assertion{}, false
	}
	n := &m.Nodes[c.Node]
	value := n.Value
	for _, o := range n.Options {
		if o.Selected {
			value = o.Value
		}
	}
	switch {
	case n.Checked != "":
		return assertion{node: c.Node, not: n.Checked != "true", matcher: step.Matcher{Name: step.Checked}}, true
	case !n.HasValue && len(n.Options) == 0:
		return assertion{node: c.Node, own: true, matcher: step.Matcher{Name: step.TextIs,
				Args: step.MatcherArgs{Value: occurrence(nodeShows(m, c.Node), text), Mode: step.Contains}}},
			occurrence(nodeShows(m, c.Node), text) != ""
	}
	if c.Not {
		value = text
	}
	return assertion{node: c.Node, not: c.Not, matcher: step.Matcher{Name: step.ValueIs, Args: step.MatcherArgs{Value: value}}}, true
}

// stateOf asserts the state of an element.
func stateOf(m *page.Model, c *find.Check) (assertion, bool) {
	if c.Node < 0 {
		return assertion{}, false
	}
	n := &m.Nodes[c.Node]
	a := assertion{node: c.Node, not: c.Not}
	attribute := func(name, value string) (assertion, bool) {
		a.not = false
		a.matcher = step.Matcher{Name: step.AttributeIs, Args: step.MatcherArgs{Name: name, Value: value}}
		return a, true
	}
	switch c.State {
	case "disabled", "enabled":
		a.matcher, a.not = step.Matcher{Name: step.Enabled}, n.Disabled
		return a, true
	case "focused":
		a.matcher = step.Matcher{Name: step.Focused}
		return a, true
	case "expanded", "collapsed":
		if n.Expanded != "" && n.Tag != "details" && n.Tag != "summary" {
			return attribute("aria-expanded", n.Expanded)
		}
	case "empty":
		if n.Editable {
			a.matcher, a.not = step.Matcher{Name: step.ValueIs}, c.Not
			return a, true
		}
	}
	if n.Checked != "" {
		a.matcher, a.not = step.Matcher{Name: step.Checked}, n.Checked != "true"
		return a, true
	}
	if n.Selected == "true" && (n.Role == "tab" || n.Role == "option" || n.Role == "row" || n.Role == "treeitem") {
		return attribute("aria-selected", "true")
	}
	a.not = false
	a.matcher = step.Matcher{Name: step.Visible}
	return a, !n.Hidden
}

// notFound is what is wrong with an assertion that no step can make.
const notFound = "its element cannot be found"

// assert executes an assertion and keeps it when it holds; else it returns what the page says.
func (p *planner) assert(ctx context.Context, m *page.Model, a assertion, limit int) (string, error) {
	matcher := a.matcher
	if name := p.savedAs[matcher.Args.Value]; matcher.Name == step.ValueIs && p.uses(name) {
		matcher.Args.Value = intent.SavedText(name)
	}
	tool := step.Tool{Type: step.Assert, Args: step.Args{Not: a.not, Matcher: &matcher, Reasoning: a.why}}
	if a.node >= 0 {
		found, err := p.cfg.Page.Locate(ctx, m.Nodes[a.node].Ref)
		if err != nil {
			return "", err
		}
		if len(found) == 0 || found[0].Selector.Type == "" {
			return notFound, nil
		}
		if tool.Args.Selector, err = p.selectorOf(ctx, m, &found[0], &a); err != nil {
			return "", err
		}
		tool = inFrames(tool, found[0].Frames)
	} else if a.selector != nil {
		tool.Args.Selector = a.selector
	}
	if err := p.full(); err != nil {
		return "", err
	}
	s := step.Step{ID: p.newID(), Tool: tool, TimeoutMS: tryTimeMS}
	model := p.model
	record, err := p.execute(ctx, s)
	if err != nil {
		return "", err
	}
	p.model = model // an assertion changes nothing
	if record.Status != playback.Passed {
		return record.Result.Message, nil
	}
	s.TimeoutMS = limit
	s.Tool, s.Result, s.ScreenshotID = record.Tool, &record.Result, record.ScreenshotID
	p.keep(s, a.why)
	return "", nil
}

// selectorFor returns how a step finds the element whose text it takes or compares: not by the text,
// but for a claim that it is there, where only a position in the page is left, which changes.
func selectorFor(at *snapshot.Located, a *assertion) *step.Selector {
	selector := at.Selector
	if a.own && at.Place != nil && (!a.there || a.not || !positional(at.Place) || positional(&at.Selector)) {
		selector = *at.Place
	}
	selector.Fingerprint = nil
	if a.selector != nil { // something in the element
		inner := *a.selector
		inner.Within = &selector
		return &inner
	}
	return &selector
}

// positional reports whether a selector counts elements from the top of the page.
func positional(s *step.Selector) bool {
	return s.Type == step.CSS && strings.Contains(s.Value, ":nth-")
}

// selectorOf returns how an assertion finds its element. Where the element is known by its text and by
// its position only, a comparison looks for the text in the nearest thing around it that has a name;
// without one it keeps the position. The text alone would compare nothing: anywhere on the page would do.
func (p *planner) selectorOf(ctx context.Context, m *page.Model, at *snapshot.Located, a *assertion) (*step.Selector, error) {
	onlyPosition := a.own && at.Place != nil && positional(at.Place) && !positional(&at.Selector)
	if !onlyPosition || a.there || a.not {
		return selectorFor(at, a), nil
	}
	inner := at.Selector
	around := namedAround(m, a.node, inner)
	switch {
	case around < 0:
		return selectorFor(at, a), nil
	case inner.Within == nil:
		box, err := p.boxOf(ctx, m.Nodes[around].Ref, at)
		if err != nil || box == nil {
			return selectorFor(at, a), err
		}
		inner.Within = box
	case m.RecordAt(a.node) >= 0 || len(textsOf(inner.Within)) == 0 || !told(inner.Within, inner):
		return selectorFor(at, a), nil
	}
	return selectorFor(&snapshot.Located{Selector: inner}, a), nil
}

// boxOf returns the selector of what stands around an element, nil where it is known by a position, or
// by what finds the element.
func (p *planner) boxOf(ctx context.Context, ref string, at *snapshot.Located) (*step.Selector, error) {
	found, err := p.cfg.Page.Locate(ctx, ref)
	if err != nil || len(found) == 0 || !slices.EqualFunc(found[0].Frames, at.Frames, sameValue) {
		return nil, err
	}
	for _, box := range []*step.Selector{&found[0].Selector, found[0].Place} {
		if box != nil && box.Type != step.ByText && told(box, at.Selector) { // a text may find a part of it only
			return step.WithoutFingerprints(box), nil
		}
	}
	return nil, nil
}

// namedAround returns the nearest thing around a node that has a name of its own, apart from what a
// selector finds the node by: the record that it is in, else a section, dialog or landmark. It is -1
// where there is none, and where only the main part of the page is left, which is nearly all of it.
func namedAround(m *page.Model, node int, s step.Selector) int {
	for at := m.Nodes[node].Parent; at >= 0; at = m.Nodes[at].Parent {
		if r := m.RecordAt(at); r >= 0 && m.Records[r].Node == at {
			if !tellsMore(m.Records[r].Title, s) {
				return -1 // the same text in another record would do
			}
			return at
		}
		c := m.ContainerAt(at)
		if c >= 0 && m.Containers[c].Node == at && m.Nodes[at].Role != "main" && tellsMore(m.Containers[c].Title, s) {
			return at
		}
	}
	return -1
}

// tellsMore reports whether a title says more than what a selector looks for.
func tellsMore(title string, s step.Selector) bool {
	return title != "" && !slices.ContainsFunc(textsOf(&s), func(text string) bool { return occurrence(title, text) != "" })
}

// told reports whether a selector finds its element neither by a position nor by what another one
// looks for.
func told(box *step.Selector, s step.Selector) bool {
	if box.Type == "" || box.Index != nil || positional(box) {
		return false
	}
	for _, text := range textsOf(box) {
		if !tellsMore(text, s) {
			return false
		}
	}
	return box.Within == nil || told(box.Within, s)
}

// textsOf are the texts of the page that a selector looks for.
func textsOf(s *step.Selector) []string {
	list := []string{s.Name, s.HasText}
	if s.Type == step.ByText || s.Type == step.XPath {
		list = append(list, s.Value)
	}
	if s.Has != nil {
		list = append(list, textsOf(s.Has)...)
	}
	return slices.DeleteFunc(list, func(text string) bool { return text == "" })
}

func sameValue(a, b step.Selector) bool { return a.Type == b.Type && a.Value == b.Value }

// nodeShows returns what a node and what is in it show.
func nodeShows(m *page.Model, node int) string {
	if node < 0 {
		return ""
	}
	if t := m.Nodes[node].Text; t != "" {
		return strings.Join(strings.Fields(t), " ")
	}
	text := m.Index().Text(node)
	if text == "" {
		text = m.Nodes[node].Name
	}
	return strings.Join(strings.Fields(text), " ")
}

// occurrence returns a part of a text that is some words but for case; "" without.
func occurrence(text, words string) string {
	words = strings.Join(strings.Fields(words), " ")
	if words == "" {
		return ""
	}
	low, want := strings.ToLower(text), strings.ToLower(words)
	if len(low) != len(text) {
		return ""
	}
	at := strings.Index(low, want)
	if at < 0 {
		return ""
	}
	return text[at : at+len(want)]
}
