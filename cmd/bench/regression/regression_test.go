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
		Benches: []Bench{measures("well", "a", 0.95), measures("late", "b", 0.5, 0.8, 0.92), measures("less", "c", 5, 3.2, 9), measures("never", "d"),
			measures("other", "f", 1, 1, 1)},
		Bounds: []Bound{{Figure: "a", What: "A", Bench: "well", Reached: 1}, {Figure: "b", What: "B", Bench: "late", Reached: 1},
			{Figure: "c", What: "C", Bench: "less", Reached: 3, Ceiling: true}, {Figure: "d", What: "D", Bench: "never", Reached: 1, Wanted: true},
			{Figure: "e", What: "E", Bench: "other", Reached: 1}, {Figure: "z", Bench: "not asked for", Reached: 1}}})
	require.NoError(t, err)
	require.Equal(t, "try 1 of 3: well\ntry 1 of 3: late\ntry 1 of 3: less\ntry 1 of 3: never\ntry 1 of 3: other\n"+
		"try 2 of 3: late\ntry 2 of 3: less\ntry 2 of 3: never\ntry 2 of 3: other\n"+
		"try 3 of 3: late\ntry 3 of 3: never\ntry 3 of 3: other\n", log.String(), "only what does not hold is tried again")
	require.Equal(t, `| figure | bound | tries | best | |
|---|---|---|---|---|
| A | at least 0.90 | 0.95 | 0.95 | holds |
| B | at least 0.90 | 0.50, 0.80, 0.92 | 0.92 | holds |
| C | at most 3.30 | 5.00, 3.20 | 3.20 | holds |
| D | at least 1.00 (wanted) |  |  | **not measured**: no / server |
| E | at least 0.90 |  |  | **not measured** |
`, rows.Table())
	require.Len(t, rows.Fallen(), 2)
}

func TestWhatFellIsInTheTable(t *testing.T) {
	t.Parallel()
	rows, err := Run(t.Context(), Config{Tries: 1, Benches: []Bench{measures("b", "f", 0.89)}, Bounds: []Bound{{Figure: "f", What: "F", Bench: "b", Reached: 1}}})
	require.NoError(t, err)
	require.Contains(t, rows.Fallen().Table(), "| F | at least 0.90 | 0.89 | 0.89 | **fell** |")
}

func TestWhatWasMeasuredBeforeAnErrorCounts(t *testing.T) {
	t.Parallel()
	rows, err := Run(t.Context(), Config{Tries: 1, Bounds: []Bound{{Figure: "f", Bench: "b", Reached: 1}, {Figure: "g", Bench: "b", Reached: 1}},
		Benches: []Bench{{Name: "b", Run: func(ctx context.Context) error {
			Measured(ctx, "f", 1)
			return errors.New("later")
		}}}})
	require.NoError(t, err)
	require.True(t, rows[0].Holds())
	require.False(t, rows[1].Holds())
	require.EqualError(t, rows[1].Err, "later")
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Run(ctx, Config{Bounds: []Bound{{Figure: "f", Bench: "b", Reached: 1}}, Benches: []Bench{{Name: "b", Run: func(ctx context.Context) error {
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
		{"wanted has no tenth", Bound{Reached: 1, Wanted: true}, 0.99, false, "at least 1.00 (wanted)"},
		{"nor has a time", Bound{Reached: 1, Fixed: true, Ceiling: true, Unit: " s"}, 1.01, false, "at most 1.00 s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.keeps, c.bound.Keeps(c.figure))
			require.Equal(t, c.limited, c.bound.Limit())
		})
	}
}

func TestBoundsAreWhatTheDocumentSays(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/performance.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(text), "| figure | bench | reached | bound |\n|---|---|---|---|\n")
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
