package effect_test

import (
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// stars returns the model of a page with a row of five icons, written as classes: "o" is lit.
func stars(row string) *page.Model {
	s := &snapshot.Snapshot{URL: "http://page/", Nodes: []snapshot.Node{{Ref: "box", Parent: -1, Tag: "div", Box: [4]int{0, 0, 200, 20}}}}
	m := &page.Model{Snapshot: s, Front: -1}
	for i, r := range row {
		n := snapshot.Node{Ref: string(rune('a' + i)), Parent: 0, Tag: "i", Role: "button", Interactive: true,
			Hints: []string{"icon"}, Box: [4]int{20 * i, 0, 20, 20}}
		if r == 'o' {
			n.Hints = append(n.Hints, "lit")
		}
		s.Nodes = append(s.Nodes, n)
		m.Controls = append(m.Controls, page.Control{Node: i + 1, Role: "button", Record: -1})
	}
	return m
}

func TestRateByItsLook(t *testing.T) {
	for _, c := range []struct {
		before, after string
		stars         float64
		want          effect.State
	}{
		{"-----", "ooo--", 3, effect.Reached},
		{"o----", "ooo--", 3, effect.Reached},
		{"-----", "--o--", 3, effect.Reached},
		{"-----", "ooooo", 5, effect.Reached},
		{"-----", "oo---", 3, effect.Unseen},
		{"-----", "oooo-", 3, effect.Unseen},
		{"-----", "-----", 3, effect.Unseen},
		{"ooo--", "ooo--", 3, effect.Unseen},
		{"-----", "o-o--", 3, effect.Unseen},
	} {
		g := intent.Goal{Effect: intent.Rate, Amount: &intent.Value{Number: &c.stars}}
		if v := effect.Judge(effect.Between(stars(c.before), stars(c.after)), &g, nil); v.State != c.want {
			t.Errorf("%s to %s is %g stars: %s, %s", c.before, c.after, c.stars, v.State, v.Why)
		}
	}
}

// A sign that is drawn anew is a change of what it stands in.
func TestSignOfAState(t *testing.T) {
	for after, want := range map[string]effect.State{"★": effect.Reached, "☆": effect.Unseen} {
		model := func(sign string) *page.Model {
			m := table(nil, "Salt", "Milk")
			m.Nodes = append(m.Nodes[:2:2], append([]snapshot.Node{{Ref: "star", Parent: 1, Tag: "button", Role: "button",
				Name: "Remember", Text: sign, Interactive: true}}, m.Nodes[2:]...)...)
			for i := 3; i < len(m.Nodes); i++ {
				if m.Nodes[i].Parent > 1 {
					m.Nodes[i].Parent++
				}
			}
			m.Records[1].Node++
			return m
		}
		before := model("☆")
		v := effect.Judge(effect.Between(before, model(after)), &intent.Goal{Effect: intent.Complete}, []find.Candidate{record(before, 0)})
		if v.State != want {
			t.Errorf("%s: %s, %s", after, v.State, v.Why)
		}
	}
}

func TestChooseByItsLook(t *testing.T) {
	for _, c := range []struct {
		after  string
		target int
		want   effect.State
	}{{"o----", 0, effect.Reached}, {"-o---", 0, effect.Unseen}} {
		before := stars("-----")
		target := []find.Candidate{{What: find.Line, Index: -1, Node: before.Controls[c.target].Node, Sub: -1}}
		if v := effect.Judge(effect.Between(before, stars(c.after)), &intent.Goal{Effect: intent.Choose}, target); v.State != c.want {
			t.Errorf("the first of %s is chosen: %s, %s", c.after, v.State, v.Why)
		}
	}
}

// TestTextsThatSayARating holds a text that came to a rating: any other number that is seen since a thing is
// open is none.
func TestTextsThatSayARating(t *testing.T) {
	four := 4.0
	for text, want := range map[string]effect.State{"4": effect.Reached, "4/5": effect.Reached, "You gave 4 stars": effect.Reached,
		"Deine Bewertung: 4": effect.Reached,
		"4 estrellas":        effect.Reached, "Note : 4 étoiles": effect.Reached, "4 eggs": effect.Unseen, "serves 4": effect.Unseen,
		"5 of 4": effect.Unseen} {
		model := func(line string) *page.Model {
			s := &snapshot.Snapshot{URL: "http://page/", Nodes: []snapshot.Node{{Ref: "p", Parent: -1, Tag: "p", Role: "text", Name: "Pancakes"}}}
			if line != "" {
				s.Nodes = append(s.Nodes, snapshot.Node{Ref: "q", Parent: -1, Tag: "p", Role: "text", Name: line,
					Text: line, Box: [4]int{0, 40, 100, 20}})
			}
			return page.New(s)
		}
		g := intent.Goal{Effect: intent.Rate, Amount: &intent.Value{Number: &four}}
		if v := effect.Judge(effect.Between(model(""), model(text)), &g, nil); v.State != want {
			t.Errorf("%q: %s, %s", text, v.State, v.Why)
		}
	}
}
