package body

import "strings"

// nearest returns the known member that an unknown one is most likely to have been meant as:
// one that is written alike but for case, - and _, else the first whose name is at most a
// third of the letters away. "": there is none.
func nearest(name string, known []string) string {
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		name = name[i+1:]
	}
	const longest = 64 // bytes; members of the interfaces are shorter
	plain := plainName(name)
	if plain == "" || len(plain) > longest {
		return ""
	}
	best, least := "", len(plain)/3+1
	for _, k := range known {
		if d := distance(plain, plainName(k)); d < least {
			best, least = k, d
		}
	}
	return best
}

// plainName is a name without what its writers differ in.
func plainName(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
}

// distance counts the bytes that are inserted, removed, replaced, or swapped with their
// neighbour to get from one text to the other (the optimal string alignment distance).
func distance(a, b string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	var former []int
	for i := 1; i <= len(a); i++ {
		former, before, row = before, row, make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(before[j]+1, row[j-1]+1, before[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], former[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
