package regression

import "fmt"

// Bound is how far a figure may fall.
type Bound struct {
	Figure string // as a bench hands it over
	What   string // in tables
	Bench  string // that measures it
	// Reached is the figure that docs/performance.md has. The bound is a tenth worse.
	Reached float64
	// Wanted: the figure was not reached yet, or not since symbols are looked up; Reached is
	// what must be reached, and is the bound itself.
	Wanted bool
	// Fixed: Reached is the bound itself, as for times that users notice.
	Fixed bool
	// Ceiling: less is better.
	Ceiling bool
	Unit    string // "" for a ratio
}

// tenth is how much worse a figure may be than the one that was reached: more than a ratio
// differs between the best of three tries on an idle machine.
const tenth = 0.1

// value is the bound.
func (b *Bound) value() float64 {
	switch {
	case b.Wanted || b.Fixed:
		return b.Reached
	case b.Ceiling:
		return b.Reached * (1 + tenth)
	}
	return b.Reached * (1 - tenth)
}

// Keeps reports whether a figure is within the bound.
func (b *Bound) Keeps(figure float64) bool {
	if b.Ceiling {
		return figure <= b.value()
	}
	return figure >= b.value()
}

// Limit describes the bound.
func (b *Bound) Limit() string {
	side := "at least "
	if b.Ceiling {
		side = "at most "
	}
	text := side + b.format(b.value())
	if b.Wanted {
		text += " (wanted)"
	}
	return text
}

func (b *Bound) format(figure float64) string { return fmt.Sprintf("%.2f%s", figure, b.Unit) }

// Line is the row of the bound in docs/performance.md.
func (b *Bound) Line() string {
	reached := b.format(b.Reached)
	if b.Wanted || b.Fixed {
		reached = ""
	}
	return fmt.Sprintf("| %s | `%s` | %s | %s |", b.What, b.Bench, reached, b.Limit())
}
