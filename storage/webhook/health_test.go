package webhook

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Five days of failures suspend; two failures with a quiet time between them do not.
func TestSuspensionNeedsFailuresAllTheTime(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	fail := func(after time.Duration) Outcome {
		return Outcome{At: start.Add(after), NoAnswer: true, Error: "no answer"}
	}
	const day = 24 * time.Hour
	for name, row := range map[string]struct {
		failures []time.Duration
		want     string
	}{
		"every day":              {[]time.Duration{0, day, 2 * day, 3 * day, 4 * day, 5*day + time.Hour}, reasonFailing},
		"until the fourth day":   {[]time.Duration{0, day, 2 * day, 3 * day, 4 * day}, ""},
		"once a week":            {[]time.Duration{0, 7 * day, 14 * day}, ""},
		"a week later, for good": {[]time.Duration{0, 7 * day, 8 * day, 9 * day, 10 * day, 11 * day, 12*day + time.Hour}, reasonFailing},
	} {
		t.Run(name, func(t *testing.T) {
			var h health
			for _, after := range row.failures {
				o := fail(after)
				h.add(&o)
			}
			require.Equal(t, row.want, h.suspend)
		})
	}
}
