// Package regression says whether what was once reached is still reached.
//
// A Bound states a figure, which is a ratio to a baseline of the same run (or a time that
// users notice), what it was when docs/performance.md was written, and how far it may fall.
// Figures of different machines, or of different hours, are never compared.
//
// Benches hand their figures over by Measured, on the context that Run gives them. Run tries
// three times, since a busy neighbour costs more than a regression; of each figure the best
// try counts, and only benches with a figure that does not hold are tried again.
//
// A figure that was not measured does not hold: a bench that fails, or that has lost its
// part, must not pass. The error stands in the table.
package regression

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
)

// Bench measures some figures.
type Bench struct {
	Name string
	Run  func(context.Context) error
}

// Config is a comparison of what benches measure with bounds.
type Config struct {
	Benches []Bench
	Bounds  []Bound
	Tries   int       // default: 3
	Log     io.Writer // says which bench runs; nil: nothing
}

const defaultTries = 3

// Row is a bound with what was measured.
type Row struct {
	Bound
	Tries []float64 // in their order
	Err   error     // of the bench, when the figure was not measured
}

// Best is the figure that counts; ok is false when it was never measured.
func (r *Row) Best() (value float64, ok bool) {
	if len(r.Tries) == 0 {
		return 0, false
	}
	if r.Ceiling {
		return slices.Min(r.Tries), true
	}
	return slices.Max(r.Tries), true
}

// Holds reports whether the best try keeps the bound.
func (r *Row) Holds() bool {
	value, ok := r.Best()
	return ok && r.Keeps(value)
}

// Result are the rows in the order of the bounds.
type Result []Row

// Fallen are the rows that do not hold.
func (r Result) Fallen() Result {
	var rows Result
	for i := range r {
		if !r[i].Holds() {
			rows = append(rows, r[i])
		}
	}
	return rows
}

// Run runs the benches, again where a figure does not hold, and returns all rows whose bench
// is among them. An error of a bench is in its rows; Run's own is the end of the context.
func Run(ctx context.Context, c Config) (Result, error) {
	tries := c.Tries
	if tries <= 0 {
		tries = defaultTries
	}
	var rows Result
	for _, b := range c.Bounds {
		if slices.ContainsFunc(c.Benches, func(bench Bench) bool { return bench.Name == b.Bench }) {
			rows = append(rows, Row{Bound: b})
		}
	}
	for try := range tries {
		for _, bench := range c.Benches {
			if !rows.fallenOf(bench.Name) {
				continue
			}
			if c.Log != nil {
				_, _ = fmt.Fprintf(c.Log, "try %d of %d: %s\n", try+1, tries, bench.Name)
			}
			f := &figures{values: map[string]float64{}}
			err := bench.Run(context.WithValue(ctx, figuresKey{}, f))
			if ctx.Err() != nil {
				return rows, ctx.Err()
			}
			rows.add(bench.Name, f, err)
		}
	}
	return rows, nil
}

// fallenOf reports whether a row of a bench does not hold.
func (r Result) fallenOf(bench string) bool {
	return slices.ContainsFunc(r.Fallen(), func(row Row) bool { return row.Bench == bench })
}

// add adds what a try of a bench measured. What it measured before it failed counts.
func (r Result) add(bench string, f *figures, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range r {
		if r[i].Bench != bench {
			continue
		}
		value, ok := f.values[r[i].Figure]
		if ok {
			r[i].Tries = append(r[i].Tries, value)
			continue
		}
		r[i].Err = err
	}
}

// figures are what a try of a bench measured.
type figures struct {
	mu     sync.Mutex
	values map[string]float64
}

type figuresKey struct{}

// Measured notes a figure of the bench of ctx. Outside of Run it does nothing. Of a figure
// that is measured twice in a try the later one counts.
func Measured(ctx context.Context, figure string, value float64) {
	f, ok := ctx.Value(figuresKey{}).(*figures)
	if !ok {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.values[figure] = value
}

// Table returns the rows as Markdown: what was measured in each try, and whether the best one
// holds.
func (r Result) Table() string {
	var b strings.Builder
	b.WriteString("| figure | bound | tries | best | |\n|---|---|---|---|---|\n")
	for i := range r {
		row := &r[i]
		var tries []string
		for _, value := range row.Tries {
			tries = append(tries, row.format(value))
		}
		best, verdict := "", "holds"
		value, measured := row.Best()
		if measured {
			best = row.format(value)
		}
		switch {
		case row.Holds():
		case measured:
			verdict = "**fell**"
		case row.Err != nil:
			verdict = "**not measured**: " + cell(row.Err.Error())
		default:
			verdict = "**not measured**"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", row.What, row.Limit(), strings.Join(tries, ", "), best, verdict)
	}
	return b.String()
}

// cell shortens a text to what fits in a cell of a table.
func cell(text string) string {
	return fmt.Sprintf("%.200s", strings.Join(strings.Fields(strings.ReplaceAll(text, "|", "/")), " "))
}
