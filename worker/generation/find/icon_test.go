package find

import (
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// An icon is meant by what it shows and by the text that it stands beside, and not by another.
func TestIconOfAText(t *testing.T) {
	s := newSketch("en", "Files")
	row := s.container("section", "", -1)
	s.line(row, "report.txt")
	s.control(s.m.Containers[row].Node, "delete", "button", -1)
	s.m.Controls[0].Icon = true
	for _, c := range []struct {
		word, of string
		clear    bool
	}{{"trash", "report.txt", true}, {"delete", "report.txt", true}, {"trash", "", true}, {"trash", "letter.txt", false},
		{"printer", "", false}} {
		var p spans
		d := p.say(c.word)
		d.Kind, d.Noun = intent.Icon, "icon"
		if c.of != "" {
			of := p.say(c.of)
			d.Of = &of
		}
		f := Description(s.m, &d, Want{Kinds: []What{Control}, Lang: "en", Within: -1})
		if f.Clear() != c.clear {
			t.Errorf("the %s icon of %q: clear %v, want %v: %+v", c.word, c.of, f.Clear(), c.clear, f.Candidates)
		}
	}
}

// What a message speaks of is not shown where it is looked for: the list says so, not the page.
func TestGoneFromItsList(t *testing.T) {
	before := account("20", "Late frost|draft", "Stork count|draft")
	s := newSketch("en", "Notes")
	s.table(-1, "Notes", "Note|State", "Stork count|draft", "Snowdrops|draft")
	s.line(-1, "Late frost was deleted.")
	s.m.Lines[len(s.m.Lines)-1].Live = true
	var p spans
	claim := intent.Claim{Subject: []intent.Description{p.say("Late frost")}, Property: intent.Gone}
	e := Claim(before, s.m, &claim, Want{Lang: "en", Within: -1})
	if !e.Holds || len(e.Checks) != 1 || e.Checks[0].Kind == "hidden" || !e.Checks[0].Not {
		t.Errorf("%+v", e)
	}
}
