package regression

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// measures is a bench whose tries measure a figure; a missing one was not measured.
func measures(name, figure string, tries ...float64) Bench {
	n := 0
	return Bench{Name: name, Run: func(ctx context.Context) error {
		n++
		if n > len(tries) {
			return errors.New("no | server")
		}
		Measured(ctx, figure, tries[n-1])
		return nil
	}}
}

func TestTheBestOfThreeTriesCounts(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	rows, err := Run(t.Context(), Config{Log: &log,
		Benches: []Bench{measures("well", "a", 0.95), measures("late", "b", 0.5, 0.8, 0.92), measures("less", "c", 5, 3.2, 9),
			measures("never", "d"),
			measures("other", "f", 1, 1, 1)},
		Bounds: []Bound{{Figure: "a", What: "A", Bench: "well", Reached: 1}, {Figure: "b", What: "B", Bench: "late", Reached: 1, Wanted: 2},
			{Figure: "c", What: "C", Bench: "less", Reached: 3, Ceiling: true}, {Figure: "d", What: "D", Bench: "never", Reached: 1, Wanted: 1},
			{Figure: "e", What: "E", Bench: "other", Reached: 1}, {Figure: "z", Bench: "not asked for", Reached: 1}}})
	require.NoError(t, err)
	require.Equal(t, "try 1 of 3: well\ntry 1 of 3: late\ntry 1 of 3: less\ntry 1 of 3: never\ntry 1 of 3: other\n"+
		"try 2 of 3: late\ntry 2 of 3: less\ntry 2 of 3: never\ntry 2 of 3: other\n"+
		"try 3 of 3: late\ntry 3 of 3: never\ntry 3 of 3: other\n", log.String(), "only what does not hold is tried again")
	require.Equal(t, `| figure | limit | wanted | tries | best | |
|---|---|---|---|---|---|
| A | at least 0.90 |  | 0.95 | 0.95 | holds |
| B | at least 0.90 | 2.00 | 0.50, 0.80, 0.92 | 0.92 | holds; wanted, missed |
| C | at most 3.30 |  | 5.00, 3.20 | 3.20 | holds |
| D | at least 0.90 | 1.00 |  |  | **not measured**: no / server |
| E | at least 0.90 |  |  |  | **not measured** |
`, rows.Table())
	require.Len(t, rows.Fallen(), 2)
	require.Len(t, rows.Missing(), 1)
	require.Len(t, rows.Open(), 3)
}

func TestWhatFellIsInTheTable(t *testing.T) {
	t.Parallel()
	rows, err := Run(t.Context(), Config{Tries: 1, Benches: []Bench{measures("b", "f", 0.89)},
		Bounds: []Bound{{Figure: "f", What: "F", Bench: "b", Reached: 1}}})
	require.NoError(t, err)
	require.Contains(t, rows.Fallen().Table(), "| F | at least 0.90 |  | 0.89 | 0.89 | **fell** |")
}

// ends is a bench whose tries measure f, and end as given.
func ends(tries ...Try) Bench {
	n := 0
	return Bench{Name: "b", Run: func(ctx context.Context) error {
		n++
		Measured(ctx, "f", tries[n-1].Value)
		return tries[n-1].Err
	}}
}

func TestAnErrorOfABenchIsNotDropped(t *testing.T) {
	t.Parallel()
	later := errors.New("later")
	run := func(tries ...Try) Result {
		rows, err := Run(t.Context(), Config{Tries: len(tries), Benches: []Bench{ends(tries...)},
			Bounds: []Bound{{Figure: "f", What: "F", Bench: "b", Reached: 1}}})
		require.NoError(t, err)
		return rows
	}
	rows := run(Try{1, later}, Try{0.95, later})
	require.Len(t, rows.Fallen(), 1, "all figures are in, and hold")
	require.Contains(t, rows.Table(), "| F | at least 0.90 |  | 1.00, 0.95 | 1.00 | **failed**: later |")
	rows = run(Try{1, later}, Try{0.95, nil})
	require.Empty(t, rows.Fallen(), "a try without an error is better than each with one")
	require.Contains(t, rows.Table(), "| F | at least 0.90 |  | 1.00, 0.95 | 0.95 | holds |")
	rows = run(Try{0.5, nil}, Try{1, later})
	require.Contains(t, rows.Table(), "| 0.50, 1.00 | 0.50 | **fell** |")
}

func TestWhatIsMissingAfterAnErrorIsNotMeasured(t *testing.T) {
	t.Parallel()
	rows, err := Run(t.Context(), Config{Tries: 1, Bounds: []Bound{{Figure: "f", Bench: "b", Reached: 1},
		{Figure: "g", Bench: "b", Reached: 1}},
		Benches: []Bench{ends(Try{1, errors.New("later")})}})
	require.NoError(t, err)
	require.Len(t, rows.Fallen(), 2)
	require.EqualError(t, rows[0].Tries[0].Err, "later")
	require.EqualError(t, rows[1].Err, "later")
}

func TestOnlyFiguresThatFellTakeAnotherTry(t *testing.T) {
	t.Parallel()
	n := 0.0
	rows, err := Run(t.Context(), Config{Bounds: []Bound{{Figure: "f", Bench: "b", Reached: 1}, {Figure: "g", Bench: "b", Reached: 3}},
		Benches: []Bench{{Name: "b", Run: func(ctx context.Context) error {
			n++
			Measured(ctx, "f", n)
			Measured(ctx, "g", n)
			return nil
		}}}})
	require.NoError(t, err)
	require.Equal(t, []Try{{Value: 1}}, rows[0].Tries)
	require.Equal(t, []Try{{Value: 1}, {Value: 2}, {Value: 3}}, rows[1].Tries)
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Run(ctx, Config{Bounds: []Bound{{Figure: "f", Bench: "b", Reached: 1}},
		Benches: []Bench{{Name: "b", Run: func(ctx context.Context) error {
			cancel()
			return ctx.Err()
		}}}})
	require.ErrorIs(t, err, context.Canceled)
	Measured(t.Context(), "outside", 1)
}

func TestBoundKeeps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		bound   Bound
		figure  float64
		keeps   bool
		limited string
	}{
		{"a tenth below", Bound{Reached: 2}, 1.81, true, "at least 1.80"},
		{"more than a tenth below", Bound{Reached: 2}, 1.79, false, "at least 1.80"},
		{"a tenth above a ceiling", Bound{Reached: 0.5, Ceiling: true}, 0.54, true, "at most 0.55"},
		{"more than that", Bound{Reached: 0.5, Ceiling: true}, 0.56, false, "at most 0.55"},
		{"what is wanted is no limit", Bound{Reached: 1, Wanted: 2}, 0.91, true, "at least 0.90"},
		{"nor is it one of a time", Bound{Reached: 2, Wanted: 1, Ceiling: true, Unit: " s"}, 2.1, true, "at most 2.20 s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.keeps, c.bound.Keeps(c.figure))
			require.Equal(t, c.limited, c.bound.Limit())
		})
	}
}

func TestBoundMeets(t *testing.T) {
	t.Parallel()
	floor, ceiling := Bound{Reached: 1, Wanted: 2}, Bound{Reached: 2, Wanted: 1, Ceiling: true}
	require.False(t, floor.Meets(1.99))
	require.True(t, floor.Meets(2))
	require.False(t, ceiling.Meets(1.01))
	require.True(t, ceiling.Meets(1))
	require.True(t, (&Bound{Reached: 5}).Meets(0.1), "nothing is wanted")
}

func TestBoundsAreWhatTheDocumentSays(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/performance.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(text), "| figure | bench | reached | limit | wanted |\n|---|---|---|---|---|\n")
	require.True(t, found, "docs/performance.md has no table of bounds")
	table, _, _ := strings.Cut(rest, "\n\n")
	var want []string
	for _, b := range Bounds() {
		want = append(want, b.Line())
	}
	require.Equal(t, strings.Join(want, "\n"), strings.TrimSpace(table))
}

func TestBoundsHaveFiguresOfTheirOwn(t *testing.T) {
	t.Parallel()
	var seen []string
	for _, b := range Bounds() {
		require.NotContains(t, seen, b.Figure)
		require.NotEmpty(t, b.What)
		require.NotEmpty(t, b.Bench)
		require.Positive(t, b.Reached)
		seen = append(seen, b.Figure)
	}
	require.False(t, slices.Contains(seen, ""))
}
