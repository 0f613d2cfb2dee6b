package month_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/generation/page/month"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// grid is a page with a title, numbers of weeks where wanted, the end of the month before, and days.
func grid(title string, days int, weeks bool) *page.Model {
	texts := []string{title, "29", "30"}
	for day := 1; day <= days; day++ {
		if weeks && day%7 == 1 {
			texts = append(texts, fmt.Sprint(40+day/7))
		}
		texts = append(texts, fmt.Sprint(day))
	}
	s := &snapshot.Snapshot{Nodes: []snapshot.Node{{Ref: "0", Parent: -1, Tag: "div"}}}
	for _, text := range append(texts, "1", "2") {
		s.Nodes = append(s.Nodes, snapshot.Node{Ref: fmt.Sprint(len(s.Nodes)), Tag: "span", Name: text, Text: text})
	}
	return page.New(s)
}

func TestMonthsAreRuns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		title       string
		days        int
		weeks       bool
		year, month int
	}{
		{"October 2026", 31, false, 2026, 10}, {"Februar 2027", 28, true, 2027, 2}, {"2026 / mars", 31, false, 2026, 3},
		{"Choose a day", 30, false, 0, 0},
	} {
		m := grid(c.title, c.days, c.weeks)
		found := month.Read(m)
		require.Len(t, found, 1, c.title)
		require.Len(t, found[0].Days, c.days, c.title)
		require.Equal(t, []int{c.year, c.month}, []int{found[0].Year, found[0].Month}, c.title)
		require.Equal(t, "1", m.Nodes[found[0].Days[0]].Name)
	}
	require.Empty(t, month.Read(grid("October 2026", 20, false)), "a list of twenty things is no month")
}
