// Package fingerprinttest says whether the rules of the fingerprint are fast, for their tests.
//
// What is fast is measured and not stated, since the race detector with coverage makes everything
// a hundred times slower, and a busy machine some runs of it. Work that is quadratic in a name
// takes some ten thousand times what a harmless name does, and is found in each of three runs.
//
// It starts nothing and knows no rule: what is harmless is the caller's.
package fingerprinttest

import (
	"fmt"
	"time"
)

// Fast returns an error when f takes long in each of three runs: a thousand times what harmless
// takes, and at least a second.
func Fast(harmless, f func()) error {
	limit := max(time.Second, 1000*measure(harmless))
	for range 3 {
		if measure(f) < limit {
			return nil
		}
	}
	return fmt.Errorf("none of three runs took less than %s", limit)
}

func measure(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}
