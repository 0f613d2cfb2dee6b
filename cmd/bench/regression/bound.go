package regression

import "fmt"

// Bound has the two limits of a figure: how far it may fall, and what is wanted of it.
type Bound struct {
	Figure string // as a bench hands it over
	What   string // in tables
	Bench  string // that measures it
	// Reached is the figure that docs/performance.md has. The limit is a tenth worse.
	Reached float64
	// Wanted is what the figure is to reach; 0: what it has reached is enough. Nothing fails
	// where it is missed.
	Wanted float64
	// Ceiling: less is better.
	Ceiling bool
	Unit    string // "" for a ratio
}

// tenth is how much worse a figure may be than the one that was reached: more than a ratio
// differs between the best of three tries on an idle machine.
const tenth = 0.1

// limit is how far the figure may fall, or rise.
func (b *Bound) limit() float64 {
	if b.Ceiling {
		return b.Reached * (1 + tenth)
	}
	return b.Reached * (1 - tenth)
}

// Keeps reports whether a figure is within the limit.
func (b *Bound) Keeps(figure float64) bool { return b.within(figure, b.limit()) }

// Meets reports whether a figure is as good as what is wanted of it.
func (b *Bound) Meets(figure float64) bool { return b.Wanted == 0 || b.within(figure, b.Wanted) }

func (b *Bound) within(figure, limit float64) bool {
	if b.Ceiling {
		return figure <= limit
	}
	return figure >= limit
}

// Limit describes the limit.
func (b *Bound) Limit() string {
	if b.Ceiling {
		return "at most " + b.format(b.limit())
	}
	return "at least " + b.format(b.limit())
}

func (b *Bound) wanted() string {
	if b.Wanted == 0 {
		return ""
	}
	return b.format(b.Wanted)
}

func (b *Bound) format(figure float64) string { return fmt.Sprintf("%.2f%s", figure, b.Unit) }

// Line is the row of the bound in docs/performance.md.
func (b *Bound) Line() string {
	return fmt.Sprintf("| %s | `%s` | %s | %s | %s |", b.What, b.Bench, b.format(b.Reached), b.Limit(), b.wanted())
}
