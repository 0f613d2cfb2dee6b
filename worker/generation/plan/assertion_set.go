package plan

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// countOf asserts how many things there are: what a selector finds where it finds these and no other.
func countOf(m *page.Model, c *find.Check) (assertion, bool) {
	s, n := ofRole(c.Role), 0
	if c.Style != "" {
		s = ofStyle(c.Style)
	}
	if c.Count != 0 {
		var found []int
		if len(c.Nodes) != c.Count {
			return assertion{}, false
		}
		if s, found = setOf(m, c.Node, c.Nodes, c.Words); found == nil { // all of a list, and the head of the table
			whole := c.Group >= 0 && c.Group < len(m.Groups) && len(m.Groups[c.Group].Records) == c.Count
			if s = ofRole(commonRole(m, c.Nodes)); whole {
				found = withRole(m, c.Node, s.Value)
			}
		}
		n = len(found)
	}
	return assertion{node: c.Node, own: s.Type == step.CSS, selector: &s, matcher: step.Matcher{Name: step.Count,
			Args: step.MatcherArgs{Value: strconv.Itoa(n)}}},
		s.Value != "" && n >= c.Count
}

// toldCountOf asserts how many things there are of a text that each of them shows.
func toldCountOf(m *page.Model, c *find.Check) (assertion, bool) {
	role := commonRole(m, c.Nodes)
	if role == "" || len(c.Nodes) != c.Count {
		return assertion{}, false
	}
	for _, text := range sharedTexts(m, c.Nodes) {
		s := ofRole(role)
		s.HasText = text
		has := keepNodes(withRole(m, c.Node, role), func(n int) bool { return occurrence(nodeShows(m, n), text) != "" })
		if slices.Equal(has, slices.Sorted(slices.Values(c.Nodes))) {
			return assertion{node: c.Node, selector: &s, matcher: step.Matcher{Name: step.Count,
				Args: step.MatcherArgs{Value: strconv.Itoa(c.Count)}}}, true
		}
	}
	return assertion{}, false
}

// sharedTexts are the texts that each of some records shows as one of its attributes.
func sharedTexts(m *page.Model, nodes []int) []string {
	var shared []string
	for i, n := range nodes {
		r := m.RecordAt(n)
		if r < 0 || m.Records[r].Node != n {
			return nil
		}
		var texts []string
		for _, a := range m.Records[r].Attributes {
			if a.Number == nil && (i == 0 || slices.Contains(shared, a.Text)) {
				texts = append(texts, a.Text)
			}
		}
		shared = texts
	}
	return shared
}

// placeOf asserts what stands at a place of a list, from its end where the place is negative.
func placeOf(m *page.Model, c *find.Check) ([]assertion, bool) {
	at := c.Count - 1
	if c.Count < 0 {
		at = len(c.Nodes) + c.Count
	}
	if r := m.RecordAt(c.Subject); at < 0 || at >= len(c.Nodes) || r < 0 || m.Records[r].Title == "" {
		return nil, false
	}
	s, found := setOf(m, c.Node, c.Nodes, nil)
	if role := commonRole(m, c.Nodes); found == nil && role != "" {
		s, found = ofRole(role), withRole(m, c.Node, role)
	}
	title := beginning(m.Records[m.RecordAt(c.Subject)].Title)
	index := slices.IndexFunc(found, func(n int) bool { return m.Index().Contains(c.Nodes[at], n) })
	named := slices.ContainsFunc(found, func(n int) bool {
		return m.Index().Contains(c.Subject, n) &&
			occurrence(nodeShows(m, n), title) != ""
	})
	if index < 0 || !named { // a part of it that does not say what it is
		list, ok := orderOf(m, c)
		return list, ok && !c.Not
	}
	if c.Count < 0 {
		index -= len(found)
	}
	s.Index = &index
	return []assertion{{node: c.Node, selector: &s, not: c.Not,
		matcher: step.Matcher{Name: step.TextIs, Args: step.MatcherArgs{Value: title, Mode: step.Contains}}}}, true
}

func ofRole(role string) step.Selector { return step.Selector{Type: step.ByRole, Value: role} }

func ofStyle(css string) step.Selector { return step.Selector{Type: step.CSS, Value: css} }

// setOf returns a selector that finds some nodes in another one (-1: the page), or one part of each of
// them, and nothing else, with the nodes that it finds in the order of the document; nil without.
func setOf(m *page.Model, in int, nodes []int, words []string) (step.Selector, []int) {
	nodes = slices.Sorted(slices.Values(nodes))
	if role := commonRole(m, nodes); role != "" {
		all := withRole(m, in, role)
		if slices.Equal(all, nodes) {
			return ofRole(role), all
		}
		for _, cell := range []string{"cell", "gridcell"} {
			s := ofRole(role)
			has := ofRole(cell)
			if s.Has = &has; slices.Equal(keepNodes(all, func(n int) bool { return len(withRole(m, n, cell)) > 0 }), nodes) {
				return s, nodes
			}
		}
		if s := checkedOf(role); slices.Equal(keepNodes(all, func(n int) bool { return m.Nodes[n].Checked == "true" }), nodes) {
			return s, nodes
		}
		for _, w := range words {
			s := ofRole(role)
			if s.HasText = w; slices.Equal(keepNodes(all, func(n int) bool { return occurrence(nodeShows(m, n), w) != "" }), nodes) {
				return s, nodes
			}
		}
	}
	if s, found := partOf(m, in, nodes); found != nil {
		return s, found
	}
	if css := page.Alike(m, in, nodes); css != "" {
		return ofStyle(css), nodes
	}
	return step.Selector{}, nil
}

// partOf is setOf for one part of each node: the heading of a card, the box of a row that is checked.
func partOf(m *page.Model, in int, nodes []int) (step.Selector, []int) {
	if len(nodes) == 0 {
		return step.Selector{}, nil
	}
	for i := nodes[0] + 1; i < m.Index().End(nodes[0]); i++ {
		role := m.Nodes[i].Role
		if role == "" || role == "text" || role == "generic" {
			continue
		}
		all := withRole(m, in, role)
		if oneEach(m, all, nodes) {
			return ofRole(role), all
		}
		if on := keepNodes(all, func(n int) bool { return m.Nodes[n].Checked == "true" }); oneEach(m, on, nodes) {
			return checkedOf(role), on
		}
	}
	return step.Selector{}, nil
}

func checkedOf(role string) step.Selector {
	s := ofRole(role)
	s.State = map[string]bool{"checked": true}
	return s
}

// oneEach reports whether each node has one of the parts in it, and none is elsewhere.
func oneEach(m *page.Model, parts, nodes []int) bool {
	if len(parts) != len(nodes) {
		return false
	}
	for i := range parts {
		if !m.Index().Contains(nodes[i], parts[i]) {
			return false
		}
	}
	return true
}

func commonRole(m *page.Model, nodes []int) string {
	role := ""
	for i, n := range nodes {
		if r := m.Nodes[n].Role; i > 0 && r != role || r == "text" {
			return ""
		}
		role = m.Nodes[n].Role
	}
	return role
}

// withRole returns the nodes of a role in a node (-1: the page) that are seen.
func withRole(m *page.Model, in int, role string) []int {
	var list []int
	for i := in + 1; i < m.Index().End(in); i++ {
		if m.Nodes[i].Role == role && !m.Nodes[i].Hidden {
			list = append(list, i)
		}
	}
	return list
}

func keepNodes(list []int, keep func(int) bool) []int {
	return slices.DeleteFunc(slices.Clone(list), func(n int) bool { return !keep(n) })
}

// maxPatterns bounds the steps of one order: a list that needs more is not read by anybody.
const maxPatterns = 12

// orderOf asserts in which order things stand: as texts that follow each other, in as many patterns
// as a pattern's length asks for. None is made that would hold in the other order as well.
func orderOf(m *page.Model, c *find.Check) ([]assertion, bool) {
	if len(c.Nodes) < 2 {
		return nil, false
	}
	in := c.Nodes[0]
	var texts []string
	for _, n := range c.Nodes {
		in = m.Index().Common(in, n)
		text := nodeShows(m, n)
		if r := m.RecordAt(n); r >= 0 && m.Records[r].Node == n && m.Records[r].Title != "" {
			text = m.Records[r].Title
		}
		if text == "" {
			return nil, false
		}
		texts = append(texts, beginning(text))
	}
	for in >= 0 && m.Nodes[in].Tag == "slot" { // it only shows where the texts of its host go
		in = m.Nodes[in].Parent
	}
	var list []assertion
	for from := 0; from < len(texts)-1; {
		to := from + 2
		for to < len(texts) && patternFits(following(texts[from:to+1])) {
			to++
		}
		part := slices.Clone(texts[from:to])
		pattern := following(part)
		slices.Reverse(part)
		if other, err := step.Pattern(following(part)); err != nil || other.MatchString(m.Index().Text(in)) || len(list) == maxPatterns {
			return nil, false
		}
		a := assertion{node: in, own: true, not: c.Not, matcher: step.Matcher{Name: step.TextIs,
			Args: step.MatcherArgs{Value: pattern, Mode: step.Matches}}}
		if in < 0 {
			a.selector = &step.Selector{Type: step.CSS, Value: "body"}
		}
		list = append(list, a)
		from = to - 1 // which the next pattern begins with
	}
	return list, len(list) == 1 || !c.Not
}

func patternFits(pattern string) bool {
	_, err := step.Pattern(pattern)
	return err == nil
}

// maxBeginning is how many bytes of a title tell it from others.
const maxBeginning = 80

func beginning(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return strings.TrimSpace(strings.ToValidUTF8(text[:min(len(text), maxBeginning)], ""))
}

// following is a pattern of texts that follow each other.
func following(texts []string) string {
	parts := make([]string, len(texts))
	for i, text := range texts {
		words := strings.Fields(text)
		for k := range words {
			words[k] = regexp.QuoteMeta(words[k])
		}
		parts[i] = strings.Join(words, `\s+`)
	}
	return `(?is)` + strings.Join(parts, `.*?`)
}
