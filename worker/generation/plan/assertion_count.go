package plan

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// count claims how many elements of a kind there are.
func (a asserter) count(ctx context.Context, v *view, want *intent.Assertion) ([]claim, error) {
	if want.Subject == nil || len(want.Values) == 0 || want.Values[0].Number == nil {
		return nil, a.notUnderstood("it does not say how many of what")
	}
	number := int(*want.Values[0].Number)
	mode := want.Mode
	if mode == "" {
		mode = step.Equals
	}
	s := want.Subject
	within, err := a.container(ctx, v, s)
	if err != nil {
		return nil, err
	}
	root := -1
	if within != nil {
		m, err := a.pick(v, &s.Relations[0].Phrase, toHold)
		if err != nil {
			return nil, err
		}
		root = m.index
	} else if len(s.Relations) > 0 {
		return nil, a.notUnderstood("it does not say clearly where they are")
	}
	kinds := kindsOf(v, s, root)
	if len(kinds) == 0 {
		return nil, a.notUnderstood("it is not clear what to count")
	}
	seen := 0
	for _, k := range kinds {
		if !compareCount(k.count, number, mode, want.Not) {
			seen = k.count
			continue
		}
		selector := k.selector
		selector.Within = within
		return []claim{{selector: &selector, not: want.Not, why: fmt.Sprintf("%d of them now", k.count),
			matcher: step.Matcher{Name: step.Count, Args: step.MatcherArgs{Value: strconv.Itoa(number), Mode: mode}}}}, nil
	}
	return nil, &FailedError{Code: codeAssertion, Detail: fmt.Sprintf("%s: there are %d", a.says(want), seen)}
}

func compareCount(has, number int, mode string, not bool) bool {
	switch mode {
	case step.AtLeast:
		return (has >= number) != not
	case step.AtMost:
		return (has <= number) != not
	}
	return (has == number) != not
}

// countable is a kind of elements: how a selector finds them, and how many there are.
type countable struct {
	selector step.Selector
	count    int
}

// kindsOf returns what a phrase may count: by the roles that it means, else by the word
// that items of one kind have in common.
func kindsOf(v *view, s *intent.Phrase, root int) []countable {
	var kinds []countable
	for _, role := range s.Roles {
		if role == "text" || role == "generic" {
			continue
		}
		k := countable{selector: step.Selector{Type: step.ByRole, Value: role, Name: s.Name}}
		cell := ""
		if role == "row" { // a row of headers is none of those that people count
			cell = cellRole(v, root)
			if cell != "" {
				k.selector.Has = &step.Selector{Type: step.ByRole, Value: cell}
			}
		}
		for _, i := range v.within(root, func(n *snapshot.Node) bool { return n.Role == role && !n.Hidden }) {
			if s.Name != "" && !strings.Contains(foldText(v.Nodes[i].Name), foldText(s.Name)) {
				continue
			}
			if cell != "" && !slices.ContainsFunc(v.within(i, isAny), func(c int) bool { return v.Nodes[c].Role == cell }) {
				continue
			}
			k.count++
		}
		kinds = append(kinds, k)
	}
	if len(kinds) == 0 || !slices.ContainsFunc(kinds, func(k countable) bool { return k.count > 0 }) {
		if k, ok := itemsCalled(v, s.Noun, root); ok {
			kinds = append([]countable{k}, kinds...)
		} else if k, ok := itemsCalled(v, s.Name, root); ok {
			kinds = append([]countable{k}, kinds...)
		}
	}
	return kinds
}

func isAny(*snapshot.Node) bool { return true }

// cellRole returns the role of the cells in a container.
func cellRole(v *view, root int) string {
	for _, role := range []string{"cell", "gridcell"} {
		if len(v.within(root, func(n *snapshot.Node) bool { return n.Role == role })) > 0 {
			return role
		}
	}
	return ""
}

// itemsCalled returns the items whose class or test id is a word: products are what has
// the class product, todos what has todo-item.
func itemsCalled(v *view, word string, root int) (countable, bool) {
	stem := strings.TrimSuffix(strings.TrimSuffix(foldText(word), "s"), "e")
	if utf8.RuneCountInString(stem) < 3 || strings.ContainsAny(stem, " \"\\") {
		return countable{}, false
	}
	ids := map[string]int{}
	for _, i := range v.within(root, func(n *snapshot.Node) bool { return !n.Hidden && n.TestID != "" }) {
		if id := v.Nodes[i].TestID; slices.ContainsFunc(strings.FieldsFunc(foldText(id), isBetween), func(w string) bool { return strings.HasPrefix(w, stem) }) {
			ids[id]++
		}
	}
	if len(ids) == 1 {
		for id, n := range ids {
			return countable{step.Selector{Type: step.TestID, Value: id}, n}, true
		}
	}
	// Lists and tables with that name: their items.
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if n.Hidden || n.Role != "list" && n.Role != "table" && n.Role != "listbox" && n.Role != "feed" || root >= 0 && !v.inside(i, root) {
			continue
		}
		if !slices.ContainsFunc(strings.Fields(squeeze(n.Name)), func(w string) bool { return strings.HasPrefix(w, stem) }) {
			continue
		}
		item := map[string]string{"list": "listitem", "table": "row", "listbox": "option", "feed": "article"}[n.Role]
		k := countable{selector: step.Selector{Type: step.ByRole, Value: item, Within: &step.Selector{Type: step.ByRole, Value: n.Role, Name: n.Name}}}
		k.count = len(v.within(i, func(n *snapshot.Node) bool { return n.Role == item && !n.Hidden }))
		return k, true
	}
	return countable{}, false
}

func isBetween(r rune) bool { return r == '-' || r == '_' || r == ' ' || r == ':' }

// order claims that texts follow each other in what they are in.
func (a asserter) order(ctx context.Context, v *view, want *intent.Assertion) ([]claim, error) {
	names := make([]string, 0, len(want.Values))
	for _, value := range want.Values {
		names = append(names, value.Text)
	}
	root := -1
	if len(names) == 0 {
		if want.Subject == nil || want.Order == "" {
			return nil, a.notUnderstood("it does not say which order")
		}
		items, texts, err := a.sequence(v, want.Subject)
		if err != nil {
			return nil, err
		}
		if !isSorted(texts, want.Order == "descending") != want.Not {
			return nil, a.seen(want, "order", strings.Join(texts, ", "))
		}
		if want.Not {
			return nil, a.notUnderstood("that things are in no order cannot be a step")
		}
		names = texts
		root = meet(v, items[0], items[len(items)-1])
		if table := v.find(v.Nodes[items[0]].Table); table >= 0 && v.Nodes[items[0]].Table != "" {
			root = table // a group of rows is no element that a step finds well
		}
	} else {
		first, _ := v.findText(names[0], true)
		last, _ := v.findText(names[len(names)-1], true)
		if first < 0 || last < 0 {
			return nil, a.missing(want)
		}
		root = meet(v, first, last)
	}
	pattern := following(names)
	if _, err := step.Pattern(pattern); err != nil {
		return nil, a.notUnderstood("there are too many of them for one step")
	}
	c := claim{selector: &step.Selector{Type: step.CSS, Value: "body"}, not: want.Not, why: "what they are in",
		matcher: step.Matcher{Name: step.TextIs, Args: step.MatcherArgs{Value: pattern, Mode: step.Matches}}}
	if root >= 0 {
		c.on, c.selector = v.Nodes[root].Ref, nil
	}
	_ = ctx
	return []claim{c}, nil // the step sees whether it holds
}

// following is a pattern of texts that follow each other.
func following(names []string) string {
	parts := make([]string, len(names))
	for i, name := range names {
		words := strings.Fields(name)
		for k := range words {
			words[k] = regexp.QuoteMeta(words[k])
		}
		parts[i] = strings.Join(words, `\s+`)
	}
	return `(?is)` + strings.Join(parts, `\b.*?`)
}

// sequence returns the items that a phrase means, and what each shows.
func (a asserter) sequence(v *view, s *intent.Phrase) ([]int, []string, error) {
	items, err := a.sortable(v, s)
	if err != nil {
		return nil, nil, err
	}
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = v.shown(item)
	}
	return items, texts, nil
}
