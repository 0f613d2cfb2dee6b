package find

import (
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// account is a page with a list, a total, a message and a box.
func account(total string, notes ...string) *page.Model {
	s := newSketch("en", "Notes")
	s.table(-1, "Notes", "Note|State", notes...)
	c := s.container("section", "Archive", -1)
	s.table(c, "", "Note|State", "Old frost|done")
	s.line(-1, "Total "+total)
	s.line(-1, "All changes saved.")
	s.field(0, "switch", "Newsletter", "true")
	s.m.Nodes[s.m.Fields[0].Node].Checked = "true"
	return s.m
}

func TestClaim(t *testing.T) {
	before := account("20", "Late frost|draft", "Stork count|draft")
	after := account("30", "Late frost|published", "Stork count|draft", "Snowdrops|draft")
	num := func(n float64, text string) intent.Value { return intent.Value{Text: text, Number: &n} }
	type c = intent.Claim
	say := func(texts ...string) (out []intent.Description) {
		var p spans
		for _, t := range texts {
			out = append(out, p.say(t))
		}
		return out
	}
	where, nowhere := say("archive")[0], say("attic")[0]
	tests := []struct {
		name string
		c    c
		want string
	}{
		{"shown", c{Subject: say("Snowdrops"), Property: intent.Shown}, "holds"},
		{"shown before too", c{Subject: say("Stork count"), Property: intent.Shown}, "holds trivial"},
		{"not shown", c{Subject: say("Snow leopard"), Property: intent.Shown}, "fails"},
		{"gone", c{Subject: say("Spring tide"), Property: intent.Gone}, "holds trivial"},
		{"not gone", c{Subject: say("Stork count"), Property: intent.Gone}, "fails"},
		{"appears", c{Subject: say("Snowdrops"), Property: intent.Appears}, "holds"},
		{"was there and does not appear", c{Subject: say("Stork count"), Property: intent.Appears}, "fails trivial"},
		{"text over words", c{Property: intent.Contains, Values: []intent.Value{{Text: "All changes saved.", Quoted: true}}}, "holds trivial"},
		{"record is", c{Subject: say("Late frost"), Property: intent.Is, Be: []intent.State{{Name: "published"}}}, "holds"},
		{"record is not", c{Subject: say("Stork count"), Property: intent.Is, Be: []intent.State{{Name: "published"}}}, "fails"},
		{"total", c{Subject: say("total"), Property: intent.Is, Values: []intent.Value{num(30, "30")}}, "holds"},
		{"other total", c{Subject: say("total"), Property: intent.Is, Values: []intent.Value{num(3, "3")}}, "fails"},
		{"own words do not count", c{Subject: say("total"), Property: intent.Is, Values: []intent.Value{{Text: "Total"}}}, "fails"},
		{"counted", c{Subject: say("/notes"), Property: intent.Counts, Values: []intent.Value{num(3, "3")}}, "holds"},
		{"counted wrong", c{Subject: say("/notes"), Property: intent.Counts, Values: []intent.Value{num(4, "4")}}, "fails"},
		{"order", c{Subject: say("Late frost", "Snowdrops"), Property: intent.Order}, "holds"},
		{"other order", c{Subject: say("Snowdrops", "Late frost"), Property: intent.Order}, "fails"},
		{"last", c{Subject: say("Snowdrops"), Property: intent.At, Values: []intent.Value{num(-1, "last")}}, "holds"},
		{"second", c{Subject: say("Late frost"), Property: intent.At, Values: []intent.Value{num(2, "second")}}, "fails trivial?"},
		{"in", c{Subject: say("Old frost"), Property: intent.In, Where: &where}, "holds trivial"},
		{"not in", c{Subject: say("Stork count"), Property: intent.In, Where: &where}, "fails"},
		{"only", c{Subject: say("Stork count"), Property: intent.Shown, Only: true}, "fails"},
		{"all", c{Subject: say("Late frost", "Stork count", "Snowdrops"), Property: intent.Shown, Only: true}, "holds"},
		{"checked", c{Subject: say("Newsletter"), Property: intent.Is, Be: []intent.State{{Name: "checked"}}}, "holds trivial"},
		{"unchanged", c{Subject: say("Stork count"), Property: intent.Unchanged}, "holds"},
		{"changed", c{Subject: say("Late frost"), Property: intent.Unchanged}, "fails"},
		{"is changed", c{Subject: say("total"), Property: intent.Unchanged, Not: true, Op: "="}, "holds"},
		{"is not changed", c{Subject: say("Stork count"), Property: intent.Unchanged, Not: true, Op: "="}, "fails"},
		{"more", c{Subject: say("total"), Property: intent.Unchanged, Not: true, Op: ">"}, "holds"},
		{"less", c{Subject: say("total"), Property: intent.Unchanged, Not: true, Op: "<"}, "fails"},
		{"more by", c{Subject: say("total"), Property: intent.Unchanged, Not: true, Op: ">", Values: []intent.Value{num(10, "10")}}, "holds"},
		{"more by less", c{Subject: say("total"), Property: intent.Unchanged, Not: true, Op: ">", Values: []intent.Value{num(5, "5")}}, "fails"},
		{"counted where nothing is", c{Subject: say("/notes"), Property: intent.Counts, Values: []intent.Value{num(3, "3")},
			Where: &nowhere}, "unknown"},
		{"not what was never shown", c{Subject: say("total"), Property: intent.Is, Not: true,
			Values: []intent.Value{{Text: "word behind it"}}}, "unknown"},
		{"no number any more", c{Subject: say("total"), Property: intent.Is, Not: true,
			Values: []intent.Value{{Text: "number behind it"}}}, "fails"},
		{"not what another shows", c{Subject: say("total"), Property: intent.Is, Not: true,
			Values: []intent.Value{{Text: "Late frost"}}}, "holds"},
		{"nobody", c{Subject: say("Quentin"), Property: intent.Is, Be: []intent.State{{Name: "checked"}}}, "unknown"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := Claim(before, after, &tt.c, Want{Lang: "en", Within: -1})
			got := "fails"
			switch {
			case !e.Known:
				got = "unknown"
			case e.Holds:
				got = "holds"
			}
			if got == "holds" && len(e.Checks) == 0 {
				t.Error("nothing of it can be a step")
			}
			if e.Trivial {
				got += " trivial"
			}
			want, _ := strings.CutSuffix(tt.want, " trivial?")
			if want == "fails trivial" {
				want = "fails"
				got = strings.TrimSuffix(got, " trivial")
			}
			if got != want {
				t.Errorf("got %s, want %s: %s", got, want, e.Why)
			}
		})
	}
}

// TestTruncated leaves open what only all of a page can say, where a part of it was read.
func TestTruncated(t *testing.T) {
	num := func(n float64) []intent.Value { return []intent.Value{{Number: &n}} }
	say := func(text string) []intent.Description {
		var p spans
		return []intent.Description{p.say(text)}
	}
	for name, c := range map[string]struct {
		claim intent.Claim
		open  bool
	}{
		"counts": {intent.Claim{Subject: say("/notes"), Property: intent.Counts, Values: num(2)}, true},
		"last":   {intent.Claim{Subject: say("Stork count"), Property: intent.At, Values: num(-1)}, true},
		"second": {intent.Claim{Subject: say("Stork count"), Property: intent.At, Values: num(2)}, false},
		"shown":  {intent.Claim{Subject: say("Stork count"), Property: intent.Shown}, false},
	} {
		for _, cut := range []bool{false, true} {
			m := account("20", "Late frost|draft", "Stork count|draft")
			m.Truncated = cut
			e := evaluate(nil, m, &c.claim, Want{Lang: "en", Within: -1})
			if holds := e.Known && e.Holds; holds != !(cut && c.open) {
				t.Errorf("%s, truncated %v: holds %v: %s", name, cut, holds, e.Why)
			}
		}
	}
	for name, c := range map[string]struct {
		of   func(*intent.Description)
		open bool
	}{
		"last":  {func(d *intent.Description) { d.Ordinal = -1 }, true},
		"all":   {func(d *intent.Description) { d.All = true }, true},
		"first": {func(d *intent.Description) { d.Ordinal = 1 }, false},
		"least": {func(d *intent.Description) { d.Extreme = &intent.Extreme{Measure: "price"} }, true},
	} {
		for _, cut := range []bool{false, true} {
			m := shop()
			m.Truncated = cut
			var p spans
			d := p.say("/products")
			c.of(&d)
			f := Description(m, &d, Want{Kinds: []What{Record}, Lang: "en", Within: -1})
			if (f.Uncertain != "") != (cut && c.open) {
				t.Errorf("%s, truncated %v: %q", name, cut, f.Uncertain)
			}
		}
	}
}

// TestCountOfAList counts what a list has where the words for it are only in the name of a field, and all
// of it where one thing was spoken of before.
func TestCountOfAList(t *testing.T) {
	s := newSketch("en", "Notes")
	s.table(-1, "", "Note|State", "Late frost|draft", "Stork count|draft", "Old frost|done")
	s.field(0, "text", "New task", "")
	s.field(0, "text", "Search tasks", "")
	var p spans
	tasks := p.say("tasks")
	all := intent.Description{Pronoun: true, All: true}
	for _, c := range []struct {
		name   string
		d      intent.Description
		number float64
		want   bool
	}{{"tasks", tasks, 3, true}, {"other number of tasks", tasks, 2, false}, {"all of them", all, 3, true}, {"all but one", all, 2, false}} {
		claim := intent.Claim{Subject: []intent.Description{c.d}, Property: intent.Counts, Values: []intent.Value{{Number: &c.number}}}
		w := Want{Lang: "en", Within: -1, Among: []Candidate{{What: Record, Index: 0, Node: s.m.Records[0].Node, Sub: -1, Score: 1}}}
		if e := Claim(nil, s.m, &claim, w); (e.Known && e.Holds) != c.want {
			t.Errorf("%s: known %v, holds %v (%s), want %v", c.name, e.Known, e.Holds, e.Why, c.want)
		}
	}
}

// TestCountOfWhatTheListIsNot counts no list for what only the label of a field speaks of.
func TestCountOfWhatTheListIsNot(t *testing.T) {
	three := 3.0
	for _, c := range []struct {
		name, title, field string
		lists              int
		button             bool
		want               bool
	}{
		{"the page is called so", "Invoices", "Search invoices", 1, false, true},
		{"one more is added to it", "Shop", "New invoice", 1, false, true},
		{"a button adds one", "Shop", "New invoice", 1, true, true},
		{"it is only searched", "Shop", "Search invoices", 1, false, false},
		{"it is only numbered", "Shop", "Invoice number", 1, false, false},
		{"another list is there", "Shop", "New invoice", 2, false, false},
	} {
		s := newSketch("en", c.title)
		s.table(-1, "", "Name|Town", "Ann|Ulm", "Bo|Rome", "Cy|Oslo")
		if c.lists > 1 {
			s.table(-1, "", "Deal|State", "Big|open", "Small|lost")
		}
		list := s.m.Groups[0].Node
		s.m.Containers = append(s.m.Containers, page.Container{Kind: "list", Node: list, End: list, Opener: -1, Parent: -1})
		if c.button {
			s.control(0, c.field, "button", -1)
		} else {
			s.field(0, "text", c.field, "")
		}
		var p spans
		claim := intent.Claim{Subject: []intent.Description{p.say("invoices")}, Property: intent.Counts, Values: []intent.Value{{Number: &three}}}
		if e := Claim(nil, s.m, &claim, Want{Lang: "en", Within: -1}); (e.Known && e.Holds) != c.want {
			t.Errorf("%s: known %v, holds %v (%s), want %v", c.name, e.Known, e.Holds, e.Why, c.want)
		}
	}
}

// TestAPageIsWhatItsTitleSays holds a thing that is only named, as behind "given", to the title of the page.
func TestAPageIsWhatItsTitleSays(t *testing.T) {
	s := newSketch("en", "Sprint 42 - Orbit board")
	s.line(-1, "Sprint 42")
	for text, want := range map[string]bool{"orbit board": true, "orbit backlog": false, "board": false} {
		var p spans
		c := intent.Claim{Subject: []intent.Description{p.say(text)}, Property: intent.Shown}
		if e := Claim(nil, s.m, &c, Want{Lang: "en", Within: -1}); e.Holds != want {
			t.Errorf("given the %s: %v", text, e.Holds)
		}
		told := c
		told.Subject = []intent.Description{c.Subject[0]}
		told.Subject[0].State = []intent.State{{Span: p.next("empty"), Text: "empty", Name: "empty"}}
		if e := Claim(nil, s.m, &told, Want{Lang: "en", Within: -1}); e.Holds {
			t.Errorf("a title shows no state: empty %s", text)
		}
		c.Words = []intent.Span{p.next("is shown")}
		if e := Claim(nil, s.m, &c, Want{Lang: "en", Within: -1}); e.Holds {
			t.Errorf("the title of the window is not seen: %s", text)
		}
	}
}

// TestHowManyAreSelectedIsTheFirstNumber holds what a page says of how many are so to the number before "of".
func TestHowManyAreSelectedIsTheFirstNumber(t *testing.T) {
	for n, want := range map[float64]bool{3: true, 5: false} {
		s := newSketch("en", "Stock")
		s.line(-1, "3 of 5 selected")
		var p spans
		d := intent.Description{Pronoun: true, State: []intent.State{{Span: p.next("selected"), Name: "selected", Text: "selected"}}}
		d.Span = d.State[0].Span
		claim := intent.Claim{Subject: []intent.Description{d}, Property: intent.Counts, Values: []intent.Value{{Number: &n}}}
		if e := Claim(nil, s.m, &claim, Want{Lang: "en", Within: -1}); (e.Known && e.Holds) != want {
			t.Errorf("%g are selected: known %v, holds %v (%s)", n, e.Known, e.Holds, e.Why)
		}
	}
}

// TestBothMayBeCompounds holds as many things as are said to those whose one word ends in it.
func TestBothMayBeCompounds(t *testing.T) {
	for _, c := range []struct {
		both bool
		rows []string
		want int
	}{
		{true, []string{"Claw hammer|B2", "Sledgehammer|B3", "Rake|A2"}, 2},
		{true, []string{"Claw hammer|B2", "Sledgehammer|B3", "Jackhammer|A2"}, 1},
		{false, []string{"Claw hammer|B2", "Sledgehammer|B3", "Rake|A2"}, 1},
	} {
		s := newSketch("en", "Stock")
		s.table(-1, "Stock", "Article|Shelf", c.rows...)
		var p spans
		d := p.say("hammers")
		d.Both = c.both
		if f := Description(s.m, &d, Want{Kinds: []What{Record}, Lang: "en", Within: -1}); len(f.Candidates) != c.want {
			t.Errorf("both %v of %q: %d and not %d", c.both, c.rows, len(f.Candidates), c.want)
		}
		if f := Description(s.m, &d, Want{Kinds: []What{Record}, Lang: "en", Within: -1, WholeWords: true}); len(f.Candidates) != 1 {
			t.Errorf("by whole words, both %v of %q: %d", c.both, c.rows, len(f.Candidates))
		}
	}
}

// TestNoCompoundIsWhatNothingHoldsItTo leaves out compounds where more is said of things than their name.
func TestNoCompoundIsWhatNothingHoldsItTo(t *testing.T) {
	s := newSketch("en", "Stock")
	s.table(-1, "Stock", "Article|State", "Claw hammer|lent", "Sledgehammer|broken", "Rake|lent")
	var p spans
	d := p.say("hammers")
	d.Both, d.State = true, []intent.State{{Span: p.next("lent"), Text: "lent"}}
	if f := Description(s.m, &d, Want{Kinds: []What{Record}, Lang: "en", Within: -1}); len(f.Candidates) > 1 {
		t.Errorf("%d are lent hammers", len(f.Candidates))
	}
}
