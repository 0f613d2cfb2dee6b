package labelled

import (
	"cmp"
	"slices"
)

// Grouper returns the key of a report's group.
type Grouper func(*Crash) [32]byte

// Score counts the pairs of one language.
type Score struct {
	Language     string
	Same, Joined int // pairs of one bug, and those of them that got one key
	Other, Apart int // pairs of two bugs, and those of them that got two keys
}

// Precision is how many of the joined pairs are one bug: 1 when none is joined.
func (s *Score) Precision() float64 {
	return ratio(s.Joined, s.Joined+s.Other-s.Apart)
}

// Recall is how many of the pairs of one bug are joined.
func (s *Score) Recall() float64 { return ratio(s.Joined, s.Same) }

func ratio(part, whole int) float64 {
	if whole == 0 {
		return 1
	}
	return float64(part) / float64(whole)
}

func (s *Score) add(o Score) {
	s.Same += o.Same
	s.Joined += o.Joined
	s.Other += o.Other
	s.Apart += o.Apart
}

// Result is what Measure returns.
type Result struct {
	Languages []Score // by name
	Total     Score
	Wrong     []Pair // in the set's order
}

// Measure compares the keys of each pair with its label.
func Measure(pairs []Pair, key Grouper) Result {
	scores := make(map[string]Score)
	var res Result
	for _, p := range pairs {
		var s Score
		joined := key(p.A) == key(p.B)
		if p.Same {
			s.Same = 1
			if joined {
				s.Joined = 1
			}
		} else {
			s.Other = 1
			if !joined {
				s.Apart = 1
			}
		}
		if joined != p.Same {
			res.Wrong = append(res.Wrong, p)
		}
		sum := scores[p.Language]
		sum.Language = p.Language
		sum.add(s)
		scores[p.Language] = sum
		res.Total.add(s)
	}
	for _, s := range scores {
		res.Languages = append(res.Languages, s)
	}
	slices.SortFunc(res.Languages, func(a, b Score) int { return cmp.Compare(a.Language, b.Language) })
	res.Total.Language = "Total"
	return res
}

// Clusters is the agreement of groups with bugs, by B-cubed: for each crash, how
// much of its group is its bug (precision), and how much of its bug is in its
// group (recall), as means over all crashes.
type Clusters struct {
	Crashes, Bugs, Groups int
	Precision, Recall     float64
}

// MeasureClusters compares the groups of single crashes with their bugs.
func MeasureClusters(crashes []Crash, key Grouper) Clusters {
	type cell struct {
		bug   string
		group [32]byte
	}
	bugs, groups, cells := make(map[string]int), make(map[[32]byte]int), make(map[cell]int)
	of := make([]cell, 0, len(crashes))
	for i := range crashes {
		c := cell{bug: crashes[i].Language + "\x00" + crashes[i].Bug, group: key(&crashes[i])}
		of = append(of, c)
		bugs[c.bug]++
		groups[c.group]++
		cells[c]++
	}
	res := Clusters{Crashes: len(crashes), Bugs: len(bugs), Groups: len(groups)}
	for _, c := range of {
		both := float64(cells[c])
		res.Precision += both / float64(groups[c.group]) / float64(len(of))
		res.Recall += both / float64(bugs[c.bug]) / float64(len(of))
	}
	return res
}
