package plan_test

import (
	"fmt"
	"testing"

	"github.com/slipway-qa/slipway/worker/snapshot"
)

// TestATaskTextMeetsNoClaim runs claims on an exercise page that prints them: what is to be checked is
// not shown by saying so. A line without a verb is what the page shows.
func TestATaskTextMeetsNoClaim(t *testing.T) {
	for _, c := range []struct {
		lang, text, printed string
		holds               bool
	}{
		{"en", "Click Start. The result should be Well done.", "The result should be Well done.", false},
		{"en", "Click Start. The message Well done is shown.", "The message Well done is shown.", false},
		{"en", "Click Start. Verify that the message Well done is shown.", "Verify that the message Well done is shown.", false},
		{"de", "Klicke auf Start. Das Ergebnis muss Gut gemacht sein.", "Das Ergebnis muss Gut gemacht sein.", false},
		{"en", "Click Start. Total: 12.40", "Total: 12.40", true},
	} {
		t.Run(c.text, func(t *testing.T) {
			tries := 0
			s := &scene{lang: c.lang}
			s.nodes = func() []snapshot.Node {
				line := func(ref, text string) snapshot.Node {
					return snapshot.Node{Ref: ref, Parent: -1, Tag: "span", Role: "text", Name: text}
				}
				list := []snapshot.Node{pressable("start", "button", "Start"), line("tries", fmt.Sprintf("Tries: %d", tries))}
				if tries > 0 || !c.holds {
					list = append(list, line("printed", c.printed))
				}
				return list
			}
			s.on = func(_, ref, _ string) {
				if ref == "start" {
					tries++
				}
			}
			if err := s.run(t, c.text); (err == nil) != c.holds {
				t.Errorf("%v", err)
			}
		})
	}
}
