package intent

import (
	"strings"
	"testing"
)

// phrasing marks parts of a text: "thing=the blue van" is the slot that these words stand in.
func phrasing(t *testing.T, text string, p Phrasing, parts ...string) *Phrasing {
	t.Helper()
	p.Span = Span{0, len(text)}
	for _, part := range parts {
		name, words, _ := strings.Cut(part, "=")
		at := strings.Index(text, words)
		if at < 0 {
			t.Fatalf("%q is not in %q", words, text)
		}
		p.Slots = append(p.Slots, ArgumentSpan{name, Span{at, at + len(words)}})
	}
	return &p
}

func TestGoalsOf(t *testing.T) {
	t.Parallel()
	check := func(p Property) Phrasing { return Phrasing{Effect: Check, Property: p} }
	for _, c := range []struct {
		lang, text string
		p          Phrasing
		parts      []string
		want       string
	}{
		{"en", "The dinner at the hotel has to go", Phrasing{Effect: Remove}, []string{"thing=The dinner at the hotel"},
			"remove[dinner in(hotel)]"},
		{"en", "Rooms: 2, beds: 3", Phrasing{Effect: Set}, []string{"name=Rooms", "value=2", "name=beds", "value=3"},
			"set[Rooms:2, beds:3]"},
		{"en", "7 for the volume", Phrasing{Effect: Set}, []string{"value=7", "name=the volume"}, "set[volume:7]"},
		{"en", "The priority of ticket 4 becomes high", Phrasing{Effect: Edit}, []string{"name=The priority", "thing=ticket 4", "value=high"},
			"edit[priority of(4 <ticket>), text=high]"},
		{"de", "Die Satzung soll Satzung 2024 heißen", Phrasing{Effect: Edit}, []string{"thing=Die Satzung", "thing=Satzung 2024"},
			"edit[Satzung, text=Satzung 2024]"},
		{"en", "Sort by price, cheapest first", Phrasing{Effect: Sort}, []string{"by=price", "place=cheapest first"}, "sort[by=price]"},
		{"en", "50 rows a page", Phrasing{Effect: Page}, []string{"amount=50"}, "page[50x, amount=50]"},
		{"en", "Book a table for two", Phrasing{Effect: Submit, Concept: "checkout"}, []string{"thing=a table for two"}, ""},
		{"en", "She sends it", Phrasing{Effect: Submit, Concept: "send"}, nil, "submit[]"},
		{"en", "Four stars for the grinder", Phrasing{Effect: Rate}, []string{"amount=Four stars", "thing=the grinder"},
			"rate[grinder, amount=4_stars]"},
		{"en", "it, please", Phrasing{Effect: Rate}, nil, ""},
		{"en", "Walk the dog goes up", Phrasing{Effect: Move}, []string{"thing=Walk the dog"}, ""},
		{"en", "not the phone", Phrasing{Effect: Toggle, Forbidden: true}, []string{"thing=the phone"}, "!toggle[phone, off]"},
		{"en", "3 members are left", check(Counts), []string{"amount=3", "thing=members"}, "check[counts: members =3]"},
		{"en", "Bo is at the bottom", check(At), []string{"thing=Bo", "place=at the bottom"}, "check[at: Bo =-1]"},
		{"en", "the list has Tea and Rye", check(Contains), []string{"thing=the list", "value=Tea", "value=Rye"},
			"check[contains: <list/list> =Tea =Rye]"},
		{"en", "the box is ticked", check(Is), []string{"thing=the box", "become=ticked"}, "check[is: <field/box> is:checked]"},
		{"en", "the page shows \"Done\"", check(Shown), []string{"thing=the page", "thing=\"Done\""}, `check[shown: "Done"]`},
		{"en", "nothing", check(Shown), nil, "check[shown: PRO]"},
	} {
		p := phrasing(t, c.text, c.p, c.parts...)
		goals, lost := GoalsOf(c.text, c.lang, p)
		got := ""
		if len(goals) > 0 {
			got = (&Reading{Goals: goals}).String()
		}
		if c.want == "" && c.p.Concept == "checkout" { // a new thing, and not the cart
			if len(goals) == 0 || goals[0].Effect != Add {
				t.Errorf("%q: %s", c.text, got)
			}
			continue
		}
		if got != c.want || len(lost) > 0 {
			t.Errorf("%q:\n got %s, lost %v\nwant %s", c.text, got, lost, c.want)
		}
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	text := "1. Don't save\n- Öffne „Mein Konto“ (2,50 €)"
	var got []string
	for _, k := range Tokens(text, "en") {
		word := string(k.Kind) + ":" + k.Text
		if k.Line {
			word = "|" + word
		}
		got = append(got, word)
	}
	want := "|word:Do word:not word:save |word:Öffne quote:Mein Konto mark:( number:2,50 mark:€ mark:)"
	if strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
	}
}

func TestLeft(t *testing.T) {
	t.Parallel()
	text := "Delete the blue van quickly. The rest is silence."
	goals, _ := GoalsOf(text, "en", phrasing(t, "Delete the blue van", Phrasing{Effect: Remove}, "thing=the blue van"))
	var left []string
	for _, s := range Left(text, "en", goals) {
		left = append(left, text[s.From:s.To])
	}
	if got := strings.Join(left, " "); got != "silence" {
		t.Errorf("left %q", got)
	}
}
