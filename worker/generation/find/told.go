package find

import (
	"slices"
	"strings"
)

// leastTold is of how many words what the text says is, where the page is said to repeat it.
const leastTold = 3

// withoutTold leaves out texts of the page that repeat what is to be done: "Click the print icon."
// above the icons.
func (s *searcher) withoutTold(all []Candidate) []Candidate {
	told := split(s.w.Told)
	if len(told) < leastTold {
		return all
	}
	sentence := " " + strings.Join(told, " ") + " "
	return slices.DeleteFunc(all, func(c Candidate) bool {
		switch c.What {
		case Line, Container, Record, Attribute:
			return strings.Contains(" "+strings.Join(split(c.Why), " ")+" ", sentence)
		}
		return false
	})
}
