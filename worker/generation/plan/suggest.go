package plan

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// suggester finds an assertion for a test whose intent has none: one that shows that the
// last action had its effect.
type suggester struct{ *planner }

const (
	// maxSuggestions is how many assertions are tried.
	maxSuggestions = 4
	// suggestionTimeMS is how long one may take to hold; it holds at once.
	suggestionTimeMS = 1500
)

// suggest adds an assertion that holds at the end to the steps, and returns others that
// hold as well. There is none where nothing stable can be said.
func (s suggester) suggest(ctx context.Context) ([]step.Step, error) {
	v, err := s.look(ctx)
	if err != nil || v.Dialog != nil {
		return nil, err
	}
	var held []step.Step
	var why []authoring.Reason
	mark := s.mark()
	for i, c := range s.ideas(v) {
		if i == maxSuggestions {
			break
		}
		matcher := c.matcher
		record, err := s.try(ctx, action{tool: step.Assert, on: c.on, why: "Suggested: " + c.why, timeoutMS: suggestionTimeMS,
			args: step.Args{Selector: c.selector, Not: c.not, Matcher: &matcher}})
		if err != nil {
			return nil, err
		}
		if record.Result.Success {
			last := s.steps[len(s.steps)-1]
			last.TimeoutMS = 0
			held, why = append(held, last), append(why, s.why[len(s.why)-1])
			s.drop(mark, nil)
		}
	}
	if len(held) == 0 {
		return nil, nil
	}
	s.keep(held[0], why[0].Description)
	s.note("suggested assertion", "The intent asks for none. This one holds at its end: "+why[0].Description)
	return held[1:], nil
}

// ideas returns claims that may hold and say something, the best first.
func (s suggester) ideas(v *view) []claim {
	var list []claim
	list = append(list, s.news(v)...)
	list = append(list, s.held(v)...)
	list = append(list, s.place(v)...)
	list = append(list, s.lost(v)...)
	return append(list, s.standing(v)...)
}

// newsRank says how likely a text that came is the effect of an action; 0: it is not.
func newsRank(n *snapshot.Node) int {
	switch n.Role {
	case "alert", "status":
		return 4
	case "heading":
		return 3
	case "text", "paragraph", "cell", "listitem":
		return 2
	}
	if !n.Interactive && n.Text != "" {
		return 1
	}
	return 0
}

// news claims texts that came with the last action.
func (s suggester) news(v *view) []claim {
	before := s.before
	if before == nil {
		return nil
	}
	former := map[string]bool{}
	for i := range before.Nodes {
		if n := &before.Nodes[i]; !n.Hidden {
			former[n.Ref+" "+foldText(before.textHere(i))] = true
		}
	}
	type idea struct {
		claim
		rank int
	}
	var list []idea
	for i := range v.Nodes {
		n := &v.Nodes[i]
		text := v.textHere(i)
		rank := newsRank(n)
		if n.Hidden || rank == 0 || n.Editable || !isStable(text) || former[n.Ref+" "+foldText(text)] || inOptions(v, i) {
			continue
		}
		list = append(list, idea{claim{on: n.Ref, why: "the text came with the last action",
			matcher: step.Matcher{Name: step.TextIs, Args: step.MatcherArgs{Value: strings.Join(strings.Fields(text), " "), Mode: step.Contains}}}, rank})
	}
	slices.SortStableFunc(list, func(a, b idea) int { return b.rank - a.rank })
	claims := make([]claim, len(list))
	for i := range list {
		claims[i] = list[i].claim
	}
	return claims[:min(len(claims), 2)]
}

// inOptions reports whether a node is in a list that is open only while one chooses.
func inOptions(v *view, i int) bool {
	return v.around(i, "listbox", "menu", "tooltip") >= 0
}

// isStable reports whether a text is likely to be the same at the next run: it has words,
// and no times, dates or long numbers.
func isStable(text string) bool {
	if len(text) < 2 || len(text) > 160 {
		return false
	}
	lettersSeen, digits, run := 0, 0, 0
	for _, r := range text {
		switch {
		case unicode.IsLetter(r):
			lettersSeen++
			run = 0
		case unicode.IsDigit(r):
			digits++
			if run++; run > 4 {
				return false
			}
		case r == ':' && run > 0, r == '•', r == '*':
			return false
		default:
			run = 0
		}
	}
	if _, ok := readDay(text, false); ok {
		return false
	}
	return lettersSeen >= 2 && lettersSeen > digits && !strings.Contains(foldText(text), " ago") && !strings.Contains(foldText(text), "loading")
}

// held claims what the thing that was acted on last holds: its value or state.
func (s suggester) held(v *view) []claim {
	n := v.node(s.focus.target)
	if n == nil || n.Hidden {
		return nil
	}
	c := claim{on: n.Ref, why: describeNode(n) + " is as the test left it"}
	switch {
	case n.Checked != "":
		c.matcher, c.not = step.Matcher{Name: step.Checked}, n.Checked != "true"
	case n.Password:
		return nil
	case n.HasValue && n.Value != "" && (n.Editable || len(n.Options) > 0) && !strings.ContainsAny(n.Value, "•*"):
		value := n.Value
		for _, o := range n.Options {
			if o.Selected {
				value = o.Value
			}
		}
		c.matcher = step.Matcher{Name: step.ValueIs, Args: step.MatcherArgs{Value: value}}
	case n.Expanded != "" && n.Tag != "details" && n.Tag != "summary":
		c.matcher = step.Matcher{Name: step.AttributeIs, Args: step.MatcherArgs{Name: "aria-expanded", Value: n.Expanded}}
	case n.Selected == "true" && (n.Role == "tab" || n.Role == "option" || n.Role == "row" || n.Role == "treeitem"):
		c.matcher = step.Matcher{Name: step.AttributeIs, Args: step.MatcherArgs{Name: "aria-selected", Value: "true"}}
	default:
		return nil
	}
	return []claim{c}
}

// place claims the address and the title, where they are other ones.
func (s suggester) place(v *view) []claim {
	var list []claim
	if s.before == nil || s.before.Title != v.Title && isStable(v.Title) {
		list = append(list, claim{why: "the title of the page", matcher: step.Matcher{Name: step.TitleIs, Args: step.MatcherArgs{Value: v.Title}}})
	}
	if s.before != nil && s.before.URL != v.URL {
		if u, err := url.Parse(v.URL); err == nil {
			part := u.Path
			if u.Fragment != "" {
				part = "#" + u.Fragment
			}
			if len(part) > 1 && !strings.ContainsAny(part, "?&") && longestDigits(part) < 5 {
				list = append(list, claim{why: "the address of the page", matcher: step.Matcher{Name: step.URLIs, Args: step.MatcherArgs{Value: part, Mode: step.Contains}}})
			}
		}
	}
	return list
}

func longestDigits(text string) (longest int) {
	run := 0
	for _, r := range text {
		if unicode.IsDigit(r) {
			run++
		} else {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}

// lost claims that a text that went away with the last action is not seen any more.
func (s suggester) lost(v *view) []claim {
	if s.before == nil || s.before.URL != v.URL {
		return nil
	}
	for i := range s.before.Nodes {
		n := &s.before.Nodes[i]
		text := s.before.textHere(i)
		if n.Hidden || n.Editable || !isStable(text) || len(s.before.children[i]) > 0 {
			continue
		}
		if at, _ := v.findText(text, true); at < 0 {
			return []claim{{selector: &step.Selector{Type: step.ByText, Value: text}, why: "the text went away with the last action", matcher: step.Matcher{Name: step.Hidden}}}
		}
	}
	return nil
}

// standing claims what the page shows in any case: its first heading, else its title.
func (s suggester) standing(v *view) []claim {
	var list []claim
	for i := range v.Nodes {
		if n := &v.Nodes[i]; n.Role == "heading" && !n.Hidden && isStable(n.Name) {
			list = append(list, claim{on: n.Ref, why: "the heading of the page",
				matcher: step.Matcher{Name: step.TextIs, Args: step.MatcherArgs{Value: strings.Join(strings.Fields(v.shown(i)), " "), Mode: step.Contains}}})
			break
		}
	}
	if isStable(v.Title) {
		list = append(list, claim{why: "the title of the page", matcher: step.Matcher{Name: step.TitleIs, Args: step.MatcherArgs{Value: v.Title}}})
	}
	return list
}
