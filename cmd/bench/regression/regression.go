// Package regression says whether what was once reached is still reached.
//
// A Bound states a figure, which is a ratio to a baseline of the same run (or a time that
// users notice), what it was when docs/performance.md was written, how far it may fall from
// that, and what is wanted of it. A figure that fell does not hold; one that only misses what
// is wanted is shown. Figures of different machines, or of different hours, are never
// compared.
//
// Benches hand their figures over by Measured, on the context that Run gives them. Run tries
// three times, since a busy neighbour costs more than a regression; of each figure the best
// try counts. Only benches with a figure that does not hold are tried again, and of these only
// such figures take another try.
//
// A figure that was not measured does not hold, nor does one of a bench that ended with an
// error: a bench that fails, or that has lost its part, must not pass. A try without an error
// is better than each with one. The error of the best try stands in the table.
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

// Try is a figure that a bench measured, and how the bench ended.
type Try struct {
	Value float64
	Err   error
}

// Row is a bound with what was measured.
type Row struct {
	Bound
	Tries []Try // in their order
	Err   error // of the bench, when it ended before the figure was measured
}

// Best is the try that counts; ok is false when the figure was never measured.
func (r *Row) Best() (best Try, ok bool) {
	for i, t := range r.Tries {
		whole, wholeBest := t.Err == nil, best.Err == nil
		if i == 0 || whole && !wholeBest || whole == wholeBest && t.Value != best.Value && r.within(t.Value, best.Value) {
			best = t
		}
	}
	return best, len(r.Tries) > 0
}

// Holds reports whether the best try ended well and is within the limit.
func (r *Row) Holds() bool {
	best, ok := r.Best()
	return ok && best.Err == nil && r.Keeps(best.Value)
}

// Misses reports whether the figure was measured and is worse than what is wanted.
func (r *Row) Misses() bool {
	best, ok := r.Best()
	return ok && !r.Meets(best.Value)
}

// Result are the rows in the order of the bounds.
type Result []Row

// Fallen are the rows that do not hold.
func (r Result) Fallen() Result {
	return r.filter(func(row *Row) bool { return !row.Holds() })
}

// Missing are the rows that miss what is wanted.
func (r Result) Missing() Result { return r.filter((*Row).Misses) }

// Open are the rows that do not hold, or miss what is wanted.
func (r Result) Open() Result {
	return r.filter(func(row *Row) bool { return !row.Holds() || row.Misses() })
}

func (r Result) filter(keep func(*Row) bool) Result {
	var rows Result
	for i := range r {
		if keep(&r[i]) {
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

// add adds what a try of a bench measured to the rows that do not hold yet, with the error
// of the bench.
func (r Result) add(bench string, f *figures, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range r {
		if r[i].Bench != bench || r[i].Holds() {
			continue
		}
		value, ok := f.values[r[i].Figure]
		if ok {
			r[i].Tries = append(r[i].Tries, Try{value, err})
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

// Table returns the rows as Markdown: what was measured in each try, whether the best one
// holds, and whether it misses what is wanted.
func (r Result) Table() string {
	var b strings.Builder
	b.WriteString("| figure | limit | wanted | tries | best | |\n|---|---|---|---|---|---|\n")
	for i := range r {
		row := &r[i]
		var tries []string
		for _, t := range row.Tries {
			tries = append(tries, row.format(t.Value))
		}
		value := ""
		if best, ok := row.Best(); ok {
			value = row.format(best.Value)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", row.What, row.Limit(), row.wanted(), strings.Join(tries, ", "), value, row.verdict())
	}
	return b.String()
}

func (r *Row) verdict() string {
	best, ok := r.Best()
	text := "holds"
	switch {
	case !ok && r.Err != nil:
		return "**not measured**: " + cell(r.Err.Error())
	case !ok:
		return "**not measured**"
	case best.Err != nil:
		text = "**failed**: " + cell(best.Err.Error())
	case !r.Keeps(best.Value):
		text = "**fell**"
	}
	if r.Misses() {
		text += "; wanted, missed"
	}
	return text
}

// cell shortens a text to what fits in a cell of a table.
func cell(text string) string {
	return fmt.Sprintf("%.200s", strings.Join(strings.Fields(strings.ReplaceAll(text, "|", "/")), " "))
}
