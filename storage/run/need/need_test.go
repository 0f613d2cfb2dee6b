package need

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step/capability"
)

func TestVerdict(t *testing.T) {
	t.Parallel()
	on := func(browser string) capability.Target {
		return capability.Target{Capabilities: capability.Capabilities{"browserName": browser,
			"slipway:options": map[string]any{"name": browser}}}
	}
	for name, of := range map[string]struct {
		state  string
		parts  []part
		reason string // "": it may begin
	}{
		"all of it passed": {state: "PASSED"},
		"passed here, failed elsewhere": {"FAILED", []part{{on("Chrome"), []string{"PASSED"}},
			{on("firefox"), []string{"FAILED"}}}, ""},
		"flaky here": {"FAILED", []part{{on("chrome"), []string{"FLAKY"}}, {on("firefox"), []string{"FAILED"}}}, ""},
		"failed here, passed elsewhere": {"FAILED", []part{{on("chrome"), []string{"FAILED"}},
			{on("firefox"), []string{"PASSED"}}}, "failed"},
		"one data row failed": {"FAILED", []part{{on("chrome"), []string{"FAILED", "PASSED"}}}, "failed"},
		"the worst of its rows": {"ERROR", []part{{on("chrome"), []string{"CANCELLED", "ERROR", "PASSED"}}},
			"ended with an error"},
		"skipped itself": {"CANCELLED", []part{{on("chrome"), []string{"CANCELLED"}}}, "did not run to its end"},
		"two targets of the browser": {"FAILED", []part{{on("chrome"), []string{"PASSED"}},
			{on("chrome"), []string{"FAILED"}}}, "failed"},
		"never on this target: the whole counts": {"FAILED", []part{{on("safari"), []string{"FAILED"}},
			{on("firefox"), []string{"PASSED"}}}, "failed"},
		"cancelled before a job of it was made": {"CANCELLED", nil, "did not run to its end"},
		"another version is another target": {"ERROR",
			[]part{{capability.Target{Capabilities: capability.Capabilities{"browserName": "chrome", "browserVersion": "1"}},
				[]string{"PASSED"}}}, "ended with an error"},
		"a real device is another target": {"FAILED",
			[]part{{capability.Target{IsRDC: true, Capabilities: capability.Capabilities{"browserName": "chrome"}}, []string{"PASSED"}}},
			"failed"},
		"what else the capabilities say is alike": {"FAILED",
			[]part{{capability.Target{Capabilities: capability.Capabilities{"browserName": "chrome"}}, []string{"PASSED"}}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := run{Name: "Sign in", State: of.state, Quarantine: "late"}
			if of.parts != nil {
				doc, err := json.Marshal(of.parts)
				require.NoError(t, err)
				r.Parts = doc
			}
			err := r.verdict(on("chrome"))
			if of.reason == "" {
				require.NoError(t, err)
				return
			}
			var skip *SkipError
			require.True(t, errors.As(err, &skip), "%v", err)
			require.Equal(t, `skipped: it needs "Sign in", which `+of.reason, skip.Reason)
			require.Equal(t, "late", skip.Quarantine)
		})
	}
}
