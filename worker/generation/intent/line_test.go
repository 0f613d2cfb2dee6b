package intent

import (
	"testing"
)

// Labels with their values below or behind each other are fields, whatever their words are; what says
// a deed is none.
func TestReadFormLines(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Email: li@example.org\nPassword: s3cret!\nRepeat password: s3cret!",
			"set[Email:li@example.org] | set[Password:s3cret!] | set[Repeat password:s3cret!]"},
		{"1. Name: Ida\n2. Email: ida@example.com\n3. Click Save", "set[Name:Ida] | set[Email:ida@example.com] | press[Save]"},
		{"Name: Ida, Town: Ulm. Click Save.", "set[Name:Ida] | set[Town:Ulm] | press[Save]"},
		{"Name: Ida, Ulm\nTown: Bonn", "set[Name:Ida, Ulm] | set[Town:Bonn]"},
		{`Fill in Full name: "Ann Lee", Email: "ann@example.com". Click Save`, `set[Full name:"Ann Lee", Email:"ann@example.com"] | press[Save]`},
		{"E-Mail: li@example.org\nBuch: Faust\nKlicke auf Senden", "set[E-Mail:li@example.org] | set[Buch:Faust] | press[Senden]"},
		{"Click: Save", "press[Save]"},
		{"Given: a board\nWhen: I click Save\nThen: Saved is shown", "check[shown: board] | press[Save] | check[shown: Saved]"},
	} {
		x := Read(c.text)
		if len(x.Readings) == 0 || len(x.Readings[0].Unread) > 0 {
			t.Errorf("%q was not read", c.text)
			continue
		}
		if got := x.Readings[0].String(); got != c.want {
			t.Errorf("%q is %s, want %s", c.text, got, c.want)
		}
	}
}
