package usage

// Nearest returns the name that somebody most likely meant by a word, "" where none is
// near: more than half of the letters would have to change.
func Nearest(word string, names []string) string {
	best, least := "", len(word)/2+1
	for _, name := range names {
		if d := distance(word, name); d < least || d == least && best != "" && name < best {
			best, least = name, d
		}
	}
	return best
}

// distance is the number of letters to insert, remove or change, or of neighbours to
// swap, that lead from one word to the other (optimal string alignment).
func distance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := last[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(change, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
