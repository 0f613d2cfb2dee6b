package find

import "math"

// assignment chooses for each row at most one column, no column twice, so that the sum of scores
// is greatest; -1 where a row is better left alone. It is the Hungarian method: rows squared
// times columns.
func assignment(fits [][]fit) []int {
	n := len(fits)
	out := make([]int, n)
	for i := range out {
		out[i] = -1
	}
	if n == 0 {
		return out
	}
	places := len(fits[0])
	// A column of its own for each row stands for leaving it alone.
	m := places + n
	cost := func(i, j int) float64 {
		switch {
		case j >= places && j-places == i:
			return -leastFit
		case j >= places || fits[i][j].score < leastFit:
			return 0
		}
		return -fits[i][j].score
	}
	u, v := make([]float64, n+1), make([]float64, m+1)
	row, way := make([]int, m+1), make([]int, m+1)
	for i := 1; i <= n; i++ {
		row[0] = i
		augment(i, m, cost, u, v, row, way)
	}
	for j := 1; j <= m; j++ {
		if i := row[j] - 1; i >= 0 && j-1 < places && fits[i][j-1].score >= leastFit {
			out[i] = j - 1
		}
	}
	return out
}

// augment adds one row to the matching.
func augment(i, m int, cost func(i, j int) float64, u, v []float64, row, way []int) {
	least := make([]float64, m+1)
	used := make([]bool, m+1)
	for j := range least {
		least[j] = math.Inf(1)
	}
	j := 0
	for {
		used[j] = true
		at, delta, next := row[j], math.Inf(1), 0
		for k := 1; k <= m; k++ {
			if used[k] {
				continue
			}
			if c := cost(at-1, k-1) - u[at] - v[k]; c < least[k] {
				least[k], way[k] = c, j
			}
			if least[k] < delta {
				delta, next = least[k], k
			}
		}
		for k := 0; k <= m; k++ {
			if used[k] {
				u[row[k]] += delta
				v[k] -= delta
			} else {
				least[k] -= delta
			}
		}
		j = next
		if row[j] == 0 {
			break
		}
	}
	for j != 0 {
		row[j] = row[way[j]]
		j = way[j]
	}
}
