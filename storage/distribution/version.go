package distribution

import (
	"math/big"
	"strings"
)

// maxCode bounds codes that are compared as numbers: Android's have 19 digits.
const maxCode = 40

// CompareCodes compares version codes as numbers, part by part ("12", "1.2.10"); false when
// one is something else.
func CompareCodes(a, b string) (int, bool) {
	left, okA := codeParts(a)
	right, okB := codeParts(b)
	if !okA || !okB {
		return 0, false
	}
	for i := range max(len(left), len(right)) {
		var x, y big.Int
		if i < len(left) {
			x.SetString(left[i], 10)
		}
		if i < len(right) {
			y.SetString(right[i], 10)
		}
		if order := x.Cmp(&y); order != 0 {
			return order, true
		}
	}
	return 0, true
}

func codeParts(code string) ([]string, bool) {
	if code == "" || len(code) > maxCode {
		return nil, false
	}
	parts := strings.Split(code, ".")
	for _, part := range parts {
		if part == "" || strings.Trim(part, "0123456789") != "" {
			return nil, false
		}
	}
	return parts, true
}
