package authoring_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/authoring/handler"
	"github.com/slipway-qa/slipway/storage/quota"
)

// Runs beyond the day of the organization are refused, a suite as a whole; another
// organization's are not.
func TestRunsBeyondQuota(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *handler.Config) {
		q, err := quota.New(quota.Bounds{quota.RunsPerDay: 3})
		require.NoError(t, err)
		c.Quotas = q
	})
	one, two := w.newCase(w.member, "one", nil), w.newCase(w.member, "two", nil)
	suite := w.newSuite(w.member, "both", one, two)
	w.ok(w.member, 200, "POST", "/testcases/"+one+"/run", `{}`)
	w.ok(w.member, 200, "POST", "/testsuites/"+suite+"/run", `{}`)
	for _, path := range []string{"/testcases/" + one + "/run", "/testsuites/" + suite + "/run"} {
		rec := w.call(w.member, "POST", path, `{}`)
		require.Equal(t, 429, rec.Code, rec.Body)
		require.Contains(t, rec.Body.String(), `"TOO_MANY_REQUESTS"`)
		require.Contains(t, rec.Body.String(), "runs_per_day is used up: 3 of 3 are used")
		require.NotEmpty(t, rec.Header().Get("Retry-After"))
	}
	var runs, suites int
	require.NoError(t, w.db.GetContext(t.Context(), &runs, `select count(*) from test_runs`))
	require.NoError(t, w.db.GetContext(t.Context(), &suites, `select count(*) from suite_runs`))
	require.Equal(t, []int{1, 1}, []int{runs, suites})
	theirs := w.newCase(w.stranger, "theirs", nil)
	w.ok(w.stranger, 200, "POST", "/testcases/"+theirs+"/run", `{}`)
}
