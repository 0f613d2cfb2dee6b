package plan

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// largePage is as large as snapshots become: 3,000 nodes in 400 rows.
func largePage(t testing.TB) *snapshot.Snapshot {
	t.Helper()
	var b strings.Builder
	b.WriteString("heading \"Members\" level=1\ntable \"Members\"\n")
	for i := range 420 {
		y := 40 + i*30
		fmt.Fprintf(&b, "  row\n    cell \"Member %d\" box=10,%d,100,20\n    cell \"member%d@example.com\" box=120,%d,100,20\n    cell \"\"\n", i, y, i, y)
		fmt.Fprintf(&b, "      textbox \"\" box=240,%d,80,20\n      button \"Delete\" box=340,%d,50,20\n      link \"Details of the member\" box=400,%d,50,20 href=/m/%d\n", y, y, y, i)
	}
	s := outline(t, b.String())
	require.Greater(t, len(s.Nodes), 2900)
	return s
}

func largePhrase() intent.Phrase {
	return related(phraseOf("Delete", "button"), intent.In, related(intent.Phrase{Noun: "row", Roles: []string{"row", "listitem"}, Text: "the row of Member 300"}, intent.Of, phraseOf("Member 300")))
}

// BenchmarkPick is what the planner does for one instruction on a large page: a new
// view, and an element by name and row.
func BenchmarkPick(b *testing.B) {
	s := largePage(b)
	phrase := largePhrase()
	p := &planner{}
	for b.Loop() {
		if _, err := p.pick(newView(s), &phrase, toUse); err != nil {
			b.Fatal(err)
		}
	}
}

// The overhead of the planner stays small on the largest pages, whatever is looked for.
func TestPickIsFast(t *testing.T) {
	t.Parallel()
	s := largePage(t)
	p := &planner{}
	long := phraseOf(strings.Repeat("very long name of something ", 700))
	last := nth(-1, phraseOf("", "button"))
	all := intent.Phrase{Text: "all", Roles: []string{"textbox"}, All: true}
	field := related(phraseOf("email"), intent.Under, phraseOf("Members", "heading"))
	row := largePhrase()
	for name, phrase := range map[string]*intent.Phrase{"long": &long, "last": &last, "all": &all, "field": &field, "row": &row} {
		begin := time.Now()
		_, _ = p.pickAll(newView(s), phrase, toUse)
		require.Less(t, time.Since(begin), 30*time.Second, name) // some ten milliseconds on an idle machine
		t.Log(name, time.Since(begin))
	}
}

// A text of 20,000 characters asks for as many steps as are allowed, and no more.
func TestRunEndsAtMostSteps(t *testing.T) {
	t.Parallel()
	f := newFakePage(t, `button "Go" ref=go`)
	_, err := Run(context.Background(), Config{Page: f, Intent: strings.Repeat("Click Go. ", 2000), MaxSteps: 7})
	var failed *FailedError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, codeMaxSteps, failed.Code)
	require.Len(t, f.did, 7)
}
