package find

import (
	"regexp"
	"strconv"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

var (
	copies    = regexp.MustCompile(`^(\d+) ?[x×] `)
	onlyCount = regexp.MustCompile(`^(\d+)$`)
)

// Copies returns how many of its thing an entry of a list says that there are, as "2 × Tea" or in a number
// beside its name, and the node that says it; 0 where it says nothing.
func Copies(m *page.Model, record int) (n, node int) {
	for _, form := range []*regexp.Regexp{copies, onlyCount} {
		for i := range m.Records[record].Attributes {
			a := &m.Records[record].Attributes[i]
			if found := form.FindStringSubmatch(a.Text); found != nil && (form == copies || ofQuantity(a.Name)) {
				n, _ = strconv.Atoi(found[1])
				return n, a.Node
			}
		}
	}
	for i := range m.Fields {
		if f := &m.Fields[i]; f.Record == record && f.Kind == "number" {
			n, _ = strconv.Atoi(f.Value)
			return n, f.Node
		}
	}
	return 0, -1
}

// ofQuantity reports whether a column of a name says how many there are: it has no name, or that of a quantity,
// and not that of a number by which things are known.
func ofQuantity(column string) bool {
	return column == "" || lexicon.Means(column, "", "quantity") && !lexicon.Means(column, "", "number")
}

// left evaluates how many there are of what was spoken of, where its entry says so: "one is left".
func (k *claimer) left(d *intent.Description, want float64) bool {
	if !d.Pronoun || d.Other || len(k.w.Among) != 1 || k.w.Among[0].What != Record || k.w.Among[0].Index >= len(k.m.Records) {
		return false
	}
	c := &k.w.Among[0]
	if !copies.MatchString(k.m.Records[c.Index].Title) {
		return false
	}
	n, node := Copies(k.m, c.Index)
	k.e.Known, k.e.Holds = true, within(float64(n), opOf(k.c.Op), want, want) != k.c.Not
	k.e.Why = k.m.Records[c.Index].Title
	k.e.Subject = append(k.e.Subject, *c)
	k.use(d.Span, "it")
	k.use(k.c.Values[0].Span, "so many")
	k.e.Checks = append(k.e.Checks, Check{Kind: "contains", Node: node, Group: -1, Text: k.m.Records[c.Index].Title, Not: k.c.Not})
	return true
}
