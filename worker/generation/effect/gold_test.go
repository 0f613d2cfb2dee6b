package effect_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// TestRecorded judges the recorded solutions of sentences with one goal besides claims: each of
// them reaches it. SNAPS is the folder of the recordings, PAIRS that of the sets; the verdicts
// are printed.
func TestRecorded(t *testing.T) {
	snaps, sets := os.Getenv("SNAPS"), os.Getenv("PAIRS")
	if snaps == "" || sets == "" {
		t.Skip("SNAPS and PAIRS are not set")
	}
	files, err := filepath.Glob(filepath.Join(sets, "*", "open", "pairs", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	counts := map[effect.State]int{}
	for _, file := range files {
		set := strings.Split(file[len(sets)+1:], string(filepath.Separator))[0]
		var pairs []struct {
			Name, Lang string
			Sentences  []string
			Codes      []string
		}
		text, err := os.ReadFile(file)
		if err != nil || json.Unmarshal(text, &pairs) != nil {
			t.Fatal(file, err)
		}
		for _, p := range pairs {
			if len(p.Codes) > 0 {
				continue
			}
			first, last := recorded(filepath.Join(snaps, set, p.Name))
			if first == nil || last == nil {
				continue
			}
			read := intent.Read(p.Sentences[0])
			if len(read.Readings) == 0 {
				continue
			}
			g := onlyGoal(read.Readings[0].Goals)
			if g == nil {
				continue
			}
			before := page.New(first)
			after := page.New(last, page.After(before))
			v := effect.Judge(effect.Between(before, after), g, targets(before, g, read.Lang))
			counts[v.State]++
			fmt.Printf("%-8s %s | %s | %s %s\n", v.State, p.Name, p.Sentences[0], g.Effect, v.Why)
		}
	}
	fmt.Println(counts)
}

func onlyGoal(goals []intent.Goal) *intent.Goal {
	var only *intent.Goal
	for i := range goals {
		switch g := &goals[i]; {
		case g.Effect == intent.Check || g.Forbidden || g.Effect == intent.Confirm:
		case only != nil:
			return nil
		default:
			only = g
		}
	}
	return only
}

func targets(m *page.Model, g *intent.Goal, lang string) []find.Candidate {
	var list []find.Candidate
	for i := range g.Target {
		f := find.Description(m, &g.Target[i], find.Want{Kinds: []find.What{find.Record}, Lang: lang, Within: -1})
		if f.Clear() && f.Plural {
			list = append(list, f.Candidates...)
		} else if f.Clear() {
			list = append(list, f.Candidates[0])
		}
	}
	return list
}

func recorded(folder string) (first, last *snapshot.Snapshot) {
	names, _ := filepath.Glob(filepath.Join(folder, "[0-9]*.json"))
	number := func(name string) int {
		n, _ := strconv.Atoi(strings.TrimSuffix(filepath.Base(name), ".json"))
		return n
	}
	slices.SortFunc(names, func(a, b string) int { return number(a) - number(b) })
	read := func(name string) *snapshot.Snapshot {
		text, err := os.ReadFile(name)
		s := &snapshot.Snapshot{}
		if err != nil || json.Unmarshal(text, s) != nil {
			return nil
		}
		return s
	}
	if len(names) < 2 {
		return nil, nil
	}
	return read(names[0]), read(names[len(names)-1])
}
