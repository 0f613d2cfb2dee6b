package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// product is a page that is about one thing: it is rated by stars, and a review of it is written with a
// name.
type product struct {
	stars  int
	name   string
	review []string
}

func (p *product) scene(lang, title, say string) *scene {
	s := &scene{lang: lang}
	s.nodes = func() []snapshot.Node {
		list := []snapshot.Node{{Ref: "title", Parent: -1, Tag: "h1", Role: "heading", Level: 1, Name: title},
			{Ref: "ul", Parent: -1, Tag: "ul", Role: "list"}}
		for i, r := range p.review {
			list = append(list, snapshot.Node{Ref: fmt.Sprint("li ", i), Parent: 1, Tag: "li", Role: "listitem", Name: r})
		}
		form := len(list)
		list = append(list, snapshot.Node{Ref: "form", Parent: -1, Tag: "form", Role: "form"},
			snapshot.Node{Ref: "stars", Parent: form, Tag: "div", Role: "radiogroup", Name: say})
		for i := range 5 {
			sign := map[bool]string{true: "★", false: "☆"}[i < p.stars]
			list = append(list, snapshot.Node{Ref: fmt.Sprint("star ", i+1), Parent: form + 1, Tag: "button", Role: "radio",
				Name: fmt.Sprint(i+1, " stars"), Text: sign,
				Checked: fmt.Sprint(i+1 == p.stars), Interactive: true, Box: [4]int{10 + 30*i, 300, 20, 20}})
		}
		name := typable("name", "Your name", p.name)
		name.Parent = form
		send := pressable("send", "button", "Send review")
		send.Parent = form
		return append(list, name, send)
	}
	s.on = func(tool, ref, text string) {
		what, n, _ := strings.Cut(ref, " ")
		switch {
		case what == "star":
			_, _ = fmt.Sscan(n, &p.stars)
		case tool == step.InputText:
			p.name = text
		case what == "send":
			p.review = append(p.review, fmt.Sprintf("%s %d", p.name, p.stars))
			p.name, p.stars = "", 0
		}
	}
	return s
}

// What a page is about is rated without being a thing of a list, and a name with the stars makes a
// review.
func TestRateWhatThePageIsAbout(t *testing.T) {
	for _, c := range []struct {
		lang, title, text string
		done              bool
		want              string
	}{
		{"en", "Rain coat", "Give it three stars", true, "3 [Bo 5]"},
		{"en", "Rain coat", "Rate the coat with 4 stars", true, "4 [Bo 5]"},
		{"de", "Regenmantel", "Bewerte den Regenmantel mit 2 Sternen", true, "2 [Bo 5]"},
		{"en", "Rain coat", "Rate the coat with four stars as Kim", true, "0 [Bo 5 Kim 4]"},
		{"en", "Rain coat", "Rate the umbrella with 4 stars", false, "0 [Bo 5]"},
	} {
		t.Run(c.text, func(t *testing.T) {
			p := &product{review: []string{"Bo 5"}}
			err := p.scene(c.lang, c.title, "Your rating").run(t, c.text)
			if got := fmt.Sprint(p.stars, " ", p.review); (err == nil) != c.done || got != c.want {
				t.Errorf("%s, want %s: %v", got, c.want, err)
			}
		})
	}
}
