package page

import "testing"

// A pager that leads nowhere, or counts as many as there are, is that of a list of one page.
func TestAPagerHasAll(t *testing.T) {
	for _, c := range []struct {
		counter, disabled string
		want              bool
	}{
		{"1–3 of 3", "", true}, {"1–3 of 7", "", false}, {"4–7 of 7", "", false}, {"", " disabled=true", true}, {"", "", false},
	} {
		m := New(draw(`
		table table @20,40,400,124
			tr row @20,40,400,24
				td cell "Attic" @20,40,90,20
				td cell "49 €" @120,40,90,20
			tr row @20,70,400,24
				td cell "Garden" @20,70,90,20
				td cell "62 €" @120,70,90,20
			tr row @20,100,400,24
				td cell "Tower" @20,100,90,20
				td cell "80 €" @120,100,90,20
		nav navigation "Pages" @20,170,400,24
			span "` + c.counter + `" @20,170,90,20
			button button "Previous page"` + c.disabled + ` @120,170,90,20
			button button "Next page"` + c.disabled + ` @220,170,90,20`))
		if len(m.Groups) == 0 || m.Groups[0].Pager < 0 || m.Groups[0].OnePage != c.want {
			t.Errorf("%q%s: %+v", c.counter, c.disabled, m.Groups)
		}
	}
}

func TestOnePage(t *testing.T) {
	for text, want := range map[string]bool{"‹ Page 1 of 1 ›": true, "1 / 1": true, "Page 1 of 2": false, "2 / 2": false,
		"1": false, "‹ 1 2 3 ›": false, "1-4 of 4": false, "": false} {
		if got := onePage(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
