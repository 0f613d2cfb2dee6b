package measure

import (
	"slices"
	"time"
)

// Quantile returns a quantile of times in any order; there is at least one.
func Quantile(times []time.Duration, q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

// Median returns the median of values, which it sorts; there is at least one.
func Median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// MedianOf is Median for values that may be none: then it is 0.
func MedianOf(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	return Median(values)
}
