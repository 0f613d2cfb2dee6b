package report

import (
	"fmt"
	"slices"
	"strings"
)

// Cause is what the last failure of a test comes from.
type Cause struct {
	Key  string // the same for all failures of one cause; "": it is not known
	Text string // 503 of /api/cart
	// Reason is product, test, environment or unknown, and Why sentences about it.
	Reason string
	Why    []string
}

// Group are the tests that failed for one cause.
type Group struct {
	Cause
	Tests []*Case
}

// Title is the group in a line: 7 cases: 503 of /api/cart.
func (g *Group) Title() string {
	names := map[string]bool{}
	for _, c := range g.Tests {
		names[c.Suite+"\x00"+c.Name] = true
	}
	if len(names) == 1 {
		return "1 case: " + g.Text
	}
	return fmt.Sprintf("%d cases: %s", len(names), g.Text)
}

// Groups are the tests that failed by their causes, the largest first. A group of tests of several
// reasons is unknown.
func (r *Report) Groups() []Group {
	var list []Group
	at := map[string]int{}
	for i := range r.Cases {
		c := &r.Cases[i]
		if c.Cause.Key == "" || c.Outcome != Failed && c.Outcome != Errored {
			continue
		}
		k, ok := at[c.Cause.Key]
		if !ok {
			k = len(list)
			at[c.Cause.Key], list = k, append(list, Group{Cause: c.Cause})
		}
		if list[k].Reason != c.Cause.Reason {
			list[k].Reason = "unknown"
		}
		list[k].Tests = append(list[k].Tests, c)
	}
	slices.SortStableFunc(list, func(a, b Group) int { return len(b.Tests) - len(a.Tests) })
	return list
}

// maxNamed bounds the tests that a group names.
const maxNamed = 20

// causes are the groups in Markdown; "" where no cause is known.
func (r *Report) causes() string {
	groups := r.Groups()
	if len(groups) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n| Cause | Reason | Tests |\n|---|---|---|\n")
	for i := range groups {
		g := &groups[i]
		var names []string
		for _, c := range g.Tests[:min(len(g.Tests), maxNamed)] {
			names = append(names, link(c.Name, c.URL))
		}
		if more := len(g.Tests) - maxNamed; more > 0 {
			names = append(names, fmt.Sprintf("and %d more", more))
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", markdown(clip(g.Title(), 500)), markdown(g.Reason), strings.Join(names, ", "))
	}
	return b.String()
}
