package report

import (
	"math"
	"strconv"
	"time"
)

// Instant reads when something was, as clients write it: RFC 3339, or seconds or milliseconds
// since 1970. 0: it cannot be read, or is beyond the years that there are.
func Instant(text string) int64 {
	const (
		longest          = 40
		laterThanSeconds = 1e11 // the year 5138 in seconds, 1973 in milliseconds
		latest           = 253402300799
	)
	if len(text) > longest {
		return 0
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		if s := t.Unix(); s > 0 && s <= latest {
			return s
		}
		return 0
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(n) {
		return 0
	}
	if n >= laterThanSeconds {
		n /= 1000
	}
	if n < 1 || n > latest {
		return 0
	}
	return int64(n)
}
