package find

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// A value that a page asks for in two fields is two, and one that only names the field of its neighbour is
// none.
func TestSplit(t *testing.T) {
	t.Parallel()
	leave := func(s *sketch) {
		s.field(0, "text", "Mitarbeiter", "")
		s.field(0, "number", "Tage", "")
		s.field(0, "choice", "Art", "", "Erholung", "Sonderurlaub")
	}
	join := func(s *sketch) {
		s.field(0, "text", "First name", "")
		s.field(0, "text", "Surname", "")
	}
	firm := func(s *sketch) {
		join(s)
		s.field(0, "text", "Company", "")
	}
	order := func(s *sketch) {
		s.field(0, "choice", "Article", "", "Oats", "Cocoa")
		s.field(0, "text", "Pieces", "")
	}
	for name, c := range map[string]struct {
		lang, text string
		form       func(*sketch)
		values     []string // "as:a guest" is joined by a word
		want       string
	}{
		"an amount of a kind":         {"de", "4 Tage Sonderurlaub", leave, []string{"4 Tage Sonderurlaub"}, "4 | Sonderurlaub"},
		"a kind that nobody offers":   {"de", "4 Tage Bildungsurlaub", leave, []string{"4 Tage Bildungsurlaub"}, "4 Tage Bildungsurlaub"},
		"so many of a thing":          {"en", "40 of the Cocoa", order, []string{"40 of the Cocoa"}, "40 | Cocoa"},
		"a number that nobody counts": {"en", "40 Cocoa", join, []string{"40 Cocoa"}, "40 Cocoa"},
		"first and last name":         {"en", "Lou Hart", join, []string{"Lou Hart"}, "First name=Lou | Surname=Hart"},
		"three names":                 {"es", "Inés Faro Díaz", join, []string{"Inés Faro Díaz"}, "Inés Faro Díaz"},
		"a company":                   {"en", "Acme Ltd.", join, []string{"Acme Ltd."}, "Acme Ltd."},
		"a person or a company":       {"en", "Green Tea", firm, []string{"Green Tea"}, "Green Tea"},
		"one field for the name": {"en", "Lou Hart", func(s *sketch) { s.field(0, "text", "Full name", "") },
			[]string{"Lou Hart"}, "Lou Hart"},
		"what its field is called": {"en", "Lenny as a guest", func(s *sketch) {
			s.field(0, "choices", "Guests", "",
				"Lena", "Lenny")
		}, []string{"Lenny", "as:a guest"}, "guest=Lenny"},
		"the field of what follows": {"en", "for pick-up at Port", func(s *sketch) {
			s.field(0, "choice", "Pick-up",
				"", "Centre", "Port")
		}, []string{"for:pick-up", "at:Port"}, "pick-up=Port"},
		"an option, and no name": {"en", "Ann as guest", func(s *sketch) { s.field(0, "choice", "Role", "", "Guest", "Host") },
			[]string{"Ann", "as:guest"}, "Ann | guest"},
		"the name of another field": {"en", "for pick-up at Rome", func(s *sketch) {
			s.field(0, "choice", "Pick-up",
				"", "Centre", "Port")
		}, []string{"for:pick-up", "at:Rome"}, "pick-up | Rome"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSketch(c.lang, "Page")
			c.form(s)
			var fields []intent.Field
			for _, value := range c.values {
				prep, text, ok := strings.Cut(value, ":")
				if !ok {
					prep, text = "", value
				}
				from := strings.Index(c.text, text)
				span := intent.Span{From: from, To: from + len(text)}
				fields = append(fields, intent.Field{Prep: prep, Span: span, Value: intent.Value{Span: span, Text: text}})
			}
			var got []string
			for _, f := range Split(s.m, fields, Want{Lang: c.lang, Within: -1}) {
				require.Equal(t, f.Value.Text, c.text[f.Value.Span.From:][:len(f.Value.Text)], "its place in the text")
				text := f.Value.Text
				if f.Name != nil {
					text = calledOf(f.Name) + "=" + text
				}
				got = append(got, text)
			}
			require.Equal(t, c.want, strings.Join(got, " | "))
		})
	}
}

func calledOf(d *intent.Description) string {
	var list []string
	for _, w := range d.Words {
		list = append(list, w.Text)
	}
	return strings.Join(list, " ")
}

// A list that nobody can type into is opened for a date, and one that takes what is typed has more than
// its options.
func TestClosedLists(t *testing.T) {
	t.Parallel()
	s := newSketch("en", "Page")
	s.field(0, "choice", "Arrival", "")
	s.field(0, "choices", "Tags", "", "red", "blue")
	s.m.Fields[0].ReadOnly, s.m.Fields[1].Entries = true, true
	day := intent.Field{Value: intent.Value{Text: "12 May", Date: &intent.Date{Month: 5, Day: 12, Hour: -1, Weekday: -1}}}
	a := Assign(s.m, []intent.Field{day}, Want{Lang: "en", Within: -1})
	require.Len(t, a.Slots, 1)
	require.Equal(t, "Arrival", s.m.Fields[a.Slots[0].To.Index].Label)
	d := intent.Description{Words: []intent.Word{{Text: "tags"}}}
	a = Assign(s.m, []intent.Field{{Name: &d, Value: intent.Value{Text: "green"}}}, Want{Lang: "en", Within: -1})
	require.Len(t, a.Slots, 1)
	require.Equal(t, Field, a.Slots[0].To.What)
}

// A name that is asked for in parts, and cannot be told into them, goes into no field.
func TestWholeName(t *testing.T) {
	t.Parallel()
	s := newSketch("en", "Page")
	s.field(0, "text", "First name", "")
	s.field(0, "text", "Surname", "")
	s.field(0, "text", "Company", "")
	for text, want := range map[string]int{"Green Tea Ltd": 0, "Inés Faro Díaz": 0, "Otto Brink": 0, "contact Ludwig Beethoven": 0,
		"Otto": 1} {
		fields := Split(s.m, []intent.Field{{Value: intent.Value{Text: text, Span: intent.Span{To: len(text)}}}}, Want{Lang: "en", Within: -1})
		require.Len(t, Assign(s.m, fields, Want{Lang: "en", Within: -1}).Slots, want, text)
	}
}
