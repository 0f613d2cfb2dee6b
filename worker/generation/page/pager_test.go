package page

import "testing"

func TestOnePage(t *testing.T) {
	for text, want := range map[string]bool{"‹ Page 1 of 1 ›": true, "1 / 1": true, "Page 1 of 2": false, "2 / 2": false,
		"1": false, "‹ 1 2 3 ›": false, "1-4 of 4": false, "": false} {
		if got := onePage(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
