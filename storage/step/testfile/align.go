package testfile

// Align gives the steps of a file the ids of the server's steps that they are: those that
// are equal, in order, and between these the ones of the same place. So a step keeps its
// fingerprint and its history though the file has no ids. An id of the file stays.
func Align(steps, server []Step) {
	taken := map[string]bool{}
	for i := range steps {
		taken[steps[i].ID] = true
	}
	a, b := forms(steps), forms(server)
	from, of := 0, 0
	for _, pair := range append(common(a, b), [2]int{len(a), len(b)}) {
		// Steps that changed: each takes the id of what was at its place.
		for from < pair[0] && of < pair[1] {
			take(&steps[from], &server[of], taken)
			from, of = from+1, of+1
		}
		if pair[0] < len(a) {
			take(&steps[pair[0]], &server[pair[1]], taken)
		}
		from, of = pair[0]+1, pair[1]+1
	}
}

func take(step, of *Step, taken map[string]bool) {
	if step.ID == "" && !taken[of.ID] {
		step.ID, taken[of.ID] = of.ID, true
	}
}

func forms(steps []Step) []string {
	out := make([]string, len(steps))
	for i := range steps {
		out[i] = string(canonical(steps[i].Body))
	}
	return out
}

// common returns the longest common subsequence of two lists as pairs of places. Both
// have at most maxSteps elements, so the table has at most a million.
func common(a, b []string) (pairs [][2]int) {
	width := len(b) + 1
	length := make([]int32, (len(a)+1)*width)
	for i := len(a) - 1; i >= 0; i-- {
		for k := len(b) - 1; k >= 0; k-- {
			if a[i] == b[k] {
				length[i*width+k] = length[(i+1)*width+k+1] + 1
				continue
			}
			length[i*width+k] = max(length[(i+1)*width+k], length[i*width+k+1])
		}
	}
	for i, k := 0, 0; i < len(a) && k < len(b); {
		switch {
		case a[i] == b[k]:
			pairs = append(pairs, [2]int{i, k})
			i, k = i+1, k+1
		case length[(i+1)*width+k] >= length[i*width+k+1]:
			i++
		default:
			k++
		}
	}
	return pairs
}
