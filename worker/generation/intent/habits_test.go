package intent

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// habitsRight is how many sentences of testdata/habits.json are read right. It may only rise.
const habitsRight = 170

// habit is a sentence that was written from the habits of testers, before its author knew
// the lexicon, and what a right reading of it says: for each goal its effect (or several,
// "open|press") and after a colon parts that its String has, apart by semicolons; one of
// several, apart by bars.
type habit struct {
	Lang, Sentence string
	Goals          []string
}

// habits returns the sentences of testdata/habits.json.
func habits(t testing.TB) []habit {
	t.Helper()
	data, err := os.ReadFile("testdata/habits.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []habit
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// agrees reports whether the goal is what want says.
func agrees(g Goal, want string) bool {
	effects, parts, _ := strings.Cut(want, ":")
	effect := string(g.Effect)
	if g.Forbidden {
		effect = "!" + effect
	}
	if !strings.Contains("|"+effects+"|", "|"+effect+"|") {
		return false
	}
	text := g.String()
	for _, part := range strings.Split(parts, ";") {
		if !slices.ContainsFunc(strings.Split(part, "|"), func(p string) bool { return strings.Contains(text, strings.TrimSpace(p)) }) {
			return false
		}
	}
	return true
}

// right reports whether the reading is what the habit says, with no word left over.
func (h habit) right(r Reading) bool {
	if len(r.Goals) != len(h.Goals) || len(r.Unread) > 0 {
		return false
	}
	for i, want := range h.Goals {
		if !agrees(r.Goals[i], want) {
			return false
		}
	}
	return true
}

// TestHabits holds the number of habits that are read right to a bar. With SLIPWAY_HABITS
// naming a file it writes there what is read of those that are not.
func TestHabits(t *testing.T) {
	var out strings.Builder
	right := 0
	all := map[string][2]int{}
	for _, h := range habits(t) {
		text := ReadIn(h.Sentence, h.Lang)
		n := all[h.Lang]
		n[1]++
		if len(text.Readings) > 0 && h.right(text.Readings[0]) {
			right++
			n[0]++
			all[h.Lang] = n
			continue
		}
		all[h.Lang] = n
		fmt.Fprintf(&out, "%s %s\n want %s\n", h.Lang, h.Sentence, strings.Join(h.Goals, " | "))
		for i, r := range text.Readings {
			fmt.Fprintf(&out, " %d %s ? %s\n", i+1, r, r.Left(h.Sentence))
		}
	}
	if right < habitsRight {
		t.Errorf("%d sentences are read right, want %d", right, habitsRight)
	}
	t.Logf("%d right: %v", right, all)
	if name := os.Getenv("SLIPWAY_HABITS"); name != "" {
		if err := os.WriteFile(name, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
