package crash

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/report"
)

func TestSeverityOfReports(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		classifier string
		attributes string // name=value, with semicolons between
		want       crash.Severity
	}{
		{"", "", crash.SevereCrash},
		{"SIGSEGV", "", crash.SevereCrash},
		// The clients of Backtrace.
		{"TypeError", "error.type=Exception", crash.Handled},
		{"TypeError", "error.type=Unhandled exception", crash.SevereCrash},
		{"TypeError", "error.type=Unhandled rejection", crash.SevereCrash},
		{"", "error.type=Message", crash.Handled},
		{"", "error.type=Hang", crash.Hang},
		{"", "error.type=Low Memory", crash.OutOfMemory},
		{"java.lang.OutOfMemoryError", "error.type=Crash", crash.OutOfMemory},
		// What a client says goes before what the error is called.
		{"java.lang.OutOfMemoryError", "error.type=Exception", crash.Handled},
		{"SIGSEGV", "severity=OUT-OF-MEMORY", crash.OutOfMemory},
		{"SIGSEGV", "severity=anr;error.type=Exception", crash.Hang},
		{"SIGSEGV", "severity=strange;error.handled=true", crash.Handled},
		{"SIGSEGV", "handled=false", crash.SevereCrash},
		// The names of errors.
		{"com.github.anrwatchdog.ANRError", "", crash.Hang},
		{"ANR", "", crash.Hang},
		{"java.lang.OutOfMemoryError", "", crash.OutOfMemory},
		{"System.OutOfMemoryException", "", crash.OutOfMemory},
		{"MemoryError", "", crash.OutOfMemory},
		{"std::bad_alloc", "", crash.OutOfMemory},
		{"MyOutOfMemoryErrorHandler", "", crash.SevereCrash},
		{"", "error.message=fatal error: runtime: out of memory", crash.OutOfMemory},
		{"", "error.message=Reached heap limit Allocation failed - JavaScript heap out of memory", crash.OutOfMemory},
		{"Error", "error.message=the shop is out of memory cards", crash.SevereCrash},
		{strings.Repeat("x", 1<<20), "error.message=" + strings.Repeat("y", 1<<20) + ";severity=" + strings.Repeat("z", 1<<20),
			crash.SevereCrash},
	} {
		r := &report.Report{}
		if tc.classifier != "" {
			r.Classifiers = []string{tc.classifier}
		}
		for pair := range strings.SplitSeq(tc.attributes, ";") {
			if name, value, ok := strings.Cut(pair, "="); ok {
				r.Attributes = append(r.Attributes, report.Attribute{Key: name, Value: value})
			}
		}
		require.Equal(t, tc.want, severityOf(r), "%.60s %.60s", tc.classifier, tc.attributes)
	}
}

// A clock that is wrong by days was as wrong when the program crashed.
func TestWhenACrashWas(t *testing.T) {
	t.Parallel()
	received := time.Unix(1_700_000_000, 0).UTC()
	const day = 86_400
	for name, c := range map[string]struct{ timestamp, sent, want int64 }{
		"right":            {1_699_999_990, 1_700_000_000, 1_699_999_990},
		"says nothing":     {1_699_999_990 - day, 0, 1_699_999_990 - day},
		"kept for a day":   {1_700_000_000 - day, 1_700_000_000, 1_700_000_000 - day},
		"three days ahead": {1_700_000_000 + 3*day - 60, 1_700_000_000 + 3*day, 1_699_999_940},
		"of 1970":          {100, 160, 1_699_999_940},
		"in the future":    {1_700_000_000 + 5*day, 1_700_000_000, 1_700_003_600},
		"far out":          {math.MaxInt64, 1_700_000_000 - 9*day, 1_700_003_600},
		"far back":         {math.MinInt64, 1_700_000_000 + 9*day, received.AddDate(-1, 0, 0).Unix()},
	} {
		require.Equal(t, c.want, occurredAt(c.timestamp, c.sent, received).Unix(), name)
	}
}
