//go:build !linux

package symbols

import "math"

// freeBytes knows nothing of other systems: writing fails when there is no space.
func freeBytes(string) (int64, error) { return math.MaxInt64, nil }
