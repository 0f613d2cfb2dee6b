package find

import (
	"fmt"
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/snapshot"
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
	empty := intent.Claim{Subject: []intent.Description{{Pronoun: true, All: true}}, Property: intent.Counts,
		Values: []intent.Value{{Number: &none}}}
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
		{"the other looks like the first one was", other, cart("", "1 × Marguerite|12 €", "1 × Marguerite|12 €"), false},
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

// TestOnlyOfWhatWasListed compares what is left of a list by the whole names of what it had.
func TestOnlyOfWhatWasListed(t *testing.T) {
	many := []string{"Bolt 0|a"}
	for i := range 2 * maxGone {
		many = append(many, fmt.Sprintf("Bolt %d|a", i+1))
	}
	for _, c := range []struct {
		name, subject string
		before        []string
		after         *page.Model
		holds         bool
	}{
		{"a number for a name", "101", []string{"101|free", "102|taken", "103|free"}, cart("", "101 free"), true},
		{"another number is there", "101", []string{"101|free", "102|taken", "103|free"}, cart("102 is taken by Bo", "101 free"), false},
		{"names that differ by a number", "Room 1", []string{"Room 1|a", "Room 2|b"}, cart("", "Room 1"), true},
		{"a name in another", "Green tea", []string{"Tea|a", "Green tea|b"}, cart("", "Green tea"), true},
		{"the shorter one is there", "Green tea", []string{"Tea|a", "Green tea|b"}, cart("Tea", "Green tea"), false},
		{"another is there, with another count behind", "Salt", []string{"Tea (1)|a", "Salt|b"}, cart("Tea (2)", "Salt"), false},
		{"no name of its own", "Salt", []string{"Salt|a", "--|b"}, cart("", "Salt"), false},
		{"too many to look for each", "Bolt 0", many, cart("", "Bolt 0"), false},
	} {
		var p spans
		only := intent.Claim{Subject: []intent.Description{p.say(c.subject)}, Property: intent.Shown, Only: true}
		e := Claim(cart("", c.before...), c.after, &only, Want{Lang: "en", Within: -1})
		if holds := e.Known && e.Holds && len(e.Checks) > 1; holds != c.holds {
			t.Errorf("%s: known %v, holds %v, %d checks: %s", c.name, e.Known, e.Holds, len(e.Checks), e.Why)
		}
	}
}

// TestOneOfManyIsLeft counts what stands where a long list was.
func TestOneOfManyIsLeft(t *testing.T) {
	for left, holds := range map[int]bool{1: true, 2: false} {
		b, a := newSketch("en", "Shop"), newSketch("en", "Shop")
		rows := []string{"Bolt|a"}
		for i := range 2 * maxGone {
			rows = append(rows, fmt.Sprintf("Screw %d|a", i))
		}
		b.table(b.container("section", "Cart", -1), "", "Thing|Price", rows...)
		list := a.node(a.m.Containers[a.container("section", "Cart", -1)].Node, snapshot.Node{Role: "table"})
		for range left {
			a.node(list, snapshot.Node{Role: "row"})
		}
		a.line(0, "Bolt")
		var p spans
		only := intent.Claim{Subject: []intent.Description{p.say("Bolt")}, Property: intent.Shown, Only: true}
		e := Claim(b.m, a.m, &only, Want{Lang: "en", Within: -1})
		if e.Holds != holds || holds && (len(e.Checks) != 2 || e.Checks[1].Kind != "count" || e.Checks[1].Count != 1) {
			t.Errorf("%d left: holds %v, checks %+v: %s", left, e.Holds, e.Checks, e.Why)
		}
	}
}

// TestNothingOfManyIsLeft takes no step for each of many things that are to be gone.
func TestNothingOfManyIsLeft(t *testing.T) {
	none := 0.0
	for rows, checks := range map[int]int{2: 2, maxGone + 1: 0} {
		var list []string
		for i := range rows {
			list = append(list, fmt.Sprintf("Bolt %d|a", i))
		}
		after := cart("The cart is empty.")
		w := Want{Lang: "en", Within: -1, Among: []Candidate{{What: Container, Index: 0, Node: after.Containers[0].Node, Sub: -1}}}
		c := intent.Claim{Subject: []intent.Description{{Pronoun: true, All: true}}, Property: intent.Counts,
			Values: []intent.Value{{Number: &none}}}
		if e := Claim(cart("", list...), after, &c, w); len(e.Checks) != checks {
			t.Errorf("%d rows: %d checks: %s", rows, len(e.Checks), e.Why)
		}
	}
}

// TestWhatALongElementShows stops at a bound.
func TestWhatALongElementShows(t *testing.T) {
	s := newSketch("en", "Long")
	s.container("section", "Long list", -1)
	for i := range 5000 {
		s.line(0, fmt.Sprintf("Line %d of the long list", i))
	}
	k := &claimer{ix: indexOf(s.m), m: s.m}
	if shown := k.shownIn(s.m.Containers[0].Node); !strings.Contains(shown, "Line 9 ") || len(shown) > 2*maxShown {
		t.Errorf("%d bytes", len(shown))
	}
}

// TestQuotedTextAsItIsWritten compares a text in quotes as it is written, where the page has it, and not
// by its words here and there.
func TestQuotedTextAsItIsWritten(t *testing.T) {
	s := newSketch("en", "People")
	s.table(-1, "People", "Name|State|Stars", "Ann|selected|2 stars", "Bo|selected|2 stars")
	s.line(-1, "2 selected")
	c := intent.Claim{Subject: []intent.Description{{Quoted: true, Words: []intent.Word{{Text: "2"}, {Text: "selected"}}}},
		Property: intent.Shown}
	e := Claim(nil, s.m, &c, Want{Lang: "en", Within: -1})
	if !e.Holds || len(e.Checks) != 1 || s.m.Nodes[e.Checks[0].Node].Name != "2 selected" {
		t.Errorf("holds %v, checks %+v", e.Holds, e.Checks)
	}
}

// TestOthersStay compares "the other two" and "the others" with what they were, where what was spoken of
// is gone.
func TestOthersStay(t *testing.T) {
	before := account("20", "Late frost|draft", "Stork count|draft", "Snowdrops|done")
	for _, c := range []struct {
		name  string
		count int
		after *page.Model
		holds bool
	}{
		{"two of three", 2, account("20", "Stork count|draft", "Snowdrops|done"), true},
		{"one of them is another now", 2, account("20", "Stork count|done", "Snowdrops|done"), false},
		{"one more is gone", 2, account("20", "Snowdrops|done"), false},
		{"all others", 0, account("20", "Stork count|draft", "Snowdrops|done"), true},
		{"not all others", 0, account("20", "Snowdrops|done"), false},
		{"the others, without all", -1, account("20", "Stork count|draft", "Snowdrops|done"), true},
		{"not the others, without all", -1, account("20", "Snowdrops|done"), false},
	} {
		var p spans
		d := p.say("/notes")
		d.Other, d.Count, d.All = true, max(c.count, 0), c.count == 0
		claim := intent.Claim{Subject: []intent.Description{d}, Property: intent.Unchanged}
		e := Claim(before, c.after, &claim, Want{Lang: "en", Within: -1, Spoken: 1})
		if holds := e.Known && e.Holds; holds != c.holds {
			t.Errorf("%s: known %v, holds %v (%s)", c.name, e.Known, e.Holds, e.Why)
		}
	}
}

// TestReadOutIsNotShown compares no text that an element is only called by: a step sees what is written.
func TestReadOutIsNotShown(t *testing.T) {
	s := newSketch("en", "Mail")
	cell := s.node(0, snapshot.Node{Role: "cell", Name: "Remove tag"})
	s.node(cell, snapshot.Node{Role: "button", Name: "Remove tag"})
	k := &claimer{ix: indexOf(s.m), m: s.m}
	if shown := k.shownIn(cell); strings.TrimSpace(shown) != "" {
		t.Errorf("%q is seen", shown)
	}
}

// TestWhatCame looks for quoted texts anywhere where their place is called like nothing, if they came only now.
func TestWhatCame(t *testing.T) {
	closed, open := newSketch("de", "Hilfe"), newSketch("de", "Hilfe")
	for _, s := range []*sketch{closed, open} {
		s.line(-1, "Wie geht das?")
	}
	closed.table(-1, "", "Ding|Preis", "Salz|1 €", "Brot|2 €")
	open.table(-1, "", "Ding|Preis", "Salz|1 €", "Brot|2 €", "Tee|3 €")
	open.line(-1, "Es blinkt zweimal.")
	open.line(-1, "Mehl wurde hinzugefügt.")
	for text, want := range map[string]bool{"Es blinkt zweimal": true, "Wie geht das": false, "Es blinkt einmal": false,
		"Tee": false, "Mehl": false} {
		var p spans
		subject, where := p.say(`"`+text+`"`), p.say("/Antwort")
		claim := intent.Claim{Subject: []intent.Description{subject}, Property: intent.Shown, Where: &where}
		e := Claim(closed.m, open.m, &claim, Want{Lang: "de", Within: -1})
		if holds := e.Known && e.Holds; holds != want {
			t.Errorf("%s: known %v, holds %v (%s)", text, e.Known, e.Holds, e.Why)
		}
	}
}

// TestOthersOfNone holds for no rest that lost one where none was spoken of.
func TestOthersOfNone(t *testing.T) {
	before := account("20", "Late frost|draft", "Stork count|draft", "Snowdrops|done")
	for text, after := range map[string]*page.Model{
		"All the other notes are unchanged.": account("20", "Late frost|draft", "Stork count|draft"),
		"The other two notes are unchanged.": account("20", "Late frost|draft", "Stork count|draft"),
		"The other notes stay as they are.":  account("20", "Late frost|draft", "Stork count|draft"),
		"Everything else stays.":             account("20", "Late frost|draft", "Stork count|draft"),
	} {
		claim := intent.ReadIn(text, "en").Readings[0].Goals[0].Claim
		if e := Claim(before, after, claim, Want{Lang: "en", Within: -1}); e.Known && e.Holds {
			t.Errorf("%s holds: %+v", text, e.Used)
		}
	}
}

// TestPlacesThatAreNot holds no claim about a dialog, a form, a list or a message that the page does not have.
func TestPlacesThatAreNot(t *testing.T) {
	before, after := newSketch("en", "List"), newSketch("en", "List")
	for _, s := range []*sketch{before, after} {
		rows := []string{"Salt|1 €|Room 203", "Rye|2 €|Room 204"}
		if s == after {
			rows = append(rows, "Tea|3 €|Room 203")
		}
		s.table(-1, "", "Thing|Price|Place", rows...)
		s.control(0, "New member", "button", -1)
		s.control(0, "Members", "link", -1)
	}
	for text, want := range map[string]bool{
		`Check that "Tea" is shown in the dialog.`:   false,
		`Check that the new member form is shown.`:   false,
		`The new member dialog should appear.`:       false,
		`Check that the members menu is shown.`:      false,
		`Check that the new member button is shown.`: true,
		`Check that "Tea" is in the trash.`:          false,
		`Check that "Tea" is in the favorites.`:      false,
		`Check that "Tea" is in the Done column.`:    false,
		`Check that "Tea" is under Archive.`:         false,
		`Check that "Tea" is in room 203.`:           true,
		`Check that "Tea" is in room 204.`:           false,
		`The dialog must say "Tea".`:                 false,
		`The error should say "Tea".`:                false,
	} {
		claim := intent.ReadIn(text, "en").Readings[0].Goals[0].Claim
		e := Claim(before.m, after.m, claim, Want{Lang: "en", Within: -1})
		if holds := e.Known && e.Holds; holds != want {
			t.Errorf("%s: known %v, holds %v (%s): %+v", text, e.Known, e.Holds, e.Why, e.Used)
		}
	}
}
