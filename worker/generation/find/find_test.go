package find

import (
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// people is a page with a list of members in two groups of near names.
func people() *page.Model {
	s := newSketch("en", "Rowing club")
	s.table(-1, "Members", "Name|Sport|Age|Fee",
		"Tom Reyes|Rowing|31|20 €|[Delete]",
		"Tomas Reyes|Chess|16|10 €|[Delete]",
		"Anna Klein|Rowing|45|20 €|[Delete]",
		"Anna Klein|Chess|52|25 €|[Delete]",
		"Bo Lindgren|Chess|23|20 €|[Delete]",
		"Bo Lindqvist|Rowing|29|15 €|[Delete]",
		"Sal|Rowing|60|5 €|[Delete]",
		"Salsa|Chess|61|6 €|[Delete]")
	return s.m
}

func shop() *page.Model {
	s := newSketch("en", "Kitchen shop")
	s.table(-1, "", "",
		"Bread knife|24 €|4 stars|[Add to cart]",
		"Paring knife|9 €|5 stars|[Add to cart]",
		"Wooden spoon|4 €|3 stars|[Add to cart]",
		"Blue pan|49 €|2 stars|[Add to cart]",
		"Blue van toy|19 €|2 stars|[Add to cart]")
	return s.m
}

// flights is a list whose prices stand on buttons.
func flights() *page.Model {
	s := newSketch("en", "Book a flight")
	s.table(-1, "", "",
		"Depart 06:10|Duration 7h 20m|[Book flight for $412]",
		"Depart 12:35|Duration 11h 5m|[Book flight for $230]",
		"Depart 21:00|Duration 5h 45m|[Book flight for $655]")
	return s.m
}

// found is the short form of a result: the titles of the candidates that are meant.
func found(m *page.Model, f Found) string {
	if len(f.Missing) > 0 {
		return "missing"
	}
	if f.Ambiguous && !f.Plural {
		return "ambiguous"
	}
	if !f.Plural && len(f.Candidates) > 0 && f.Candidates[0].Score < Enough {
		return "weak"
	}
	var out []string
	n := 1
	if f.Plural {
		n = len(f.Candidates)
	}
	for _, c := range f.Candidates[:min(n, len(f.Candidates))] {
		switch c.What {
		case Record:
			out = append(out, m.Records[c.Index].Title)
		case Attribute:
			a := m.Records[c.Index].Attributes[c.Sub]
			out = append(out, a.Name+"="+a.Text)
		case Field:
			out = append(out, m.Fields[c.Index].Label)
		case Option:
			out = append(out, m.Fields[c.Index].Options[c.Sub].Label)
		case Control:
			out = append(out, m.Controls[c.Index].Names[0].Text)
		case Container:
			out = append(out, "in "+c.Why)
		case Line:
			out = append(out, m.Lines[c.Index].Text)
		case Column:
			out = append(out, "column "+m.Groups[c.Index].Columns[c.Sub].Name)
		}
	}
	return strings.Join(out, ", ")
}

func TestRecords(t *testing.T) {
	var p spans
	with := func(d intent.Description, having string) intent.Description {
		d.Having = append(d.Having, p.say(having))
		return d
	}
	most := func(d intent.Description, measure string, greatest bool) intent.Description {
		d.Extreme = &intent.Extreme{Span: p.next(measure), Measure: measure, Max: greatest}
		return d
	}
	withMost := func(d, having intent.Description) intent.Description {
		d.Having = append(d.Having, having)
		return d
	}
	of := func(word, of string) intent.Description {
		d := p.say(word)
		o := p.say(of)
		d.Of = &o
		return d
	}
	nth := func(d intent.Description, n int) intent.Description {
		d.Ordinal = n
		if d.Noun == "row" {
			d.Kind = intent.Row
		}
		return d
	}
	under := func(d intent.Description, n float64) intent.Description {
		d.All = true
		d.Compare = []intent.Comparison{{Span: p.next("below"), Op: "<", Value: intent.Value{Number: &n, Unit: "euros", UnitClass: "money"}}}
		return d
	}
	tests := []struct {
		name string
		m    *page.Model
		d    intent.Description
		want string
	}{
		{"whole name", people(), p.say("Tom Reyes"), "Tom Reyes"},
		{"part of a name that two have", people(), p.say("Reyes"), "ambiguous"},
		{"part of a name that one has", people(), p.say("Lindqvist"), "Bo Lindqvist"},
		{"first name that two have", people(), p.say("Bo"), "ambiguous"},
		{"near miss", people(), p.say("Tommy Reyes"), "missing"},
		{"whole beats part", people(), p.say("Sal"), "Sal"},
		{"same name twice", people(), p.say("Anna Klein"), "ambiguous"},
		{"told apart by what they do", people(), with(p.say("Anna Klein"), "rows"), "Anna Klein"},
		{"told apart by an attribute", people(), with(p.say("Anna"), "chess"), "Anna Klein"},
		{"noun of the list", people(), p.say("Bo Lindgren/member"), "Bo Lindgren"},
		{"youngest", people(), most(p.say("/member"), "age", false), "Tomas Reyes"},
		{"oldest of those who row", people(), most(with(p.say("/member"), "rows"), "age", true), "Sal"},
		{"property", people(), of("fee", "Bo Lindgren"), "Fee=20 €"},
		{"property of none", people(), of("fee", "Bo Lindholm"), "missing"},
		{"third", people(), nth(p.say("/member"), 3), "Anna Klein"},
		{"last", people(), nth(p.say("/row"), -1), "Salsa"},
		{"cheapest of some", shop(), most(p.say("/knife"), "price", false), "Paring knife"},
		{"best", shop(), most(p.say("/product"), "rating", true), "Paring knife"},
		{"worst of two alike", shop(), most(p.say("/product"), "rating", false), "ambiguous"},
		{"price on a button", flights(), most(p.say("/flight"), "price", false), "Depart 12:35"},
		{"hours are no price", flights(), most(p.say("/flight"), "price", true), "Depart 21:00"},
		{"hours and minutes", flights(), most(p.say("/flight"), "duration", false), "Depart 21:00"},
		{"with the shortest duration", flights(), withMost(p.say("flight"), most(p.say("/duration"), "duration", false)), "Depart 21:00"},
		{"bound", shop(), under(p.say("/knife"), 15), "Paring knife"},
		{"bound of all", shop(), under(p.say("/article"), 20), "Paring knife, Wooden spoon, Blue van toy"},
		{"not there", shop(), p.say("yellow van"), "missing"},
		{"noun that is nowhere", shop(), p.say("/yacht"), "missing"},
		{"extreme that nothing shows", shop(), most(p.say("/knife"), "duration", true), "missing"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := Want{Lang: "en", Within: -1, Kinds: []What{Record, Attribute}}
			f := Description(tt.m, &tt.d, w)
			if got := found(tt.m, f); got != tt.want {
				t.Errorf("found %q, want %q", got, tt.want)
				for _, c := range f.Candidates {
					t.Logf("%s %.3f %s used %v missing %v", c.What, c.Score, c.Why, c.Used, c.Missing)
				}
			}
		})
	}
}

// Where the text says "button", what has that role is meant before a pressable box of its name.
func TestRoleDecides(t *testing.T) {
	for _, c := range []struct {
		kind      intent.Kind
		roles     []string
		ambiguous bool
	}{
		{intent.Button, []string{"", "button"}, false},
		{intent.Button, []string{"button", ""}, false},
		{intent.Button, []string{"button", "button"}, true},
		{intent.Button, []string{"", ""}, true},
	} {
		s := newSketch("en", "Draft")
		for _, role := range c.roles {
			s.control(0, "discard", role, -1)
		}
		p := &spans{}
		d := p.say("discard")
		d.Kind, d.Noun = c.kind, string(c.kind)
		f := Description(s.m, &d, Want{Lang: "en", Kinds: []What{Control}})
		if f.Ambiguous != c.ambiguous || !c.ambiguous && s.m.Nodes[f.Candidates[0].Node].Role != "button" {
			t.Errorf("%v: %+v", c.roles, f)
		}
	}
}

// A handle tells which record is meant, though nothing says what the list holds.
func TestHandle(t *testing.T) {
	s := newSketch("en", "Feed")
	s.table(-1, "", "", "Otto|@otto 3h|Rain again.", "Mina|@mina 5h|Sun at last.", "Pia|@pia 6h|Snow.")
	p := &spans{}
	for _, noun := range []string{"", "user"} {
		d := p.say("@mina")
		d.Noun = noun
		if noun != "" {
			d.NounSpan = p.next("user")
		}
		f := Description(s.m, &d, Want{Lang: "en", Kinds: []What{Record}})
		if !f.Clear() || len(f.Assumed) > 0 != (noun != "") || s.m.Records[f.Candidates[0].Index].Title != "Mina" {
			t.Errorf("%q: %+v", noun, f)
		}
	}
}
