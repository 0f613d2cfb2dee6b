package intake

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/route/routetest"
	"github.com/slipway-qa/slipway/api/symbol"
	"github.com/slipway-qa/slipway/storage/quota"
)

// Reports beyond the organization's day are refused with code 9; one that was there does
// not count.
func TestReportsBeyondQuota(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	q, err := quota.New(quota.Bounds{quota.CrashesPerDay: 2})
	require.NoError(t, err)
	log := slog.New(slog.DiscardHandler)
	committer := NewCommitter(s.store, nil, log)
	t.Cleanup(committer.Close)
	r, err := New(Config{Submitter: committer, Store: s.store, Symbols: symbol.NewStore(s.db, nil, q), SymbolView: symbol.View,
		Objects: s.objects,
		Region:  "local", Limits: testLimits(), Observer: s.counts, Log: log, Meter: quota.NewMeter(s.db, q, nil)})
	require.NoError(t, err)
	t.Cleanup(r.Close)
	url, end := routetest.Listen(routes(r))
	t.Cleanup(end)
	s.url = url
	report := func() string {
		return strings.Replace(minimal, testUUID, uuid.NewString(), 1)
	}
	first := report()
	for _, body := range []string{first, report()} {
		status, m := s.post(t, "/post?token=one", "application/json", body)
		require.Equal(t, 200, status, m)
		if body == first {
			status, m = s.post(t, "/post?token=one", "application/json", first)
			require.Equal(t, 400, status, m)
			require.EqualValues(t, codeExists, failureCode(m))
		}
	}
	status, m := s.post(t, "/post?token=two", "application/json", report())
	require.Equal(t, 429, status, m)
	require.EqualValues(t, codeQuota, failureCode(m))
	require.Contains(t, m["error"].(map[string]any)["message"], "crashes_per_day is used up: 2 of 2 are used; the day ends at midnight UTC")
	require.Equal(t, 2, s.count(t, `select count(*) from crash_uuids`))
}
