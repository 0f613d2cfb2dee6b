package measure

import (
	"fmt"
	"time"
)

// Round returns a time in tenths of a millisecond.
func Round(d time.Duration) string { return d.Round(100 * time.Microsecond).String() }

// Row prints a row of a table; without a target nothing is met or missed.
func Row(part, measured, target string, met bool) {
	mark := ""
	if target != "" {
		mark = map[bool]string{true: "met", false: "missed"}[met]
	}
	fmt.Printf("| %s | %s | %s | %s |\n", part, measured, target, mark)
}
