package find

import (
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// cart is a page with a list in a section, whose things have no role; one alone is no list.
func cart(extra string, rows ...string) *page.Model {
	s := newSketch("en", "Shop")
	c := s.container("section", "Cart", -1)
	if len(rows) > 1 {
		s.table(c, "", "Thing|Price", rows...)
		for i := range s.m.Records {
			s.m.Nodes[s.m.Records[i].Node].Role = ""
		}
	} else if len(rows) == 1 {
		s.line(c, rows[0])
	}
	if extra != "" {
		s.line(-1, extra)
	}
	return s.m
}

// TestWhatIsLeft compares a list with what is left of it, also where that is one thing or none.
func TestWhatIsLeft(t *testing.T) {
	none := 0.0
	before := cart("", "1 × Margherita|9 €", "1 × Marguerite|12 €")
	say := func(text string) intent.Description {
		var p spans
		return p.say(text)
	}
	only := intent.Claim{Subject: []intent.Description{say("Margherita")}, Property: intent.Shown, Only: true}
	empty := intent.Claim{Subject: []intent.Description{{Pronoun: true, All: true}}, Property: intent.Counts, Values: []intent.Value{{Number: &none}}}
	other := intent.Claim{Subject: []intent.Description{say("Marguerite")}, Property: intent.Unchanged}
	other.Subject[0].Other = true
	for _, c := range []struct {
		name  string
		claim intent.Claim
		after *page.Model
		holds bool
	}{
		{"only one is left", only, cart("", "1 × Margherita"), true},
		{"another is there, with another count", only, cart("2 × Marguerite", "1 × Margherita"), false},
		{"nothing is left in it", empty, cart("The cart is empty."), true},
		{"the other is as it was", other, cart("", "1 × Marguerite|12 €", "1 × Rye|3 €"), true},
		{"the other is another now", other, cart("", "1 × Marguerite|13 €", "1 × Rye|3 €"), false},
	} {
		w := Want{Lang: "en", Within: -1, Among: []Candidate{{What: Container, Index: 0, Node: c.after.Containers[0].Node, Sub: -1}}}
		if c.claim.Property != intent.Counts {
			w.Among = nil
		}
		e := Claim(before, c.after, &c.claim, w)
		if holds := e.Known && e.Holds && len(e.Checks) > 0; holds != c.holds {
			t.Errorf("%s: known %v, holds %v, %d checks: %s", c.name, e.Known, e.Holds, len(e.Checks), e.Why)
		}
	}
}

// TestQuotedTextAsItIsWritten compares a text in quotes as it is written, where the page has it, and not
// by its words here and there.
func TestQuotedTextAsItIsWritten(t *testing.T) {
	s := newSketch("en", "People")
	s.table(-1, "People", "Name|State|Stars", "Ann|selected|2 stars", "Bo|selected|2 stars")
	s.line(-1, "2 selected")
	c := intent.Claim{Subject: []intent.Description{{Quoted: true, Words: []intent.Word{{Text: "2"}, {Text: "selected"}}}}, Property: intent.Shown}
	e := Claim(nil, s.m, &c, Want{Lang: "en", Within: -1})
	if !e.Holds || len(e.Checks) != 1 || s.m.Nodes[e.Checks[0].Node].Name != "2 selected" {
		t.Errorf("holds %v, checks %+v", e.Holds, e.Checks)
	}
}
